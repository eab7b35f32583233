"""The answer of `ragkpi diagnose`: the worst queries with missed documents, and a conclusion.

Its chart shows PROC against %PROC, in four quadrants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from ragkpi.arrays import ROUNDING
from ragkpi.charts.chart import Axis, PlaneChart, Points, Rule
from ragkpi.files.lines import Tokens
from ragkpi.library.evaluation_report import interval_note
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.diagnose.study import FEWEST, Blame, Diagnosis, Fault, blame
from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.wording import beside, counted, decoded, listed, percent

_CORNERS: tuple[Fault, ...] = ("retriever", "fine", "both", "reranker")
_BOOTSTRAP = Bootstrap()
_SEVERAL = {"query": "queries", "cluster": "clusters"}
_MEANING: dict[Fault, tuple[Literal["plain", "good", "bad", "warning"], str]] = {
    "retriever": ("warning", "the pool lacks good evidence"),
    "reranker": ("warning", "the pool has it, the selection leaves it behind"),
    "both": ("bad", "the pool lacks it, and the selection leaves some behind"),
    "fine": ("good", "neither"),
    "NA": ("plain", "no useful document is judged"),
}


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
            legend=f"useful documents that the top {cutoff} lack; some of them follow",
        ),
        Column("document"),
        Column("grade", "integer", legend="of the rubric, 1 to 5, after the grade map"),
        Column("level", "integer", role="detail", legend="as it was judged"),
        Column("pool_rank", "integer", legend="where the pool has the document"),
    ]
    blamed = blame(diagnosis, bootstrap) if diagnosis.grounded else None
    return Answer(
        columns,
        rows,
        list(_notes(diagnosis, blamed, len(worst))),
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
        Cell(verdict, tone=_MEANING[verdict][0]),
        *(Cell(float(values[query])) for values in by_query),
        Cell(len(of_query)),
    ]
    listed = of_query[:most_missed].tolist()
    names = documents.take(missed.judgement[listed]).tolist()
    for row, name in zip(listed, names, strict=True):
        rank = int(missed.pool_rank[row])
        place = Cell(rank) if rank else Cell("not in it", style="text")
        yield [*heads, *map(Cell, (name, int(missed.grade[row]), int(missed.level[row]))), place]
    if not listed:
        yield [*heads, *[Cell()] * 4]


def diagnosis_chart(
    diagnosis: Diagnosis, points: Literal["plain", "labelled"] = "plain"
) -> PlaneChart:
    """Draw a point per query with both values, perhaps with its id; the corners count verdicts."""
    proc, pct_proc = diagnosis.proc, diagnosis.pct_proc
    groups = []
    for verdict in _CORNERS:
        drawn = (np.array(diagnosis.verdicts) == verdict) & ~np.isnan(pct_proc)
        names = [decoded(diagnosis.queries[query]) for query in np.flatnonzero(drawn).tolist()]
        labels = names if points == "labelled" else ()
        groups.append(Points(verdict, proc[drawn].tolist(), pct_proc[drawn].tolist(), labels))
    notes = []
    empty = (proc == 0) & np.isnan(pct_proc)
    for without, why in (
        (empty, "nothing useful in the pool: PROC 0, %PROC NA, the retriever's"),
        (np.isnan(proc), "no useful document is judged: NA"),
    ):
        names = [diagnosis.queries[query] for query in np.flatnonzero(without).tolist()]
        if names:
            number = counted(len(names), "query", "queries")
            notes.append(f"without a point: {number} ({why}; {listed(names, 3)})")
    counts, limits = diagnosis.counts(), diagnosis.thresholds
    return PlaneChart(
        f"Retriever or reranker? {counted(len(diagnosis.queries), 'query', 'queries')}, "
        f"K = {diagnosis.cutoff}",
        Axis("PROC: what the pool allows", low=0, high=1),
        Axis("%PROC: what the selection realised", low=0, high=1),
        points=groups,
        rules=[Rule("x", limits.proc), Rule("y", limits.pct_proc)],
        corners=[f"{verdict} {counts[verdict]}" for verdict in _CORNERS],
        notes=notes,
    )


def _notes(diagnosis: Diagnosis, blamed: Blame | None, worst: int) -> Iterator[str]:
    """Yield what changes how far to believe the verdict, and whether queries are hidden."""
    if diagnosis.outside_pool and diagnosis.grounded:
        yield (
            f"The pool lacks {diagnosis.outside_pool:,} of the "
            f"{counted(diagnosis.retrieved, 'document')} shown: the run was not selected from it "
            "alone (--pool-union adds them)."
        )
    best = diagnosis.best_case
    if diagnosis.unjudged:
        would = "they count as worthless"
        if best is not None and blamed is not None:
            lost = "nothing would be lost"
            if best.lost > ROUNDING:
                share = _share(best.missed_by_pool / best.lost)
                lost = f"{share} of the loss would not be in the pool"
            would = f"with all of them of the top grade, {lost}"
        documents = counted(diagnosis.retrieved, "document")
        yield f"{diagnosis.unjudged:,} of the {documents} shown are unjudged; {would}."
    if worst < len(diagnosis.queries):
        yield f"The worst {worst} of {len(diagnosis.queries)} queries; -q shows all."


def _explanation(diagnosis: Diagnosis, blamed: Blame | None, bootstrap: Bootstrap) -> Iterator[str]:
    cutoff, limits = diagnosis.cutoff, diagnosis.thresholds
    yield f"good: PROC@{cutoff} from {limits.proc:g}, %PROC@{cutoff} from {limits.pct_proc:g}"
    counts = diagnosis.counts()
    for verdict, count in counts.items():
        if count:
            yield f"{verdict}: {count} ({_MEANING[verdict][1]})"
    empty = int((diagnosis.proc == 0).sum())
    if empty:
        yield f"nothing useful in the pool: {empty} (PROC is 0, %PROC NA; no point in a chart)"
    shares = diagnosis.mean_shares
    if shares:
        pool, selection, realised = (percent(share, 1) for share in shares)
        useful = len(diagnosis.queries) - counts["NA"]
        yield (
            f"of the ideal gain, over {counted(useful, 'query', 'queries')}: {pool} missed by the "
            f"pool + {selection} missed by the selection + {realised} realised"
        )
    if diagnosis.outside_pool:
        yield "the top holds documents that the pool lacks, so shares may be negative"
    if blamed is not None:
        yield interval_note(bootstrap, " of the share of the lost gain")
        units = counted(FEWEST, blamed.unit, _SEVERAL[blamed.unit])
        limit = round(1 - bootstrap.level, 12)
        yield (
            "a stage is named if the interval lies on one side of 50 %, a randomization test of "
            f"the stages' losses has p <= {limit:.2g} (here {beside(blamed.p, limit, 2, 'g')}), at "
            f"least {units} lost gain (here {blamed.losing}), and one {blamed.unit} more could "
            f"not turn it: the lead exceeds the ideal gain of one {blamed.unit} (here that of "
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
        return f"Nothing is lost: the top {cutoff} hold the best evidence there is."
    low, high = blamed.interval
    share = _share(blamed.share)
    if blamed.resampled:
        share += _interval(low, high)
    if blamed.decided and blamed.stage == "retrieval":
        return f"Fix retrieval first: {share} of the lost gain is not in the pool."
    if blamed.decided:
        share = f"{_share(1 - blamed.share)}{_interval(1 - high, 1 - low)}"
        return (
            f"Fix the reranker first: {share} of the lost gain is in the pool, but not in the top "
            f"{cutoff}."
        )
    if blamed.losing < FEWEST:
        units = _SEVERAL[blamed.unit]
        return (
            f"Too few {units} to decide between retrieval and the reranker: "
            f"{counted(blamed.losing, blamed.unit, units)} lost gain, {share} of it not in the "
            "pool."
        )
    retrieval, reranker = map(percent, blamed.resampled.values())
    return (
        f"Undecided between retrieval and the reranker: retrieval in {retrieval} of the resamples, "
        f"the reranker in {reranker} (share of the lost gain not in the pool: {share})."
    )


def _share(share: float) -> str:
    """Write a share, or an end of its interval, as percents; more than a half says so."""
    return percent(min(max(share, 0), 1), bound=0.5)


def _interval(low: float, high: float) -> str:
    return f" [{', '.join(_share(end).removesuffix(' %') for end in (low, high))}]"


def _findings(diagnosis: Diagnosis, blamed: Blame | None) -> dict[str, Any]:
    best, mean = diagnosis.best_case, diagnosis.mean_shares
    queries = map(decoded, diagnosis.queries)
    return {
        "cutoff": diagnosis.cutoff,
        "thresholds": diagnosis.thresholds,
        "verdicts": diagnosis.counts(),
        "shown": diagnosis.retrieved,
        "unjudged": diagnosis.unjudged,
        "best_case": best and best._asdict(),
        "shares": mean and mean._asdict(),
        "blame": blamed and {**asdict(blamed), "decided": blamed.decided},
        "queries": dict(zip(queries, diagnosis.verdicts, strict=True)),
    }
