"""Logs of retrieval events: success against chance where there is no ranking to look at.

Source: Bits-over-Random (github.com/repantis-ai/bits-over-random), `bor audit`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.files.column_names import find, plain_name, shown_names
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
    "N": "n pool_size corpus_size num_candidates total_tools total_docs total",
    "K": "k depth top_k topk num_shown num_retrieved shortlist_size",
    "hit": "hit success found solved contains_relevant task_success label",
    "R": "r relevant num_relevant n_relevant relevant_count",
    "id": "qid query_id id request_id trace_id",
    "ids": "ids retrieved retrieved_ids shown results",
    "gold": "gold gold_ids relevant_ids expected",
}
"""The names of each field of an event, of which the first that it has counts."""
_EXPECTED = {
    "N": "expected a whole number from 1",
    "K": "expected a whole number from 1",
    "R": "expected a whole number (for a share of N, log no R)",
    "hit": "expected yes or no, true or false, 1 or 0",
    "ids": "expected a list of ids",
    "gold": "expected a list of ids",
}
_DEFAULTS = {"N": "corpus_size", "R": "relevant"}  # arguments in place of a field
_HITS = {"true": True, "yes": True, "y": True, "1": True}
_HITS |= {"false": False, "no": False, "n": False, "0": False}
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
    return usual | {name: [plain_name(key)] for name, key in (fields or {}).items()}


def read_events(
    log: Any, fields: Mapping[str, list[str]], defaults: Defaults, limits: Limits
) -> list[Event]:
    """Read an event a line (JSON Lines, or CSV with a header), or take mappings.

    Raises `InputError`, with the line, for an event that lacks a field or contradicts itself.
    """
    events: list[Event] = []
    file, keys_of = log if isinstance(log, str) else "log=", lru_cache(maxsize=1000)(find)
    for number, record in _records(log) if isinstance(log, str) else enumerate(log, 1):
        if not isinstance(record, Mapping):
            raise InputError(file, number, "no object", "expected an event with its fields")
        of: dict[str, Any] = {}
        for name, names in fields.items():
            key = keys_of(tuple(record), tuple(names))
            of[name] = None if key is None or record[key] == "" else record[key]
        try:
            events.append(_event(number, of, defaults, limits))
        except _MissingFieldError as missing:
            (name,) = missing.args
            default = f"{spell(_DEFAULTS[name])}, or " if name in _DEFAULTS else ""
            named = f"{spell('map_log')} {name}=KEY with one of its keys"
            expected = f"expected {default}{named}, {shown_names(record)}"
            raise InputError(file, number, f"no {name}", expected) from None
        except ValueError as problem:
            raise InputError(file, number, *problem.args) from None
    if not events:
        raise InputError(file, None, "no event", "expected a retrieval a line")
    return events


class _MissingFieldError(Exception):
    """The name of a field that an event lacks."""


def _records(path: str) -> Iterator[tuple[int, Any]]:
    with Source(path) as source:
        yield from read_records(source)


def _event(number: int, of: Mapping[str, Any], defaults: Defaults, limits: Limits) -> Event:
    """Complete the fields of an event; `ValueError` says what is wrong, and what was expected."""
    R, ids, gold = of["R"], of["ids"], of["gold"]
    if isinstance(R, list):  # "relevant" may be a list of ids
        R, gold = None, gold or R
    N = _whole("N", defaults.N if of["N"] is None else of["N"])
    if R is None and gold is not None:
        R = len({*_ids("gold", gold)})
    elif R is None and defaults.relevant is not None:
        (R,) = relevant_among(N, defaults.relevant)
    R = _whole("R", R)
    K = _whole("K", len({*_ids("ids", ids)}) if of["K"] is None and ids is not None else of["K"])
    least = int(np.max(limits.needed.of(np.array([R]))))
    hit = _HITS.get(str(of["hit"]).lower().removesuffix(".0"))
    if of["hit"] is None and ids is not None and gold is not None:
        hit = len({*_ids("ids", ids)[:K]} & {*_ids("gold", gold)}) >= least
    if hit is None:
        raise _wrong("hit", of["hit"])
    if R > N or (hit and least > R):
        what = f"R = {R} of N = {N}" + (" and a hit" if hit else "")
        raise ValueError(
            what, "expected no more relevant documents than there are, and enough for a hit"
        )
    return Event(str(number if of["id"] is None else of["id"]), N, K, R, hit)


def _wrong(name: str, value: Any) -> Exception:
    wrong = ValueError(f"{name} {shown(str(value))}", _EXPECTED[name])
    return _MissingFieldError(name) if value is None else wrong


def _whole(name: str, value: Any) -> int:
    text = str(value).removesuffix(".0")  # as pandas writes columns with a gap
    if text.isdecimal() and int(text) >= (name != "R"):
        return int(text)
    raise _wrong(name, value)


def _ids(name: str, value: Any) -> list[str]:
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        return [str(one) for one in value]
    raise _wrong(name, value)


def curves_of_events(events: Sequence[Event], limits: Limits, bootstrap: Bootstrap) -> Curves:
    """Set the success of events against chance, for each K; success was possible in all."""
    values: dict[tuple[str, int], Value] = {}
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
        values |= values_of(of_log, intervals(scores.only(of_depth), bootstrap))
        estimated += of_depth
    every = [Scores(b"", [], estimated, 0)]
    curve = Curve("", values, Study())
    return Curves([curve], depths, limits, bootstrap, every, success="logged")
