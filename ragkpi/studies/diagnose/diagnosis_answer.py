"""The answer of `ragkpi diagnose`: the worst queries, what they missed, what to mend first.

And its chart: PROC against %PROC, in four quadrants.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from ragkpi.charts.chart import Axis, PlaneChart, Points, Rule
from ragkpi.formats.tokens import Tokens
from ragkpi.measures.registry import find_metrics
from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.studies.diagnose.diagnosis_study import Diagnosis, Verdict
from ragkpi.wording import counted, decoded, listed

_CORNERS: tuple[Verdict, ...] = ("retriever", "fine", "both", "reranker")
_TONES: dict[Verdict, Literal["plain", "good", "bad", "warning"]] = {
    "retriever": "warning",
    "reranker": "warning",
    "both": "bad",
    "fine": "good",
    "NA": "plain",
}
_MEANING: dict[Verdict, str] = {
    "retriever": "the pool lacks good evidence",
    "reranker": "the pool has it, the selection leaves it behind",
    "both": "the pool lacks it, and the selection leaves some behind",
    "fine": "neither",
    "NA": "no useful document is judged",
}


def diagnosis_answer(
    diagnosis: Diagnosis, documents: Tokens, most_queries: int | None, most_missed: int
) -> Answer:
    """Put a diagnosis into words.

    Parameters
    ----------
    diagnosis
        What is to be said.
    documents
        The ids of the judged documents, by row of the judgements.
    most_queries, most_missed
        How many queries are shown, the worst ones (None for all), and how many missed documents
        of each.
    """
    shown = diagnosis.order.tolist()[:most_queries]
    rows = [row for query in shown for row in _rows(diagnosis, documents, query, most_missed)]
    columns = [
        Column("query"),
        Column("verdict"),
        *(
            Column(metric.name, "decimal", legend=metric.measure.in_short)
            for name in ("proc", "pct_proc", "ra_nwg")
            for metric in find_metrics([f"{name}.{diagnosis.cutoff}"])
        ),
        Column("missed_by_pool", "decimal", role="detail", legend="share of the ideal gain"),
        Column("missed_by_selection", "decimal", role="detail", legend="share of the ideal gain"),
        Column(
            "missed",
            "integer",
            legend=f"useful documents that the top {diagnosis.cutoff} lack; some of them follow",
        ),
        Column("document"),
        Column("grade", "integer", legend="of the rubric, 1 to 5, after the grade map"),
        Column("level", "integer", role="detail", legend="as it was judged"),
        Column("pool_rank", "integer", legend="where the pool has the document"),
    ]
    notes = list(_notes(diagnosis, len(shown)))
    return Answer(
        "diagnose", Table(columns, rows, notes), [_sentence(diagnosis)], _findings(diagnosis), 8
    )


def diagnosis_chart(diagnosis: Diagnosis) -> PlaneChart:
    """Draw a point per query that has both; the texts in the corners count verdicts."""
    counts = diagnosis.counts()
    limits = diagnosis.thresholds
    return PlaneChart(
        f"Retriever or reranker? {counted(len(diagnosis.queries), 'query', 'queries')}, "
        f"K = {diagnosis.cutoff}",
        Axis("PROC: what the pool allows", low=0, high=1),
        Axis("%PROC: what the selection realised", low=0, high=1),
        points=list(_groups(diagnosis)),
        rules=[Rule("x", limits.proc), Rule("y", limits.pct_proc)],
        corners=[f"{verdict} {counts[verdict]}" for verdict in _CORNERS],
        notes=list(_undrawn(diagnosis)),
    )


def _groups(diagnosis: Diagnosis) -> Iterator[Points]:
    verdicts = np.array(diagnosis.verdicts)
    for verdict in _CORNERS:
        chosen = (verdicts == verdict) & ~np.isnan(diagnosis.pct_proc)
        yield Points(verdict, diagnosis.proc[chosen].tolist(), diagnosis.pct_proc[chosen].tolist())


def _undrawn(diagnosis: Diagnosis) -> Iterator[str]:
    """Name the queries that have no point, and say why."""
    empty = (diagnosis.proc == 0) & np.isnan(diagnosis.pct_proc)
    unknown = np.isnan(diagnosis.proc)
    for without, why in (
        (empty, "nothing useful in the pool: PROC 0, %PROC NA, the retriever's"),
        (unknown, "no useful document is judged: NA"),
    ):
        names = [diagnosis.queries[query] for query in np.flatnonzero(without).tolist()]
        if names:
            number = counted(len(names), "query", "queries")
            yield f"without a point: {number} ({why}; {listed(names, 3)})"


def _rows(
    diagnosis: Diagnosis, documents: Tokens, query: int, most_missed: int
) -> Iterator[list[Cell]]:
    missed, parts = diagnosis.missed, diagnosis.decomposition
    of_query = missed.of(query)
    heads = [
        Cell(diagnosis.queries[query]),
        Cell(diagnosis.verdicts[query], tone=_TONES[diagnosis.verdicts[query]]),
        Cell(float(diagnosis.proc[query])),
        Cell(float(diagnosis.pct_proc[query])),
        Cell(float(diagnosis.ra_nwg[query])),
        Cell(float(parts.missed_by_pool[query])),
        Cell(float(parts.missed_by_selection[query])),
        Cell(len(of_query)),
    ]
    listed = of_query[:most_missed].tolist()
    names = documents.take(missed.judgement[listed]).tolist()
    for missed_document, name in zip(listed, names, strict=True):
        rank = int(missed.pool_rank[missed_document])
        yield [
            *heads,
            Cell(name),
            Cell(int(missed.grade[missed_document])),
            Cell(int(missed.level[missed_document])),
            Cell(rank) if rank else Cell("not in it", style="text"),
        ]
    if not listed:
        yield [*heads, *[Cell()] * 4]


def _notes(diagnosis: Diagnosis, shown: int) -> Iterator[str]:
    if shown < len(diagnosis.queries):
        yield f"the worst {shown} of {len(diagnosis.queries)} queries; -q shows all"
    limits = diagnosis.thresholds
    yield (
        f"good: PROC@{diagnosis.cutoff} from {limits.proc:g}, %PROC@{diagnosis.cutoff} from "
        f"{limits.pct_proc:g}"
    )
    for verdict, count in diagnosis.counts().items():
        if count:
            yield f"{verdict}: {count} ({_MEANING[verdict]})"
    empty = int((diagnosis.proc == 0).sum())
    if empty:
        yield f"nothing useful in the pool: {empty} (PROC is 0, %PROC NA; no point in a chart)"
    if diagnosis.outside_pool:
        yield (
            f"the pool lacks {diagnosis.outside_pool} documents of the top {diagnosis.cutoff}: it "
            "is not what the run was selected from, and shares may be negative; --pool-union adds "
            "them"
        )
    if diagnosis.unjudged:
        yield (
            f"unjudged: {diagnosis.unjudged:,} of the {counted(diagnosis.shown, 'document')} in "
            f"the top {diagnosis.cutoff}; they count as worthless"
        )
    shares = diagnosis.decomposition.means()
    if shares:
        pool, selection, realised = shares
        known = len(diagnosis.queries) - diagnosis.counts()["NA"]
        yield (
            f"of the ideal gain, over {counted(known, 'query', 'queries')}: {_percent(pool)} "
            f"missed by the pool + {_percent(selection)} missed by the selection + "
            f"{_percent(realised)} realised"
        )


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _sentence(diagnosis: Diagnosis) -> str:
    shares = diagnosis.decomposition.means()
    if shares is None:
        return "Nothing can be diagnosed: no query has a judged document of grade 3 or more."
    if not diagnosis.grounded:
        return (
            f"Nothing can be diagnosed: the pool lacks {diagnosis.outside_pool:,} of the "
            f"{counted(diagnosis.shown, 'document')} in the top {diagnosis.cutoff}, so the run "
            "was not selected from it. Are the pool and the run swapped?"
        )
    pool, selection, _ = shares
    lost = pool + selection
    if lost <= 0:
        return (
            f"Nothing is lost: the top {diagnosis.cutoff} hold the best evidence there is"
            f"{_range(diagnosis, 'selection')}."
        )
    if pool > selection:
        share, first, where = pool / lost, "retrieval", "not in the pool"
    else:
        share, first = selection / lost, "the reranker"
        where = f"in the pool, but not in the top {diagnosis.cutoff}"
    blamed: Literal["pool", "selection"] = "pool" if pool > selection else "selection"
    return (
        f"Fix {first} first: {_whole_percent(share)} of the lost gain is {where}"
        f"{_range(diagnosis, blamed)}."
    )


def _range(diagnosis: Diagnosis, blamed: Literal["pool", "selection"]) -> str:
    """Say what the verdict would be if the unjudged documents shown were the best there are."""
    if diagnosis.best_case is None:
        return ""
    pool, selection, _ = diagnosis.best_case
    lost = pool + selection
    unjudged = (
        f"; but {diagnosis.unjudged:,} of the {counted(diagnosis.shown, 'document')} shown are "
        "unjudged, and if all of them were of the top grade"
    )
    if lost <= 1e-12:
        return f"{unjudged} nothing would be lost"
    if (pool > selection) == (blamed == "pool"):
        share = (pool if blamed == "pool" else selection) / lost
        return f"{unjudged} it would be {_whole_percent(share)} of a smaller loss"
    other = "the reranker" if blamed == "pool" else "retrieval"
    return f"{unjudged} it would be {other} ({_whole_percent(max(pool, selection) / lost)})"


def _whole_percent(share: float) -> str:
    return f"{min(max(share, 0), 1) * 100:.0f} %"


def _findings(diagnosis: Diagnosis) -> dict[str, Any]:
    shares = diagnosis.decomposition.means()
    names = ("missed_by_pool", "missed_by_selection", "realised")
    return {
        "cutoff": diagnosis.cutoff,
        "thresholds": diagnosis.thresholds,
        "verdicts": diagnosis.counts(),
        "shown": diagnosis.shown,
        "unjudged": diagnosis.unjudged,
        "best_case": dict(zip(names, diagnosis.best_case, strict=True))
        if diagnosis.best_case
        else None,
        "shares": dict(zip(names, shares, strict=True)) if shares else None,
        "queries": {
            str(decoded(query)): verdict
            for query, verdict in zip(diagnosis.queries, diagnosis.verdicts, strict=True)
        },
    }
