"""Where each query lost evidence, in the retriever's pool or in the reranker's selection.

The ideal gain, that of the best K judged documents, has three parts: gain outside the pool, gain in
the pool that the selection missed, and gain in the top K. The answer lists the worst queries
with missed documents, and blames a stage; its chart shows PROC against %PROC, in four quadrants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray, IntArray
from ragkpi.charts.chart import Axis, PlaneChart, Points, Rule
from ragkpi.files.lines import Tokens
from ragkpi.library.interval_notes import interval_note
from ragkpi.measures import evidence
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.statistics.bootstrap import (
    UNKNOWN,
    Bootstrap,
    Interval,
    QuerySample,
    drawn,
    order_statistics,
    stretched,
    sums,
)
from ragkpi.statistics.significance import p_values
from ragkpi.statistics.units import by_unit, units_of
from ragkpi.wording import beside, counted, decoded, listed, percent

Fault = Literal["retriever", "reranker", "both", "fine", "NA"]
_NEAR = 1e-9  # an exact quotient of 0.8 can be slightly below it
_FOREIGN_LIMIT = 0.2  # with a larger share of the top K outside, it is the wrong pool

GOOD = 0.8
"""The lower limit of good PROC and %PROC.

The systems of arXiv 2511.09545 reach 83 to 89% of their ceiling at K = 10, and their ceilings are
higher, so below 80% either one is unusually low.
"""

# What each verdict means, with its tone; the chart has the first four in its corners.
_VERDICTS: Mapping[Fault, tuple[Literal["plain", "good", "bad", "warning"], str]] = {
    "retriever": ("warning", "the pool lacks good evidence"),
    "fine": ("good", "neither"),
    "both": ("bad", "the pool lacks some, and the reranker drops some"),
    "reranker": ("warning", "the pool has it, the reranker drops it"),
    "NA": ("plain", "no useful document is judged"),
}


class Shares(NamedTuple):
    """The parts of the ideal gain, as mean shares that add up to 1."""

    missed_by_pool: float
    missed_by_selection: float
    realised: float

    @property
    def lost(self) -> float:
        return self.missed_by_pool + self.missed_by_selection


@dataclass(frozen=True)
class Missed:
    """The n useful documents missing from the top K, by query, by gain, then rank, then id."""

    query: IntArray  # (n,): as in `Judged`
    judgement: IntArray  # (n,): row in the judgements
    grade: IntArray  # (n,): rubric grade
    pool_rank: IntArray  # (n,): 0 for documents outside the pool

    def of(self, query: int) -> IntArray:
        first, last = np.searchsorted(self.query, [query, query + 1])
        return np.arange(first, last)


@dataclass(frozen=True)
class Diagnosis:
    """The losses of Q queries."""

    queries: list[bytes]  # length Q: in byte order
    cutoff: int
    proc: FloatArray
    pct_proc: FloatArray
    ra_nwg: FloatArray
    verdicts: list[Fault]  # length Q: the quadrant of each query
    missed: Missed
    order: IntArray  # (Q,): rows of the queries, largest loss first, NA last
    outside_pool: int  # number of documents in all top K outside the pool, unless added
    retrieved: int  # number of documents in all top K
    unjudged: int

    @property
    def shares(self) -> FloatArray:
        """The parts of each query's ideal gain, (3, Q), as in `Shares`; NaN without useful ones.

        The selection's loss can be negative if the top K contains documents outside the pool.
        """
        return np.stack([1 - self.proc, self.proc - self.ra_nwg, self.ra_nwg])

    @property
    def mean_shares(self) -> Shares | None:
        """The mean over the queries with useful documents; None without such queries."""
        shares = self.shares[:, ~np.isnan(self.ra_nwg)]
        return Shares(*(float(share.mean()) for share in shares)) if shares.size else None

    @property
    def grounded(self) -> bool:
        """Whether the run is plausibly a selection from the pool."""
        return self.outside_pool <= _FOREIGN_LIMIT * self.retrieved

    def counts(self) -> Mapping[Fault, int]:
        return {verdict: self.verdicts.count(verdict) for verdict in _VERDICTS}


def diagnose(judged: Judged, judgements: Judgements, cutoff: int) -> Diagnosis:
    """Compare the gain of the top K with that of the pool and the judgements."""
    weighting = dict(find_metrics([f"ra_nwg.{cutoff}"])[0].arguments)
    proc = evidence.proc(judged, **weighting)
    pct_proc = evidence.pct_proc(judged, **weighting)
    ra_nwg = evidence.ra_nwg(judged, **weighting)
    del weighting["cutoff"]
    # False for NA: an empty pool leaves nothing to select from.
    poor_pool, poor_selection = proc < GOOD - _NEAR, pct_proc < GOOD - _NEAR
    verdicts = np.select(
        [np.isnan(proc), poor_pool & poor_selection, poor_pool, poor_selection],
        ["NA", "both", "retriever", "reranker"],
        "fine",
    )
    added = judged.settings.pool_union == "union"
    judged_top = int(((judged.rank <= cutoff) & (judged.level >= 0)).sum())
    retrieved = int(np.minimum(judged.num_ret, cutoff).sum())
    worth = evidence.weights(evidence.labelled(judged), **weighting)
    return Diagnosis(
        queries=judged.queries,
        cutoff=cutoff,
        proc=proc,
        pct_proc=pct_proc,
        ra_nwg=ra_nwg,
        verdicts=verdicts.tolist(),
        missed=_missed(judged, judgements, worth, cutoff),
        order=np.argsort(ra_nwg, kind="stable"),  # NaN is last
        outside_pool=0 if added else int(evidence.pool_miss(judged, cutoff).sum()),
        retrieved=retrieved,
        unjudged=retrieved - judged_top,
    )


Stage = Literal["retrieval", "the reranker"]

FEWEST = 10
"""The minimum number of queries with lost gain for naming a stage."""


@dataclass(frozen=True)
class Blame:
    """The stage that lost more of the ideal gain, and the evidence for it.

    A stage is named only if all conditions hold. None alone keeps the error near 5% if both stages
    lose the same: intervals of few queries are too narrow, and if few queries lose most of the
    gain, their losses are not symmetric.

    - The interval of `share` lies on one side of a half: at 95%, at least 97.5% of the bootstrap
      samples blame the stage.
    - The losses of the two stages differ by a randomization test, which swaps them query by query.
    - At least `FEWEST` queries lost gain.
    - One more query that lost all of its gain to the other stage would not reverse the answer.

    With clusters, all conditions count clusters instead of queries. docs/decisions.md shows how
    often a stage is named wrongly, and how often correctly.
    """

    queries: int  # with useful documents
    unit: Literal["query", "cluster"]  # the unit of evidence
    losing: int  # units that lost gain
    share: float  # of the lost gain, the share outside the pool
    interval: Interval
    stage: Stage  # that lost more
    resampled: Mapping[Stage, float]  # share of bootstrap samples that blame it; empty for one unit
    p: float  # of the randomization test
    lead: float  # the extra loss of the blamed stage, in ideal gains of the largest unit
    level: float

    @property
    def decided(self) -> bool:
        """Whether a stage is named."""
        low, high = self.interval
        return (
            self.losing >= FEWEST
            and (low > 0.5 or high < 0.5)
            and self.p <= 1 - self.level
            and self.lead > 1
        )


def blame(diagnosis: Diagnosis, bootstrap: Bootstrap) -> Blame | None:
    """Blame a stage by all queries and by bootstrap samples; None without a loss."""
    shares = diagnosis.mean_shares
    if shares is None or shares.lost <= ROUNDING:
        return None
    useful = ~np.isnan(diagnosis.ra_nwg)
    losses = diagnosis.shares[:2, useful].T
    unit = units_of(list(compress(diagnosis.queries, useful)), bootstrap.clusters)
    n, by_units, sizes = len(losses), by_unit(losses, unit), by_unit(np.ones(len(losses)), unit)
    added = sums(drawn(n, bootstrap.resamples, bootstrap.seed, unit=unit), losses)
    lost = added.sum(axis=1)
    lost = np.where(lost > ROUNDING * n, lost, np.nan)
    of_pool = added[:, 0] / lost  # NaN blames no stage
    resampled: dict[Stage, float] = {
        "retrieval": float((of_pool > 0.5).mean()),
        "the reranker": float((of_pool <= 0.5).mean()),
    }
    # Both losses lie in the range of RA-nWG, so the test can treat them as values of two runs.
    (metric,) = find_metrics([f"ra_nwg.{diagnosis.cutoff}"])
    as_runs = QuerySample([metric], [slice(0, 1)], losses[:, :, np.newaxis], unit)
    blamed = Blame(
        queries=n,
        unit="query" if bootstrap.clusters is None else "cluster",
        losing=int((by_units.sum(axis=1) > ROUNDING).sum()),
        share=shares.missed_by_pool / shares.lost,
        interval=order_statistics(of_pool, bootstrap.tails) if len(sizes) > 1 else UNKNOWN,
        stage="retrieval" if shares.missed_by_pool > shares.missed_by_selection else "the reranker",
        resampled=resampled if len(sizes) > 1 else {},
        p=p_values(as_runs, "randomization", bootstrap.resamples, bootstrap.seed)[0][0],
        lead=n * abs(shares.missed_by_pool - shares.missed_by_selection) / float(sizes.max()),
        level=bootstrap.level,
    )
    undecided = blamed.losing >= FEWEST and not blamed.decided
    return replace(blamed, interval=stretched(blamed.interval, 0.5)) if undecided else blamed


def _missed(judged: Judged, judgements: Judgements, worth: FloatArray, cutoff: int) -> Missed:
    number = judgements.places_among(judged.queries)
    rows = np.flatnonzero(number[judgements.query] >= 0)
    query = number[judgements.query[rows]]
    grade = evidence.grades(judged, judgements.level[rows])
    pool = judged if judged.pool is None else judged.pool
    rank = np.zeros(len(judgements.level), dtype=np.int64)
    rank[pool.judgement] = pool.rank
    in_top = np.zeros(len(judgements.level), dtype=np.bool_)
    in_top[judged.judgement[judged.rank <= cutoff]] = True
    useful = (worth[query, grade] > 0) & ~in_top[rows]
    query, grade, rows = query[useful], grade[useful], rows[useful]
    depth = np.where(rank[rows] > 0, rank[rows], np.iinfo(np.int64).max)
    ids = np.array(judgements.document.take(rows).tolist(), dtype=object)
    _, by_id = np.unique(ids, return_inverse=True)
    order = np.lexsort((by_id, depth, -worth[query, grade], query))
    return Missed(query[order], rows[order], grade[order], rank[rows[order]])


_BOOTSTRAP = Bootstrap()
_SEVERAL = {"query": "queries", "cluster": "clusters"}


def diagnosis_answer(
    diagnosis: Diagnosis,
    documents: Tokens,
    most_queries: int | None,
    most_missed: int,
    bootstrap: Bootstrap = _BOOTSTRAP,
) -> Answer:
    """Put a diagnosis into words: the worst queries (None for all), with some missed documents.

    `documents` are the ids of the judged documents, by row of the judgements.
    """
    worst = diagnosis.order.tolist()[:most_queries]
    rows = [row for query in worst for row in _rows(diagnosis, documents, query, most_missed)]
    cutoff = diagnosis.cutoff
    metrics = find_metrics([f"{name}.{cutoff}" for name in ("proc", "pct_proc", "ra_nwg")])
    share = "share of the ideal gain"
    columns = [
        Column("query"),
        Column("verdict"),
        *(Column(metric.name, "decimal", legend=metric.measure.in_short) for metric in metrics),
        Column("missed_by_pool", "decimal", role="detail", legend=share),
        Column("missed_by_selection", "decimal", role="detail", legend=share),
        Column(
            "missed",
            "integer",
            legend=f"useful documents missing from the top {cutoff}; some of them follow",
        ),
        Column("document"),
        Column("grade", "integer", legend="of the rubric, 1 to 5, after the grade map"),
        Column("pool_rank", "integer", legend="rank of the document in the pool"),
    ]
    blamed = blame(diagnosis, bootstrap) if diagnosis.grounded else None
    return Answer(
        columns,
        rows,
        list(_notes(diagnosis, len(worst))),
        verdict=[_sentence(diagnosis, blamed)],
        explanation=list(_explanation(diagnosis, blamed, bootstrap)),
        question="diagnose",
        findings=_findings(diagnosis, blamed),
        heads=8,
    )


def _rows(
    diagnosis: Diagnosis, documents: Tokens, query: int, most_missed: int
) -> Iterator[list[Cell]]:
    missed, verdict = diagnosis.missed, diagnosis.verdicts[query]
    of_query = missed.of(query)
    by_query = (diagnosis.proc, diagnosis.pct_proc, diagnosis.ra_nwg, *diagnosis.shares[:2])
    heads = [
        Cell(diagnosis.queries[query]),
        Cell(verdict, tone=_VERDICTS[verdict][0]),
        *(Cell(float(values[query])) for values in by_query),
        Cell(len(of_query)),
    ]
    listed = of_query[:most_missed].tolist()
    names = documents.take(missed.judgement[listed]).tolist()
    for row, name in zip(listed, names, strict=True):
        rank = int(missed.pool_rank[row])
        place = Cell(rank) if rank else Cell("not in it", style="text")
        yield [*heads, Cell(name), Cell(int(missed.grade[row])), place]
    if not listed:
        yield [*heads, *[Cell()] * 3]


def diagnosis_chart(
    diagnosis: Diagnosis, points: Literal["plain", "labelled"] = "plain"
) -> PlaneChart:
    """Draw a point per query with both values, perhaps with its id; the corners count verdicts."""
    proc, pct_proc = diagnosis.proc, diagnosis.pct_proc
    groups = []
    counts, corners = diagnosis.counts(), [*_VERDICTS][:4]
    for verdict in corners:
        drawn = (np.array(diagnosis.verdicts) == verdict) & ~np.isnan(pct_proc)
        names = [decoded(diagnosis.queries[query]) for query in np.flatnonzero(drawn).tolist()]
        labels = names if points == "labelled" else ()
        groups.append(Points(verdict, proc[drawn].tolist(), pct_proc[drawn].tolist(), labels))
    notes = []
    empty = (proc == 0) & np.isnan(pct_proc)
    for without, why in (
        (empty, "no useful document in the pool: PROC 0, %PROC NA, the retriever's"),
        (np.isnan(proc), "no useful document is judged: NA"),
    ):
        names = [diagnosis.queries[query] for query in np.flatnonzero(without).tolist()]
        if names:
            number = counted(len(names), "query", "queries")
            notes.append(f"without a point: {number} ({why}; {listed(names, 3)})")
    return PlaneChart(
        f"Retriever or reranker? {counted(len(diagnosis.queries), 'query', 'queries')}, "
        f"K = {diagnosis.cutoff}",
        Axis("PROC: what the pool allows", low=0, high=1),
        Axis("%PROC: what the selection realised", low=0, high=1),
        points=groups,
        rules=[Rule("x", GOOD), Rule("y", GOOD)],
        corners=[f"{verdict} {counts[verdict]}" for verdict in corners],
        notes=notes,
    )


def _notes(diagnosis: Diagnosis, worst: int) -> Iterator[str]:
    """Yield reasons for caution about the verdict, and a note on hidden queries."""
    if diagnosis.outside_pool and diagnosis.grounded:
        yield (
            f"The pool lacks {diagnosis.outside_pool:,} of the "
            f"{counted(diagnosis.retrieved, 'document')} shown: the run was not selected from it "
            "alone (--pool-union adds them)."
        )
    if diagnosis.unjudged:
        documents = counted(diagnosis.retrieved, "document")
        yield (
            f"{diagnosis.unjudged:,} of the {documents} shown are unjudged; they count as not "
            "relevant."
        )
    if worst < len(diagnosis.queries):
        yield f"The {worst} worst of {len(diagnosis.queries)} queries; -q shows all."


def _explanation(diagnosis: Diagnosis, blamed: Blame | None, bootstrap: Bootstrap) -> Iterator[str]:
    yield f"good: PROC@{diagnosis.cutoff} and %PROC@{diagnosis.cutoff} from {GOOD:g}"
    counts = diagnosis.counts()
    for verdict, count in counts.items():
        if count:
            yield f"{verdict}: {count} ({_VERDICTS[verdict][1]})"
    shares = diagnosis.mean_shares
    if shares:
        pool, selection, realised = (percent(share, 1) for share in shares)
        useful = len(diagnosis.queries) - counts["NA"]
        yield (
            f"of the ideal gain, over {counted(useful, 'query', 'queries')}: {pool} missed by the "
            f"pool + {selection} missed by the selection + {realised} realised"
        )
    if blamed is not None:
        yield interval_note(bootstrap, " of the share of the lost gain")
        units = counted(FEWEST, blamed.unit, _SEVERAL[blamed.unit])
        limit = round(1 - bootstrap.level, 12)
        yield (
            "a stage is named if the interval lies on one side of 50%, a randomization test of "
            f"the stages' losses has p <= {limit:.2g} (here {beside(blamed.p, limit, 2, 'g')}), at "
            f"least {units} lost gain (here {blamed.losing}), and one more {blamed.unit} could "
            f"not reverse it: the lead exceeds the ideal gain of one {blamed.unit} (here that of "
            f"{blamed.lead:.1f})"
        )


def _sentence(diagnosis: Diagnosis, blamed: Blame | None) -> str:
    cutoff = diagnosis.cutoff
    if diagnosis.mean_shares is None:
        return "Nothing can be diagnosed: no query has a judged document of grade 3 or more."
    if not diagnosis.grounded:
        return (
            f"Nothing can be diagnosed: the pool lacks {diagnosis.outside_pool:,} of the "
            f"{counted(diagnosis.retrieved, 'document')} in the top {cutoff}, so the run "
            "was not selected from it. Are the pool and the run swapped?"
        )
    if blamed is None:
        return f"Nothing is lost: the top {cutoff} hold the best evidence available."
    low, high = blamed.interval
    share = _share(blamed.share)
    if blamed.resampled:
        share += _interval(low, high)
    if blamed.decided:
        where = "comes from documents that the first stage never returned"
        if blamed.stage == "the reranker":
            share = f"{_share(1 - blamed.share)}{_interval(1 - high, 1 - low)}"
            where = f"is in the pool, but not in the top {cutoff}"
        return f"Fix {blamed.stage} first: {share} of the lost gain {where}."
    if blamed.losing < FEWEST:
        units = _SEVERAL[blamed.unit]
        return (
            f"Too few {units} to decide between retrieval and the reranker: "
            f"{counted(blamed.losing, blamed.unit, units)} lost gain, {share} of it not in the "
            "pool."
        )
    retrieval, reranker = map(percent, blamed.resampled.values())
    return (
        f"Undecided between retrieval and the reranker: retrieval in {retrieval} of the bootstrap "
        f"samples, the reranker in {reranker} (share of the lost gain not in the pool: {share})."
    )


def _share(share: float) -> str:
    """Write a share, or a bound of its interval, as a percentage; only a half is 50%."""
    return percent(min(max(share, 0), 1), bound=0.5)


def _interval(low: float, high: float) -> str:
    return f" [{', '.join(_share(end).removesuffix('%') for end in (low, high))}]"


def _findings(diagnosis: Diagnosis, blamed: Blame | None) -> dict[str, Any]:
    mean, queries = diagnosis.mean_shares, map(decoded, diagnosis.queries)
    return {
        "cutoff": diagnosis.cutoff,
        "verdicts": diagnosis.counts(),
        "shown": diagnosis.retrieved,
        "unjudged": diagnosis.unjudged,
        "shares": mean and mean._asdict(),
        "blame": blamed and {**asdict(blamed), "decided": blamed.decided},
        "queries": dict(zip(queries, diagnosis.verdicts, strict=True)),
    }
