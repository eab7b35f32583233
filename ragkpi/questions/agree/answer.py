"""The answer of `ragkpi agree`: agreement on labels and on orders of runs, in words and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Points,
    Rule,
)
from ragkpi.library.values import interval_note
from ragkpi.questions.agree.study import (
    Agreement,
    Estimate,
    OrderAgreement,
    PairAgreement,
    Reversal,
)
from ragkpi.reports.layout import Answer, Cell, Column, Table, known
from ragkpi.statistics.agreement import PERSISTENCE
from ragkpi.wording import counted, decoded

_DOCUMENTS_NAMED = 3  # per query
_COLUMNS = [
    *map(Column, ("judges", "about", "of")),
    Column("n", "integer", role="detail"),
    *(Column(name, "decimal") for name in ("reference", "other", "value")),
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
    """Make cells from values and estimates; columns without a value stay empty."""
    cells = [
        Cell(value.value, known(value.interval)) if isinstance(value, Estimate) else Cell(value)
        for value in values
    ]
    return cells + [Cell()] * (len(_COLUMNS) - len(cells))


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
    names = ("judges", "queries", "documents", "only_first", "only_second", "levels")
    of_query = ("query", "documents", "agreement", "distance", "differing")
    return {
        **{name: getattr(pair, name) for name in names},
        "confusion": pair.counts.astype(int).tolist(),
        **pair.whole,
        "kappa_from": {str(level): estimate for level, estimate in pair.thresholds.items()},
        "bias": {str(level): estimate for level, estimate in pair.bias.items()},
        "by_query": [{name: getattr(query, name) for name in of_query} for query in pair.by_query],
    }


ALIKE = 0.9  # two orders with at least this tau count as the same (Voorhees, SIGIR 1998)
_FEW_RUNS = 5  # fewer runs have few possible orders
_SWAPS_NAMED = 3


def sentences(agreement: Agreement) -> Iterator[str]:
    """Say how closely each judge agrees with the reference, and what it is fit for."""
    for pair in agreement.with_reference:
        yield _label_sentence(pair)
        for order in pair.orders:
            yield from _order_sentences(pair, order)
        yield _advice(pair)


def _label_sentence(pair: PairAgreement) -> str:
    reference, judge = pair.judges
    return (
        f"{reference} and {judge} give {pair.whole['agreement'].value:.0%} of "
        f"{counted(pair.documents, 'document')} the "
        f"same level (kappa {_with_interval(pair.whole['kappa'])}, quadratic "
        f"{_with_interval(pair.whole['kappa_quadratic'])})."
    )


def _with_interval(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "NA"
    low, high = estimate.interval
    return f"{estimate.value:.2f}" + ("" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]")


def _order_sentences(pair: PairAgreement, order: OrderAgreement) -> Iterator[str]:
    reference, judge = pair.judges
    by = order.metric.name
    for swap in order.swaps:
        if swap.significant:
            under = reference if swap.p_reference <= swap.p_other else judge
            p = min(swap.p_reference, swap.p_other)
            yield (
                f"By {by}, {reference} puts {swap.better} above {swap.worse} and "
                f"{judge} below; under {under} that is significant (p = {p:.2g})."
            )
    first, second = order.leaders
    lead = f"{reference} puts {first} first, {judge} {second}"
    if first == second:
        lead = f"both put {first} first"
    fallen, ranks = order.drop
    fall = f"; {fallen} falls farthest, by {counted(ranks, 'rank')}" if ranks else ""
    yield f"By {by}, {lead}{fall}."


def _advice(pair: PairAgreement) -> str:
    reference, judge = pair.judges
    if pair.whole["agreement"].value == 1:
        return f"{judge} says what {reference} says: either serves."
    biased = _bias(pair.whole["mean_difference"])
    tau_of = {order.metric.name: order.agreements["tau_ap"].value for order in pair.orders}
    ordered = [order for order in pair.orders if not math.isnan(tau_of[order.metric.name])]
    if not ordered:
        what = "the runs are all alike" if pair.orders else "no runs were given"
        return f"{judge} {biased}; {what}, so nothing is known of how it orders them."
    worst = min(ordered, key=lambda order: tau_of[order.metric.name])
    tau = tau_of[worst.metric.name]
    significant = any(swap.significant for order in ordered for swap in order.swaps)
    if significant:
        how, advice = f"unlike {reference}", "do not rank with it"
    elif tau >= ALIKE:
        how, advice = f"like {reference}", "use it to rank, correct it to report"
    else:
        how = f"not quite like {reference}"
        advice = "rank with it only what lies far apart, and correct it to report"
    runs = len(worst.runs)
    if runs < _FEW_RUNS:
        advice += f" (as far as {runs} runs can tell)"
    link = "but" if tau >= ALIKE and not significant else "and"
    by = f" by {worst.metric.name}" if len(ordered) > 1 else ""
    return (
        f"{judge} orders these {runs} runs {how} (tau_AP {tau:.2f}{by}"
        f"{_swapped(worst.swaps)}), {link} {biased}; {advice}."
    )


def _bias(difference: Estimate) -> str:
    """Say by how many levels a judge differs from the reference on average."""
    low, high = difference.interval
    amount = f"gives {abs(difference.value):.2f} levels"
    if low > 0 or high < 0:
        return f"{amount} too {'much' if difference.value > 0 else 'little'}"
    more = "more" if difference.value > 0 else "less"
    span = "" if math.isnan(low) else f" ({low:+.2f} to {high:+.2f})"
    return f"{amount} {more} on average, which may be chance{span}"


def _swapped(swaps: Sequence[Reversal]) -> str:
    if not swaps:
        return ", no swaps"
    named = ", ".join(f"{swap.better} and {swap.worse}" for swap in swaps[:_SWAPS_NAMED])
    more = f" and {len(swaps) - _SWAPS_NAMED} more pairs" if len(swaps) > _SWAPS_NAMED else ""
    significant = "" if any(swap.significant for swap in swaps) else ", not significantly"
    return f", swaps {named}{more}{significant}"


def agree_charts(agreement: Agreement) -> list[Chart]:
    """Draw a scatter plot of runs for each judge and metric, then every judge's bias."""
    scatters, biases = [], []
    for pair in agreement.with_reference:
        reference, judge = pair.judges
        for order in pair.orders:
            values = [*order.reference, *order.other]
            ends = [min(values), max(values)]
            scatters.append(
                PlaneChart(
                    f"{order.metric.name} of {len(order.runs)} runs",
                    Axis(f"under {reference}"),
                    Axis(f"under {judge}"),
                    lines=[Line("the same value", ends, ends, role="ceiling")],
                    points=[Points("runs", order.reference, order.other, order.runs)],
                )
            )
        rows = [
            IntervalRow(f"level {level}", bias.interval.low, bias.value, bias.interval.high)
            for level, bias in pair.bias.items()
        ]
        title, axis = f"{judge} by level of {reference}", Axis("levels too much")
        biases.append(IntervalChart(title, axis, rows, [Rule("x", 0.0)]))
    return [*scatters, *biases]
