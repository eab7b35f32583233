"""Gates of an evaluation: limits on values, and a run or a stored result as the baseline."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from ragkpi.errors import DataError, GateFailedError, InputError, UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.interface import option
from ragkpi.library.arguments import one_of, run_of
from ragkpi.library.given import QuerySlice
from ragkpi.library.session import Call
from ragkpi.measures.measure import MetricScores, Scores
from ragkpi.statistics.gates import (
    BaselineGate,
    DecidedBy,
    Gate,
    Margin,
    Verdict,
    baseline_verdicts,
    parse_gate,
    parse_margin,
    unmet,
    value_verdict,
    verdicts,
)
from ragkpi.wording import visible

_LARGEST = 1 << 30  # no stored result has a gigabyte


@dataclass(frozen=True)
class StoredResult:
    """The scores of a run that ``--format json`` or jsonl, or a log, stored.

    Attributes
    ----------
    queries
        The number of queries behind its values.
    values
        The values over all queries by printed name; NaN for NA.
    per_query
        The values of each query, if they were stored (``-q``).
    qrels
        The SHA-256 of the qrels, in hex; empty if it was not stored.
    """

    name: str
    queries: int
    values: Mapping[str, float]
    per_query: Mapping[bytes, Mapping[str, float]]
    qrels: str = ""


def is_stored_result(path: str) -> bool:
    """Return whether a file begins like a stored result of ragkpi, unlike any run."""
    try:
        with open(path, "rb") as file:
            start = file.read(200).lstrip() if file.seekable() else b""
    except OSError:
        return False
    return start.startswith(b"{") and b'"ragkpi"' in start


def read_stored_result(path: str) -> StoredResult:
    """Read the only run of a stored result, or the last run of a log."""
    expected = f"expected what ragkpi eval {option('format')} json or {option('log')} wrote"
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read(_LARGEST)
    try:
        objects = [line for line in _objects(text) if "slice" not in line]
        if "runs" in objects[0]:
            runs = objects[0]["runs"]
            if len(runs) != 1:
                names = ", ".join(str(run["name"]) for run in runs)
                raise UsageError(f"{path}: it holds {len(runs)} runs ({names}); store one")
            run = runs[0]
            per_query = run.get("per_query", {})
        else:
            last = max(number for number, line in enumerate(objects) if line["kind"] == "run")
            run = objects[last]
            per_query = {line["query"]: line["values"] for line in objects[last + 1 :]}
            per_query = per_query or run.get("per_query", {})
        return StoredResult(
            f"{run['name']} of {path}",
            int(run["queries"]),
            _numbers(run["values"]),
            {
                query.encode("utf-8", "surrogateescape"): _numbers(values)
                for query, values in per_query.items()
            },
            str(run.get("signature") or "").partition("|qrels:sha256:")[2].partition("|")[0],
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise InputError(path, None, f"no stored result ({problem!r})", expected) from None


def _objects(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text)
    except ValueError:
        yield from (json.loads(line) for line in text.splitlines() if line.strip())


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the stored numbers, without labels; null is NA, and infinities are texts."""
    numbers = {}
    for name, value in values.items():
        if value is None:
            numbers[name] = math.nan
        elif isinstance(value, int | float) or value in ("inf", "-inf"):
            numbers[name] = float(value)
    return numbers


def stored_verdicts(
    stored: StoredResult, run: tuple[str, Scores], gate: BaselineGate
) -> list[Verdict]:
    """Compare a run with a stored result, value by value.

    Compare means that were stored with their queries over the queries of both. Compare other values
    directly; they must be over the same number of queries.
    """
    name, scores = run
    compared = [
        column
        for column in scores.columns
        if column.metric.is_comparable and column.name in stored.values
    ]
    if not compared:
        raise UsageError(f"{stored.name}: it has none of the values of this evaluation")
    by_query = [column for column in compared if _is_stored_by_query(stored, column)]
    alone = [column for column in compared if column not in by_query]
    found: list[Verdict] = []
    if by_query:
        baseline = stored.name, _scores(stored, by_query)
        found = baseline_verdicts(baseline, (name, scores.only(by_query)), gate)
    if alone and gate.decided_by != "value":
        names = ", ".join(column.name for column in alone)
        raise UsageError(
            f"{stored.name}: {names} without values per query, which "
            f"{option('gate_by', gate.decided_by)} needs; store means with -q, give the run, "
            f"or compare values alone: {option('gate_by', 'value')}"
        )
    if alone and stored.queries != scores.divisor:
        raise DataError(
            f"{stored.name} is over {stored.queries} queries, {name} over {scores.divisor}; "
            f"evaluate both with {option('missing', 'zero')}, or store the baseline with -q"
        )
    return found + [
        value_verdict(stored.name, name, column, value, gate.margin)
        for column in alone
        if not math.isnan(value := stored.values[column.name])
    ]


def _is_stored_by_query(stored: StoredResult, column: MetricScores) -> bool:
    """Return whether a value is the mean of stored values per query."""
    return (
        column.metric.measure.is_mean
        and bool(stored.per_query)
        and all(column.name in values for values in stored.per_query.values())
    )


def _scores(stored: StoredResult, columns: Sequence[MetricScores]) -> Scores:
    queries = sorted(stored.per_query)
    made = [
        MetricScores(
            column.metric,
            np.array([[stored.per_query[query][column.name]] for query in queries]),
            len(queries),
        )
        for column in columns
    ]
    return Scores(b"", queries, made, len(queries))


GateLimits = Mapping[str, float] | Iterable[tuple[str, float] | str]


@dataclass(frozen=True)
class Gates:
    """The gates that runs must pass: limits, and a run or a stored result as the baseline."""

    limits: Sequence[Gate] = ()
    baseline: RunOrPath | None = None
    stored: StoredResult | None = None
    against: BaselineGate = field(default_factory=BaselineGate)

    def runs(self, others: Iterable[str]) -> dict[str, RunOrPath]:
        """Return the baseline, if it is a run, under a unique name."""
        if self.baseline is None:
            return {}
        name = self.baseline if isinstance(self.baseline, str) else "baseline"
        while name in others:
            name += "#baseline"
        return {name: self.baseline}

    def verdicts(
        self,
        runs: Mapping[str, Scores],
        baselines: Mapping[str, Scores],
        slices: Sequence[QuerySlice] = (),
    ) -> list[Verdict]:
        """Test every run against limits and baselines; `baselines` are those that `runs` named.

        Baselines, and limits without a slice, concern the values over all queries.
        """
        of_all = [gate for gate in self.limits if gate.name == gate.metric]
        of_slices = [gate for gate in self.limits if gate not in of_all]
        for gate in of_slices:
            if not any(gate.is_of(part.by, part.label) for part in slices):
                known = ", ".join(visible(part.name) for part in slices[:10])
                raise UsageError(
                    f"{option('fail_under')} {visible(gate.name)}: no such slice of the "
                    f"evaluated queries; "
                    + (f"there are {known}" if slices else f"give labels with {option('by')} FILE")
                )
        found: list[Verdict] = []
        for run in runs.items():
            found += verdicts(*run, of_all)
            for part in slices:
                found += _of_slice(run, part, of_slices)
            for baseline in baselines.items():
                found += baseline_verdicts(baseline, run, self.against)
            if self.stored is not None:
                found += stored_verdicts(self.stored, run, self.against)
        return found

    def note_other_qrels(self, call: Call, qrels: Any) -> None:
        """Add a note if the stored result comes from other qrels."""
        if self.stored is not None and self.stored.qrels:
            _, digest = call.files(qrels=qrels).get("qrels", ("", None))
            if digest not in (None, self.stored.qrels):
                name = self.stored.name
                call.notes.note(f"{name} was evaluated with other qrels (by their SHA-256)")

    def missed(self, found: Sequence[Verdict]) -> list[GateFailedError]:
        """Return an error per run and value that falls short."""
        return [GateFailedError(str(verdict)) for verdict in unmet(found)]


def _of_slice(
    run: tuple[str, Scores], part: QuerySlice, limits: Sequence[Gate]
) -> Iterator[Verdict]:
    """Test a slice of a run against the limits that name it."""
    own = [replace(gate, name=gate.metric) for gate in limits if gate.is_of(part.by, part.label)]
    for verdict in verdicts(run[0], part.of(run[1]), own):
        yield replace(verdict, name=f"{visible(part.name)}:{verdict.name}")


def gates_of(
    fail_under: GateLimits,
    baseline: Any,
    margin: float | str | None,
    gate_by: DecidedBy | None,
    gate_confidence: float | None,
) -> Gates:
    """Return the gates of a call, or refuse wrong arguments."""
    given = {"margin": margin, "gate_by": gate_by, "gate_confidence": gate_confidence}
    for name, value in given.items():
        if value is not None and baseline is None:
            raise UsageError(
                f"{option(name)} {value}: no baseline; give {option('fail_under_baseline')} "
                f"RUN with it"
            )
    limits = [
        parse_gate(limit) if isinstance(limit, str) else Gate(limit[0], float(limit[1]))
        for limit in (fail_under.items() if isinstance(fail_under, Mapping) else fail_under)
    ]
    if baseline is None:
        return Gates(limits)
    if gate_confidence is not None and not 0 < gate_confidence < 1:
        raise UsageError(
            f"{option('gate_confidence')} {gate_confidence:g}: expected a share such as 0.95"
        )
    against = BaselineGate(
        Margin(0.0) if margin is None else parse_margin(str(margin)),
        one_of("gate_by", gate_by or "worse", get_args(DecidedBy)),
        gate_confidence or 0.95,
    )
    if isinstance(baseline, str | os.PathLike) and is_stored_result(os.fspath(baseline)):
        return Gates(limits, None, read_stored_result(os.fspath(baseline)), against)
    return Gates(limits, run_of(baseline), None, against)
