"""The answer of `ragkpi agree`: agreement on labels and on orders of runs, in words and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragkpi.charts.chart import Axis, Chart, Line, PlaneChart, Points
from ragkpi.library.doubts import BY_ID
from ragkpi.library.interval_notes import interval_note
from ragkpi.questions.agree.study import (
    ALIKE,
    SIGNIFICANT,
    Agreement,
    Estimate,
    OrderAgreement,
    PairAgreement,
    hardest,
)
from ragkpi.reports.layout import Answer, Cell, Column, filled, finite
from ragkpi.wording import counted, decoded, p_text, rounded, with_interval

_DOCUMENTS_NAMED = 3  # per query
_PAIRS_NAMED = 2  # in a verdict
_COLUMNS = [
    *map(Column, ("judges", "about", "of")),
    Column("n", "integer", role="detail"),
    *(Column(name, "decimal") for name in ("reference", "other", "value")),
    Column("differ most", role="prose"),
]


def agree_answer(agreement: Agreement) -> Answer:
    """Put the agreement of judges into words."""
    rows = [row for pair in agreement.pairs for row in _rows_of_pair(pair)]
    rows += [
        _row("all", "labels", f"alpha_{scale}", None, None, None, estimate)
        for scale, estimate in agreement.alpha.items()
    ]
    first = 0 if len(agreement.judges) > 2 else 1  # two judges need no column of names
    alone = [
        f"{counted(number, 'document')} that {name} alone judged"
        for pair in agreement.with_reference
        for name, number in zip(pair.judges, (pair.only_first, pair.only_second), strict=True)
        if number
    ]
    return Answer(
        *filled(_COLUMNS[first:], [row[first:] for row in rows]),
        [f"Left out: {', '.join(alone)}; --differences lists them."] if alone else [],
        verdict=[_verdict(pair) for pair in agreement.with_reference],
        explanation=list(_explanation(agreement)),
        question="agree",
        findings=_findings(agreement),
        heads=2 - first,
    )


def _row(*values: Any) -> list[Cell]:
    """Make cells from values and estimates; columns without a value stay empty."""
    cells = [
        Cell(value.value, finite(value.interval)) if isinstance(value, Estimate) else Cell(value)
        for value in values
    ]
    return cells + [Cell()] * (len(_COLUMNS) - len(cells))


def _rows_of_pair(pair: PairAgreement) -> Iterator[list[Cell]]:
    judges = ", ".join(pair.judges)
    for order in pair.orders:
        about, n = order.metric.name, order.queries
        for name, estimate in order.agreements.items():
            yield _row(judges, about, name, len(order.runs), None, None, estimate)
        runs = zip(order.runs, order.reference, order.other, order.shifts, strict=True)
        for run, reference, value, shift in runs:
            yield _row(judges, about, run, n, reference, value, shift)
        for swap in order.swaps:
            of = f"p of {swap.better} > {swap.worse}"
            yield _row(judges, about, of, n, swap.p_reference, swap.p_other)
    for name, estimate in pair.labels.items():
        yield _row(judges, "labels", name, pair.documents, None, None, estimate)
    for query in pair.by_query:
        names = ", ".join(
            f"{decoded(document)} {level}/{other}"
            for document, level, other in query.differing[:_DOCUMENTS_NAMED]
        )
        values = (query.documents, query.first, query.second, query.distance)
        yield _row(judges, "queries", query.query, *values, names or None)


def _explanation(agreement: Agreement) -> Iterator[str]:
    for pair in agreement.pairs:
        first, second = pair.judges
        head = " ".join(f"{level:>6}" for level in pair.levels)
        yield f"{first} (rows) and {second} (columns), documents: {head}"
        for level, counts in zip(pair.levels, pair.confusion, strict=True):
            yield f"{level:>6}: " + " ".join(f"{count:>6}" for count in counts)
    reference, *others = agreement.judges
    yield (
        f"reference: {reference}; other: {', '.join(others)}; kappa, alpha: chance-corrected "
        "agreement, at most 1; kappa_from: on being at least that level; bias_at: mean difference "
        "where the reference gives that level (random errors pull it towards the middle)"
    )
    yield (
        f"beyond chance: quadratic kappa is above 0, p < {SIGNIFICANT:g} by Student's t over the "
        f"jackknife of {agreement.bootstrap.units}; to rank: also the interval of tau_ap is above "
        f"{ALIKE:g}, over runs that differ significantly under the reference (p < {SIGNIFICANT:g})"
    )
    yield interval_note(agreement.bootstrap)
    if agreement.runs:
        yield (
            "p of two runs in reverse order: under each judge, the step-down test of all pairs of "
            "compare --all-pairs, times the measures; the judge reverses them if both are "
            "significant"
        )


def _findings(agreement: Agreement) -> dict[str, Any]:
    bootstrap = agreement.bootstrap
    return {
        "judges": agreement.judges,
        "runs": agreement.runs,
        "resamples": bootstrap.resamples,
        "level": bootstrap.level,
        "seed": bootstrap.seed,
        "pairs": [
            {
                **_fields(pair, without=("labels", "orders", "over_ties")),
                **pair.labels,
                "above_chance": pair.above_chance,
            }
            for pair in agreement.pairs
        ],
        "alpha": agreement.alpha,
        "orders": [
            {
                "judge": pair.judges[1],
                "measure": order.metric.name,
                **_fields(order, without=("runs", "metric", "agreements", "shifts")),
                **order.agreements,
                "ranking": order.ranking,
                "ranking_over_ties": over_ties.ranking,
            }
            for pair in agreement.with_reference
            for order, over_ties in zip(pair.orders, pair.over_ties or pair.orders, strict=True)
        ],
    }


def _fields(record: PairAgreement | OrderAgreement, without: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in without}


def _verdict(pair: PairAgreement) -> str:
    """Say how closely a judge agrees with the reference, and whether it can rank runs."""
    reference, judge = pair.judges
    kappa = f"quadratic kappa {_estimated(pair.kappa, limit=0)}"
    order, over_ties = hardest(pair.orders), hardest(pair.over_ties)
    runs = "" if order is None else f"these {len(order.runs)} runs"
    is_opposite = order is not None and order.tau_ap.value == -1
    if not pair.above_chance:
        how = "does not agree with {} significantly better than chance"
        p = p_text(pair.p_chance)
        if math.isnan(pair.p_chance):
            p = "levels vary in too few queries to test"
        elif pair.p_chance < SIGNIFICANT and pair.kappa.interval.high < 0:
            how = "agrees with {} less than chance"
        elif pair.p_chance < SIGNIFICANT:
            p += ", but the interval contains 0"
        reverse = f", and ranks {runs} in the opposite order (tau_AP -1.00)" if is_opposite else ""
        unfit = "do not use it to rank runs or to report values"
        return f"{judge} {how.format(reference)} ({kappa}, {p}){reverse}: {unfit}."
    labels = f"on levels beyond chance ({kappa})"
    bias = pair.labels["mean_difference"]
    if bias.interval.low > 0 or bias.interval.high < 0:  # else it can be chance
        amount = "higher" if bias.value > 0 else "lower"
        labels += f" and rates {abs(bias.value):.2f} levels {amount}"
    if order is None:
        unknown = "Without runs, we cannot tell how it ranks them."
        return f"{judge} agrees with {reference} {labels}. {unknown}"
    by = f" by {order.metric.name}" if len(pair.orders) > 1 else ""
    ties = f" {BY_ID}" if over_ties is not None and over_ties.ranking != order.ranking else ""
    tau = f"tau_AP {_estimated(order.tau_ap, limit=ALIKE)}{by}"
    places = f"{tau}; {_places(order)}"
    otherwise = "in the opposite order of" if is_opposite else "differently from"
    ranking = {
        "alike": f"{judge} ranks {runs} as {reference} does{ties} ({tau}): use it to rank, and "
        "correct its values to report them.",
        "otherwise": f"{judge} ranks {runs} {otherwise} {reference}{ties} ({places}): do not rank "
        "with it.",
        "undecided": f"Undecided whether {judge} ranks {runs} as {reference} does{ties} "
        f"({places}).",
        "untested": f"Under {reference}, {runs} do not differ significantly{by}{ties}, so they "
        f"cannot show whether {judge} ranks them alike.",
    }[order.ranking]
    return f"{ranking} It agrees {labels}."


def _places(order: OrderAgreement) -> str:
    """Name the runs that change places, the most significant pair first."""
    if not order.swaps:
        return "none changes places"
    pairs = [f"{swap.better} and {swap.worse}" for swap in order.swaps[:_PAIRS_NAMED]]
    more = len(order.swaps) - len(pairs)
    others = f", and {counted(more, 'pair')} more" if more else ""
    return f"{', '.join(pairs)}{others} change places"


def _estimated(estimate: Estimate, limit: float) -> str:
    if math.isnan(estimate.interval.low):
        return rounded(estimate.value, "decimal", 2)
    return with_interval(estimate.value, estimate.interval, "decimal", 2, limit=limit)


def agree_charts(agreement: Agreement) -> list[Chart]:
    """Draw a scatter plot of the runs' values under both judges, for each judge and metric."""
    charts: list[Chart] = []
    for pair in agreement.with_reference:
        reference, judge = pair.judges
        for order in pair.orders:
            values = [*order.reference, *order.other]
            ends = [min(values), max(values)]
            charts.append(
                PlaneChart(
                    f"{order.metric.name} of {len(order.runs)} runs",
                    Axis(f"under {reference}"),
                    Axis(f"under {judge}"),
                    lines=[Line("the same value", ends, ends, role="ceiling")],
                    points=[Points("runs", order.reference, order.other, order.runs)],
                )
            )
    return charts
