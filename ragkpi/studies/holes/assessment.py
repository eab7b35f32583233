"""Which unjudged documents to judge first: those whose level removes most uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragkpi.evaluation import Evaluation
from ragkpi.ranking.judged import FloatArray, IntArray
from ragkpi.ranking.settings import Settings
from ragkpi.studies.holes.assignments import Case, Trials, corners
from ragkpi.studies.holes.extremes import ends
from ragkpi.studies.holes.holes_study import HoleBounds, trials_of
from ragkpi.studies.holes.open_runs import UNRETRIEVED, Holes

_UNJUDGED = -1


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


def candidates(
    bounds: HoleBounds,
    evaluations: Sequence[Evaluation],
    settings: Settings,
    watch: Callable[[int], None] = lambda _: None,
) -> list[Candidate]:
    """Return the holes that matter, those first that are worth an assessor's time first.

    The best ranks come first: one document alone may promise more, but many of a query promise
    the same twice, and most of them turn out worthless. Among equal ranks, those that remove most
    uncertainty come first if the values asked for are sums over documents (P, recall). Where only
    the number of documents of each level counts (RA-nWG), those that remove most come first.

    The uncertainty of a value of a query is its spread between the corner assignments: own holes
    all worthless or all at the top level, and so the others. (Of Bits-over-Random it is that of
    its numerator, success.) It is added up over runs and queries. `watch` is told how many values
    were looked at.
    """
    holes = bounds.holes
    total = np.zeros(len(holes.document))
    metrics = {bounded.metric.name: bounded.metric for bounded in bounds.bounded}
    for done, metric in enumerate(metrics.values(), start=1):
        removed = np.zeros(len(holes.document))
        whole = 0.0
        for run, evaluation in enumerate(evaluations):
            trials = trials_of(holes, run, evaluation, metric, settings, bounds.within)
            before, number, gain = _removed(trials)
            whole += before
            removed += np.bincount(number, weights=gain, minlength=len(removed))
        if whole > 0:
            total += removed / whole / len(metrics)
        watch(done)
    retrieved = holes.rank < UNRETRIEVED
    judgements, query = holes.judgements, holes.query
    best = holes.rank.min(axis=1, initial=UNRETRIEVED)
    removing = -np.round(total, 12)
    searches = {metric.measure.bounds.search for metric in metrics.values()}
    keys = [best]
    if searches == {"counts"}:
        keys = [best, removing]
    elif searches == {"corners"}:
        keys = [removing, best]
    order = np.lexsort(keys)
    return [
        Candidate(
            query=judgements.queries[query[hole]],
            document=holes.document[hole],
            share=float(total[hole]),
            runs=int(retrieved[hole].sum()),
            rank=int(best[hole]),
            hole=hole,
        )
        for hole in order.tolist()
        if total[hole] > 0
    ]


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
    chosen = np.array([candidate.hole for candidate in listed], dtype=np.int64)
    metrics = {bounded.metric.name: bounded.metric for bounded in bounds.bounded}
    shares = []
    for metric in metrics.values():
        before, after = 0.0, 0.0
        for run, evaluation in enumerate(evaluations):
            trials = trials_of(bounds.holes, run, evaluation, metric, settings, bounds.within)
            before += float(_spread(trials, Case.of_all(trials.run)).sum())
            for level in (trials.scale[0], trials.scale[-1]):
                known = _with_judged(bounds.holes, chosen, level)
                left = trials_of(known, run, evaluation, metric, settings, bounds.within)
                after += float(_spread(left, Case.of_all(left.run)).sum()) / 2
        if before > 0:
            shares.append(1 - after / before)
    return float(np.sum(shares) / len(metrics)) if metrics else 0.0


def _with_judged(holes: Holes, chosen: IntArray, level: int) -> Holes:
    """Give some holes a level, so that they are none any more."""
    levels = holes.judgements.level.copy()
    levels[holes.row[chosen]] = level
    kept = np.delete(np.arange(len(holes.row)), chosen)
    return Holes(
        judgements=replace(holes.judgements, level=levels),
        runs=holes.runs,
        row=holes.row[kept],
        document=[holes.document[hole] for hole in kept.tolist()],
        rank=holes.rank[kept],
    )


def _removed(trials: Trials) -> tuple[float, IntArray, FloatArray]:
    """Return all uncertainty of a run, the numbers of its holes, and what each one removes."""
    before = _spread(trials, Case.of_all(trials.run))
    # What stands where it does not count is alike: the first one speaks for all of a query.
    query, column = np.nonzero((trials.run.own >= 0) | (trials.run.other == 0))
    if not len(query):
        return 0.0, query, np.zeros(0)
    after = [
        _spread(trials, Case(query, column, np.full(len(query), level)))
        for level in (trials.scale[0], trials.scale[-1])
    ]
    gain = np.zeros(trials.run.own.shape)
    gain[query, column] = before[query] - (after[0] + after[1]) / 2
    first = np.argmax(trials.run.other == 0, axis=1)
    of_first = gain[np.arange(len(gain)), first][:, np.newaxis]
    gain = np.where(trials.run.other > 0, of_first, gain)
    query, column = np.nonzero(trials.run.number >= 0)
    return float(before.sum()), trials.run.number[query, column], gain[query, column]


def _spread(trials: Trials, case: Case) -> FloatArray:
    """Spread of the first statistic over the corners, (n,); 0 where fewer than two are known."""
    low, high = ends(corners(trials, case)[:, :, 0])
    spread = high - low
    return np.where(np.isnan(spread), 0.0, spread)


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
