"""Counts of queries and documents, and the run as text: its label, and its ranking."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.ranking.judged import FloatArray, IntArray, Judged

if TYPE_CHECKING:
    import numpy.typing as npt


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


def relstring(judged: Judged, length: tuple[float, ...]) -> npt.NDArray[np.object_]:
    """Judged levels of the first documents, one character each.

    Formula:    0 to 9 the level, > a level above 9, - not judged, . in the pool but unjudged
                (a negative level)
    Range:      text of min(N, n) characters in single quotes, N the parameter
    Edge cases: empty for an empty ranking or N below 1; there is no line over all queries.
    Source:     trec_eval 10.0
    """
    shown = np.minimum(judged.num_ret, max(int(length[0]), 0))
    ends = np.concatenate([[0], np.cumsum(shown)])
    characters = np.full(ends[-1], ord("-"), dtype=np.uint8)
    visible = judged.rank <= shown[judged.query]
    grade = judged.level[visible]
    digit = np.where(grade > 9, ord(">"), grade + ord("0"))
    position = ends[judged.query[visible]] + judged.rank[visible] - 1
    characters[position] = np.where(grade < 0, ord("."), digit)
    text = characters.tobytes()
    strings = np.empty(len(shown), dtype=object)
    strings[:] = [text[start:end] for start, end in pairwise(ends.tolist())]
    return strings
