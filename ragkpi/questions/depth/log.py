"""Logs of retrieval events: success against chance where there is no ranking to look at.

Source: Bits-over-Random (github.com/repantis-ai/bits-over-random), `bor audit`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.files.opening import Source
from ragkpi.files.query_files import read_records
from ragkpi.interface import spell
from ragkpi.measures.measure import MetricScores, Scores, score
from ragkpi.questions.depth.study import (
    Curve,
    Curves,
    Limits,
    Study,
    Value,
    at_each,
    values_of,
    with_success,
)
from ragkpi.ranking.judged import Settings, judged_from_counts
from ragkpi.statistics.bootstrap import Bootstrap, intervals
from ragkpi.wording import shown

FIELDS = {
    "N": "N n pool_size corpus_size num_candidates total_tools total_docs total",
    "K": "K k depth top_k topk num_shown num_retrieved shortlist_size",
    "hit": "hit success found solved contains_relevant task_success label",
    "R": "R r relevant num_relevant n_relevant relevant_count",
    "id": "qid query_id id request_id trace_id",
    "ids": "ids retrieved retrieved_ids shown results",
    "gold": "gold gold_ids relevant_ids expected",
}
"""The names of each field of an event, of which the first that it has counts."""
_HITS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_MEASURES = ("p_obs", "p_rand", "ef", "bor", "bor_max", "bor_max_qmean", "lambda", "collapse")
_ESTIMATED = ("p_obs", "bor")


class Event(NamedTuple):
    """A retrieval of K of N documents, R of them relevant, and whether it succeeded."""

    id: str
    N: int
    K: int
    R: int
    hit: bool


class Defaults(NamedTuple):
    """What holds for events that do not say: N, and R or the share of N that R is."""

    N: int | None = None
    relevant: Sequence[int] | float | None = None


def relevant_among(size: int, relevant: Sequence[int] | float) -> Sequence[int]:
    """Return how many of N documents are relevant, for each query; a share is one of N."""
    return [max(1, round(relevant * size))] if isinstance(relevant, float) else relevant


def parse_fields(fields: str | Mapping[str, str] | None) -> dict[str, list[str]]:
    """Read ``N=corpus,K=shown``: other names of fields; `UsageError` for fields that are none."""
    if isinstance(fields, str):
        fields = dict(part.strip().partition("=")[::2] for part in fields.split(","))
    for name, key in (fields or {}).items():
        if name not in FIELDS or not key:
            expected = f"expected NAME=KEY of {', '.join(FIELDS)}, such as N=corpus,hit=ok"
            raise UsageError(f"{spell('map_log')} {name}={key}: {expected}")
    usual = {name: names.split() for name, names in FIELDS.items()}
    return usual | {name: [key] for name, key in (fields or {}).items()}


def read_events(
    log: Any, fields: Mapping[str, list[str]], defaults: Defaults, limits: Limits
) -> list[Event]:
    """Read an event a line (JSON Lines, or CSV with a header), or take mappings.

    Raises `InputError`, with the line, for an event that lacks a field or contradicts itself.
    """
    records = _records(log) if isinstance(log, str) else enumerate(log, 1)
    events = []
    for number, record in records:
        try:
            of = {
                name: next((record[key] for key in keys if record.get(key) not in (None, "")), None)
                for name, keys in fields.items()
            }
            events.append(_event(number, of, defaults, limits))
        except (AttributeError, ValueError) as problem:
            what = str(problem) if isinstance(problem, ValueError) else "no object"
            expected = "expected N, K and R, whole numbers, and hit, or ids and gold"
            raise InputError(
                log if isinstance(log, str) else "log=", number, what, expected
            ) from None
    return events


def _records(path: str) -> Iterator[tuple[int, Any]]:
    with Source(path) as source:
        yield from read_records(source)


def _event(number: int, of: Mapping[str, Any], defaults: Defaults, limits: Limits) -> Event:
    """Complete the fields of an event; `ValueError` says what is wrong with it."""
    of_R, gold = (
        (None, of["gold"] or of["R"]) if isinstance(of["R"], list) else (of["R"], of["gold"])
    )
    names, useful = (
        {*map(str, ids)} if isinstance(ids, list) else None for ids in (of["ids"], gold)
    )
    N = _whole("N", defaults.N if of["N"] is None else of["N"], 1)
    R = None if defaults.relevant is None else relevant_among(N, defaults.relevant)[0]
    R = len(useful) if useful is not None else R
    R = _whole("R", R if of_R is None else of_R, 0)
    K = _whole("K", len(names) if names is not None and of["K"] is None else of["K"], 1)
    least = int(np.max(limits.needed.of(np.array([R]))))
    hit = _HITS.get(str(of["hit"]).lower())
    if of["hit"] is None and names is not None and useful is not None:
        hit = len({*map(str, of["ids"][:K])} & useful) >= least
    if hit is None:
        raise ValueError("no hit" if of["hit"] is None else f"hit {shown(str(of['hit']))}")
    if R > N or (hit and least > R):
        raise ValueError(f"R = {R} of N = {N}" + (" and a hit" if hit else ""))
    return Event(str(number if of["id"] is None else of["id"]), N, K, R, hit)


def _whole(name: str, value: Any, least: int) -> int:
    if str(value).isdecimal() and int(value) >= least:
        return int(value)
    raise ValueError(f"no {name}" if value is None else f"{name} {shown(str(value))}")


def curves_of_events(events: Sequence[Event], limits: Limits, bootstrap: Bootstrap) -> Curves:
    """Set the success of events against chance, for each K; success was possible in all."""
    values: list[Value] = []
    estimated: list[MetricScores] = []
    depths = sorted({event.K for event in events})
    for K in depths:
        some = [event for event in events if event.K == K]
        sizes, hits = np.array([event.N for event in some]), np.array([event.hit for event in some])
        judged = replace(
            judged_from_counts(int(sizes.max()), [event.R for event in some], Settings()),
            queries=[event.id.encode("utf-8", "surrogateescape") for event in some],
            corpus_size=sizes,
        )
        scores = score(judged, at_each(_MEASURES, [K], limits.needed))
        of_log = [with_success(column, hits) for column in scores.columns]
        of_depth = [column for column in of_log if column.metric.measure.name in _ESTIMATED]
        values += values_of(of_log, intervals(scores.only(of_depth), bootstrap))
        estimated += of_depth
    every = [Scores(b"", [], estimated, 0)]
    curve = Curve("", values, Study())
    return Curves([curve], depths, limits, bootstrap, every, success="logged")
