"""Cumulated gain measures: graded documents, discounted by rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.measures.measure import (
    CORNERS_OF_COUNTS,
    COSTLY,
    UNPROVEN,
    Bounds,
    GainRatio,
    Measure,
    log2,
    plus_ones,
    record,
)
from ragkpi.measures.parameters import NINE_CUTOFFS, Grammar
from ragkpi.measures.tied import existing_ranks, is_alone, mean_weight
from ragkpi.ranking.judged import Judged, quotient, shared

MEASURES: list[Measure] = []

_gain = partial(
    record,
    MEASURES,
    parameters=Grammar(gains=True),
    better="higher",
    bounds=UNPROVEN,
    ties="unproven",
    question="gain",
    worth="gain",
)


@dataclass(frozen=True, eq=False)
class GainSequences:
    """Gains in one flat array, (n,), cut into one sequence per query at `starts`, (Q+1,)."""

    starts: IntArray
    query: IntArray
    rank: IntArray
    gain: FloatArray

    @cached_property
    def length(self) -> IntArray:
        return np.diff(self.starts)

    @cached_property
    def discounted(self) -> FloatArray:
        """Each gain over log2(rank + 1), (n,)."""
        return self.gain / log2(self.rank + 1)

    @cached_property
    def dcg(self) -> FloatArray:
        return self.total(self.discounted)

    def dcg_at(self, cutoff: int) -> FloatArray:
        """Discounted cumulated gain of the first K documents, (Q,)."""
        return self.total(np.where(self.rank <= cutoff, self.discounted, 0.0))

    def total(self, weights: FloatArray) -> FloatArray:
        """Sum weights, (n,), per query, (Q,), from the first rank to the last."""
        sums = np.bincount(self.query, weights=weights, minlength=len(self.length))
        return sums.astype(np.float64, copy=False)

    @cached_property
    def cumulated(self) -> FloatArray:
        """Running sums of `discounted`, for `after`."""
        return self.running(self.discounted)

    def running(self, weights: FloatArray) -> FloatArray:
        """Return sums, (n+1,): ``sums[j + 1]`` adds the weights of a sequence down to gain j.

        Sequential: the negative of its sum follows each sequence, so the next one starts at
        exactly 0.
        """
        position = np.arange(len(weights)) + self.query
        separated = np.zeros(len(weights) + len(self.length))
        separated[position] = weights
        separated[self.starts[1:] + np.arange(len(self.length))] = -self.total(weights)
        return np.append(0.0, np.add.accumulate(separated)[position])

    def after(self, sums: FloatArray, query: IntArray, count: IntArray) -> FloatArray:
        """Look up `running` sums after the first `count` gains of some queries."""
        return np.where(count > 0, sums[self.starts[query] + count], 0.0)

    def down_to(self, query: IntArray, rank: IntArray) -> IntArray:
        """Count the gains of some queries at or above some ranks."""
        base = max(self.rank.max(initial=0), rank.max(initial=0)) + 1
        counts = np.searchsorted(self.query * base + self.rank, query * base + rank, side="right")
        return np.asarray(counts - self.starts[query])


def gain_of_levels(levels: IntArray, gains: Mapping[int, float]) -> FloatArray:
    """Return the gain of each judged level: by default the level, or 0 if it is negative."""
    gain = np.maximum(levels, 0).astype(np.float64)
    for level, value in gains.items():
        gain[levels == level] = value
    return gain


@shared
def actual(judged: Judged, gains: Mapping[int, float]) -> GainSequences:
    """Return the gains of the retrieved documents."""
    real = judged.gains
    gain = gain_of_levels(judged.level, gains) if real is None else real.of_hits
    return GainSequences(judged.starts, judged.query, judged.rank, gain)


@shared
def ideal(judged: Judged, gains: Mapping[int, float]) -> GainSequences:
    """Return the positive gains of all judged documents, largest first."""
    if judged.gains is None:
        of_level = gain_of_levels(judged.levels, gains)
        best_first = np.lexsort((-of_level, judged.level_query))
        counts = judged.level_counts[best_first]
        query = np.repeat(judged.level_query[best_first], counts)
        gain = np.repeat(of_level[best_first], counts)
    else:
        gain = judged.gains.best_first
        query = np.repeat(np.arange(len(judged.queries)), np.diff(judged.gains.starts))
    query, gain = query[gain > 0], gain[gain > 0]
    lengths = np.bincount(query, minlength=len(judged.queries))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rank = np.arange(len(query)) - starts[query] + 1
    return GainSequences(starts, query, rank, gain)


def _discounts(ranks: IntArray) -> FloatArray:
    return np.asarray(1.0 / log2(ranks + 1))


GAIN_RATIO = GainRatio(partial(gain_of_levels, gains={}), _discounts)  # of ndcg


def _expected_dcg(judged: Judged, gains: Mapping[int, float], cutoff: int | None) -> FloatArray:
    ranks = existing_ranks(judged, cutoff)
    ranked = actual(judged, gains)
    expected = ranked.gain * mean_weight(judged, 1.0 / np.log2(ranks + 1))
    exact = np.where(ranked.rank <= len(ranks), ranked.discounted, 0.0)
    return ranked.total(np.where(is_alone(judged), exact, expected))


@record(
    MEASURES,
    better="higher",
    bounds=COSTLY,
    ties="unproven",
    question="early",
)
def binG(judged: Judged) -> FloatArray:
    """Binary G: each relevant document is discounted by the nonrelevant ones above it.

    Formula:    (Σ over ranks i of relevant documents of 1 / log2(2 + i - r(i))) / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    terms = np.zeros(len(judged.rank))
    nonrelevant_above = (judged.rank - judged.rel_count)[judged.relevant]
    terms[judged.relevant] = 1.0 / log2(2 + nonrelevant_above)
    return quotient(judged.per_query(terms), judged.num_rel)


@_gain()
def G(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Normalised gain, discounted by the gain missed so far instead of by the rank.

    Formula:    (Σ over ranks i with a gain of gain(i) / log2(2 + C(i) - S(i))) / Σ I,
                S(i) = gains down to rank i, C(i) = Σ over t ≤ i of max(I(t), 1), I as in ideal_dcg
    Range:      0 to 1; below 0 only with negative gains
    Edge cases: 0 if no judged document has a positive gain.
    Source:     trec_eval 10.0
    """
    ranked, best = actual(judged, gains), ideal(judged, gains)
    collected = ranked.running(ranked.gain)[1:]
    within = np.minimum(ranked.rank, best.length[ranked.query])
    possible = best.after(best.running(np.maximum(best.gain, 1.0)), ranked.query, within)
    possible = plus_ones(possible, ranked.rank - within)
    has_gain = ranked.gain != 0
    terms = np.zeros(len(ranked.gain))
    terms[has_gain] = ranked.gain[has_gain] / log2((2.0 + possible - collected)[has_gain])
    return quotient(ranked.total(terms), best.total(best.gain))


@_gain(
    parameters=Grammar("cutoffs", gains=True),
    bounds=Bounds("corners", parameters="default", form=GAIN_RATIO._replace(over="1")),
    expected="itself",
    aliases=("DCG",),
)
def dcg(judged: Judged, gains: Mapping[int, float], cutoff: int | None = None) -> FloatArray:
    """Discounted cumulated gain of the ranking, or with a cutoff of its first K documents.

    Formula:    Σ over ranks i ≤ K of gain(i) / log2(i + 1)
    Range:      0 upwards; below 0 only with negative gains
    Edge cases: the gain of a document is its level unless given; unjudged documents gain 0, and
                so do empty places.
    Source:     Järvelin and Kekäläinen, TOIS 2002; trec_eval 10.0, which has no cutoff
    """
    if judged.tied is not None:
        return _expected_dcg(judged, gains, cutoff)
    ranked = actual(judged, gains)
    return ranked.dcg if cutoff is None else ranked.dcg_at(cutoff)


@_gain(
    better="neither",
    bounds=CORNERS_OF_COUNTS._replace(parameters="default"),
    expected="unchanged",
)
def ideal_dcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Discounted cumulated gain of the best ranking of all judged documents.

    Formula:    Σ over positions t of I(t) / log2(t + 1), I = positive gains, highest first
    Range:      0 upwards
    Edge cases: independent of the run's depth, -M and -J.
    Source:     Järvelin and Kekäläinen, TOIS 2002; trec_eval 10.0
    """
    return ideal(judged, gains).dcg


@_gain(
    bounds=Bounds("staircase", parameters="default", form=GAIN_RATIO),
    ties="monotone",
    expected="itself",
    aliases=("nDCG", "normalized_dcg"),
)
def ndcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Normalised discounted cumulated gain.

    Formula:    dcg / ideal_dcg
    Range:      0 to 1; below 0 only with negative gains
    Edge cases: 0 if no judged document has a positive gain. trec_eval sorts gains less than 1
                apart as equal and prints a wrong value.
    Source:     Järvelin and Kekäläinen, TOIS 2002; trec_eval 10.0
    """
    return quotient(dcg(judged, gains), ideal_dcg(judged, gains))


@_gain()
def ndcg_rel(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Normalised discounted cumulated gain averaged over the documents with a gain.

    Formula:    (Σ over ranks i with a positive gain of D(i)/E(min(i, m)) + missed · D(n)/E(m)) / m,
                D and E the dcg of the ranking and of the best one down to a rank, m = documents
                with a positive gain, missed = those of them not retrieved
    Range:      0 to 1
    Edge cases: 0 if the sum is not positive, as for a query without gains.
    Source:     trec_eval 10.0
    """
    ranked, best = actual(judged, gains), ideal(judged, gains)
    m = best.length
    ideal_here = best.after(best.cumulated, ranked.query, np.minimum(ranked.rank, m[ranked.query]))
    has_gain = ranked.gain > 0
    terms = np.where(has_gain, quotient(ranked.cumulated[1:], ideal_here), 0.0)
    missed = m - judged.per_query(has_gain)
    total = ranked.total(terms) + quotient(missed * ranked.dcg, best.dcg)
    return quotient(np.where(total > 0, total, 0.0), m)


@_gain()
def Rndcg(judged: Judged, gains: Mapping[int, float]) -> FloatArray:
    """Normalised discounted cumulated gain averaged over the ranks where the ideal gain drops.

    Formula:    mean over the last position t of each gain in the best ranking of D(t)/E(t), and
                D(n)/E(m) if n ≥ m + 2; symbols as in ndcg_rel
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents, or if no gain is positive (trec_eval
                prints nan). With real gains, only the second counts.
    Source:     trec_eval 10.0
    """
    ranked, best = actual(judged, gains), ideal(judged, gains)
    last = np.append((np.diff(best.gain) != 0) | (np.diff(best.query) != 0), True)
    last = last[: len(best.gain)]
    query, position = best.query[last], best.rank[last]
    cumulated = ranked.after(ranked.cumulated, query, ranked.down_to(query, position))
    terms = quotient(cumulated, best.cumulated[1:][last])
    beyond = judged.num_ret >= best.length + 2
    total = np.bincount(query, weights=terms, minlength=len(judged.queries))
    total = total + np.where(beyond, quotient(ranked.dcg, best.dcg), 0.0)
    count = np.bincount(query, minlength=len(judged.queries)) + beyond
    num_gains = judged.num_rel if judged.gains is None else best.length
    return np.where(num_gains > 0, quotient(total, count), 0.0)


@_gain(
    parameters=Grammar("cutoffs", NINE_CUTOFFS),
    bounds=Bounds("staircase", form=GAIN_RATIO),
    ties="monotone",
    expected="itself",
    aliases=("nDCG", "normalized_dcg"),
)
def ndcg_cut(judged: Judged, cutoff: int) -> FloatArray:
    """Normalised discounted cumulated gain of the first K documents.

    Formula:    (Σ over ranks i ≤ K of level(i) / log2(i + 1)) / (the same of the best ranking)
    Range:      0 to 1
    Edge cases: the gain is the level, or a real one of --gains; 0 if no gain is positive.
    Source:     Järvelin and Kekäläinen, TOIS 2002; trec_eval 10.0
    """
    return quotient(dcg(judged, {}, cutoff), ideal(judged, {}).dcg_at(cutoff))
