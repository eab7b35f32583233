"""Bits-over-Random and related measures: success compared with a random draw.

The baseline draws K of N documents at random; the number X of relevant ones among them is
hypergeometric. All means are over the queries with R >= m: with fewer relevant documents no system
can succeed, so the query is NA. Success needs m documents (`m`), a share of the relevant ones
(`recall`), or the larger of the two (`Needed`).

The aggregates are logarithms of ratios of means, in bits; their statistics are sums over queries
as usual. A query's chance of success takes several statistics: its complement, which keeps the
digits of ceilings near 0 bits, and one number per band of magnitudes, because the chance of many
hits at once is smaller than any double.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ragkpi.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.measures.measure import (
    CHANCE_ALONE,
    MEAN,
    RATIO_OF_MEANS,
    STAIRCASE,
    UNPROVEN,
    Aggregate,
    Measure,
    Metric,
    names_of,
    record,
)
from ragkpi.measures.parameters import Grammar, Option
from ragkpi.measures.precision import recall
from ragkpi.measures.tied import Tail, share_reaching, tail
from ragkpi.ranking.judged import Judged, quotient, shared
from ragkpi.wording import named

COLLAPSED = 0.95  # chance of success from which a query cannot tell systems apart
# Limits of the collapse zone, where a random draw succeeds too often to tell systems apart.
LAMBDA_LIMIT = 3.0  # relevant documents in a random draw
CEILING_LIMIT = 0.1  # bits

_BAND = 1000  # bits: a double holds 2^-1000 with all its digits
_LARGEST = 63  # bits of a corpus size


@shared
def corpus_size(judged: Judged) -> IntArray:
    """Return N, (Q,): the corpus size of each query.

    `UsageError` if N is unknown, or below the number of documents judged or retrieved for a query.
    """
    size = judged.corpus_size
    if size is None:
        raise UsageError(
            f"the corpus size is unknown; set it with {spell('corpus_size')}, with "
            f"{spell('corpus_sizes')} for single queries, or in the environment variable "
            "RAGKPI_CORPUS_SIZE"
        )
    seen = judged.num_ret + judged.num_judged - judged.num_judged_ret
    too_small = np.flatnonzero(seen > size)
    if len(too_small):
        worst = too_small[np.argmax(seen[too_small])]
        raise UsageError(
            f"query {named(judged.queries[worst])}: {seen[worst]} documents are judged or "
            f"retrieved, but the corpus size is {size[worst]}; give {spell('corpus_size')} (or "
            f"{spell('corpus_sizes')}) the size of the whole corpus"
        )
    return size


def draws(judged: Judged, cutoff: int) -> IntArray:
    """Return the size of the random draw, (Q,): K, or with ``--draws ret`` the documents shown.

    A smaller corpus is drawn whole.
    """
    drawn: IntArray = np.minimum(cutoff, corpus_size(judged))
    return np.minimum(drawn, judged.num_ret) if judged.settings.draws == "ret" else drawn


class Needed(NamedTuple):
    """The condition of success: at least `m` relevant documents, and a share `recall` of all."""

    m: int = 1
    recall: float = 0.0

    def of(self, num_rel: IntArray) -> int | IntArray:
        """Return how many of R relevant documents, (Q,), success needs: a number or (Q,).

        >>> Needed(recall=0.5).of(np.array([1, 4, 5]))
        array([1, 2, 3])
        """
        if not self.recall:
            return self.m
        # 0.1 * 30 is 3.0000000000000004 in doubles.
        share = np.ceil(self.recall * num_rel * (1 - ROUNDING)).astype(np.int64)
        return np.asarray(np.maximum(share, self.m))

    def bits(self, cutoff: int) -> int:
        """Return the maximum of -log2 of a positive chance of success: P(X >= m) >= N^-m."""
        return _LARGEST * (max(self.m, cutoff) if self.recall else self.m)


@shared
def chance(judged: Judged, cutoff: int, needed: Needed) -> Tail:
    """Return the chance of success in the draws, for every query."""
    R = judged.num_rel
    return tail(corpus_size(judged), R, draws(judged, cutoff), needed.of(R))


def chance_statistics(tail: Tail, bits_of_chance: int) -> FloatArray:
    """Return the chance of success as additive statistics, (Q, 1 + bands).

    The first is P(X < m). The others are P(X >= m) times 2^(1000 j) in the column of its band j,
    and 0 elsewhere. The number of bands depends on `Needed.bits` alone, so blocks of queries have
    statistics of one shape.
    """
    possible = np.isfinite(tail.log2)
    band = np.floor_divide(-tail.log2, _BAND, out=np.full(len(possible), -1.0), where=possible)
    scaled = np.where(band > 0, np.exp2(tail.log2 + _BAND * band), tail.probability)
    banded = np.zeros((len(possible), 1 + bits_of_chance // _BAND))
    rows = np.flatnonzero(possible)
    banded[rows, band[rows].astype(np.int64)] = scaled[rows]
    return np.column_stack([tail.complement, banded])


def succeeds(judged: Judged, cutoff: int, needed: Needed) -> BoolArray | FloatArray:
    """Return which queries succeed, (Q,), or with ``ties="expected"`` in what share of orders."""
    num_needed = needed.of(judged.num_rel)
    if judged.tied is not None:
        return share_reaching(judged, cutoff, num_needed)
    return np.asarray(judged.num_rel_at(cutoff) >= num_needed)


def _where_possible(judged: Judged, m: int, *statistics: FloatArray | BoolArray) -> FloatArray:
    """Stack statistics as columns, (Q, S), NaN where success is impossible."""
    rows = np.column_stack(statistics).astype(np.float64)
    rows[judged.num_rel < m] = np.nan
    return rows


def _success_and_chance(
    judged: Judged, cutoff: int, needed: Needed, deepest: int = 0
) -> FloatArray:
    """Stack success and chance, with room for the statistics of a greater cutoff."""
    bits = needed.bits(max(cutoff, deepest))
    by_chance = chance_statistics(chance(judged, cutoff, needed), bits)
    return _where_possible(judged, needed.m, succeeds(judged, cutoff, needed), by_chance)


def _recall_by_chance(judged: Judged, cutoff: int) -> FloatArray:
    return quotient(draws(judged, cutoff), corpus_size(judged))


def _log2_mean_chance(sums: FloatArray, count: FloatArray | int) -> FloatArray:
    """Return log2 of the mean chance of success; NaN if it is 0."""
    complement = sums[..., 0] / count
    banded = np.log2(sums[..., 1:]) - _BAND * np.arange(sums.shape[-1] - 1)
    log2 = np.logaddexp2.reduce(banded, axis=-1) - np.log2(count)
    log2 = np.where(complement < 0.5, np.log1p(-complement) / np.log(2.0), log2)
    return np.where(np.isneginf(log2), np.nan, log2)


@np.errstate(divide="ignore", invalid="ignore")
def _bits_of_sums(sums: FloatArray, count: FloatArray | int = 1) -> FloatArray:
    return np.asarray(np.log2(sums[..., 0] / count) - _log2_mean_chance(sums[..., 1:], count))


@np.errstate(divide="ignore", invalid="ignore")
def _ceiling(sums: FloatArray, count: FloatArray | int = 1) -> FloatArray:
    return np.asarray(0.0 - _log2_mean_chance(sums, count))


@np.errstate(divide="ignore", invalid="ignore")
def _log2_ratio(sums: FloatArray, _: FloatArray | int = 1) -> FloatArray:
    """Return the logarithm of the ratio; NaN for an empty random draw."""
    bits = np.log2(sums[..., 0] / sums[..., 1])
    return np.where(np.isposinf(bits), np.nan, bits)


def _difference(sums: FloatArray, count: FloatArray | int = 1) -> FloatArray:
    half = sums.shape[-1] // 2
    shallow, deep = _bits_of_sums(sums[..., :half], count), _bits_of_sums(sums[..., half:], count)
    return _unless_infinite(deep, shallow)


@np.errstate(divide="ignore", invalid="ignore")
def _sparse_difference(sums: FloatArray, count: FloatArray | int = 1) -> FloatArray:
    shallow, deep = np.log2(sums[..., 0]), np.log2(sums[..., 1])
    return _unless_infinite(deep - sums[..., 2] / count, shallow)


@np.errstate(invalid="ignore")
def _unless_infinite(deep: FloatArray, shallow: FloatArray) -> FloatArray:
    """Subtract; NaN if there is no success at one of the depths."""
    return np.where(np.isfinite(deep) & np.isfinite(shallow), deep - shallow, np.nan)


def _of_sums(name: str, function: Callable[..., FloatArray], **facts: Any) -> Aggregate:
    """Return the aggregate whose value for a query is the summary of that query alone."""
    return Aggregate(name, function, function, **facts)


SUMMARY_MEAN = replace(MEAN, prints="summary")
SUMMARY_RATIO = replace(RATIO_OF_MEANS, prints="summary")
BITS = _of_sums("log2 of mean success / mean chance", _bits_of_sums, rises_with_first=True)
CEILING = _of_sums("-log2 of the mean chance", _ceiling, prints="summary")
LOG2_RATIO = _of_sums("log2 of the ratio of the means", _log2_ratio, rises_with_first=True)
LOG2_RATIO_SUMMARY = replace(LOG2_RATIO, prints="summary")
BITS_DIFFERENCE = _of_sums("difference of two log2 ratios", _difference, prints="summary")
SPARSE_DIFFERENCE = _of_sums(
    "log2 of a ratio of means, less its cost", _sparse_difference, prints="summary"
)

MEASURES: list[Measure] = []

_PARAMETERS = {"m": Option(1, 1, 1000)}
_SUCCESS = {**_PARAMETERS, "recall": Option(0.0, 0, 1)}
_DEPTHS = (1, 5, 10, 20, 100)


def nan_mean(per_query: FloatArray) -> float:
    """Return the mean of the values that are not NA; 0 if all are NA."""
    valid = per_query[~np.isnan(per_query)]
    return float(valid.mean()) if len(valid) else 0.0


def in_collapse_zone(judged: Judged, cutoff: int, needed: Needed) -> bool:
    """Return whether bor_max is below 0.1, or lambda 3 or more if success needs one document."""
    # An exact lambda of 3 can be 2.9999999999999996 in doubles.
    limit = LAMBDA_LIMIT * (1 - ROUNDING)
    crowded = needed == Needed() and nan_mean(lambda_(judged, cutoff, 1)) >= limit
    return crowded or nan_mean(p_rand(judged, cutoff, *needed)) > 2.0**-CEILING_LIMIT


def collapse_depth(judged: Judged, needed: Needed) -> int | None:
    """Return the smallest K in the collapse zone; None if even the whole corpus is outside."""
    depths = range(1, int(corpus_size(judged).max(initial=0)) + 1)
    above = bisect_left(depths, True, key=lambda cutoff: in_collapse_zone(judged, cutoff, needed))
    return depths[above] if above < len(depths) else None


def collapse_zone(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Warn that a random draw succeeds too often to tell systems apart, and name a better K."""
    requested = {
        (Needed(metric.arguments["m"], metric.arguments.get("recall", 0.0)), cutoff)
        for metric in metrics
        for cutoff in metric.cutoffs
    }
    for needed in sorted({needed for needed, _ in requested}):
        cutoffs = sorted(cutoff for rule, cutoff in requested if rule == needed)
        deep = [cutoff for cutoff in cutoffs if in_collapse_zone(judged, cutoff, needed)]
        if not deep:
            continue
        outside = (collapse_depth(judged, needed) or deep[0]) - 1
        depths = ", ".join(map(str, deep))
        rule = f"m = {needed.m}" + (f", recall = {needed.recall:g}" if needed.recall else "")
        by_chance = nan_mean(lambda_(judged, deep[0], needed.m))
        probability = nan_mean(p_rand(judged, deep[0], *needed))
        advice = f"K = {outside} or less leaves it" if outside else "no K leaves it"
        yield (
            f"bor and its relatives at K = {depths} ({rule}) are in the collapse zone: at "
            f"{deep[0]} a random draw already succeeds with probability {probability:.4g} "
            f"(lambda = {by_chance:.3g}); {advice}"
        )


def deeper_than_corpus(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Warn that K is above N, so that the random draw is the whole corpus."""
    size = judged.corpus_size
    if size is None or not len(size):
        return
    affected = [metric for metric in metrics if max(metric.cutoffs) > size.min()]
    if affected:
        yield (
            f"{names_of(affected)}: the corpus has only {size.min()} documents; K is reduced to "
            f"that number; give a smaller K, or {spell('corpus_size')} if the corpus is larger"
        )


_OF_COUNTS = STAIRCASE._replace(order="ignored", parameters="default")

_chance = partial(
    record,
    MEASURES,
    parameters=Grammar("cutoffs", _DEPTHS, _PARAMETERS),
    needs=frozenset({"corpus_size"}),
    cautions=(deeper_than_corpus, collapse_zone),
    better="neither",
    bounds=CHANCE_ALONE,
    ties="unproven",
    question="chance",
    expected="unchanged",
)
_of_success = partial(_chance, parameters=Grammar("cutoffs", _DEPTHS, _SUCCESS))
_over_chance = partial(_of_success, better="higher", bounds=_OF_COUNTS, expected=None)
# Recall does not saturate as success does.
_recall = partial(
    _chance,
    better="higher",
    bounds=_OF_COUNTS,
    expected=None,
    cautions=(deeper_than_corpus,),
)
_between_depths = partial(_chance, bounds=UNPROVEN, expected=None)


@_over_chance(rate="always", needs=frozenset(), cautions=(), expected="itself")
def p_obs(judged: Judged, cutoff: int, m: int, recall: float) -> FloatArray:
    """Observed success: whether the top K holds at least m relevant documents.

    Formula:    [h >= m], h = relevant documents in the top K
    Range:      0 to 1
    Edge cases: NA for a query with R < m. success_K has m = 1 and its mean is over all queries.
                recall=0.5 needs half of R, rounded up, if that is more than m, here and in
                related measures.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), P_obs
    """
    return _where_possible(judged, m, succeeds(judged, cutoff, Needed(m, recall)))


@_of_success(style="significant")
def p_rand(judged: Judged, cutoff: int, m: int, recall: float) -> FloatArray:
    """Chance of success: the probability that K random documents include m relevant ones.

    Formula:    P(X >= m), X hypergeometric (N, R, K); for m = 1: 1 - C(N-R,K) / C(N,K)
    Range:      0 to 1
    Edge cases: NA for a query with R < m. Too small if relevant documents are unjudged. 0 if
                K < m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), P_rand
    """
    return _where_possible(judged, m, chance(judged, cutoff, Needed(m, recall)).probability)


@_over_chance(aggregate=SUMMARY_RATIO, style="significant", expected="itself")
def ef(judged: Judged, cutoff: int, m: int, recall: float) -> FloatArray:
    """Enrichment factor: how many times as often as a random draw the top K succeeds.

    Formula:    mean p_obs / mean p_rand
    Range:      0 upwards
    Edge cases: a ratio of means, printed for all queries together only; NA if no query has
                R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), EF
    """
    return np.column_stack([p_obs(judged, cutoff, m, recall), p_rand(judged, cutoff, m, recall)])


@_over_chance(aggregate=BITS, aliases=("BoR",), expected="itself")
def bor(judged: Judged, cutoff: int, m: int, recall: float) -> FloatArray:
    """Bits-over-Random: how much more often than a random draw the top K succeeds, in bits.

    Formula:    log2(mean p_obs / mean p_rand); one query: log2([h >= m] / p_rand)
    Range:      -inf to bor_max; 0 for a random draw
    Edge cases: the summary is not the mean over queries: averaging bits rewards the wrong
                system. A miss is -inf; NA for a query with R < m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random)
    """
    return _success_and_chance(judged, cutoff, Needed(m, recall))


@_of_success(aggregate=CEILING)
def bor_max(judged: Judged, cutoff: int, m: int, recall: float) -> FloatArray:
    """Ceiling of bor: its value for a system that succeeds for every query.

    Formula:    -log2(mean p_rand)
    Range:      0 upwards
    Edge cases: near 0, no system differs from a random draw ("collapse"). NA if no query has
                R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), BoR_max
    """
    return _success_and_chance(judged, cutoff, Needed(m, recall))[:, 1:]


@_of_success(aggregate=SUMMARY_MEAN)
def bor_max_qmean(judged: Judged, cutoff: int, m: int, recall: float) -> FloatArray:
    """Mean of the ceilings of single queries; not a ceiling of bor, as it is at least bor_max.

    Formula:    mean of -log2(p_rand)
    Range:      bor_max upwards
    Edge cases: NA for a query with R < m, or with K < m.
    Source:     Bits-over-Random, authors' program, "BoR ceiling (mean)"
    """
    return CEILING.value(bor_max(judged, cutoff, m, recall))


@_recall(aggregate=SUMMARY_RATIO, style="significant", expected="itself")
def ef_recall(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Enrichment factor of recall, as in virtual screening.

    Formula:    mean recall_K / (K / N); one query: (h / K) / (R / N)
    Range:      0 to N / K
    Edge cases: m only selects queries, those with R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random); virtual screening
    """
    return _where_possible(judged, m, recall(judged, cutoff), _recall_by_chance(judged, cutoff))


@_recall(aggregate=LOG2_RATIO, expected="itself")
def bor_recall(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Bits-over-Random of recall: recall relative to that of a random draw, in bits.

    Formula:    log2(mean recall_K / (K / N)); K/N is the recall of a random draw for any R
    Range:      -inf to bor_opt
    Edge cases: does not saturate if every system succeeds. m only selects queries, those with
                R >= m. NA for a query without relevant documents.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random)
    """
    return ef_recall(judged, cutoff, m)


@_chance(aggregate=LOG2_RATIO_SUMMARY, cautions=(deeper_than_corpus,))
def bor_opt(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Ceiling of bor_recall: its value if the top K holds every relevant document.

    Formula:    log2(N / min(K, N))
    Range:      0 upwards
    Edge cases: a corpus size per query gives the mean of K / N. m only selects queries, those
                with R >= m. NA for an empty ranking with --draws ret.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), BoR_opt
    """
    everything = np.ones(len(judged.queries))
    return _where_possible(judged, m, everything, _recall_by_chance(judged, cutoff))


@_chance("lambda", aggregate=SUMMARY_MEAN, style="significant")
def lambda_(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Expected number of relevant documents in a random draw.

    Formula:    K mean(R) / N
    Range:      0 to R
    Edge cases: from 3 upwards a random draw nearly always succeeds with m = 1 ("collapse"). NA
                if no query has R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random)
    """
    return _where_possible(judged, m, _recall_by_chance(judged, cutoff) * judged.num_rel)


@_of_success(aggregate=SUMMARY_MEAN)
def collapse(judged: Judged, cutoff: int, m: int, recall: float) -> FloatArray:
    """Fraction of queries for which a random draw nearly always succeeds.

    Formula:    mean of [p_rand >= 0.95]
    Range:      0 to 1
    Edge cases: such queries cannot tell systems apart. NA if no query has R >= m.
    Source:     Bits-over-Random, authors' program
    """
    return _where_possible(
        judged, m, chance(judged, cutoff, Needed(m, recall)).probability >= COLLAPSED
    )


@_between_depths(
    parameters=Grammar("cutoffs", _DEPTHS, _SUCCESS, span=2), aggregate=BITS_DIFFERENCE
)
def dbor(judged: Judged, cutoff: tuple[int, int], m: int, recall: float) -> FloatArray:
    """Change of bor from one depth to a greater one.

    Formula:    bor_K2 - bor_K1
    Range:      negative if the added documents help a random draw more than the system
    Edge cases: NA where nothing succeeds at one of the depths.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), Delta BoR
    """
    needed, deepest = Needed(m, recall), max(cutoff)
    both = [_success_and_chance(judged, depth, needed, deepest) for depth in cutoff]
    return np.column_stack(both)


@_between_depths(
    parameters=Grammar("cutoffs", _DEPTHS, _PARAMETERS, span=2), aggregate=SPARSE_DIFFERENCE
)
def dbor_sparse(judged: Judged, cutoff: tuple[int, int], m: int) -> FloatArray:
    """Approximate change of bor, for few relevant documents and K far above m.

    Formula:    log2(p_obs_K2 / p_obs_K1) - m log2(K2 / K1)
    Range:      near dbor_K1_K2 where lambda and m / K are small
    Edge cases: NA where nothing succeeds at one of the depths. K is at most N.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random)
    """
    shallow, deep = cutoff
    size = corpus_size(judged)
    cost = m * np.log2(np.minimum(deep, size) / np.minimum(shallow, size))
    success = [succeeds(judged, depth, Needed(m)) for depth in cutoff]
    return _where_possible(judged, m, *success, cost)
