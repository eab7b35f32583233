"""`check`: files of runs read for everything that is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from ragkpi.errors import InputError, UsageError
from ragkpi.formats.file_formats import Reading, read_any_qrels
from ragkpi.formats.opening import Source
from ragkpi.formats.recognition import HEAD_LENGTH, recognise_kind
from ragkpi.library.arguments import whole
from ragkpi.library.result import Result
from ragkpi.library.voice import speaks_python
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.settings import Settings
from ragkpi.studies.check.check_answer import check_answer
from ragkpi.studies.check.checked_file import CheckedFile
from ragkpi.studies.check.finding import Asked
from ragkpi.studies.check.inspection import Inspection, inspect_file

CHECKED = ("P.10", "recall.10,100", "success.10", "ndcg_cut.10", "recip_rank")


@speaks_python
def check(
    run: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    qrels: str | os.PathLike[str] | None = None,
    measures: str | Sequence[str] = (),
    *,
    relevance_level: int = 1,
    max_hits: int | None = None,
) -> Result:
    """Report everything that is wrong with files of runs or suspicious, as ``ragkpi check``.

    Parameters
    ----------
    run
        A path, or several. What is in memory has no lines to report on; functions refuse what is
        wrong with it.
    qrels
        A path, for what depends on them.
    measures
        Ties are looked for at their cutoffs.
    relevance_level
        Lowest level that is relevant.
    max_hits
        Most documents of a query.

    Examples
    --------
    >>> import ragkpi
    >>> found = ragkpi.check("fixtures/runs/fusion.run", "fixtures/qrels.txt")
    >>> {row["finding"] for row in found.rows}
    {...'ties'...}
    """
    paths: list[Any] = list(run) if isinstance(run, list | tuple) else [run]
    wrong = [path for path in (*paths, qrels or "") if not isinstance(path, str | os.PathLike)]
    if wrong:
        raise UsageError(f"check is about files, not {type(wrong[0]).__name__}; expected a path")
    inspected = inspect_files(
        [os.fspath(path) for path in paths],
        None if qrels is None else os.fspath(qrels),
        [measures] if isinstance(measures, str) else list(measures),
        whole("relevance_level", relevance_level, 0),
        None if max_hits is None else whole("max_hits", max_hits, 1),
    )
    return Result(check_answer([inspection for _, inspection in inspected]))


def inspect_files(
    runs: Sequence[str],
    qrels: str | None,
    measures: Sequence[str],
    relevance_level: int,
    max_hits: int | None,
    qrels_format: Reading | None = None,
    run_format: Reading | None = None,
) -> Iterator[tuple[CheckedFile, Inspection]]:
    """Check run after run for everything in the catalogue; a run is open until the next one.

    Parameters
    ----------
    runs, qrels
        Paths; None without qrels.
    measures
        Ties are looked for at their cutoffs; `CHECKED` if there are none.
    relevance_level, max_hits
        Lowest level that is relevant; most documents of a query.
    qrels_format, run_format
        How the files are to be read; None recognises each one's format.
    """
    metrics = find_metrics(list(measures) or list(CHECKED))
    judgements = None if qrels is None else _read_qrels(qrels, runs[0], qrels_format)
    asked = Asked(judgements, metrics, Settings(relevance_level=relevance_level), max_hits)
    for run in runs:
        with Source(run) as source:
            checked = CheckedFile(source, run_format)
            yield checked, inspect_file(checked, asked)


def _read_qrels(path: str, run: str, reading: Reading | None) -> Judgements:
    """Read the qrels; where they are none but the first run is, say that the two are swapped."""
    try:
        return group_judgements(read_any_qrels(path, reading))
    except InputError as problem:
        if _is_qrels(run):
            raise UsageError(
                f"{problem}; {run} holds qrels, so the two are swapped: ragkpi check {run} {path}"
            ) from None
        raise


def _is_qrels(path: str) -> bool:
    try:
        with Source(path) as source:
            return recognise_kind(source.peek(HEAD_LENGTH)) == "qrels"
    except InputError:
        return False
