"""Saved results: the scores of runs, and their evaluation settings."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ragkpi.errors import DataError, InputError, RagkpiError, RagkpiWarning, UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.inputs import inputs
from ragkpi.files.json_text import once, text_of
from ragkpi.files.opening import Source, begins_like_result
from ragkpi.library.doubts import names_needed
from ragkpi.library.ground import Ground, Signature, differences, ground_of, ids_sha256
from ragkpi.library.runs import by_system
from ragkpi.library.session import Evaluations, Session
from ragkpi.measures.measure import Metric, MetricScores, Scores
from ragkpi.measures.registry import metric_of, refuse_unserved
from ragkpi.ranking.notes import concerning
from ragkpi.reports.names import system_of
from ragkpi.wording import octets, shown, visible

_EXPECTED = (
    "expected the JSON object of a run, as 'ragkpi eval -q -o FILE.json QRELS RUN' or --log writes "
    "it"
)

# The types of fields of a record, and of the values in them.
_FIELDS: Mapping[str, tuple[type, Any]] = {
    "values": (dict, int | float | str | None),
    "meta": (dict, str),
    "files": (dict, dict),
    "reading": (dict, str | bool),
    "notes": (list, str),
    **dict.fromkeys(("time", "name", "run_id", "signature"), (str, str)),
}


@dataclass(frozen=True)
class StoredResult:
    """A run saved by ``--format json``, jsonl or ``--log``: its JSON object in a file."""

    path: str
    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The names of the run and of the file."""
        return f"{self.record.get('name')} of {self.path}"

    @property
    def signature(self) -> Signature:
        """The files and settings recorded in the result; empty if there are none."""
        return Signature.read(str(self.record.get("signature", "")))

    @cached_property
    def ground(self) -> Ground:
        """The ground of the values; `InputError` if the result does not record it."""
        ground = ground_of(self.record)
        if not ground:
            raise self._broken("does not record its queries and qrels")
        return ground

    @cached_property
    def scores(self) -> Scores:
        """The scores by all comparable metrics; `InputError` if they are inconsistent."""
        per_query = self.record.get("per_query")
        if (seeds := self.record.get("seeds")) is not None:
            raise UsageError(
                f"{visible(self.name)}: the means of {visible(str(seeds))} seeds, without the "
                "values of each; use the runs"
            )
        if not per_query:
            raise UsageError(f"{visible(self.name)}: without values per query; save it with -q")
        try:
            queries = sorted(map(octets, per_query))
            count = self.record["queries"]
            if ids_sha256(queries) != self.record["queries_sha256"] or count != len(queries):
                raise self._broken(f"has values for {len(queries)} of {count} queries, or others")
            self._refuse_edited()
            columns = [self._column(*item) for item in self.record["values"].items()]
            comparable = [column for column in columns if column is not None]
            return Scores(str(self.record["run_id"]).encode(), queries, comparable, len(queries))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise self._broken(f"not a ragkpi result file ({problem!r})") from None

    def refuse_run(self, run: str, scores: Scores, evaluated: Evaluations) -> None:
        """Raise `DataError` for a run on another ground."""
        metrics = [metric for metric in scores.metrics if metric.is_comparable]
        signature = evaluated.session.signature(evaluated.metrics).long()
        queries = {"queries": scores.divisor, "queries_sha256": ids_sha256(scores.queries)}
        ground = ground_of({"signature": signature, **queries})
        self.refuse_other(run, ground, metrics)

    def refuse_other(self, other: str, ground: Ground, metrics: Sequence[Metric]) -> None:
        """Raise `DataError` for values on another ground, or by metrics that are not saved."""
        apart = differences(self.ground, ground, metrics)
        stored = self.record["values"]
        if lacking := [metric.name for metric in metrics if metric.name not in stored]:
            apart["values"] = f"without {', '.join(lacking)}", "with"
        if apart:
            unlike = (f"{name} is {was}, not {now}" for name, (was, now) in apart.items())
            raise DataError(
                f"{visible(self.name)} is not comparable with {visible(other)}: "
                f"{', '.join(unlike)}; evaluate both with the same qrels, measures and options"
            )

    def _column(self, name: str, value: Any) -> MetricScores | None:
        """Return the scores of a metric; None if the metric is not comparable."""
        metric = metric_of(name)
        if metric is None or not metric.is_comparable:
            return None
        per_query = self.record["per_query" if metric.is_value else "statistics"]
        stored = [per_query[query][name] for query in sorted(self.record["per_query"], key=octets)]
        rows = [[value] for value in stored] if metric.is_value else stored
        numbers = np.array([[_number(name, number) for number in row] for row in rows])
        column = MetricScores(replace(metric, name=name), numbers, len(rows))
        summary = _number(name, value)
        if not np.isclose(column.summary, summary, rtol=1e-9, atol=0, equal_nan=True):
            raise self._broken(f"{name} is {summary:g}, but {column.summary:g} by its queries")
        known = self.record.get("known", {}).get(name, column.valid)
        if known != column.valid:
            raise self._broken(f"{name} has {column.valid} values, but {known} queries with values")
        return column

    def _refuse_edited(self) -> None:
        """Raise `InputError` for contradictory fields: the result was edited."""
        for role, file in self.record.get("files", {}).items():
            digest, signed = file.get("sha256"), self.signature.fields.get(role)
            if digest and signed and signed != f"sha256:{digest}":
                raise self._broken(
                    f"sha256:{digest} of the {role} contradicts {signed} in the signature"
                )

    def _broken(self, fault: str) -> InputError:
        return InputError(self.path, None, fault, _EXPECTED)


def _number(name: str, value: Any) -> float:
    """Return a saved number; null is NA, and infinities are texts."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not (isinstance(value, int | float) or value in ("inf", "-inf")):
        raise ValueError(f"{name} is {value}")
    return float(value)


def open_run(path: str) -> list[StoredResult] | RunOrPath:
    """Open a run once, or the results in a file, whatever the order of its keys."""
    if path != "-" and not os.path.exists(path):
        return path  # refused when runs are read
    source = Source(path)
    try:
        if begins_like_result(source):
            objects = objects_of(path, text_of(source.whole("expected a format of lines")))
            first = objects[0][1] if objects else None
            if isinstance(first, dict) and "ragkpi" in first and {"runs", "values"} & first.keys():
                with source:
                    return [StoredResult(path, record) for record in records_of(path, objects)]
            source.restart()
    except BaseException:
        source.close()
        raise
    if os.path.isfile(path) or os.path.isdir(path):
        source.close()
        return path
    return source


def is_result(path: str) -> bool:
    """Return whether a rereadable file begins like a result of eval."""
    if not os.path.isfile(path):
        return False
    with Source(path) as source:
        return begins_like_result(source)


def with_results(runs: Mapping[str, RunOrPath]) -> dict[str, RunOrPath | StoredResult]:
    """Open the results among runs; each run of a result with several gets its own name."""
    by_name: dict[str, RunOrPath | StoredResult] = {}
    for name, run in runs.items():
        content = open_run(run) if isinstance(run, str) else run
        if not isinstance(content, list):
            by_name[name] = content
            continue
        for result in content:
            key = name if len(content) == 1 else f"{name}:{result.record.get('name')}"
            if key in by_name:
                raise UsageError(f"{visible(key)}: two runs have this name; expected one")
            by_name[key] = result
    return by_name


@dataclass(frozen=True)
class Scored:
    """The scores of runs and systems, and the data behind them, from any source.

    Attributes
    ----------
    scores
        By the names of the call.
    names
        Those in a result, by those of the call, in one order.
    evaluated
        The runs that were evaluated, if any were.
    lacks_first
        Whether the first run or system of the call could not be evaluated.
    """

    scores: Mapping[str, Scores]
    names: Mapping[str, str]
    signature: Signature | None
    evaluated: Evaluations | None = None
    lacks_first: bool = False

    @property
    def problems(self) -> Sequence[RagkpiError]:
        """The errors of runs that could not be evaluated."""
        return () if self.evaluated is None else self.evaluated.problems


def scored_runs(
    session: Session,
    runs: Mapping[str, RunOrPath | StoredResult],
    default: Sequence[str] | None,
    lacking: Literal["noted", "refused"] = "noted",
) -> Scored:
    """Evaluate runs, and take the scores of saved results over the same queries and settings.

    The default measures are those in all results, or without results the `default`; `lacking`
    is the treatment of measures in only some results. `DataError` names differences between
    results, runs and qrels.
    """
    results = {name: run for name, run in runs.items() if isinstance(run, StoredResult)}
    read = {name: run for name, run in runs.items() if not isinstance(run, StoredResult)}
    metrics = session.metrics(default)
    stored = [result.scores for result in results.values()]
    if stored:
        notes = {name: result.record.get("notes", ()) for name, result in results.items()}
        for text in concerning(notes):
            session.note(text)
        session.note("saved results do not count unjudged documents; compare QRELS RUN... does")
        inputs().hashed = True
        if not session.requests:
            metrics = [m for m in stored[0].metrics if all(m.name in scores for scores in stored)]
            _say_lacking(session, results, lacking)
    scores = dict(zip(results, stored, strict=True))
    evaluated = None
    if read:
        if session.qrels is None:
            lone, path = next(iter(read.items()))
            if isinstance(path, str):
                Source(path).close()  # refuses a missing file
            raise UsageError(f"{visible(lone)}: a run; expected qrels before it")
        depth = names_needed(metrics, session.settings) if session.rel_info == "qrels" else 0
        evaluated = session.evaluate(read, metrics, depth, "kept").over_common_queries()
        signature = session.signed(metrics)
        for name, run in evaluated.items():
            scores[name] = run.scores
            for result in results.values():
                result.refuse_run(name, run.scores, evaluated)
    else:
        first = next(iter(results.values()))
        if session.qrels is not None:
            refuse_unserved(metrics, session.rel_info, session.settings)
            _ = session.judgements  # refuses files that are not qrels
        ground = {**first.ground, **session.signature(metrics).choices}
        for result in results.values():
            other = "this call" if result is first else first.name
            result.refuse_other(other, ground, metrics)
        signature = first.signature
    if results:
        names = [metric.name for metric in metrics if metric.is_comparable]
        scores = {key: one.only(one[name] for name in names) for key, one in scores.items()}
    ordered = by_system({name: scores[name] for name in runs if name in scores})
    lacks_first = system_of(next(iter(runs))) not in ordered
    return Scored(ordered, session.names_of(ordered), signature, evaluated, lacks_first)


def _say_lacking(
    session: Session, results: Mapping[str, StoredResult], lacking: Literal["noted", "refused"]
) -> None:
    """Note, or refuse, measures in only some results, so that none is dropped silently."""
    every = {metric.name for result in results.values() for metric in result.scores.metrics}
    for result in results.values():
        if missing := sorted(name for name in every if name not in result.scores):
            text = f"{visible(result.name)} lacks {', '.join(missing)}, which other results have"
            if lacking == "refused":
                raise DataError(f"{text}; expected the same measures, or those that decide by -m")
            session.note(f"{text}: left out")


def objects_of(
    path: str, text: str, torn: Literal["refused", "skipped"] = "refused"
) -> list[tuple[int, Any]]:
    """Return the JSON objects of a file with their lines: one document, or one per line.

    The last line of a log can be incomplete, and is skipped with a warning.
    """
    try:
        return [(1, _loaded(text))]
    except (ValueError, RecursionError) as problem:
        fault = str(problem)
    objects: list[tuple[int, Any]] = []
    *lines, last = text.split("\n")
    for number, line in enumerate([*lines, last], start=1):
        try:
            if line.strip():
                objects.append((number, _loaded(line)))
        except (ValueError, RecursionError) as problem:
            is_torn = number > len(lines) and isinstance(problem, json.JSONDecodeError)
            if torn == "refused" or not is_torn:
                fault = str(problem) if objects else fault  # of a document
                fault = f"not a ragkpi result file ({fault})"
                raise InputError(path, number if objects else None, fault, _EXPECTED) from None
            warn_of_torn_line(f"{path}:{number}", "skipped")
    return objects


def _loaded(text: str) -> Any:
    return json.loads(
        text, parse_constant=_finite, parse_float=_finite, parse_int=_whole, object_pairs_hook=once
    )


_DIGITS = 300  # of a whole number: more overflow a double


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not valid JSON")
    return number


def warn_of_torn_line(where: str, fate: str) -> None:
    """Warn of an incomplete record at the end of a log, from a killed process."""
    warnings.warn(
        f"{where}: the last line is incomplete, left by a process that was killed; it is {fate}",
        RagkpiWarning,
        stacklevel=3,
    )


def records_of(path: str, objects: Iterable[tuple[int, Any]]) -> list[dict[str, Any]]:
    """Return the records of runs in a document or on lines, without those of slices.

    Queries on their own lines join the run above them.
    """
    records: list[dict[str, Any]] = []
    for number, stored in objects:
        if not isinstance(stored, dict):
            raise InputError(path, number, "not a ragkpi result file (no values)", _EXPECTED)
        if "slice" in stored:
            continue
        if stored.get("kind") == "query" and records:
            for field, key in (("per_query", "values"), ("statistics", "statistics")):
                of_run = records[-1].setdefault(field, {})
                of_run[stored.get("query")] = stored.get(key, {})
            continue
        for run in stored["runs"] if isinstance(stored.get("runs"), list) else [stored]:
            _refuse_odd(path, number, run)
            records.append({"ragkpi": stored.get("ragkpi"), **run} if run is not stored else run)
    return records


def _refuse_odd(path: str, number: int, record: Any) -> None:
    """Raise `InputError` for objects other than records of runs, and for unwritable content."""
    if not isinstance(record, dict) or not isinstance(record.get("values"), dict):
        raise InputError(path, number, "not a ragkpi result file (no values)", _EXPECTED)
    for name, (kind, inner) in _FIELDS.items():
        one = record.get(name, kind())
        items = one.values() if isinstance(one, dict) else one
        if not isinstance(one, kind) or not all(isinstance(item, inner) for item in items):
            raise InputError(path, number, f"invalid {name} ({shown(repr(one))})", _EXPECTED)
    texts = {name: fields for name, fields in record.items() if name != "per_query"}
    try:  # Python's JSON reader accepts halves of surrogate pairs
        json.dumps(texts, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except ValueError as problem:
        raise InputError(path, number, f"invalid JSON ({problem})", _EXPECTED) from None
