"""The answer of `ragkpi agree`: labels and orders, in rows, notes and data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.statistics.rank_agreement import PERSISTENCE
from ragkpi.studies.agree.agree_sentences import sentences
from ragkpi.studies.agree.agree_study import Agreement
from ragkpi.studies.agree.label_study import Estimate, PairAgreement, by_query
from ragkpi.studies.agree.order_study import OrderAgreement
from ragkpi.studies.evaluate.evaluation_report import interval_note
from ragkpi.wording import counted, decoded

_DOCUMENTS_NAMED = 3  # per query


def agree_answer(agreement: Agreement, per_query: Literal["hidden", "shown"]) -> Answer:
    """Put the agreement of judges into words; `per_query` shows what they disagree about."""
    columns = [
        Column("judges"),
        Column("about"),
        Column("of"),
        Column("n", "integer", role="detail"),
        Column("reference", "decimal"),
        Column("other", "decimal"),
        Column("value", "decimal"),
        Column("differ most", role="prose"),
    ]
    several = len(agreement.labels.panel.names) > 2
    shown = slice(0 if several else 1, None if per_query == "shown" else -1)
    rows = [row for pair in agreement.labels.pairs for row in _rows(agreement, pair, per_query)]
    rows += [
        _row("all", "labels", f"alpha_{scale}", value=estimate)
        for scale, estimate in agreement.labels.alpha.items()
    ]
    return Answer(
        "agree",
        Table(columns[shown], [row[shown] for row in rows], list(_notes(agreement))),
        list(sentences(agreement)),
        _findings(agreement, per_query),
        2 if several else 1,
    )


def _row(
    judges: str,
    about: str,
    of: str | bytes,
    n: int | None = None,
    reference: float | None = None,
    other: float | None = None,
    value: Estimate | None = None,
    text: str = "",
) -> list[Cell]:
    known = value is not None and not math.isnan(value.interval.low)
    return [
        Cell(judges),
        Cell(about),
        Cell(of),
        Cell(n),
        Cell(reference),
        Cell(other),
        Cell() if value is None else Cell(value.value, value.interval if known else None),
        Cell(text or None),
    ]


def _rows(
    agreement: Agreement, pair: PairAgreement, per_query: Literal["hidden", "shown"]
) -> Iterator[list[Cell]]:
    panel = agreement.labels.panel
    judges = f"{panel.names[pair.first]}, {panel.names[pair.second]}"
    yield from _label_rows(judges, pair)
    if pair.first == 0 and agreement.orders:
        for order in agreement.orders[pair.second - 1]:
            yield from _order_rows(judges, order, agreement.runs)
    if per_query == "shown":
        for query in by_query(panel, pair.first, pair.second):
            names = ", ".join(
                f"{decoded(document)} {level}/{other}"
                for document, level, other in query.differing[:_DOCUMENTS_NAMED]
            )
            distance = Estimate(query.distance)
            yield _row(
                judges, "queries", query.query, query.documents, query.first, query.second,
                distance, names,
            )  # fmt: skip


def _label_rows(judges: str, pair: PairAgreement) -> Iterator[list[Cell]]:
    for name, estimate in pair.whole.items():
        of_first, of_second = _mean_levels(pair) if name == "mean_difference" else (None, None)
        yield _row(judges, "labels", name, pair.documents, of_first, of_second, estimate)
    for level, estimate in pair.thresholds.items():
        yield _row(judges, "kappa", f"level >= {level}", pair.documents, value=estimate)
    rows = dict(zip(pair.levels, pair.counts.tolist(), strict=True))
    for level, estimate in pair.bias.items():
        yield _row(
            judges, "bias", f"level {level}", int(sum(rows[level])), level,
            level + estimate.value, estimate,
        )  # fmt: skip


def _mean_levels(pair: PairAgreement) -> tuple[float, float]:
    means = [pair.counts.sum(axis=axis) @ pair.levels / pair.documents for axis in (1, 0)]
    return float(means[0]), float(means[1])


def _order_rows(judges: str, order: OrderAgreement, runs: Sequence[str]) -> Iterator[list[Cell]]:
    about = order.metric.name
    values = zip(runs, order.reference.tolist(), order.other.tolist(), order.shifts, strict=True)
    for run, reference, other, shift in values:
        yield _row(judges, about, run, order.queries, reference, other, shift)
    for name, estimate in order.agreements.items():
        yield _row(judges, about, name, len(runs), value=estimate)
    for swap in order.swaps:
        of = f"p of {runs[swap.better]} > {runs[swap.worse]}"
        yield _row(judges, about, of, order.queries, swap.p_reference, swap.p_other)


def _notes(agreement: Agreement) -> Iterator[str]:
    panel = agreement.labels.panel
    others = ", ".join(panel.names[1:])
    yield f"reference: {panel.names[0]}; other: {others}"
    for pair in agreement.labels.pairs:
        yield from _pair_notes(agreement, pair)
    yield (
        "kappa, alpha: agreement beyond chance, 1 at most; at a level: of being at least that; "
        "bias: other - level where the reference says it (errors at random pull to the middle)"
    )
    yield interval_note(agreement.labels.bootstrap, queries="queries")
    if agreement.orders:
        procedure = agreement.procedure
        yield (
            f"values: under each judge by all that this judge judged; tau_ap: {others} against the "
            f"reference {panel.names[0]}; rbo: p = {PERSISTENCE}, "
            f"extrapolated; swapped runs: p under either judgement, {procedure.test} test, "
            f"{procedure.correction} over all pairs of runs"
        )


def _pair_notes(agreement: Agreement, pair: PairAgreement) -> Iterator[str]:
    names = agreement.labels.panel.names
    first, second = names[pair.first], names[pair.second]
    head = " ".join(f"{level:>6}" for level in pair.levels)
    yield f"{first} (rows) and {second} (columns), documents: {head}"
    for level, counts in zip(pair.levels, pair.counts.tolist(), strict=True):
        yield f"{level:>6}: " + " ".join(f"{int(count):>6}" for count in counts)
    for name, alone in ((first, pair.only_first), (second, pair.only_second)):
        if alone:
            yield f"{counted(alone, 'document')} judged by {name} alone; --differences lists them"


def _findings(agreement: Agreement, per_query: Literal["hidden", "shown"]) -> dict[str, Any]:
    panel = agreement.labels.panel
    return {
        "judges": list(panel.names),
        "runs": list(agreement.runs),
        "resamples": agreement.labels.bootstrap.resamples,
        "level": agreement.labels.bootstrap.level,
        "seed": agreement.labels.bootstrap.seed,
        "pairs": [_pair_findings(agreement, pair, per_query) for pair in agreement.labels.pairs],
        "alpha": {scale: _plain(value) for scale, value in agreement.labels.alpha.items()},
        "orders": [
            {"judge": panel.names[judge], **_order_findings(order, agreement.runs)}
            for judge, orders in enumerate(agreement.orders, start=1)
            for order in orders
        ],
    }


def _pair_findings(
    agreement: Agreement, pair: PairAgreement, per_query: Literal["hidden", "shown"]
) -> dict[str, Any]:
    panel = agreement.labels.panel
    queries = by_query(panel, pair.first, pair.second) if per_query == "shown" else []
    return {
        "judges": [panel.names[pair.first], panel.names[pair.second]],
        "queries": pair.queries,
        "documents": pair.documents,
        "only_first": pair.only_first,
        "only_second": pair.only_second,
        "levels": pair.levels,
        "confusion": [[int(count) for count in row] for row in pair.counts.tolist()],
        **{name: _plain(value) for name, value in pair.whole.items()},
        "kappa_from": {str(level): _plain(value) for level, value in pair.thresholds.items()},
        "bias": {str(level): _plain(value) for level, value in pair.bias.items()},
        "by_query": [
            {
                "query": query.query,
                "documents": query.documents,
                "agreement": query.agreement,
                "distance": query.distance,
                "differing": [list(document) for document in query.differing],
            }
            for query in queries
        ],
    }


def _order_findings(order: OrderAgreement, runs: Sequence[str]) -> dict[str, Any]:
    fallen, ranks = order.drop
    return {
        "measure": order.metric.name,
        "queries": order.queries,
        "reference": order.reference.tolist(),
        "other": order.other.tolist(),
        "shift": _plain(order.shift),
        **{name: _plain(value) for name, value in order.agreements.items()},
        "leaders": [runs[leader] for leader in order.leaders],
        "drop": {"run": runs[fallen], "ranks": ranks},
        "swaps": [
            {
                "better": runs[swap.better],
                "worse": runs[swap.worse],
                "p_reference": swap.p_reference,
                "p_other": swap.p_other,
                "significant": swap.significant,
            }
            for swap in order.swaps
        ],
    }


def _plain(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "interval": list(estimate.interval)}
