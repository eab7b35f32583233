"""The inputs of `ragkpi depth`, turned into the same curves: runs, counts, rates, a log.

Source of the log: Bits-over-Random (github.com/repantis-ai/bits-over-random), `bor audit`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.column_names import plain_name, shown_names
from ragkpi.files.records import records_of
from ragkpi.interface import spell, with_progress
from ragkpi.library.doubts import in_extreme_orders
from ragkpi.library.session import Session
from ragkpi.measures.chance import Needed, corpus_size
from ragkpi.measures.measure import Metric, MetricScores, Scores, score
from ragkpi.questions.depth.study import (
    DEPTHS,
    Curve,
    Curves,
    Limits,
    Study,
    Value,
    at_each,
    count_values,
    decide_depth,
    rate_values,
    run_values,
    study_counts,
    usual_depths,
    values_of,
)
from ragkpi.ranking.judged import Judged, Settings, judged_from_counts
from ragkpi.ranking.reading import NOTHING_RETRIEVED, Hits
from ragkpi.statistics.bootstrap import Bootstrap, intervals
from ragkpi.wording import shown

_NOTED = ("bor", "recall")  # metrics of notes and warnings
_ESTIMATED = ("p_obs", "bor")  # tables have no room for more intervals
_DRAWN = ("p_obs", "p_rand", "bor", "bor_max")  # between the depths of the table, in charts


def curves_of_runs(
    session: Session,
    runs: Mapping[str, RunOrPath],
    depths: Sequence[int] | None,
    limits: Limits,
    resampling: Bootstrap,
    ci: bool,
) -> tuple[Curves, Judged]:
    """Study runs at the requested depths, or at the usual ones down to the end of the runs."""

    def values(at: Sequence[int]) -> list[Metric]:
        return session.with_grades(run_values(at, limits.needed))

    # Read first: the default depths depend on the runs, but reading does not depend on depths.
    hits = session.read(runs, session.needs(values(depths or DEPTHS)))
    retrieved = [run.num_ret for run in hits.values() if isinstance(run, Hits)]
    deepest = max((int(numbers.max(initial=1)) for numbers in retrieved), default=1)
    if session.settings.max_retrieved is not None:
        deepest = max(1, min(deepest, session.settings.max_retrieved))
    usual = usual_depths(deepest) if depths is None else [*depths]
    if depths and session.settings.corpus_size is not None and not session.settings.corpus_sizes:
        _refuse_above(session.settings.corpus_size, usual)  # before any note
    evaluated = session.evaluate_hits(hits, at_each(_NOTED, usual, limits.needed))
    for result in evaluated.values():
        _refuse_above(int(corpus_size(result.plain).min()), usual)
    orders = in_extreme_orders(evaluated, evaluated.metrics)
    studies, over_ties = [], []
    for path, result in with_progress(evaluated.items(), "depths", len(runs)):
        deepest = int(result.plain.num_ret.max())
        if usual[-1] > deepest:  # success cannot rise there, but chance does
            session.warn(
                f"no query has more than {deepest} documents, so beyond that only the random "
                f"baseline rises; give a deeper run, or {spell('at')} down to {deepest} ({path})"
            )
        rankings = [result, *(order[path] for order in orders if result.hits.is_tied)]
        study, *others = (decide_depth(one.plain, usual, limits, resampling) for one in rankings)
        studies.append(study)
        over_ties.append(others)
    named = {depth for study in studies for depth in study.named_depths}
    if depths is None:  # the table has the depths of the verdict
        usual = sorted({*usual, *named})
    named = {depth for depth in named if depth <= usual[-1]}
    between = sorted({*usual_depths(usual[-1]), *named}.difference(usual))  # few show no bend
    metrics = [*values(usual), *at_each(_DRAWN, between, limits.needed)]
    curves, estimated = [], []
    for result, study, others in zip(evaluated.values(), studies, over_ties, strict=True):
        judged, divisor, bounds = result.plain, result.scores.divisor, {}
        if ci:
            of_both = [m for m in values(usual) if m.measure.name in _ESTIMATED]
            estimated.append(score(judged, of_both, divisor))
            bounds = intervals(estimated[-1], resampling)
        columns = (score(judged, [metric], divisor).columns[0] for metric in metrics)
        curves.append(Curve(result.name, values_of(columns, bounds), study, others))
    studied = Curves(curves, usual, limits, resampling if ci else None, estimated)
    return studied, next(iter(evaluated.values())).plain


def _refuse_above(size: int, depths: Sequence[int]) -> None:
    if depths[-1] > size:
        raise UsageError(
            f"{spell('at')} {depths[-1]}: the corpus has only {size} documents; give a smaller K, "
            f"or {spell('corpus_size')} if it is larger"
        )


def curves_of_chance(
    session: Session,
    relevant: Sequence[int] | float | None,
    depths: Sequence[int] | None,
    limits: Limits,
    rates: Mapping[int, float],
) -> tuple[Curves, Judged]:
    """Study a random draw and a perfect system, from qrels or numbers of relevant documents.

    Published rates of success by depth replace a run; their depths are `depths`.
    """
    judged = _judged_without_run(session, relevant)
    size, study = int(corpus_size(judged).max()), study_counts(judged, limits)
    if rates:  # not enough to recommend a depth
        study = replace(study, choice=None)
    depths = depths or sorted({*usual_depths(size), *study.named_depths})
    _refuse_above(size, depths)
    columns: Iterable[MetricScores] = [
        column
        for depth, rate in rates.items()
        for column in rate_values(judged, depth, limits.needed, rate)
    ]
    if not rates:
        columns = score(judged, count_values(depths, limits.needed)).columns
    curve = Curve("", values_of(columns), study)
    success: Literal["judged", "rates"] = "rates" if rates else "judged"
    return Curves([curve], depths, limits, corpus_size=size, success=success), judged


def _judged_without_run(session: Session, relevant: Sequence[int] | float | None) -> Judged:
    """Judge an empty run, since a random draw needs only the numbers of relevant documents."""
    settings = session.settings
    if settings.corpus_size is None and not settings.corpus_sizes:
        alone = "qrels without a run" if relevant is None else spell("relevant")
        expected = f"give it with {spell('corpus_size')}"
        raise UsageError(f"{alone}: the number of candidates is missing; {expected}")
    if relevant is not None and settings.corpus_size is not None:
        numbers = _relevant_among(settings.corpus_size, relevant)
        return judged_from_counts(settings.corpus_size, numbers, settings)
    settings = replace(settings, missing="zero", doubts="said")
    every = replace(session, qrels=session.relevance, settings=settings)
    metrics = count_values([1], Needed())
    return every.evaluate_one(NOTHING_RETRIEVED, metrics).plain


def _relevant_among(size: int, relevant: Sequence[int] | float) -> Sequence[int]:
    """Return the number of relevant documents per query; a share is a share of N."""
    return [max(1, round(relevant * size))] if isinstance(relevant, float) else relevant


FIELDS = {
    "N": "n pool_size corpus_size num_candidates total_tools total_docs total",
    "K": "k depth top_k topk num_shown num_retrieved shortlist_size",
    "hit": "hit success found solved contains_relevant task_success label",
    "R": "r relevant num_relevant n_relevant relevant_count",
    "id": "qid query_id id request_id trace_id",
    "ids": "ids retrieved retrieved_ids shown results",
    "gold": "gold gold_ids relevant_ids expected",
}
"""The names of each field of an event; the first one present counts."""
_EXPECTED = {
    "N": "expected a whole number from 1",
    "K": "expected a whole number from 1",
    "R": "expected a whole number (for a share of N, log no R)",
    "hit": "expected yes or no, true or false, 1 or 0",
    "ids": "expected a list of ids",
    "gold": "expected a list of ids",
}
_DEFAULTS = {"N": "corpus_size", "R": "relevant"}  # arguments that replace a field
_HITS = {"true": True, "yes": True, "y": True, "1": True}
_HITS |= {"false": False, "no": False, "n": False, "0": False}


class Event(NamedTuple):
    """A retrieval of K of N documents, R of them relevant, and whether it succeeded."""

    id: str
    N: int
    K: int
    R: int
    hit: bool


def parse_fields(fields: str | Mapping[str, str] | None) -> dict[str, list[str]]:
    """Read ``N=corpus,K=shown``: other names of fields; `UsageError` for unknown fields."""
    if isinstance(fields, str):
        fields = dict(part.strip().partition("=")[::2] for part in fields.split(","))
    for name, key in (fields or {}).items():
        if name not in FIELDS or not key:
            expected = f"expected NAME=KEY of {', '.join(FIELDS)}, such as N=corpus,hit=ok"
            raise UsageError(f"{spell('map_log')} {name}={key}: {expected}")
    usual = {name: names.split() for name, names in FIELDS.items()}
    return usual | {name: [plain_name(key)] for name, key in (fields or {}).items()}


def read_events(
    log: str | Iterable[Mapping[str, object]],
    fields: Mapping[str, list[str]],
    needed: Needed,
    size: int | None = None,
    relevant: Sequence[int] | float | None = None,
) -> list[Event]:
    """Read an event per line (JSON Lines, or CSV with a header), or take mappings.

    `size` is the default of N, and `relevant` of R, as a number or as a share of N. Raises
    `InputError`, with the line, for an event that lacks a field or contradicts itself.
    """
    file, events = log if isinstance(log, str) else "log=", []
    for number, record in records_of(log, spell("log")):
        cells = {plain_name(key): cell for key, cell in record.items() if cell != ""}
        found = {
            name: next((cells[key] for key in keys if cells.get(key) is not None), None)
            for name, keys in fields.items()
        }
        try:
            events.append(_event(number, record, found, needed, size, relevant))
        except ValueError as problem:
            raise InputError(file, number, *problem.args) from None
    if not events:
        raise InputError(file, None, "no event", "expected a retrieval a line")
    return events


def _event(
    number: int,
    record: Mapping[str, object],
    found: Mapping[str, Any],
    needed: Needed,
    size: int | None,
    relevant: Sequence[int] | float | None,
) -> Event:
    """Complete the fields of an event; `ValueError` says what is wrong, and what is expected."""

    def wrong(name: str, value: Any) -> ValueError:
        if value is not None:
            return ValueError(f"{name} {shown(str(value))}", _EXPECTED[name])
        default = f"{spell(_DEFAULTS[name])}, or " if name in _DEFAULTS else ""
        named = f"{spell('map_log')} {name}=KEY with one of its keys"
        return ValueError(f"no {name}", f"expected {default}{named}, {shown_names(record)}")

    def whole(name: str, value: Any) -> int:
        text = str(value).removesuffix(".0")  # as pandas writes columns with a gap
        if text.isdecimal() and int(text) >= (name != "R"):
            return int(text)
        raise wrong(name, value)

    def ids_of(name: str, value: Any) -> list[str]:
        if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
            return [str(one) for one in value]
        raise wrong(name, value)

    R, ids, gold = found["R"], found["ids"], found["gold"]
    if isinstance(R, list):  # "relevant" can be a list of ids
        R, gold = None, gold or R
    N = whole("N", size if found["N"] is None else found["N"])
    if R is None and gold is not None:
        R = len({*ids_of("gold", gold)})
    elif R is None and relevant is not None:
        (R,) = _relevant_among(N, relevant)
    R = whole("R", R)
    K = found["K"]
    K = whole("K", len({*ids_of("ids", ids)}) if K is None and ids is not None else K)
    least = int(np.max(needed.of(np.array([R]))))
    hit = _HITS.get(str(found["hit"]).lower().removesuffix(".0"))
    if found["hit"] is None and ids is not None and gold is not None:
        hit = len({*ids_of("ids", ids)[:K]} & {*ids_of("gold", gold)}) >= least
    if hit is None:
        raise wrong("hit", found["hit"])
    if R > N or (hit and least > R):
        raise ValueError(
            f"R = {R} of N = {N}" + (" and a hit" if hit else ""),
            "expected at most as many relevant documents as candidates, and enough for a hit",
        )
    return Event(str(number if found["id"] is None else found["id"]), N, K, R, hit)


def curves_of_events(events: Sequence[Event], limits: Limits, bootstrap: Bootstrap) -> Curves:
    """Compare the success of events with random draws, for each K; all could succeed."""
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
        columns = rate_values(judged, K, limits.needed, hits)
        of_depth = [column for column in columns if column.metric.measure.name in _ESTIMATED]
        scores = Scores(b"", judged.queries, of_depth, len(some))
        values |= values_of(columns, intervals(scores, bootstrap))
        estimated += of_depth
    curve, every = Curve("", values, Study()), [Scores(b"", [], estimated, 0)]
    return Curves([curve], depths, limits, bootstrap, every, success="rates")
