"""Counts of queries and documents, and the run's own label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ragkpi.ranking.judged import FloatArray, IntArray, Judged


def runid(judged: Judged) -> npt.NDArray[np.object_]:
    """Label of the run: the first word of the last field of the run's last line.

    Formula:    none, it is text
    Range:      any text
    Edge cases: a run whose lines disagree about it is not refused; the last line wins.
    Source:     trec_eval 10.0
    """
    return np.full(len(judged.queries), judged.run_id, dtype=object)


def num_q(judged: Judged) -> FloatArray:
    """Number of queries that the means are over.

    Formula:    queries in both qrels and run; with -c, queries in qrels
    Range:      1 upwards
    Edge cases: a query whose value of some measure is NA still counts here; see num_q_<measure>.
    Source:     trec_eval 10.0; without -c as trec_eval 9 (10.0 stops at a missing query)
    """
    return np.ones(len(judged.queries))


def num_ret(judged: Judged) -> IntArray:
    """Documents retrieved, after -M and -J, summed over queries.

    Formula:    n
    Range:      0 upwards
    Edge cases: a query missing from the run counts 0 under -c.
    Source:     trec_eval 10.0
    """
    return judged.num_ret


def num_rel(judged: Judged) -> IntArray:
    """Relevant documents in the judgements, retrieved or not, summed over queries.

    Formula:    R = number of documents judged at or above the relevance level (-l)
    Range:      0 upwards
    Edge cases: trec_eval's summary under -c counts levels above 0 whatever -l says; here -l holds.
    Source:     trec_eval 10.0
    """
    return judged.num_rel


def num_rel_ret(judged: Judged) -> IntArray:
    """Relevant documents retrieved, summed over queries.

    Formula:    rr = number of retrieved documents judged at or above the relevance level
    Range:      0 to num_rel
    Edge cases: -M cuts before counting.
    Source:     trec_eval 10.0
    """
    return judged.num_rel_ret


def num_nonrel_judged_ret(judged: Judged) -> IntArray:
    """Retrieved documents that were judged and found nonrelevant, summed over queries.

    Formula:    judged retrieved documents - rr
    Range:      0 to num_ret
    Edge cases: a negative level is "in the pool but unjudged" and does not count.
    Source:     trec_eval 10.0
    """
    return judged.per_query((judged.level >= 0) & ~judged.relevant).astype(np.int64)
