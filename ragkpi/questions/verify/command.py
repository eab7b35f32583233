"""`ragkpi verify`: whether a saved result is reproducible from its files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, cast

from typer import Argument

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import exit_with
from ragkpi.errors import DataError, UsageError
from ragkpi.files.inputs import inputs
from ragkpi.library.arguments import session_of
from ragkpi.library.evaluation_report import EvaluationReport
from ragkpi.library.ground import Signature, cut
from ragkpi.library.options import Evaluating
from ragkpi.library.result import Result
from ragkpi.library.stored import StoredResult, open_run
from ragkpi.measures.registry import metric_of
from ragkpi.reports.layout import Answer, Cell, Column, Layout
from ragkpi.version import __version__
from ragkpi.wording import counted, visible


def verify(path: str | os.PathLike[str]) -> Result:
    """Check that a saved result is reproducible from the files that it names.

    First compare hashes: if all are equal, compute every value again with the settings of the
    result, its maps, gains, sizes and folds, for all queries and for each. Every difference or
    missing part is a row, and the exit status is 4. Status 1: the result does not name its files,
    or has values that cannot be computed again, such as z-scores. Status 2: it is unreadable.

    Parameters
    ----------
    path
        The output of ``ragkpi eval -o FILE.json``, ``.jsonl`` or ``--log``. Its files are searched
        for at their recorded paths, else next to it.

    Returns
    -------
    Result
        A row for each different hash, number of queries and value, and a `DataError` among its
        ``problems`` if there is any. Values are only computed from files with equal hashes.

    Raises
    ------
    UsageError
        If a result does not name its files, or records its settings incompletely.
    InputError
        If it is not a saved result, or a file cannot be read.
    """
    path = os.fspath(path)
    inputs().hashed = True
    results = open_run(path)
    if not isinstance(results, list):
        raise UsageError(
            f"{path}: not a ragkpi result file; expected one written by 'ragkpi eval -o FILE.json'"
        )
    rows: list[tuple[Any, ...]] = []
    files = values = 0
    for result in results:
        named = _named_files(result)
        files += len(named)
        hashes = {path: (f"sha256:{digest}", _hash(path)) for path, digest in named.values()}
        stored: dict[str, Any] = {f"hash of {path}": then for path, (then, _) in hashes.items()}
        now: dict[str, Any] = {f"hash of {path}": new for path, (_, new) in hashes.items()}
        if stored == now:
            values += len(result.record["values"])
            stored, now = _flat(result.record), _flat(_computed(result, named))
        rows += [
            (result.record["name"], what, _shown(stored.get(what)), _shown(now.get(what)))
            for what in stored | now
            if not _same(stored.get(what), now.get(what))
        ]
    number = counted(len(results), "run")
    each = all(result.record.get("per_query") for result in results)
    sentence = (
        f"{path}: {number}, {counted(files, 'file')} and {counted(values, 'value')} match the "
        f"saved result{', for every query' if each else ''}."
    )
    if rows:
        differ = counted(len(rows), "thing differs", "things differ")
        sentence = f"{path}: {differ} from the saved result of {number}."
    versions = {str(result.record.get("ragkpi")) for result in results} - {__version__}
    notes = [f"saved by ragkpi {', '.join(sorted(versions))}; this is {__version__}"]
    columns = [Column(name) for name in ("run", "what", "stored", "now")]
    answer = Answer(
        columns,
        [[*map(Cell, row)] for row in rows],
        notes if versions else [],
        verdict=[visible(sentence)],
        question="verify",
        findings={"runs": len(results), "files": files, "values": values, "differences": len(rows)},
    )
    problem = DataError(f"{path}: it differs from what its files give")
    return Result(answer, problems=[problem] if rows else [])


def _named_files(result: StoredResult) -> Mapping[str, tuple[str, str]]:
    """Return the path and hash of each file by role; refuse a result without some of them."""
    if "seeds" in result.record:
        raise UsageError(
            f"{visible(result.name)}: the means of several seeds, whose runs it does not name; "
            "verify a result of each run"
        )
    files = result.record.get("files", {})
    named = {role: (str(file.get("path")), file.get("sha256")) for role, file in files.items()}
    lacking = [role for role in ("qrels", "run") if not named.get(role, ("", ""))[1]]
    if lacking:
        raise UsageError(
            f"{visible(result.name)}: it does not name its {' and '.join(lacking)} with a hash; "
            "store it from files with 'ragkpi eval -q -o FILE.json'"
        )
    return {role: (_beside(result, path), digest) for role, (path, digest) in named.items()}


def _beside(result: StoredResult, path: str) -> str:
    """Return a path; if it does not exist, prefer an existing one next to the result."""
    beside = os.path.join(os.path.dirname(result.path), path)
    return beside if os.path.exists(beside) and not os.path.exists(path) else path


def _hash(path: str) -> str | None:
    digest = inputs().sha256(path)
    return f"sha256:{digest}" if digest else None


def _computed(result: StoredResult, files: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Evaluate the run of a result again, with its measures and settings."""
    record = result.record
    settings, of_files = result.signature.arguments()
    paths = {role: path for role, (path, _) in files.items()}
    reading = {
        name: _beside(result, value) if isinstance(value, str) else value
        for name, value in record.get("reading", {}).items()
    }
    sources = {"gains": {"gains"}, "N": {"corpus_sizes"}}
    lost = [name for name in of_files if not sources.get(name, reading.keys()) & reading.keys()]
    lost += sorted(paths.keys() - {"qrels", "run", "pool", "by", "cluster"})
    lost += sorted(reading.keys() - Evaluating.__annotations__)
    metrics = {name: metric_of(name) for name in record["values"]}
    if not lost:  # without z-scores, whose names are not measures
        lost = [name for name, metric in metrics.items() if metric is None]
    if lost:
        raise UsageError(
            f"{visible(result.name)}: it cannot be recomputed, because it lacks part of "
            f"{', '.join(lost)}"
        )
    how = {**settings, **reading, "pool": paths.get("pool")}
    session = session_of(paths["qrels"], list(metrics), cast("Evaluating", how))
    as_stored = [replace(metric, name=name) for name, metric in metrics.items() if metric]
    evaluated = session.evaluate({"run": paths["run"]}, as_stored)
    report = EvaluationReport({"run": evaluated.scores[0]}, session.signed(as_stored))
    return report.object("run", Layout(per_query="shown" if record.get("per_query") else "hidden"))


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is compared of a result, by its name in a row."""
    signature = Signature.read(str(record.get("signature"))).fields
    flat: dict[str, Any] = {
        f"{name} in the signature": of for name, of in signature.items() if name != "ragkpi"
    }
    flat |= {name: record.get(name) for name in ("queries", "queries_sha256")}
    flat |= record["values"]
    # Comparisons and gates use the statistics of a value that is not a mean.
    for part, of in (("per_query", ""), ("statistics", "statistics of ")):
        for query, values in record.get(part, {}).items():
            flat |= {f"{of}{name} of {query}": value for name, value in values.items()}
    return flat


def _shown(value: Any) -> Any:
    return cut(value) if isinstance(value, str) else value


def _same(stored: Any, now: Any) -> bool:
    """Return whether two JSON values are equal, numbers to nine digits."""
    if isinstance(stored, list) and isinstance(now, list):
        return len(stored) == len(now) and all(map(_same, stored, now))
    numbers = isinstance(stored, int | float) and isinstance(now, int | float)
    return math.isclose(stored, now, rel_tol=1e-9) if numbers else stored == now


@command(
    verify,
    examples=(
        "ragkpi verify main.json",
        "ragkpi verify record.jsonl",
        "ragkpi verify --format json main.json",
    ),
)
def shell(
    file: Annotated[
        str,
        Argument(
            metavar="RESULT", help="A result saved by eval -o FILE.json, FILE.jsonl or --log FILE."
        ),
    ],
    output: Output,
) -> None:
    """Write the differences."""
    result = verify(file)
    output.write(result.report)
    exit_with(result.problems)
