"""The answer of `ragkpi diagnose`: the worst queries with missed documents, and a conclusion.

Its chart shows PROC against %PROC, in four quadrants.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from ragkpi.charts.chart import Axis, PlaneChart, Points, Rule
from ragkpi.files.lines import Tokens
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.diagnose.study import Diagnosis, Fault
from ragkpi.reports.layout import Answer, Cell, Column, Table
from ragkpi.wording import counted, decoded, listed

_CORNERS: tuple[Fault, ...] = ("retriever", "fine", "both", "reranker")
_TONES: dict[Fault, Literal["plain", "good", "bad", "warning"]] = {
    "retriever": "warning",
    "reranker": "warning",
    "both": "bad",
    "fine": "good",
    "NA": "plain",
}
_MEANING: dict[Fault, str] = {
    "retriever": "the pool lacks good evidence",
    "reranker": "the pool has it, the selection leaves it behind",
    "both": "the pool lacks it, and the selection leaves some behind",
    "fine": "neither",
    "NA": "no useful document is judged",
}


def diagnosis_answer(
    diagnosis: Diagnosis, documents: Tokens, most_queries: int | None, most_missed: int
) -> Answer:
    """Put a diagnosis into words: the worst queries (None for all), with some missed documents.

    `documents` are the ids of the judged documents, by row of the judgements.
    """
    shown = diagnosis.order.tolist()[:most_queries]
    rows = [row for query in shown for row in _rows(diagnosis, documents, query, most_missed)]
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
    table = Table(columns, rows, list(_notes(diagnosis, len(shown))))
    return Answer("diagnose", table, [_sentence(diagnosis)], _findings(diagnosis), 8)


def _rows(
    diagnosis: Diagnosis, documents: Tokens, query: int, most_missed: int
) -> Iterator[list[Cell]]:
    missed, verdict = diagnosis.missed, diagnosis.verdicts[query]
    of_query = missed.of(query)
    by_query = (diagnosis.proc, diagnosis.pct_proc, diagnosis.ra_nwg, *diagnosis.shares[:2])
    heads = [
        Cell(diagnosis.queries[query]),
        Cell(verdict, tone=_TONES[verdict]),
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


def diagnosis_chart(diagnosis: Diagnosis) -> PlaneChart:
    """Draw a point per query with both values; the corners count verdicts."""
    proc, pct_proc = diagnosis.proc, diagnosis.pct_proc
    points = []
    for verdict in _CORNERS:
        drawn = (np.array(diagnosis.verdicts) == verdict) & ~np.isnan(pct_proc)
        points.append(Points(verdict, proc[drawn].tolist(), pct_proc[drawn].tolist()))
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
        points=points,
        rules=[Rule("x", limits.proc), Rule("y", limits.pct_proc)],
        corners=[f"{verdict} {counts[verdict]}" for verdict in _CORNERS],
        notes=notes,
    )


def _notes(diagnosis: Diagnosis, shown: int) -> Iterator[str]:
    cutoff, limits = diagnosis.cutoff, diagnosis.thresholds
    if shown < len(diagnosis.queries):
        yield f"the worst {shown} of {len(diagnosis.queries)} queries; -q shows all"
    yield f"good: PROC@{cutoff} from {limits.proc:g}, %PROC@{cutoff} from {limits.pct_proc:g}"
    counts = diagnosis.counts()
    for verdict, count in counts.items():
        if count:
            yield f"{verdict}: {count} ({_MEANING[verdict]})"
    empty = int((diagnosis.proc == 0).sum())
    if empty:
        yield f"nothing useful in the pool: {empty} (PROC is 0, %PROC NA; no point in a chart)"
    if diagnosis.outside_pool:
        yield (
            f"the pool lacks {diagnosis.outside_pool} documents of the top {cutoff}: it "
            "is not what the run was selected from, and shares may be negative; --pool-union adds "
            "them"
        )
    if diagnosis.unjudged:
        yield (
            f"unjudged: {diagnosis.unjudged:,} of the {counted(diagnosis.shown, 'document')} in "
            f"the top {cutoff}; they count as worthless"
        )
    shares = diagnosis.mean_shares
    if shares:
        pool, selection, realised = (f"{share * 100:.1f} %" for share in shares)
        known = len(diagnosis.queries) - counts["NA"]
        yield (
            f"of the ideal gain, over {counted(known, 'query', 'queries')}: {pool} missed by the "
            f"pool + {selection} missed by the selection + {realised} realised"
        )


def _sentence(diagnosis: Diagnosis) -> str:
    shares, cutoff = diagnosis.mean_shares, diagnosis.cutoff
    if shares is None:
        return "Nothing can be diagnosed: no query has a judged document of grade 3 or more."
    if not diagnosis.grounded:
        return (
            f"Nothing can be diagnosed: the pool lacks {diagnosis.outside_pool:,} of the "
            f"{counted(diagnosis.shown, 'document')} in the top {cutoff}, so the run "
            "was not selected from it. Are the pool and the run swapped?"
        )
    if shares.lost <= 0:
        return (
            f"Nothing is lost: the top {cutoff} hold the best evidence there is"
            f"{_in_best_case(diagnosis, 'the reranker')}."
        )
    where = "not in the pool"
    if shares.blamed == "the reranker":
        where = f"in the pool, but not in the top {cutoff}"
    return (
        f"Fix {shares.blamed} first: {_percent(shares.blame)} of the lost gain is {where}"
        f"{_in_best_case(diagnosis, shares.blamed)}."
    )


def _in_best_case(diagnosis: Diagnosis, blamed: Literal["retrieval", "the reranker"]) -> str:
    """State the verdict if the shown unjudged documents all had the top grade."""
    best = diagnosis.best_case
    if best is None:
        return ""
    would = "nothing would be lost"
    if best.lost > 1e-12:
        share = _percent(best.blame)
        would = f"it would be {best.blamed} ({share})"
        if best.blamed == blamed:
            would = f"it would be {share} of a smaller loss"
    return (
        f"; but {diagnosis.unjudged:,} of the {counted(diagnosis.shown, 'document')} shown are "
        f"unjudged, and if all of them were of the top grade {would}"
    )


def _percent(share: float) -> str:
    return f"{min(max(share, 0), 1) * 100:.0f} %"


def _findings(diagnosis: Diagnosis) -> dict[str, Any]:
    best, mean = diagnosis.best_case, diagnosis.mean_shares
    queries = map(decoded, diagnosis.queries)
    return {
        "cutoff": diagnosis.cutoff,
        "thresholds": diagnosis.thresholds,
        "verdicts": diagnosis.counts(),
        "shown": diagnosis.shown,
        "unjudged": diagnosis.unjudged,
        "best_case": best and best._asdict(),
        "shares": mean and mean._asdict(),
        "queries": dict(zip(queries, diagnosis.verdicts, strict=True)),
    }
