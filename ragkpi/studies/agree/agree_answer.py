"""The answer of `ragkpi agree`: labels and orders, in rows, notes and data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragkpi.records import asdict
from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.statistics.rank_agreement import PERSISTENCE
from ragkpi.studies.agree.agree_sentences import sentences
from ragkpi.studies.agree.agree_study import Agreement
from ragkpi.studies.agree.label_study import PairAgreement
from ragkpi.studies.agree.order_study import Estimate
from ragkpi.studies.evaluate.evaluation_report import interval_note
from ragkpi.wording import counted, decoded

_DOCUMENTS_NAMED = 3  # per query
_COLUMNS = [
    Column("judges"),
    Column("about"),
    Column("of"),
    Column("n", "integer", role="detail"),
    Column("reference", "decimal"),
    Column("other", "decimal"),
    Column("value", "decimal"),
    Column("differ most", role="prose"),
]


def agree_answer(agreement: Agreement) -> Answer:
    """Put the agreement of judges into words."""
    several = len(agreement.panel.names) > 2
    per_query = any(pair.by_query for pair in agreement.pairs)
    shown = slice(0 if several else 1, None if per_query else -1)
    rows = [row for pair in agreement.pairs for row in _rows_of_pair(pair)]
    rows += [
        _row("all", "labels", f"alpha_{scale}", None, None, None, estimate)
        for scale, estimate in agreement.alpha.items()
    ]
    notes = list(_agreement_notes(agreement))
    return Answer(
        "agree",
        Table(_COLUMNS[shown], [row[shown] for row in rows], notes),
        list(sentences(agreement)),
        _agreement_findings(agreement),
        2 if several else 1,
    )


def _row(*values: Any) -> list[Cell]:
    """Make cells of values and estimates; the columns without a value stay empty."""
    cells = [Cell()] * len(_COLUMNS)
    for column, value in enumerate(values):
        if isinstance(value, Estimate):
            known = not math.isnan(value.interval.low)
            cells[column] = Cell(value.value, value.interval if known else None)
        else:
            cells[column] = Cell(value)
    return cells


def _rows_of_pair(pair: PairAgreement) -> Iterator[list[Cell]]:
    judges = ", ".join(pair.judges)
    for name, estimate in pair.whole.items():
        means: list[float | None] = [None, None]
        if name == "mean_difference":
            means = [float(pair.counts.sum(a) @ pair.levels / pair.documents) for a in (1, 0)]
        yield _row(judges, "labels", name, pair.documents, *means, estimate)
    for level, estimate in pair.thresholds.items():
        yield _row(judges, "kappa", f"level >= {level}", pair.documents, None, None, estimate)
    documents = dict(zip(pair.levels, pair.counts.sum(axis=1).tolist(), strict=True))
    for level, estimate in pair.bias.items():
        n, other = int(documents[level]), level + estimate.value
        yield _row(judges, "bias", f"level {level}", n, level, other, estimate)
    for order in pair.orders:
        about, n = order.metric.name, order.queries
        runs = zip(order.runs, order.reference, order.other, order.shifts, strict=True)
        for run, reference, value, shift in runs:
            yield _row(judges, about, run, n, reference, value, shift)
        for name, estimate in order.agreements.items():
            yield _row(judges, about, name, len(order.runs), None, None, estimate)
        for swap in order.swaps:
            of = f"p of {swap.better} > {swap.worse}"
            yield _row(judges, about, of, n, swap.p_reference, swap.p_other)
    for query in pair.by_query:
        names = ", ".join(
            f"{decoded(document)} {level}/{other}"
            for document, level, other in query.differing[:_DOCUMENTS_NAMED]
        )
        values = (query.documents, query.first, query.second, query.distance)
        yield _row(judges, "queries", query.query, *values, names or None)


def _agreement_notes(agreement: Agreement) -> Iterator[str]:
    reference, *rest = agreement.panel.names
    others = ", ".join(rest)
    yield f"reference: {reference}; other: {others}"
    for pair in agreement.pairs:
        yield from _notes_of_pair(pair)
    yield (
        "kappa, alpha: agreement beyond chance, 1 at most; at a level: of being at least that; "
        "bias: other - level where the reference says it (errors at random pull to the middle)"
    )
    procedure = agreement.procedure
    yield interval_note(procedure.bootstrap, queries="queries")
    if agreement.runs:
        yield (
            f"values: under each judge by all that this judge judged; tau_ap: {others} against the "
            f"reference {reference}; rbo: p = {PERSISTENCE}, "
            f"extrapolated; swapped runs: p under either judgement, {procedure.test} test, "
            f"{procedure.correction} over all pairs of runs"
        )


def _notes_of_pair(pair: PairAgreement) -> Iterator[str]:
    first, second = pair.judges
    head = " ".join(f"{level:>6}" for level in pair.levels)
    yield f"{first} (rows) and {second} (columns), documents: {head}"
    for level, counts in zip(pair.levels, pair.counts.tolist(), strict=True):
        yield f"{level:>6}: " + " ".join(f"{int(count):>6}" for count in counts)
    for name, alone in ((first, pair.only_first), (second, pair.only_second)):
        if alone:
            yield f"{counted(alone, 'document')} judged by {name} alone; --differences lists them"


def _agreement_findings(agreement: Agreement) -> dict[str, Any]:
    bootstrap = agreement.procedure.bootstrap
    return {
        "judges": agreement.panel.names,
        "runs": agreement.runs,
        "resamples": bootstrap.resamples,
        "level": bootstrap.level,
        "seed": bootstrap.seed,
        "pairs": [_findings_of_pair(pair) for pair in agreement.pairs],
        "alpha": agreement.alpha,
        "orders": [
            {
                "judge": pair.judges[1],
                "measure": order.metric.name,
                "queries": order.queries,
                "reference": order.reference,
                "other": order.other,
                "shift": order.shift,
                **order.agreements,
                "leaders": order.leaders,
                "drop": dict(zip(("run", "ranks"), order.drop, strict=True)),
                "swaps": [
                    {**asdict(swap), "significant": swap.significant} for swap in order.swaps
                ],
            }
            for pair in agreement.with_reference
            for order in pair.orders
        ],
    }


def _findings_of_pair(pair: PairAgreement) -> dict[str, Any]:
    return {
        "judges": pair.judges,
        "queries": pair.queries,
        "documents": pair.documents,
        "only_first": pair.only_first,
        "only_second": pair.only_second,
        "levels": pair.levels,
        "confusion": pair.counts.astype(int).tolist(),
        **pair.whole,
        "kappa_from": {str(level): estimate for level, estimate in pair.thresholds.items()},
        "bias": {str(level): estimate for level, estimate in pair.bias.items()},
        "by_query": [
            {
                "query": query.query,
                "documents": query.documents,
                "agreement": query.agreement,
                "distance": query.distance,
                "differing": query.differing,
            }
            for query in pair.by_query
        ],
    }
