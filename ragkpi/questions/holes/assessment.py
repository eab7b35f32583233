"""The unjudged documents to judge first, because their levels remove most uncertainty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import overload

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.interface import with_progress
from ragkpi.measures.measure import Metric
from ragkpi.questions.holes.assignments import (
    OTHER,
    UNRETRIEVED,
    Case,
    Holes,
    SmallInts,
    Trials,
    corners,
    is_tallied,
    scale,
    spread_of,
    tallied_left,
)
from ragkpi.questions.holes.study import HoleBounds

_UNJUDGED = -1
_ROUNDING = 1e-13
_NAMED_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Candidate:
    """A document to judge.

    Attributes
    ----------
    query, document
        Their ids.
    share
        The share of all uncertainty that knowing its level removes: the mean over the metrics, and
        over the lowest and the top level.
    runs, rank
        The number of runs that retrieve it, and its best rank.
    hole
        Its index among the holes.
    """

    query: bytes
    document: bytes
    share: float
    runs: int
    rank: int
    hole: int


class Candidates(Sequence[Candidate]):
    """The holes that matter, in the order in which to judge them.

    There may be millions, but people read five, so sorting goes only as far as needed: by the keys,
    (n,) each, of which the last is the primary one, then by ids.
    """

    def __init__(
        self, holes: Holes, share: FloatArray, keys: Sequence[FloatArray | SmallInts]
    ) -> None:
        self._holes, self._share, self._keys = holes, share, keys
        self._chosen = np.flatnonzero(share > 0)

    def __len__(self) -> int:
        return len(self._chosen)

    def __reduce__(self) -> tuple[type, tuple[list[Candidate]]]:
        return tuple, (list(self),)  # a pickle needs no runs

    @overload
    def __getitem__(self, index: int) -> Candidate: ...

    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...

    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        if not isinstance(index, slice):
            number = range(len(self))[index]
            return self[number : number + 1][0]
        numbers = range(len(self))[index]
        order = self._first(max(numbers[0], numbers[-1]) + 1) if numbers else self._chosen
        return list(self._named(order[np.array(numbers, dtype=np.int64)]))

    def __iter__(self) -> Iterator[Candidate]:
        order = self._first(len(self))
        for first in range(0, len(order), _NAMED_AT_ONCE):
            yield from self._named(order[first : first + _NAMED_AT_ONCE])

    def _first(self, count: int) -> IntArray:
        chosen, deciding = self._chosen, self._keys[-1]
        if count < len(chosen):
            last = np.partition(deciding[chosen], count - 1)[count - 1]
            chosen = chosen[deciding[chosen] <= last]
        documents = self._holes.documents(chosen).tolist()
        chosen = chosen[sorted(range(len(documents)), key=documents.__getitem__)]
        keys = [self._holes.query, *self._keys]
        return np.asarray(chosen[np.lexsort([key[chosen] for key in keys])])

    def _named(self, chosen: IntArray) -> Iterator[Candidate]:
        holes = self._holes
        queries = [holes.judgements.queries[query] for query in holes.query[chosen].tolist()]
        return map(
            Candidate,
            queries,
            holes.documents(chosen).tolist(),
            self._share[chosen].tolist(),
            (holes.rank[:, chosen] < UNRETRIEVED).sum(axis=0).tolist(),
            holes.best_rank[chosen].tolist(),
            chosen.tolist(),
        )


def candidates(bounds: HoleBounds) -> Candidates:
    """Return the holes that matter, in the order in which to judge them.

    The best ranks come first: one document alone may promise more, but many of a query promise
    the same twice, and most of them turn out worthless. Among equal ranks, those that remove most
    uncertainty come first if the values asked for are sums over documents (P, recall). Where only
    the number of documents of each level counts (RA-nWG), those that remove most come first.

    The uncertainty of a value of a query is its spread between the corner assignments: own holes
    all worthless or all at the top level, and other holes likewise. (For Bits-over-Random it is the
    spread of its numerator, success.) It is added up over runs and queries.
    """
    holes, runs, metrics = bounds.holes, bounds.runs, bounds.metrics
    total = np.zeros(len(holes))
    for metric in with_progress(metrics, "documents to judge", len(metrics)):
        removed = np.zeros(len(holes))
        numbers = range(len(runs.evaluations))
        trials = (
            runs.trials(run, metric) for run in with_progress(numbers, metric.name, len(numbers))
        )
        whole = sum(_remove(of_run, holes, removed) for of_run in trials)
        if whole > 0:
            total += removed / whole / len(metrics)
    searches = {metric.measure.bounds.search for metric in metrics}
    keys: list[FloatArray | SmallInts] = [holes.best_rank]
    if searches in ({"counts"}, {"corners"}):
        keys.insert(1 if searches == {"counts"} else 0, -np.round(total, 12))
    return Candidates(holes, total, keys)


def removed_together(bounds: HoleBounds, listed: Sequence[Candidate]) -> float:
    """Return the share of all uncertainty that judging the listed documents together removes.

    The shares of single documents do not add up, so judge all of them at once: the mean over the
    metrics, and over the lowest and the top level for all.
    """
    chosen = [candidate.hole for candidate in listed]
    metrics, runs = bounds.metrics, bounds.runs

    def spread(metric: Metric, holes: Holes) -> float:
        numbers = range(len(runs.evaluations))
        trials = [runs.trials(run, metric, holes) for run in numbers]
        return sum(float(_spread(of_run, Case.of_all(of_run.run)).sum()) for of_run in trials)

    to_measure = with_progress(metrics, "the first to judge", len(metrics))
    before = np.array([spread(metric, bounds.holes) for metric in to_measure])
    scales = [scale(metric, bounds.holes.judgements, runs.settings) for metric in metrics]
    ends = [(levels[0], levels[-1]) for levels in scales]
    after = np.zeros(len(metrics))
    # Level by level, to free the runs opened for one level before the next.
    distinct = sorted(set(chain.from_iterable(ends)))
    for level in with_progress(distinct, "the first to judge", len(distinct)):
        judged = bounds.holes.with_known(chosen, level)
        for number, metric in enumerate(with_progress(metrics, "measures", len(metrics))):
            after[number] += ends[number].count(level) * spread(metric, judged) / 2
    known = before > 0
    return float(np.sum(1 - after[known] / before[known]) / len(metrics)) if metrics else 0.0


def _remove(trials: Trials, holes: Holes, removed: FloatArray) -> float:
    """Add to `removed`, (n,), what each hole removes of a run's uncertainty; return the total."""
    run = trials.run
    query, place = np.nonzero(run.number >= 0)
    number = run.number[query, place]
    # Where the order does not matter, all own holes of a query remove the same.
    alike = trials.metric.measure.bounds.order == "ignored"
    if alike:
        tried = np.flatnonzero(run.num_own > 0)
        left = _left(trials, tried, np.zeros_like(tried))
    else:  # the slowest step comes first, because it reports progress
        tried = query
        quick = is_tallied(trials)
        left = tallied_left(trials, query, place) if quick else _left(trials, query, place)
    before = _spread(trials, Case.of_all(run))
    rows = np.flatnonzero(run.num_other > 0)
    of_others = np.zeros(len(before))
    of_others[rows] = _cleaned(before[rows] - _left(trials, rows, np.full(len(rows), OTHER)))
    if of_others.any():
        removed += np.append(of_others, 0.0)[holes.rows(run.judged.queries, run.cut)]
        removed[number] -= of_others[query]
    gain = _cleaned(before[tried] - left)
    removed[number] += gain[np.searchsorted(tried, query)] if alike else gain
    return float(before.sum())


def _left(trials: Trials, query: IntArray, known: IntArray) -> FloatArray:
    """Return the remaining spread once a hole is known, (n,): the mean over both ends."""
    if not len(query):
        return np.zeros(0)
    worthless, best = (
        _spread(trials, Case(query, known, np.full(len(query), level)))
        for level in with_progress((trials.scale[0], trials.scale[-1]), trials.metric.name, 2)
    )
    return (worthless + best) / 2


def _cleaned(gain: FloatArray) -> FloatArray:
    """Set rounding errors to 0, so that a hole without effect is no candidate."""
    return np.where(np.abs(gain) < _ROUNDING, 0.0, gain)


def _spread(trials: Trials, case: Case) -> FloatArray:
    """Spread of the first statistic over the corners, (n,); 0 where fewer than two are known."""
    return spread_of(corners(trials, case)[:, :, 0])


def assessment_lines(listed: Iterable[Candidate]) -> Iterator[bytes]:
    """Yield a header, then tab-separated lines of `query document share runs rank`."""
    yield b"query\tdocument\tshare\truns\tbest_rank\n"
    for candidate in listed:
        yield b"%b\t%b\t%.6g\t%d\t%d\n" % (
            candidate.query,
            candidate.document,
            candidate.share,
            candidate.runs,
            candidate.rank,
        )


def open_qrels_lines(listed: Iterable[Candidate]) -> Iterator[bytes]:
    """Yield qrels lines of level -1, "in the pool but unjudged", for assessors to edit."""
    for candidate in listed:
        yield b"%b 0 %b %d\n" % (candidate.query, candidate.document, _UNJUDGED)
