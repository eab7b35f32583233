"""Which unjudged documents to judge first: those whose level removes most uncertainty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import overload

import numpy as np

from ragkpi.evaluation import Evaluation
from ragkpi.measures.measure import Metric
from ragkpi.progress import steps
from ragkpi.ranking.judged import FloatArray, IntArray
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass
from ragkpi.studies.holes.assignments import OTHER, Case, Trials, corners, scale
from ragkpi.studies.holes.holes_study import HoleBounds, trials_of
from ragkpi.studies.holes.tallied_search import is_tallied, spread_of, tallied_left
from ragkpi.studies.holes.unjudged_documents import UNRETRIEVED, Holes, SmallInts

_UNJUDGED = -1
_ROUNDING = 1e-13
_NAMED_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Candidate:
    """A document for an assessor.

    Attributes
    ----------
    query, document
        Their ids.
    share
        The share of all uncertainty that is gone when its level is known: the mean over the
        values, and over its being worthless and its being of the top level.
    runs, rank
        How many runs retrieve it, and the best rank that one has it at.
    hole
        Its number among the holes.
    """

    query: bytes
    document: bytes
    share: float
    runs: int
    rank: int
    hole: int


class Candidates(Sequence[Candidate]):
    """The holes that matter, those first that are worth an assessor's time first.

    There may be millions of them, of which five are named: they are put in order as they are
    asked for.

    Parameters
    ----------
    holes
        All holes.
    share : (n,)
        What each removes.
    keys
        What orders holes, (n,) each, the deciding one last; equal ones stand by their ids.
    """

    def __init__(
        self, holes: Holes, share: FloatArray, keys: Sequence[FloatArray | SmallInts]
    ) -> None:
        self._holes, self._share, self._keys = holes, share, keys
        self._chosen = np.flatnonzero(share > 0)

    def __len__(self) -> int:
        return len(self._chosen)

    def __reduce__(self) -> tuple[type, tuple[list[Candidate]]]:
        return tuple, (list(self),)  # pickled, they are put in order: nobody needs the runs then

    @overload
    def __getitem__(self, index: int) -> Candidate: ...

    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...

    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        """Return one candidate, or some."""
        if not isinstance(index, slice):
            place = range(len(self))[index]
            return self[place : place + 1][0]
        places = range(len(self))[index]
        order = self._first(max(places[0], places[-1]) + 1) if places else self._chosen
        return list(self._candidates(order[np.array(places, dtype=np.int64)]))

    def __iter__(self) -> Iterator[Candidate]:
        order = self._first(len(self))
        for first in range(0, len(order), _NAMED_AT_ONCE):
            yield from self._candidates(order[first : first + _NAMED_AT_ONCE])

    def _first(self, count: int) -> IntArray:
        """Return the numbers of the first holes."""
        chosen, deciding = self._chosen, self._keys[-1]
        if count < len(chosen):
            last = np.partition(deciding[chosen], count - 1)[count - 1]
            chosen = chosen[deciding[chosen] <= last]
        documents = self._holes.documents(chosen).tolist()
        chosen = chosen[sorted(range(len(documents)), key=documents.__getitem__)]
        keys = [self._holes.query, *self._keys]
        return np.asarray(chosen[np.lexsort([key[chosen] for key in keys])])

    def _candidates(self, chosen: IntArray) -> Iterator[Candidate]:
        holes = self._holes
        columns = zip(
            holes.query[chosen].tolist(),
            holes.documents(chosen).tolist(),
            self._share[chosen].tolist(),
            (holes.rank[:, chosen] < UNRETRIEVED).sum(axis=0).tolist(),
            holes.best_rank[chosen].tolist(),
            chosen.tolist(),
            strict=True,
        )
        for query, *rest in columns:
            yield Candidate(holes.judgements.queries[query], *rest)


def candidates(
    bounds: HoleBounds,
    evaluations: Sequence[Evaluation],
    settings: Settings,
) -> Candidates:
    """Return the holes that matter, those first that are worth an assessor's time first.

    The best ranks come first: one document alone may promise more, but many of a query promise
    the same twice, and most of them turn out worthless. Among equal ranks, those that remove most
    uncertainty come first if the values asked for are sums over documents (P, recall). Where only
    the number of documents of each level counts (RA-nWG), those that remove most come first.

    The uncertainty of a value of a query is its spread between the corner assignments: own holes
    all worthless or all at the top level, and so the others. (Of Bits-over-Random it is that of
    its numerator, success.) It is added up over runs and queries.
    """
    holes = bounds.holes
    total = np.zeros(len(holes))
    metrics = {bounded.metric.name: bounded.metric for bounded in bounds.bounded}
    for metric in steps(metrics.values(), "documents to judge", len(metrics)):
        removed = np.zeros(len(holes))
        whole = 0.0
        for run, evaluation in enumerate(steps(evaluations, metric.name, len(evaluations))):
            trials = trials_of(holes, run, evaluation, metric, settings, bounds.within)
            whole += _remove(trials, holes, removed)
        if whole > 0:
            removed /= whole
            removed /= len(metrics)
            total += removed
    searches = {metric.measure.bounds.search for metric in metrics.values()}
    keys: list[FloatArray | SmallInts] = [holes.best_rank]
    if searches in ({"counts"}, {"corners"}):
        keys.insert(1 if searches == {"counts"} else 0, -np.round(total, 12))
    return Candidates(holes, total, keys)


def removed_together(
    bounds: HoleBounds,
    evaluations: Sequence[Evaluation],
    settings: Settings,
    listed: Sequence[Candidate],
) -> float:
    """Return the share of all uncertainty that is gone when some documents are judged together.

    It is computed with all of them judged, for the shares of single documents do not add up: the
    mean over the values, and over their being worthless and their being of the top level.
    """
    chosen = [candidate.hole for candidate in listed]
    metrics = list({bounded.metric.name: bounded.metric for bounded in bounds.bounded}.values())
    runs = list(enumerate(evaluations))

    def spread(metric: Metric, holes: Holes) -> float:
        trials = [trials_of(holes, *run, metric, settings, bounds.within) for run in runs]
        return sum(float(_spread(of_run, Case.of_all(of_run.run)).sum()) for of_run in trials)

    asked = steps(metrics, "the first to judge", len(metrics))
    before = np.array([spread(metric, bounds.holes) for metric in asked])
    scales = [scale(metric, bounds.holes.judgements, settings) for metric in metrics]
    ends = [(levels[0], levels[-1]) for levels in scales]
    after = np.zeros(len(metrics))
    # Level by level: what is opened for one is not kept for the next.
    distinct = sorted(set(chain.from_iterable(ends)))
    for level in steps(distinct, "the first to judge", len(distinct)):
        judged = bounds.holes.with_known(chosen, level)
        for place, metric in enumerate(steps(metrics, "measures", len(metrics))):
            after[place] += ends[place].count(level) * spread(metric, judged) / 2
    known = before > 0
    return float(np.sum(1 - after[known] / before[known]) / len(metrics)) if metrics else 0.0


def _remove(trials: Trials, holes: Holes, removed: FloatArray) -> float:
    """Add what each hole removes of the uncertainty of a run, (n,); return all of that."""
    run = trials.run
    query, place = np.nonzero(run.number >= 0)
    number = run.number[query, place]
    # What stands where it does not count is alike: the first one speaks for all of a query.
    alike = trials.metric.measure.bounds.order == "ignored"
    if alike:
        looked_at = np.flatnonzero(run.num_own > 0)
        left = _left(trials, looked_at, np.zeros_like(looked_at))
    else:  # what takes long comes first: it says how much of it is done
        looked_at = query
        quick = is_tallied(trials)
        left = tallied_left(trials, query, place) if quick else _left(trials, query, place)
    before = _spread(trials, Case.of_all(run))
    rows = np.flatnonzero(run.num_other > 0)
    of_others = np.zeros(len(before))
    of_others[rows] = _cleaned(before[rows] - _left(trials, rows, np.full(len(rows), OTHER)))
    if of_others.any():
        removed += np.append(of_others, 0.0)[holes.rows(run.judged.queries, run.within)]
        removed[number] -= of_others[query]
    gain = _cleaned(before[looked_at] - left)
    removed[number] += gain[np.searchsorted(looked_at, query)] if alike else gain
    return float(before.sum())


def _left(trials: Trials, query: IntArray, known: IntArray) -> FloatArray:
    """Return the spread that is left once a hole is known, (n,): the mean over both levels."""
    if not len(query):
        return np.zeros(0)
    worthless, best = (
        _spread(trials, Case(query, known, np.full(len(query), level)))
        for level in steps((trials.scale[0], trials.scale[-1]), trials.metric.name, 2)
    )
    return (worthless + best) / 2


def _cleaned(gain: FloatArray) -> FloatArray:
    """Take away what rounding left: a hole that changes nothing is no candidate."""
    return np.where(np.abs(gain) < _ROUNDING, 0.0, gain)


def _spread(trials: Trials, case: Case) -> FloatArray:
    """Spread of the first statistic over the corners, (n,); 0 where fewer than two are known."""
    return spread_of(corners(trials, case)[:, :, 0])


def assessment_lines(listed: Iterable[Candidate]) -> Iterator[bytes]:
    """Write `query document share runs rank`, tab-separated under a head, the first one first."""
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
    """Write qrels lines whose level, -1 for "in the pool but unjudged", is to be replaced."""
    for candidate in listed:
        yield b"%b 0 %b %d\n" % (candidate.query, candidate.document, _UNJUDGED)
