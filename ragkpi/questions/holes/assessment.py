"""The unjudged documents to judge first, because their levels remove most uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.bounds.bounds import HoleBounds
from ragkpi.bounds.search import Trials, spread_if_one_judged, spreads
from ragkpi.bounds.unjudged import Holes, SmallInts
from ragkpi.interface import with_progress

_ROUNDING = 1e-13
_NAMED_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Candidate:
    """A document to judge."""

    query: bytes
    document: bytes
    # Of all uncertainty, what knowing its level removes: the mean over the metrics, and over the
    # lowest and the top level.
    share: float
    runs: int  # that retrieve it
    rank: int  # its best one


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
        documents = self._holes.document.take(chosen).tolist()
        chosen = chosen[sorted(range(len(documents)), key=documents.__getitem__)]
        keys = [self._holes.query, *self._keys]
        return np.asarray(chosen[np.lexsort([key[chosen] for key in keys])])

    def _named(self, chosen: IntArray) -> Iterator[Candidate]:
        holes = self._holes
        queries = [holes.judgements.queries[query] for query in holes.query[chosen].tolist()]
        return map(
            Candidate,
            queries,
            holes.document.take(chosen).tolist(),
            self._share[chosen].tolist(),
            holes.num_runs[chosen].tolist(),
            holes.best_rank[chosen].tolist(),
        )


def candidates(bounds: HoleBounds) -> Candidates:
    """Return the holes that matter, in the order in which to judge them.

    The best ranks come first: one document alone may promise more, but many of a query promise
    the same twice, and most of them turn out worthless. Among equal ranks, those that remove most
    uncertainty come first if the values asked for are sums over documents (P, recall). Where only
    the number of documents of each level counts (RA-nWG), those that remove most come first.

    The uncertainty of a value of a query is its spread between the corner assignments: own holes
    all worthless or all at the top level, and other holes likewise. (For Bits-over-Random it is the
    spread of its numerator, success.) It is added up over runs and queries. A hole matters if
    judging it narrows that spread, on average over its lowest and its top level; one that moves a
    value only between the corners does not.
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
    keys: list[FloatArray | SmallInts] = [holes.best_rank]
    if searches in ({"counts"}, {"corners"}):
        keys.insert(1 if searches == {"counts"} else 0, -np.round(total, 12))
    return Candidates(holes, total, keys)


def _remove(trials: Trials, removed: FloatArray, of_others: FloatArray) -> float:
    """Add up what holes remove of a run's uncertainty, and return the total.

    Each own hole's part goes to `removed`, (n,), that of one of the other holes of a query to
    `of_others`, (J,). Own holes are not among these, so `removed` makes up for it.
    """
    run, before = trials.run, spreads(trials)
    query, place = np.nonzero(run.number >= 0)
    number = run.number[query, place]
    removed[number] += _cleaned(before[query] - spread_if_one_judged(trials))
    if run.num_other.any():
        by_other = _cleaned(before - spreads(trials, np.minimum(run.num_other, 1)))
        removed[number] -= by_other[query]
        of_others += np.append(by_other, 0.0)[run.row]
    return float(before.sum())


def _cleaned(gain: FloatArray) -> FloatArray:
    """Set rounding errors to 0, so that a hole without effect is no candidate."""
    return np.where(np.abs(gain) < _ROUNDING, 0.0, gain)
