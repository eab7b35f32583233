"""The answer of `ragkpi holes`: values with their bounds, and the documents to judge first.

Documents whose levels remove most uncertainty come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, overload

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray, IntArray
from ragkpi.bounds.bounds import Bounded, HoleBounds, Swap
from ragkpi.bounds.search import Trials, spread_if_other_judged, spread_if_own_judged, spreads
from ragkpi.bounds.unjudged import Holes
from ragkpi.charts.chart import Axis, Chart, IntervalChart, IntervalRow, best_first, noted
from ragkpi.interface import with_progress
from ragkpi.reports.layout import ALL, Answer, Cell, Column
from ragkpi.wording import counted, decoded, listed, rounded

_ROUNDING = 1e-13
_SWAPS_NAMED = 3


@dataclass(frozen=True)
class Candidate:
    """A document to judge."""

    query: bytes
    document: bytes
    # The share of all uncertainty that its level removes: the mean over the metrics, and over the
    # lowest and the top level.
    share: float
    rank: int  # its best rank


class Candidates(Sequence[Candidate]):
    """The holes that matter, in judging order: millions, of which people read five."""

    def __init__(self, holes: Holes, share: FloatArray, order: IntArray) -> None:
        self._holes, self._share, self._order = holes, share, order

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...

    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...

    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        holes, hole = self._holes, int(self._order[index])
        return Candidate(
            holes.judgements.queries[holes.query[hole]],
            holes.document[hole],
            float(self._share[hole]),
            int(holes.best_rank[hole]),
        )


def candidates(bounds: HoleBounds) -> Candidates:
    """Return the holes that matter, in judging order.

    The best ranks come first: a deeper document can remove more uncertainty, but documents of one
    query remove the same uncertainty twice, and most are worthless. If the requested values are
    sums over documents (P, recall), equal ranks are ordered by the uncertainty that they remove. If
    only the number of documents at each level counts (RA-nWG), uncertainty comes before rank.

    The uncertainty of a query's value is its spread between the corner assignments: own holes all
    worthless or all at the top level, and other holes likewise. (For Bits-over-Random it is the
    spread of the numerator, success.) It is summed over runs and queries. A hole matters if judging
    it narrows that spread, on average over its lowest and its top level; a hole that moves a value
    only between the corners does not.
    """
    holes, runs, metrics = bounds.holes, bounds.runs, bounds.metrics
    removed, of_others = (
        {metric.name: np.zeros(size) for metric in metrics}
        for size in (len(holes), len(holes.judgements.queries))
    )
    uncertainty = {metric.name: 0.0 for metric in metrics}
    for block in runs.blocks("documents to judge"):
        for metric in with_progress(metrics, "measures", len(metrics)):
            of_metric = removed[metric.name][block.first :], of_others[metric.name]
            for run in with_progress(block.present, metric.name, len(block.present)):
                uncertainty[metric.name] += _remove(block.trials(run, metric), *of_metric)
    total = np.zeros(len(holes))
    for metric in metrics:
        if uncertainty[metric.name] > 0:
            of_query = of_others[metric.name][holes.query]
            both = removed.pop(metric.name) + np.where(runs.varies(metric.depth), of_query, 0.0)
            total += both / uncertainty[metric.name] / len(metrics)
    searches = {metric.measure.bounds.search for metric in metrics}
    chosen = np.flatnonzero(total > 0)
    keys: list[FloatArray | IntArray] = [holes.query, holes.best_rank]  # the last one comes first
    if searches in ({"counts"}, {"corners"}):
        keys.insert(2 if searches == {"counts"} else 1, -np.round(total, 12))
    return Candidates(holes, total, chosen[np.lexsort([key[chosen] for key in keys])])


def _remove(trials: Trials, removed: FloatArray, of_others: FloatArray) -> float:
    """Add the uncertainty of a run that each hole removes, and return the run's total.

    The part of each own hole goes to `removed`, (n,), that of any other hole of a query to
    `of_others`, (J,). Own holes are not other holes, so `removed` subtracts that part.
    """
    run, before, after = trials.run, spreads(trials), spread_if_own_judged(trials)
    query, place = np.nonzero(run.number >= 0)
    number = run.number[query, place]
    removed[number] += _cleaned(before[query] - after[query, place])
    if run.num_other.any():
        by_other = _cleaned(before - spread_if_other_judged(trials))
        removed[number] -= by_other[query]
        of_others += np.append(by_other, 0.0)[run.row]
    return float(before.sum())


def _cleaned(gain: FloatArray) -> FloatArray:
    """Set rounding errors to 0, so that a hole without effect is not a candidate."""
    return np.where(np.abs(gain) < _ROUNDING, 0.0, gain)


def holes_answer(
    bounds: HoleBounds,
    names: Sequence[str],
    listed: Sequence[Candidate],
    first: int,
    per_query: Literal["hidden", "shown"],
) -> Answer:
    """Put bounds into words, and name the first `listed` documents to judge."""
    columns = [
        *map(Column, ("measure", "run", "query")),
        *(Column(name, "decimal") for name in ("judged", "value", "min", "max")),
        Column("width", "decimal", legend="max - min"),
    ]
    rows = [
        row
        for bounded in bounds.bounded
        for row in _rows(bounds, bounded, names[bounded.run], per_query)
    ]
    named = listed[:first]
    explanation = [*_about_swaps(bounds, names), *_computed(bounds, names)]
    use: Literal["read", "data"] = "read" if _can_change(bounds) else "data"
    return Answer(
        columns,
        rows,
        list(_notes(bounds)),
        verdict=[" ".join(_verdict(bounds, names, named, len(listed)))],
        explanation=explanation,
        use=use,
        question="holes",
        findings=_findings(bounds, names, named),
        heads=2,
    )


def _rows(
    bounds: HoleBounds, bounded: Bounded, name: str, per_query: Literal["hidden", "shown"]
) -> Iterator[list[Cell]]:
    metric = bounded.metric

    def row(query: bytes | str, judged: float | None, *value: float) -> list[Cell]:
        _, low, high = value
        numbers = [Cell(x, style=metric.measure.style) for x in (*value, _width(low, high))]
        return [*map(Cell, (metric.name, name, query, judged)), *numbers]

    if per_query == "shown" and metric.is_printed("query"):
        values = (bounded.each_now.tolist(), bounded.each_low.tolist(), bounded.each_high.tolist())
        for query, *value in zip(bounded.queries, *values, strict=True):
            yield row(query, None, *value)
    if metric.is_printed("summary"):
        judged = bounds.judged[metric.depth][bounded.run]
        yield row(ALL, judged, bounded.now, bounded.low, bounded.high)


def _width(low: float, high: float) -> float:
    return 0.0 if low == high else high - low


def _can_change(bounds: HoleBounds) -> bool:
    """Return whether any value, over all queries or of one of them, can change."""
    return any(
        b.low != b.high or not np.array_equal(b.each_low, b.each_high, equal_nan=True)
        for b in bounds.bounded
    )


def _notes(bounds: HoleBounds) -> Iterator[str]:
    if any(b.low != b.high and bounds.judged[b.metric.depth][b.run] == 1 for b in bounds.bounded):
        yield (
            "a fully judged run can still have a range: unjudged documents of other runs, or below "
            "the cutoff, affect R and the ideal ranking"
        )
    by_reason = sorted(bounds.refused, key=lambda pair: pair[1])
    for reason, group in groupby(by_reason, key=lambda pair: pair[1]):
        yield f"left out: {', '.join(metric.name for metric, _ in group)}: {reason}"


def _computed(bounds: HoleBounds, names: Sequence[str]) -> Iterator[str]:
    runs = "the run retrieves" if len(names) == 1 else "any of the runs retrieves"
    yield f"min, max: over every way to judge the unjudged documents that {runs}"
    wide = dict.fromkeys(bounded.metric.name for bounded in bounds.bounded if not bounded.exact)
    yield f"exact but for {', '.join(wide)}, which may be narrower" if wide else "all are exact"
    yield "judged: share of the retrieved documents, down to the measure's cutoff, that is judged"


def _verdict(
    bounds: HoleBounds, names: Sequence[str], named: Sequence[Candidate], among: int
) -> Iterator[str]:
    if not bounds.bounded:
        yield "No chosen measure can be bounded."
        return
    count = len(bounds.holes)
    if not count:
        yield "No unjudged document is retrieved: nothing can change."
        return
    holes = f"{counted(count, 'unjudged document')} {'is' if count == 1 else 'are'} retrieved"
    summaries = [bounded for bounded in bounds.bounded if bounded.metric.is_printed("summary")]
    if not _can_change(bounds):
        yield f"{holes}. They cannot change any value{_measures(bounds, 'of')}."
    elif len(names) > 1:
        yield f"{holes}. {_effect(bounds, names)}."
    elif summaries:
        first, *_ = summaries
        style = first.metric.measure.style
        now, low, high = (rounded(n, style) for n in (first.now, first.low, first.high))
        could = "stays as it is" if low == high else f"could be anything from {low} to {high}"
        yield f"{holes}. {first.metric.name} is {now} and {could}."
    else:
        yield f"{holes}."
    if named:
        documents = ", ".join(map(_document, named))
        yield f"Judge first: {documents} ({len(named)} of {among} that can change a value)."


def _document(candidate: Candidate) -> str:
    return f"{decoded(candidate.document)} for {decoded(candidate.query)}"


def _effect(bounds: HoleBounds, names: Sequence[str]) -> str:
    """Say whether the holes could change which run is best, or only the order behind it."""
    values = {(b.metric.name, b.run): b.metric.measure.sign * b.now for b in bounds.bounded}
    best = {m.name: max(x for (of, _), x in values.items() if of == m.name) for m in bounds.metrics}
    at_the_top = [  # there can be several best runs
        s for s in bounds.swaps if values[s.metric.name, s.better] >= best[s.metric.name] - ROUNDING
    ]
    pairs = len({frozenset((swap.worse, swap.better)) for swap in at_the_top or bounds.swaps})
    if at_the_top:
        surest = max(at_the_top, key=lambda swap: swap.certain)
        first, could = _in_words(surest, names), "could" if surest.certain else "might"
        measures = [s.metric.name.encode() for s in at_the_top if _in_words(s, names) == first]
        others = f", and {counted(pairs - 1, 'more pair')}" if pairs > 1 else ""
        return f"They {could} change which run is best: {first} in {listed(measures, 2)}{others}"
    if pairs:
        behind = f"only the order of {counted(pairs, 'pair')} of runs behind it"
        return f"They cannot change which run is best{_measures(bounds, 'by')}, {behind}"
    return f"They cannot change the order of any two runs{_measures(bounds, 'by')}"


def _in_words(swap: Swap, names: Sequence[str]) -> str:
    """Say that a run could pass another, or that it might, as far as bounds tell."""
    could = "could" if swap.certain else "might"
    return f"{names[swap.worse]} {could} pass {names[swap.better]}"


def _measures(bounds: HoleBounds, preposition: str) -> str:
    """Name the bounded measures if others have no bounds; else ""."""
    names = listed([metric.name.encode() for metric in bounds.metrics], 2)
    return f" {preposition} {names}" if bounds.refused else ""


def _about_swaps(bounds: HoleBounds, names: Sequence[str]) -> Iterator[str]:
    for metric in bounds.metrics if len(names) > 1 else ():
        swaps = [_in_words(s, names) for s in bounds.swaps if s.metric.name == metric.name]
        more = len(swaps) - _SWAPS_NAMED
        others = f", and {counted(more, 'more')}" if more > 0 else ""
        named = ", ".join(swaps[:_SWAPS_NAMED]) or "no two runs can change places"
        yield f"{metric.name}: {named}{others}."


def _findings(
    bounds: HoleBounds, names: Sequence[str], first: Sequence[Candidate]
) -> dict[str, Any]:
    return {
        "judged": [
            {"run": name, "depth": depth, "judged": shares[place]}
            for depth, shares in bounds.judged.items()
            for place, name in enumerate(names)
        ],
        "swaps": [
            {
                "measure": swap.metric.name,
                "better": names[swap.better],
                "worse": names[swap.worse],
                "certain": swap.certain,
            }
            for swap in bounds.swaps
        ],
        "left_out": [
            {"measure": metric.name, "reason": reason} for metric, reason in bounds.refused
        ],
        "exact": {bounded.metric.name: bounded.exact for bounded in bounds.bounded},
        "unjudged": len(bounds.holes),
        "first": [vars(candidate) for candidate in first],
    }


_TITLE = "What unjudged documents could change"


def holes_charts(bounds: HoleBounds, names: Sequence[str]) -> list[Chart]:
    """Draw the interval of every value.

    With several runs, each measure has a chart, which shows overlaps. With one run, all values from
    0 to 1 share a chart. Without unjudged documents there is no chart.
    """
    if not len(bounds.holes):
        return []
    summaries = [bounded for bounded in bounds.bounded if bounded.metric.is_printed("summary")]
    if len(names) > 1:
        metrics = dict.fromkeys(bounded.metric.name for bounded in summaries)
        charts = [
            _chart(name, [(names[b.run], b.run, b) for b in summaries if b.metric.name == name])
            for name in metrics
        ]
    else:
        together = [b for b in summaries if b.low >= 0 and b.high <= 1]
        groups = [together, *([b] for b in summaries if not (b.low >= 0 and b.high <= 1))]
        charts = [
            _chart(_TITLE, [(b.metric.name, 0, b) for b in group]) for group in groups if group
        ]
    holes = counted(len(bounds.holes), "unjudged document")
    notes = [f"{holes} retrieved; point: current value, bar: possible range"]
    if bounds.refused:
        refused = ", ".join(metric.name for metric, _ in bounds.refused)
        notes.append(f"not drawn, because they cannot be bounded: {refused}")
    return noted(charts or [_chart(_TITLE, [])], notes)


def _chart(title: str, rows: Sequence[tuple[str, int, Bounded]]) -> Chart:
    """Draw bounds as rows with names, in the colours of their runs."""
    intervals = [
        IntervalRow(name, bounded.low, bounded.now, bounded.high, series=run)
        for name, run, bounded in rows
    ]
    if len({bounded.metric.name for *_, bounded in rows}) == 1:  # by run
        intervals = best_first(intervals, rows[0][2].metric.measure.sign)
    return IntervalChart(title, Axis("current value and possible range"), intervals)
