"""The answer of `ragkpi diagnose`: the worst queries, what they missed, and what to mend first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragkpi.formats.tokens import Tokens
from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.studies.diagnose.diagnosis_study import Diagnosis, Verdict
from ragkpi.wording import decoded

_MEANING: dict[Verdict, str] = {
    "retriever": "the pool lacks good evidence",
    "reranker": "the pool has it, the selection leaves it behind",
    "both": "the pool lacks it, and the selection leaves some behind",
    "fine": "neither",
    "NA": "no useful document is judged",
}


def diagnosis_answer(
    found: Diagnosis, documents: Tokens, most_queries: int | None, most_missed: int
) -> Answer:
    """Put a diagnosis into words.

    Parameters
    ----------
    found
        What is to be said.
    documents
        The ids of the judged documents, by row of the judgements.
    most_queries, most_missed
        How many queries are shown, the worst ones (None for all), and how many missed documents
        of each.
    """
    shown = found.order.tolist()[:most_queries]
    rows = [row for query in shown for row in _rows(found, documents, query, most_missed)]
    columns = [
        Column("query"),
        Column("verdict"),
        *(Column(f"{name}_{found.cutoff}", "decimal") for name in ("proc", "pct_proc", "ra_nwg")),
        Column("missed_by_pool", "decimal"),
        Column("missed_by_selection", "decimal"),
        Column("missed", "integer"),
        Column("document"),
        Column("grade", "integer"),
        Column("level", "integer"),
        Column("pool_rank", "integer"),
    ]
    notes = list(_notes(found, len(shown)))
    return Answer("diagnose", Table(columns, rows, notes), [_sentence(found)], _findings(found), 8)


def _rows(
    found: Diagnosis, documents: Tokens, query: int, most_missed: int
) -> Iterator[list[Cell]]:
    missed, parts = found.missed, found.decomposition
    places = missed.of(query)
    heads = [
        Cell(found.queries[query]),
        Cell(found.verdicts[query]),
        Cell(float(found.proc[query])),
        Cell(float(found.pct_proc[query])),
        Cell(float(found.ra_nwg[query])),
        Cell(float(parts.missed_by_pool[query])),
        Cell(float(parts.missed_by_selection[query])),
        Cell(len(places)),
    ]
    listed = places[:most_missed].tolist()
    names = documents.take(missed.judgement[listed]).tolist()
    for place, name in zip(listed, names, strict=True):
        rank = int(missed.pool_rank[place])
        yield [
            *heads,
            Cell(name),
            Cell(int(missed.grade[place])),
            Cell(int(missed.level[place])),
            Cell(rank) if rank else Cell("not in it", style="text"),
        ]
    if not listed:
        yield [*heads, *[Cell()] * 4]


def _notes(found: Diagnosis, shown: int) -> Iterator[str]:
    if shown < len(found.queries):
        yield f"the worst {shown} of {len(found.queries)} queries; -q shows all"
    limits = found.thresholds
    yield (
        f"good: PROC@{found.cutoff} from {limits.proc:g}, %PROC@{found.cutoff} from "
        f"{limits.pct_proc:g}"
    )
    for verdict, count in found.counts().items():
        if count:
            yield f"{verdict}: {count} ({_MEANING[verdict]})"
    empty = int((found.proc == 0).sum())
    if empty:
        yield f"nothing useful in the pool: {empty} (PROC is 0, %PROC NA; no point in a chart)"
    if found.outside_pool:
        yield (
            f"the pool lacks {found.outside_pool} documents of the top {found.cutoff}: it is not "
            "what the run was selected from, and shares may be negative; --pool-union adds them"
        )
    shares = found.decomposition.means()
    if shares:
        pool, selection, realised = shares
        known = len(found.queries) - found.counts()["NA"]
        yield (
            f"of the ideal gain, over {known} queries: {_percent(pool)} missed by the "
            f"pool + {_percent(selection)} missed by the selection + {_percent(realised)} realised"
        )


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _sentence(found: Diagnosis) -> str:
    shares = found.decomposition.means()
    if shares is None:
        return "Nothing can be diagnosed: no query has a judged document of grade 3 or more."
    pool, selection, _ = shares
    lost = pool + selection
    if lost <= 0:
        return f"Nothing is lost: the top {found.cutoff} hold the best evidence there is."
    if pool > selection:
        share, first, where = pool / lost, "retrieval", "not in the pool"
    else:
        share, first = selection / lost, "the reranker"
        where = f"in the pool, but not in the top {found.cutoff}"
    return f"Fix {first} first: {min(share, 1) * 100:.0f} % of the lost gain is {where}."


def _findings(found: Diagnosis) -> dict[str, Any]:
    shares = found.decomposition.means()
    names = ("missed_by_pool", "missed_by_selection", "realised")
    return {
        "cutoff": found.cutoff,
        "thresholds": found.thresholds,
        "verdicts": found.counts(),
        "shares": dict(zip(names, shares, strict=True)) if shares else None,
        "queries": {
            str(decoded(query)): verdict
            for query, verdict in zip(found.queries, found.verdicts, strict=True)
        },
    }
