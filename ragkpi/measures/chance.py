"""Bits-over-Random and its relatives: what a ranking achieves beyond drawing at random.

Chance draws K documents from the corpus of N; X, the relevant ones among them, is
hypergeometric. All means are over the queries with R >= m: for the others success is impossible
for every system, so they are NA.
"""

from __future__ import annotations

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.measures.bits import CEILING, chance_statistics
from ragkpi.measures.hypergeometric import Tail, tail
from ragkpi.ranking.judged import BoolArray, FloatArray, IntArray, Judged, quotient, shared
from ragkpi.wording import named

COLLAPSED = 0.95  # chance of success from which a query says nothing about systems
# Where the collapse zone begins, in which chance succeeds so often that success says nothing.
LAMBDA_LIMIT = 3.0  # relevant documents that chance finds
CEILING_LIMIT = 0.1  # bits


@shared
def corpus_size(judged: Judged) -> IntArray:
    """Return N, (Q,): how many documents could have been retrieved.

    Raises
    ------
    UsageError
        If N is not known, or smaller than the documents judged or retrieved for a query.
    """
    size = judged.corpus_size
    if size is None:
        raise UsageError(
            f"the size of the corpus is not known; give it with {option('corpus_size')}, "
            f"with {option('corpus_sizes')} for "
            "single queries, or in the environment variable RAGKPI_CORPUS_SIZE"
        )
    labelled = np.bincount(
        judged.level_query, weights=judged.level_counts, minlength=len(judged.queries)
    )
    seen = (judged.num_ret + labelled - judged.num_judged_ret).astype(np.int64)
    too_small = np.flatnonzero(seen > size)
    if len(too_small):
        worst = too_small[np.argmax(seen[too_small])]
        query = named(judged.queries[worst])
        raise UsageError(
            f"query {query}: {seen[worst]} documents are judged or retrieved, "
            f"but the corpus size is {size[worst]}; "
            f"give {option('corpus_size')} (or {option('corpus_sizes')}) the number of "
            f"documents that could be retrieved"
        )
    return size


def draws(judged: Judged, cutoff: int) -> IntArray:
    """How many documents chance draws, (Q,): K, or with --depth ret the K actually shown.

    A corpus of fewer documents is drawn whole.
    """
    drawn: IntArray = np.minimum(cutoff, corpus_size(judged))
    return np.minimum(drawn, judged.num_ret) if judged.settings.draws == "ret" else drawn


@shared
def chance(judged: Judged, cutoff: int, m: int) -> Tail:
    """Return the chance of m relevant documents in the draws, for every query."""
    return tail(corpus_size(judged), judged.num_rel, draws(judged, cutoff), m)


def _success(judged: Judged, cutoff: int, m: int) -> BoolArray:
    return judged.found_at(cutoff) >= m


def where_possible(judged: Judged, m: int, *statistics: FloatArray | BoolArray) -> FloatArray:
    """Stand statistics side by side, (Q, S), NaN where success is impossible."""
    rows = np.column_stack(statistics).astype(np.float64)
    rows[judged.num_rel < m] = np.nan
    return rows


def _bits(judged: Judged, cutoff: int, m: int) -> FloatArray:
    success = _success(judged, cutoff, m)
    return where_possible(judged, m, success, chance_statistics(chance(judged, cutoff, m), m))


def recall_by_chance(judged: Judged, cutoff: int) -> FloatArray:
    """Return the recall that chance is expected to have, (Q,)."""
    return quotient(draws(judged, cutoff), corpus_size(judged))


def _recall(judged: Judged, cutoff: int) -> FloatArray:
    return quotient(judged.found_at(cutoff), judged.num_rel)


def p_obs(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Observed success: whether the top K holds at least m relevant documents.

    Formula:    [h >= m], h = relevant documents in the top K
    Range:      0 to 1
    Edge cases: NA for a query with R < m. success_K has m = 1 and its mean is over all queries.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), P_obs
    """
    return where_possible(judged, m, _success(judged, cutoff, m))


def p_rand(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Chance of success: that K documents drawn at random hold at least m relevant ones.

    Formula:    P(X >= m), X hypergeometric (N, R, K); for m = 1: 1 - C(N-R,K) / C(N,K)
    Range:      0 to 1
    Edge cases: NA for a query with R < m. R counts judged documents: unjudged relevant ones
                make it too small. 0 if K < m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), P_rand
    """
    return where_possible(judged, m, chance(judged, cutoff, m).probability)


def ef(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Enrichment factor: how many times as often as chance the top K succeeds.

    Formula:    mean p_obs / mean p_rand
    Range:      0 upwards
    Edge cases: a ratio of means, printed for all queries together only; NA if no query has
                R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), EF
    """
    return np.column_stack([p_obs(judged, cutoff, m), p_rand(judged, cutoff, m)])


def bor(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Bits-over-Random: how much more often than chance the top K succeeds, in bits.

    Formula:    log2(mean p_obs / mean p_rand); one query: log2([h >= m] / p_rand)
    Range:      -inf to bor_max; 0 is chance
    Edge cases: the line for all queries is not the mean of their lines: averaging bits rewards
                the wrong system. A miss is -inf; NA for a query with R < m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random)
    """
    return _bits(judged, cutoff, m)


def bor_max(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Ceiling of bor: what a system that succeeds for every query would get.

    Formula:    -log2(mean p_rand)
    Range:      0 upwards
    Edge cases: near 0 no system can be told from chance ("collapse"). NA if no query has R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), BoR_max
    """
    return _bits(judged, cutoff, m)[:, 1:]


def bor_max_qmean(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Mean of the queries' own ceilings; no ceiling of bor, for it is never below bor_max.

    Formula:    mean of -log2(p_rand)
    Range:      bor_max upwards
    Edge cases: NA for a query with R < m, or with K < m.
    Source:     Bits-over-Random, authors' program, "BoR ceiling (mean)"
    """
    return CEILING.value(bor_max(judged, cutoff, m))


def bor_opt(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Ceiling of bor_recall: what finding every relevant document in the top K would get.

    Formula:    log2(N / min(K, N))
    Range:      0 upwards
    Edge cases: with a corpus size per query the mean of K / N is taken. m only chooses the
                queries: those with R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), BoR_opt
    """
    everything = np.ones(len(judged.queries))
    return where_possible(judged, m, everything, recall_by_chance(judged, cutoff))


def bor_recall(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Bits-over-Random of recall: how much more of the relevant documents than chance finds.

    Formula:    log2(mean recall_K / (K / N)); K/N being what chance expects for any R
    Range:      -inf to bor_opt
    Edge cases: does not saturate where every system succeeds. m only chooses the queries: those
                with R >= m. NA for a query without relevant documents.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random)
    """
    return ef_recall(judged, cutoff, m)


def ef_recall(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Enrichment factor of recall, as in virtual screening.

    Formula:    mean recall_K / (K / N); one query: (h / K) / (R / N)
    Range:      0 to N / K
    Edge cases: m only chooses the queries: those with R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random); virtual screening
    """
    return where_possible(judged, m, _recall(judged, cutoff), recall_by_chance(judged, cutoff))


def lambda_(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Relevant documents that chance finds on average.

    Formula:    K mean(R) / N
    Range:      0 to R
    Edge cases: from 3 upwards chance nearly always succeeds with m = 1 ("collapse"). NA if no
                query has R >= m.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random)
    """
    return where_possible(judged, m, recall_by_chance(judged, cutoff) * judged.num_rel)


def collapse(judged: Judged, cutoff: int, m: int) -> FloatArray:
    """Fraction of queries for which chance succeeds nearly always.

    Formula:    mean of [p_rand >= 0.95]
    Range:      0 to 1
    Edge cases: such queries say nothing about systems. NA if no query has R >= m.
    Source:     Bits-over-Random, authors' program
    """
    return where_possible(judged, m, chance(judged, cutoff, m).probability >= COLLAPSED)


def dbor(judged: Judged, cutoff: tuple[int, int], m: int) -> FloatArray:
    """Change of bor from one depth to a greater one.

    Formula:    bor_K2 - bor_K1
    Range:      negative where the added documents help chance more than the system
    Edge cases: NA where nothing succeeds at one of the depths.
    Source:     Bits-over-Random (github.com/repantis-ai/bits-over-random), Delta BoR
    """
    return np.column_stack([_bits(judged, depth, m) for depth in cutoff])


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
    return where_possible(judged, m, _success(judged, shallow, m), _success(judged, deep, m), cost)


def mean_known(per_query: FloatArray) -> float:
    """Return the mean of what is not NA; 0 if all is."""
    valid = per_query[~np.isnan(per_query)]
    return float(valid.mean()) if len(valid) else 0.0


def in_collapse_zone(judged: Judged, cutoff: int, m: int) -> bool:
    """Whether lambda is 3 or more (which speaks of one hit, not of m), or bor_max below 0.1."""
    # A lambda of 3 on paper may be 2.9999999999999996 in doubles.
    least = LAMBDA_LIMIT * (1 - 1e-12)
    crowded = m == 1 and mean_known(lambda_(judged, cutoff, m)) >= least
    return crowded or mean_known(p_rand(judged, cutoff, m)) > 2.0**-CEILING_LIMIT


def collapse_depth(judged: Judged, m: int) -> int | None:
    """Return the smallest K in the collapse zone; None if even the whole corpus is not in it."""
    inside, outside = int(corpus_size(judged).max(initial=0)), 0
    if not inside or not in_collapse_zone(judged, inside, m):
        return None
    while inside - outside > 1:
        middle = (inside + outside) // 2
        inside, outside = (
            (middle, outside) if in_collapse_zone(judged, middle, m) else (inside, middle)
        )
    return inside
