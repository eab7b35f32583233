"""Counts of queries and documents, the run as text, and measures of the retrieved set."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.measures.measure import (
    CORNERS_OF_COUNTS,
    COUNT,
    COUNTS_HOLES,
    LABEL,
    PER_QUERY_TEXT,
    SUM,
    UNCHANGED,
    UNPROVEN,
    Measure,
    record,
)
from ragkpi.measures.parameters import Grammar
from ragkpi.ranking.judged import Judged, quotient

MEASURES: list[Measure] = []

_property = partial(record, MEASURES, better="neither", ties="unproven", question="counts")
_unchanged = partial(_property, bounds=UNCHANGED, expected="unchanged", worth="judged")
_count = partial(_property, aggregate=SUM, style="integer")
_set = partial(
    record, MEASURES, better="higher", bounds=CORNERS_OF_COUNTS, ties="unproven", question="found"
)


@_unchanged(aggregate=LABEL, style="text", reads="any")
def runid(judged: Judged) -> npt.NDArray[np.object_]:
    """Run id: the first word of the last field of the run's last line.

    Formula:    none, it is text
    Range:      any text
    Edge cases: lines with different run ids are accepted; the last line wins.
    Source:     trec_eval 10.0
    """
    return np.full(len(judged.queries), judged.run_id, dtype=object)


@_unchanged(aggregate=COUNT, style="integer", reads="any", aliases=("NumQ",))
def num_q(judged: Judged) -> FloatArray:
    """Number of queries in the means.

    Formula:    queries in both qrels and run; with -c, queries in qrels
    Range:      1 upwards
    Edge cases: queries with NA values count too; see num_q_<measure>.
    Source:     trec_eval 10.0; without -c as trec_eval 9 (10.0 stops at a missing query)
    """
    return np.ones(len(judged.queries))


@_unchanged(aggregate=SUM, style="integer", aliases=("NumRet",))
def num_ret(judged: Judged) -> IntArray:
    """Documents retrieved, after -M and -J, summed over queries.

    Formula:    n
    Range:      0 upwards
    Edge cases: a query missing from the run counts 0 under -c.
    Source:     trec_eval 10.0
    """
    return judged.num_ret


@_count(bounds=CORNERS_OF_COUNTS, expected="unchanged", aliases=("NumRel",))
def num_rel(judged: Judged) -> IntArray:
    """Relevant documents in the judgements, retrieved or not, summed over queries.

    Formula:    R = number of documents judged at or above the relevance level (-l)
    Range:      0 upwards
    Edge cases: under -c, trec_eval's summary ignores -l and counts levels above 0; ragkpi does not.
    Source:     trec_eval 10.0
    """
    return judged.num_rel


@_count(better="higher", bounds=CORNERS_OF_COUNTS, aliases=("NumRelRet",))
def num_rel_ret(judged: Judged) -> IntArray:
    """Relevant documents retrieved, summed over queries.

    Formula:    rr = number of retrieved documents judged at or above the relevance level
    Range:      0 to num_rel
    Edge cases: -M cuts before counting.
    Source:     trec_eval 10.0
    """
    return judged.num_rel_ret


@_count(better="lower", bounds=COUNTS_HOLES)
def num_nonrel_judged_ret(judged: Judged) -> IntArray:
    """Retrieved documents judged nonrelevant, summed over queries.

    Formula:    judged retrieved documents - rr
    Range:      0 to num_ret
    Edge cases: a negative level is "in the pool but unjudged" and does not count.
    Source:     trec_eval 10.0
    """
    return judged.per_query((judged.level >= 0) & ~judged.relevant).astype(np.int64)


@_property(
    parameters=Grammar("list", (10.0,), argument="length", length=1),
    aggregate=PER_QUERY_TEXT,
    style="quoted",
    bounds=UNPROVEN,
)
def relstring(judged: Judged, length: tuple[float, ...]) -> npt.NDArray[np.object_]:
    """Judged levels of the first documents, one character each.

    Formula:    0 to 9 the level, > a level above 9, - not judged, . in the pool but unjudged
                (a negative level)
    Range:      text of min(N, n) characters in single quotes, N the parameter
    Edge cases: empty for an empty ranking or N below 1; there is no summary line.
    Source:     trec_eval 10.0
    """
    lengths = np.minimum(judged.num_ret, max(int(length[0]), 0))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    characters = np.full(ends[-1], ord("-"), dtype=np.uint8)
    visible = judged.rank <= lengths[judged.query]
    grade = judged.level[visible]
    digit = np.where(grade > 9, ord(">"), grade + ord("0"))
    position = ends[judged.query[visible]] + judged.rank[visible] - 1
    characters[position] = np.where(grade < 0, ord("."), digit)
    text = characters.tobytes()
    strings = np.empty(len(lengths), dtype=object)
    strings[:] = [text[start:end] for start, end in pairwise(ends.tolist())]
    return strings


@_set(parameters=Grammar("list", (1.0, -1.0, 0.0, 0.0), argument="coefficients", length=4))
def utility(judged: Judged, coefficients: tuple[float, ...]) -> FloatArray:
    """Linear utility of the whole retrieved set.

    Formula:    a·rr + b·(n - rr) + c·(R - rr) + d·(N + rr - n - R), N = documents in the
                collection (-N), the parameters are a,b,c,d
    Range:      any number
    Edge cases: N is 0 without -N. An empty ranking scores c·R + d·(N - R).
    Source:     trec_eval 10.0
    """
    a, b, c, d = coefficients
    N = _corpus_size_of_user(judged)
    rr, n, R = judged.num_rel_ret, judged.num_ret, judged.num_rel
    gained: FloatArray = a * rr + b * (n - rr) + c * (R - rr) + d * (N + rr - n - R)
    return gained


def _corpus_size_of_user(judged: Judged) -> IntArray:
    """Return the corpus size that the user gave, (Q,), or 0."""
    shared = judged.settings.corpus_size or 0
    if not judged.settings.corpus_sizes:
        return np.full(len(judged.queries), shared)
    single = judged.settings.corpus_sizes
    return np.array([single.get(query, shared) for query in judged.queries], dtype=np.int64)


@_set(ties="monotone", aliases=("SetP",))
def set_P(judged: Judged) -> FloatArray:
    """Precision of the whole retrieved set.

    Formula:    rr / n, rr = relevant documents retrieved, n = documents retrieved
    Range:      0 to 1
    Edge cases: 0 for an empty ranking.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_ret, judged.num_ret)


@_set(aliases=("SetRelP",))
def set_relative_P(judged: Judged) -> FloatArray:
    """Precision of the whole retrieved set relative to its maximum.

    Formula:    rr / min(n, R)
    Range:      0 to 1
    Edge cases: 0 for an empty ranking or a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_ret, np.minimum(judged.num_ret, judged.num_rel))


@_set(ties="monotone", aliases=("SetR",))
def set_recall(judged: Judged) -> FloatArray:
    """Recall of the whole retrieved set.

    Formula:    rr / R
    Range:      0 to 1
    Edge cases: 0 for a query without relevant documents.
    Source:     trec_eval 10.0
    """
    return quotient(judged.num_rel_ret, judged.num_rel)


@_set(aliases=("SetAP",))
def set_map(judged: Judged) -> FloatArray:
    """Unranked average precision: precision times recall of the whole retrieved set.

    Formula:    (rr · rr) / (n · R)
    Range:      0 to 1
    Edge cases: 0 for an empty ranking or a query without relevant documents.
    Source:     trec_eval 10.0
    """
    relevant = judged.num_rel_ret.astype(np.float64)
    return quotient(relevant * relevant, judged.num_ret.astype(np.float64) * judged.num_rel)


@_set(
    parameters=Grammar("list", (1.0,), argument="weight", length=1),
    bounds=CORNERS_OF_COUNTS._replace(parameters="default"),
    question="tradeoff",
    aliases=("SetF",),
)
def set_F(judged: Judged, weight: tuple[float, ...]) -> FloatArray:
    """Weighted harmonic mean of the precision and the recall of the whole retrieved set.

    Formula:    ((x + 1) · P · Rc) / (x · P + Rc), P = set_P, Rc = set_recall, x the parameter
    Range:      0 to 1
    Edge cases: x is not squared: the usual F_2 is set_F.4. 0 if nothing relevant is
                retrieved.
    Source:     trec_eval 10.0
    """
    x = weight[0]
    P, Rc = set_P(judged), set_recall(judged)
    return quotient((x + 1.0) * P * Rc, x * P + Rc)
