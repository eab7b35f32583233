"""Gates of an evaluation: limits on values, and a run or a stored result as the baseline."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from ragkpi.errors import DataError, InputError, UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.json_text import text_of
from ragkpi.files.opening import BYTE_ORDER_MARK, Source
from ragkpi.interface import option
from ragkpi.library.arguments import one_of, run_of
from ragkpi.library.call import Evaluations
from ragkpi.library.ground import Ground, Signature, differences, ground_of, ids_sha256
from ragkpi.library.slices import QuerySlice, queries_of, slices_of
from ragkpi.library.unjudged_doubt import judging_of, names_needed
from ragkpi.measures.measure import Metric, MetricScores, Scores
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Settings
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.gates import (
    BaselineGate,
    DecidedBy,
    Gate,
    Margin,
    Verdict,
    baseline_verdicts,
    limit_verdict,
    nothing_refused,
    parse_gate,
    parse_margin,
    refuse_idle,
    value_verdict,
)
from ragkpi.statistics.paired import Difference
from ragkpi.wording import listed, visible

_HEAD = 1 << 12


@dataclass(frozen=True)
class StoredResult:
    """The scores of a run that ``--format json`` or jsonl, or a log, stored.

    Attributes
    ----------
    ground
        What its values rest on: `ragkpi.library.ground.ground_of`.
    values
        The values over all queries by printed name; NaN for NA.
    per_query
        The values of each query, if they were stored (``-q``).
    """

    path: str
    name: str
    ground: Ground
    values: Mapping[str, float]
    per_query: Mapping[bytes, Mapping[str, float]]

    def refuse_other_ground(
        self, runs: Mapping[str, Scores], signature: Signature, qrels: str
    ) -> None:
        """Raise `DataError` if the values of a run and of this result are not comparable."""
        for name, scores in runs.items():
            metrics = [metric for metric in scores.metrics if metric.is_comparable]
            queries = {"queries": scores.divisor, "queries_sha256": ids_sha256(scores.queries)}
            here = ground_of({"signature": signature.long(), **queries})
            apart = differences(self.ground, here, metrics)
            lacking = [metric.name for metric in metrics if metric.name not in self.values]
            if lacking:
                apart["values"] = f"without {', '.join(lacking)}", "with"
            if apart:
                unlike = ", ".join(
                    f"{n} is {was} there, {now} here" for n, (was, now) in apart.items()
                )
                settings = ["-m", ",".join(metric.name for metric in metrics), *signature.options()]
                again = " ".join(["ragkpi eval -q", *settings, "-o", self.path, qrels])
                raise DataError(
                    f"{visible(self.name)} is no baseline of {visible(name)}: {unlike}; evaluate "
                    f"it as {visible(name)}: {visible(again)} RUN"
                )


def baseline_of(path: str) -> StoredResult | RunOrPath:
    """Open a baseline once: a stored result, whatever the order of its keys, or else a run."""
    if path != "-" and not os.path.exists(path):
        return path  # refused where runs are read
    source = Source(path)
    try:
        if source.peek(_HEAD).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"{":
            source.keep_copy()
            octets = source.whole("expected a format of lines")
            if b'"ragkpi"' in octets and (objects := _objects(path, octets)):
                with source:
                    return _stored(path, objects)
            source.restart()
    except BaseException:
        source.close()
        raise
    if os.path.isfile(path) or os.path.isdir(path):
        source.close()
        return path
    return source


_EXPECTED = "expected what 'ragkpi eval -q -o FILE.json QRELS RUN' writes"


def _objects(path: str, octets: bytearray) -> list[Any]:
    """Return the objects of a stored result, or nothing if this is no such file."""
    text = text_of(octets)
    try:
        try:
            objects = [_loaded(text)]
        except ValueError:
            objects = [_loaded(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as problem:
        raise InputError(path, None, f"no stored result ({problem})", _EXPECTED) from None
    is_stored = isinstance(objects[0], dict) and "ragkpi" in objects[0]
    return objects if is_stored and {"runs", "values"} & objects[0].keys() else []


def _loaded(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _stored(path: str, objects: Sequence[Any]) -> StoredResult:
    """Return the only run of a stored result, or the last run of a log that missed no gate."""
    try:
        lines = [line for line in objects if "slice" not in line]
        runs = lines[0].get("runs") or [line for line in lines if line["kind"] == "run"]
        if all("time" in run for run in runs):  # a log
            runs = [run for run in runs if all(v["passed"] for v in run.get("gates", ()))][-1:]
        if len(runs) != 1:
            names = ", ".join(visible(str(run["name"])) for run in runs)
            held = f"{len(runs)} runs ({names})" if runs else "no run that passed its gates"
            raise UsageError(f"{path}: it holds {held}; store one")
        (run,) = runs
        of_lines = {line["query"]: line["values"] for line in lines if line.get("kind") == "query"}
        per_query = {
            query.encode("utf-8", "surrogateescape"): _numbers(values)
            for query, values in (run.get("per_query") or of_lines).items()
        }
        stored = {"ragkpi": lines[0]["ragkpi"], **run}
        name, values = f"{run['name']} of {path}", _numbers(run["values"])
        digest, count = stored.get("queries_sha256"), int(run["queries"])
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise InputError(path, None, f"no stored result ({problem!r})", _EXPECTED) from None
    ground = ground_of(stored)
    if not ground:
        fault = "does not say over which queries and qrels its values are"
        raise InputError(path, None, fault, f"{_EXPECTED}: store it again")
    if per_query and ids_sha256(sorted(per_query)) != digest:
        fault = f"has values of {len(per_query)} of {count} queries, or of others"
        raise InputError(path, None, fault, f"{_EXPECTED}: all queries")
    return StoredResult(path, name, ground, values, per_query)


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the stored numbers, without labels; null is NA, and infinities are texts."""
    numbers = {}
    for name, value in values.items():
        if value is None:
            numbers[name] = math.nan
        elif isinstance(value, bool) or value in (math.inf, -math.inf):
            raise ValueError(f"{name} is {value}")
        elif isinstance(value, int | float) or value in ("inf", "-inf"):
            numbers[name] = float(value)
    return numbers


def stored_verdicts(
    stored: StoredResult, run: tuple[str, Scores], gate: BaselineGate
) -> list[Verdict]:
    """Compare a run with a stored result, value by value.

    Means that were stored with those of their queries are compared query by query, other values
    directly.
    """
    name, scores = run
    compared = [column for column in scores.columns if column.metric.is_comparable]
    by_query = [column for column in compared if _is_stored_by_query(stored, column)]
    alone = [column for column in compared if column not in by_query]
    if alone and gate.decided_by != "value":
        names = ", ".join(column.name for column in alone)
        raise UsageError(
            f"{stored.name}: {names} without values per query, which "
            f"{option('gate_by', gate.decided_by)} needs; store means with -q, give the run, "
            f"or compare values alone: {option('gate_by', 'value')}"
        )
    paired: list[Verdict] = []
    if by_query:
        baseline = stored.name, _scores(stored, by_query)
        paired = baseline_verdicts(baseline, (name, scores.only(by_query)), gate)
    return paired + [
        value_verdict(stored.name, name, column, stored.values[column.name], gate.margin)
        for column in alone
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
    made = []
    for column in columns:
        rows = np.array([[stored.per_query[query][column.name]] for query in queries])
        of_queries = MetricScores(column.metric, rows, len(queries))
        value = stored.values[column.name]
        if not np.isclose(of_queries.summary, value, rtol=1e-9, atol=0, equal_nan=True):
            fault = f"{column.name} is {value:g}, and {of_queries.summary:g} over its queries"
            raise InputError(stored.path, None, fault, f"{_EXPECTED}: unrounded and unchanged")
        made.append(of_queries)
    return Scores(b"", queries, made, len(queries))


GateLimits = Mapping[str, float] | Iterable[tuple[str, float] | str]


@dataclass(frozen=True)
class Gates:
    """The gates that runs must pass: limits, and a run or a stored result as the baseline."""

    limits: Sequence[Gate] = ()
    baseline: RunOrPath | StoredResult | None = None
    against: BaselineGate = field(default_factory=BaselineGate)

    def refuse_idle(self, metrics: Sequence[Metric]) -> None:
        """Raise `UsageError` for gates that no run can miss, or keep."""
        for gate in self.limits:
            refuse_idle(gate, metrics)
        if self.baseline is not None and not any(metric.is_comparable for metric in metrics):
            gate_name = option("fail_under_baseline")
            raise UsageError(f"{gate_name}: no value of this evaluation is better than another")

    def metrics(self) -> list[Metric]:
        """Return the metrics that limits name, for a call that names none."""
        names = [gate.metric for gate in self.limits]
        with suppress(UsageError, ValueError):  # refused with the values that there are
            return find_metrics(names)
        return []

    def runs(self, others: Iterable[str]) -> dict[str, RunOrPath]:
        """Return the baseline, if it is a run, under a unique name."""
        if self.baseline is None or isinstance(self.baseline, StoredResult):
            return {}
        name = getattr(self.baseline, "name", "baseline")
        name = self.baseline if isinstance(self.baseline, str) else name
        while name in others:
            name += "#baseline"
        return {name: self.baseline}

    def depth(self, metrics: Sequence[Metric], settings: Settings) -> int:
        """Return the depth to which doubts about a baseline need names of documents."""
        if self.baseline is None or isinstance(self.baseline, StoredResult):
            return 0
        return max(names_needed([metric], settings) for metric in metrics)

    @property
    def stored_files(self) -> Sequence[str]:
        """The paths of the stored results, which were read."""
        return [self.baseline.path] if isinstance(self.baseline, StoredResult) else []

    def verdicts(
        self,
        names: Mapping[str, str],
        scores: Mapping[str, Scores],
        evaluated: Evaluations,
        signature: Signature | None,
    ) -> list[Verdict]:
        """Test every run against limits and baselines.

        `names` are those of the runs in the result by their names in the call; other `scores` are
        those of baselines. Baselines, and limits without a slice, concern the values over all
        queries.
        """
        runs = {name: scores[run] for run, name in names.items()}
        queries = queries_of(runs.values())
        slices = slices_of(evaluated.call.labels, queries)
        if isinstance(self.baseline, StoredResult):
            assert signature is not None
            self.baseline.refuse_other_ground(runs, signature, evaluated.judgements.file)
        limited = [(gate, _slices_of(gate, slices, queries)) for gate in self.limits]
        bootstrap = replace(self.against.bootstrap, clusters=evaluated.call.clusters)
        every: list[Verdict] = []
        for call_name, run in zip(names, runs.items(), strict=True):
            name, of_run = run
            for gate, parts in limited:
                if parts is None:
                    every.append(limit_verdict(name, of_run, gate))
                for part in parts or ():
                    verdict = limit_verdict(name, part.of(of_run), gate)
                    every.append(replace(verdict, name=f"{visible(part.name)}:{verdict.name}"))
            against: list[Verdict] = []
            if isinstance(self.baseline, StoredResult):
                own_gate = replace(self.against, bootstrap=bootstrap)
                against = stored_verdicts(self.baseline, run, own_gate)
            for other in scores.keys() - names:
                alike = evaluated.by_name[call_name].ranks_like(evaluated.by_name[other])
                rankings: Literal["differ", "equal"] = "equal" if alike else "differ"
                doubt = _doubt_of(evaluated, other, call_name, run[0])
                own_gate = replace(self.against, bootstrap=bootstrap, doubt=doubt)
                against = baseline_verdicts((other, scores[other]), run, own_gate, rankings)
            every += nothing_refused(against, run[1])
        return every


def _doubt_of(
    evaluated: Evaluations, baseline: str, run: str, name: str
) -> Callable[[Difference], str]:
    """Return a function that says what unjudged documents leave open of a run, called `name`."""
    names = dict(zip(evaluated.by_name, evaluated.names, strict=True))

    def doubt(difference: Difference) -> str:
        if difference.metric not in evaluated.metrics:  # a z-score
            return ""
        judging = judging_of(evaluated, difference.metric)
        claims = {names[run]: difference.decision}
        doubts = judging.doubts(names[baseline], claims) if judging else {}
        return doubts[names[run]].in_words(baseline, name) if doubts else ""

    return doubt


def _slices_of(
    gate: Gate, slices: Sequence[QuerySlice], queries: Sequence[bytes]
) -> list[QuerySlice] | None:
    """Return the slices that a gate limits, or None if it limits the value over all queries."""
    if gate.name == gate.metric:
        return None
    begin = f"{option('fail_under')} {visible(gate.name)}"
    own = [part for part in slices if gate.is_of(part.by, part.label)]
    if not own:
        names = ", ".join(visible(part.name) for part in slices[:10])
        there_are = f"there are {names}" if slices else f"give labels with {option('by')} FILE"
        raise UsageError(f"{begin}: no such slice of the evaluated queries; {there_are}")
    labelled = {query for part in slices if part.by == own[0].by for query in part.queries}
    if lacking := sorted(set(queries) - labelled):
        raise DataError(
            f"{begin}: {len(lacking)} of {len(queries)} queries have no {visible(own[0].by)} "
            f"({listed(lacking, 3)}); label them, too"
        )
    return own


def gates_of(
    runs: Mapping[str, RunOrPath],
    fail_under: GateLimits,
    baseline: Any,
    margin: float | str | None,
    gate_by: DecidedBy | None,
    gate_confidence: float | None,
) -> Gates:
    """Return the gates of a call on these runs, or refuse wrong arguments."""
    limits = [
        parse_gate(limit if isinstance(limit, str) else f"{limit[0]}={limit[1]}")
        for limit in (fail_under.items() if isinstance(fail_under, Mapping) else fail_under)
    ]
    if baseline is None:
        idle = {"margin": margin, "gate_by": gate_by, "gate_confidence": gate_confidence}
        for name, value in idle.items():
            if value is not None:
                instead = f"no baseline; give {option('fail_under_baseline')} RUN with it"
                raise UsageError(f"{option(name)} {value}: {instead}")
        return Gates(limits)
    if gate_confidence is not None and not 0 < gate_confidence < 1:
        raise UsageError(
            f"{option('gate_confidence')} {gate_confidence:g}: expected a share such as 0.95"
        )
    against = BaselineGate(
        Margin(0.0) if margin is None else parse_margin(str(margin)),
        one_of("gate_by", gate_by or "worse", get_args(DecidedBy)),
        Bootstrap(level=gate_confidence or 0.95),
    )
    if not isinstance(baseline, str | os.PathLike):
        return Gates(limits, run_of(baseline), against)
    path = os.fspath(baseline)
    for run in runs.values():
        with suppress(OSError, ValueError):
            if isinstance(run, str) and os.path.samefile(run, path):
                raise UsageError(
                    f"{option('fail_under_baseline')} {path}: it is a run of this call, and no "
                    "worse than itself; leave it out of the runs, or give another baseline"
                )
    return Gates(limits, baseline_of(path), against)
