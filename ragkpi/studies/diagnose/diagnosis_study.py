"""Retriever or reranker: where each query lost the evidence that it could have had.

The gain of the best K documents there are is what the pool lacks, plus what the selection from
the pool left behind, plus what the top K hold. Divided by the first, the three add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ragkpi.formats.tokens import Tokens
from ragkpi.measures import evidence
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judged import FloatArray, IntArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, replace
from ragkpi.studies.holes.unjudged_documents import find_holes

Verdict = Literal["retriever", "reranker", "both", "fine", "NA"]
_ROUNDING = 1e-9  # a quotient that should be 0.8 may lie a bit below it

FOREIGN_LIMIT = 0.2  # share of documents shown that a pool may lack before nothing is advised

VERDICTS: tuple[Verdict, ...] = ("retriever", "reranker", "both", "fine", "NA")


@dataclass(frozen=True)
class Thresholds:
    """From where on PROC and %PROC are good.

    The systems of arXiv 2511.09545 realise 83 to 89 % of their ceiling at K = 10, and their
    ceilings are higher: four fifths of either is below what is usual.
    """

    proc: float = 0.8
    pct_proc: float = 0.8


@dataclass(frozen=True)
class Decomposition:
    """What became of the ideal gain, as shares of it; they add up to 1.

    Attributes
    ----------
    missed_by_pool, missed_by_selection, realised : (Q,)
        1 - PROC, PROC - RA-nWG and RA-nWG; NaN for a query without useful documents. The second
        is negative where the top K hold documents that the pool lacks.
    """

    missed_by_pool: FloatArray
    missed_by_selection: FloatArray
    realised: FloatArray

    def means(self) -> tuple[float, float, float] | None:
        """Average the shares over the queries that have them; None if there are none."""
        known = ~np.isnan(self.realised)
        if not known.any():
            return None
        pool, selection, realised = (
            float(share[known].mean())
            for share in (self.missed_by_pool, self.missed_by_selection, self.realised)
        )
        return pool, selection, realised


@dataclass(frozen=True)
class Missed:
    """The n useful documents that the top K lack, by query, the most worthy first.

    Attributes
    ----------
    query, judgement, grade, level, pool_rank : (n,)
        Query as in `Judged`, row in the judgements, rubric grade, judged level, and rank in the
        pool, 0 for documents that it lacks.
    """

    query: IntArray
    judgement: IntArray
    grade: IntArray
    level: IntArray
    pool_rank: IntArray

    def of(self, query: int) -> IntArray:
        """Return the places of a query's documents."""
        first, last = np.searchsorted(self.query, [query, query + 1])
        return np.arange(first, last)


@dataclass(frozen=True)
class Diagnosis:
    """What was found out about Q queries.

    Attributes
    ----------
    queries : list of bytes, length Q
        In byte order.
    cutoff, thresholds
        K, and what the verdicts are by.
    proc, pct_proc, ra_nwg : (Q,)
        The measures of these names; NaN is NA.
    verdicts : list, length Q
        One each.
    decomposition, missed
        What was lost, and which documents.
    order : (Q,)
        Places of the queries, the greatest loss first, NA last.
    outside_pool
        How many documents of all top K the pool lacks, unless they were added to it; 0 where that
        was not looked at.
    shown, unjudged
        How many documents all top K hold, and how many of them nobody judged.
    best_case
        The shares of the ideal gain, as `Decomposition.means` has them, if all unjudged documents
        shown were of the top grade; None if none is, or where that was not looked at.
    """

    queries: list[bytes]
    cutoff: int
    thresholds: Thresholds
    proc: FloatArray
    pct_proc: FloatArray
    ra_nwg: FloatArray
    verdicts: list[Verdict]
    decomposition: Decomposition
    missed: Missed
    order: IntArray
    outside_pool: int
    shown: int
    unjudged: int
    best_case: tuple[float, float, float] | None = None

    @property
    def grounded(self) -> bool:
        """Whether the run can have been selected from the pool."""
        return self.outside_pool <= FOREIGN_LIMIT * self.shown

    def counts(self) -> Mapping[Verdict, int]:
        """Count the queries of each verdict."""
        return {verdict: self.verdicts.count(verdict) for verdict in VERDICTS}


def diagnose(
    judged: Judged, judgements: Judgements, cutoff: int, thresholds: Thresholds
) -> Diagnosis:
    """Compare what the top K hold with what the pool and the judgements hold."""
    weighting = dict(find_metrics([f"ra_nwg.{cutoff}"])[0].arguments)
    proc = evidence.proc(judged, **weighting)
    pct_proc = evidence.pct_proc(judged, **weighting)
    ra_nwg = evidence.ra_nwg(judged, **weighting)
    del weighting["cutoff"]
    added = judged.settings.pool_union == "union"
    judged_shown = int(((judged.rank <= cutoff) & (judged.level >= 0)).sum())
    shown = int(np.minimum(judged.num_ret, cutoff).sum())
    worth = evidence.weights(evidence.labelled(judged), **weighting)
    return Diagnosis(
        queries=judged.queries,
        cutoff=cutoff,
        thresholds=thresholds,
        proc=proc,
        pct_proc=pct_proc,
        ra_nwg=ra_nwg,
        verdicts=_verdicts(proc, pct_proc, thresholds),
        decomposition=Decomposition(1 - proc, proc - ra_nwg, ra_nwg),
        missed=_missed(judged, judgements, worth, cutoff),
        order=np.argsort(ra_nwg, kind="stable"),  # NaN is last
        outside_pool=0 if added else int(evidence.pool_miss(judged, cutoff).sum()),
        shown=shown,
        unjudged=shown - judged_shown,
    )


def _verdicts(proc: FloatArray, pct_proc: FloatArray, thresholds: Thresholds) -> list[Verdict]:
    """Name the quadrant of each query; an empty pool leaves nothing to select from."""
    poor_pool = proc < thresholds.proc - _ROUNDING
    poor_selection = pct_proc < thresholds.pct_proc - _ROUNDING  # not where it is NA
    verdicts: list[Verdict] = np.select(
        [np.isnan(proc), poor_pool & poor_selection, poor_pool, poor_selection],
        ["NA", "both", "retriever", "reranker"],
        "fine",
    ).tolist()
    return verdicts


def _missed(judged: Judged, judgements: Judgements, worth: FloatArray, cutoff: int) -> Missed:
    number = judgements.places_among(judged.queries)
    rows = np.flatnonzero(number[judgements.query] >= 0)
    query, level = number[judgements.query[rows]], judgements.level[rows]
    grade = evidence.grades(judged, level)
    pool = judged if judged.pool is None else judged.pool
    rank = np.zeros(len(judgements.level), dtype=np.int64)
    rank[pool.judgement] = pool.rank
    shown = np.zeros(len(judgements.level), dtype=np.bool_)
    shown[judged.judgement[judged.rank <= cutoff]] = True
    useful = (worth[query, grade] > 0) & ~shown[rows]
    query, level, grade, rows = query[useful], level[useful], grade[useful], rows[useful]
    depth = np.where(rank[rows] > 0, rank[rows], np.iinfo(np.int64).max)
    order = np.lexsort((depth, -worth[query, grade], query))
    return Missed(query[order], rows[order], grade[order], level[order], rank[rows[order]])


def with_shown_at_their_best(
    judgements: Judgements, run: Hits, settings: Settings, cutoff: int
) -> tuple[Judgements, Hits] | None:
    """Give every unjudged document of a run's top K the level of the highest grade.

    Parameters
    ----------
    run
        Read with the names of its documents down to the cutoff.

    Returns
    -------
    The judgements with these documents, and the run by them; None if all shown are judged.
    """
    holes = find_holes(judgements, [run], settings)
    shown = np.flatnonzero(holes.within(cutoff))
    if not len(shown):
        return None
    best = max(settings.grade_map.rubric.items(), key=lambda level_and_grade: level_and_grade[1])
    # What had a negative level is shown now, or was not retrieved.
    kept = np.flatnonzero(judgements.level >= 0)
    query = np.concatenate([judgements.query[kept], holes.query[shown]])
    order = np.argsort(query, kind="stable")
    row = np.empty(len(order), dtype=np.int64)
    row[order] = np.arange(len(order))
    moved = np.full(len(judgements.level), -1)
    moved[kept] = row[: len(kept)]
    level = np.concatenate([judgements.level[kept], np.full(len(shown), best[0])])
    documents = Tokens.joined([judgements.document.take(kept), holes.documents(shown)])
    widened = replace(
        judgements,
        starts=np.searchsorted(query[order], np.arange(len(judgements.queries) + 1)),
        document=documents.take(order),
        level=level[order],
    )
    judged = judgements.level[run.judgement] >= 0
    hits = replace(
        run,
        judgement=np.concatenate([moved[run.judgement[judged]], row[len(kept) :]]),
        rank=np.concatenate([run.rank[judged], holes.rank[0, shown]]),
    )
    return widened, hits
