"""The answer of `ragkpi agree`: labels, orders, and what the judgements may be used for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.statistics.rank_agreement import PERSISTENCE
from ragkpi.studies.agree.agree_study import Agreement
from ragkpi.studies.agree.label_study import Estimate, PairAgreement, by_query
from ragkpi.studies.agree.order_study import OrderAgreement, Reversal
from ragkpi.studies.evaluate.evaluation_report import interval_note
from ragkpi.wording import counted, decoded

ALIKE = 0.9  # a tau from which two orders are called the same, since Voorhees (SIGIR 1998)
_FEW_RUNS = 5  # fewer have hardly any orders to choose from
_SHOWN = 3  # documents named per query


def agree_answer(found: Agreement, per_query: Literal["hidden", "shown"]) -> Answer:
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
    several = len(found.labels.panel.names) > 2
    shown = slice(0 if several else 1, None if per_query == "shown" else -1)
    rows = [row for pair in found.labels.pairs for row in _rows(found, pair, per_query)]
    rows += [
        _row("all", "labels", f"alpha_{scale}", value=estimate)
        for scale, estimate in found.labels.alpha.items()
    ]
    return Answer(
        "agree",
        Table(columns[shown], [row[shown] for row in rows], list(_notes(found))),
        list(_sentences(found)),
        _findings(found, per_query),
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
    found: Agreement, pair: PairAgreement, per_query: Literal["hidden", "shown"]
) -> Iterator[list[Cell]]:
    panel = found.labels.panel
    judges = f"{panel.names[pair.first]}, {panel.names[pair.second]}"
    yield from _label_rows(judges, pair)
    if pair.first == 0 and found.orders:
        for order in found.orders[pair.second - 1]:
            yield from _order_rows(judges, order, found.runs)
    if per_query == "shown":
        for query in by_query(panel, pair.first, pair.second):
            names = ", ".join(
                f"{decoded(document)} {one}/{other}"
                for document, one, other in query.differing[:_SHOWN]
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


def _notes(found: Agreement) -> Iterator[str]:
    panel = found.labels.panel
    others = ", ".join(panel.names[1:])
    yield f"reference: {panel.names[0]}; other: {others}"
    for pair in found.labels.pairs:
        yield from _pair_notes(found, pair)
    yield (
        "kappa, alpha: agreement beyond chance, 1 at most; at a level: of being at least that; "
        "bias: other - level where the reference says it (errors at random pull to the middle)"
    )
    yield interval_note(found.labels.bootstrap, queries="queries")
    if found.orders:
        procedure = found.procedure
        yield (
            f"values: under each judge by all that this judge judged; tau_ap: {others} against the "
            f"reference {panel.names[0]}; rbo: p = {PERSISTENCE}, "
            f"extrapolated; swapped runs: p under either judgement, {procedure.test} test, "
            f"{procedure.correction} over all pairs of runs"
        )


def _pair_notes(found: Agreement, pair: PairAgreement) -> Iterator[str]:
    names = found.labels.panel.names
    first, second = names[pair.first], names[pair.second]
    head = " ".join(f"{level:>6}" for level in pair.levels)
    yield f"{first} (rows) and {second} (columns), documents: {head}"
    for level, counts in zip(pair.levels, pair.counts.tolist(), strict=True):
        yield f"{level:>6}: " + " ".join(f"{int(count):>6}" for count in counts)
    for name, alone in ((first, pair.only_first), (second, pair.only_second)):
        if alone:
            yield f"{counted(alone, 'document')} judged by {name} alone; --differences lists them"


def _sentences(found: Agreement) -> Iterator[str]:
    panel = found.labels.panel
    for other in range(1, len(panel.names)):
        pair = found.pair(other)
        if pair is None:
            continue
        reference, judge = panel.names[0], panel.names[other]
        yield _label_sentence(reference, judge, pair)
        orders = found.orders[other - 1] if found.orders else []
        for order in orders:
            yield from _order_sentences(reference, judge, order, found.runs)
        yield _last_sentence(reference, judge, pair, orders, found.runs)


def _label_sentence(reference: str, judge: str, pair: PairAgreement) -> str:
    same = pair.whole["agreement"].value
    return (
        f"{reference} and {judge} give {same:.0%} of {counted(pair.documents, 'document')} the "
        f"same level (kappa {_with_interval(pair.whole['kappa'])}, quadratic "
        f"{_with_interval(pair.whole['kappa_quadratic'])})."
    )


def _with_interval(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "NA"
    low, high = estimate.interval
    return f"{estimate.value:.2f}" + ("" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]")


def _order_sentences(
    reference: str, judge: str, order: OrderAgreement, runs: Sequence[str]
) -> Iterator[str]:
    by = order.metric.name
    for swap in order.swaps:
        if swap.significant:
            under = reference if swap.p_reference <= swap.p_other else judge
            p = min(swap.p_reference, swap.p_other)
            yield (
                f"By {by}, {reference} puts {runs[swap.better]} above {runs[swap.worse]} and "
                f"{judge} below; under {under} that is significant (p = {p:.2g})."
            )
    first, second = (runs[leader] for leader in order.leaders)
    lead = f"both put {first} first" if first == second else f"{first} leads, and {second}"
    if first != second:
        lead = f"{reference} puts {first} first, {judge} {second}"
    fallen, ranks = order.drop
    fall = f"; {runs[fallen]} falls farthest, by {counted(ranks, 'rank')}" if ranks else ""
    yield f"By {by}, {lead}{fall}."


def _last_sentence(
    reference: str,
    judge: str,
    pair: PairAgreement,
    orders: Sequence[OrderAgreement],
    runs: Sequence[str],
) -> str:
    if pair.whole["agreement"].value == 1:
        return f"{judge} says what {reference} says: either serves."
    difference = pair.whole["mean_difference"]
    low, high = difference.interval
    amount = f"{abs(difference.value):.2f} levels"
    if low > 0 or high < 0:
        biased = f"gives {amount} too {'much' if difference.value > 0 else 'little'}"
    else:
        more = "more" if difference.value > 0 else "less"
        span = "" if math.isnan(low) else f" ({low:+.2f} to {high:+.2f})"
        biased = f"gives {amount} {more} on average, which may be chance{span}"
    known = [order for order in orders if not math.isnan(order.agreements["tau_ap"].value)]
    if not known:
        what = "no runs were given" if not runs else "the runs are all alike"
        return f"{judge} {biased}; {what}, so nothing is known of how it orders them."
    worst = min(known, key=lambda order: order.agreements["tau_ap"].value)
    swaps = [swap for order in known for swap in order.swaps]
    tau = worst.agreements["tau_ap"].value
    significant = any(swap.significant for swap in swaps)
    if significant:
        how, advice = f"unlike {reference}", "do not rank with it"
    elif tau >= ALIKE:
        how, advice = f"like {reference}", "use it to rank, correct it to report"
    else:
        how = f"not quite like {reference}"
        advice = "rank with it only what lies far apart, and correct it to report"
    if len(runs) < _FEW_RUNS:
        advice += f" (as far as {len(runs)} runs can tell)"
    link = "but" if tau >= ALIKE and not significant else "and"
    by = f" by {worst.metric.name}" if len(known) > 1 else ""
    return (
        f"{judge} orders these {len(runs)} runs {how} (tau_AP {tau:.2f}{by}"
        f"{_swapped(worst.swaps, runs)}), {link} {biased}; {advice}."
    )


def _swapped(swaps: Sequence[Reversal], runs: Sequence[str]) -> str:
    if not swaps:
        return ", no swaps"
    named = ", ".join(f"{runs[swap.better]} and {runs[swap.worse]}" for swap in swaps[:_SHOWN])
    more = f" and {len(swaps) - _SHOWN} more pairs" if len(swaps) > _SHOWN else ""
    significant = "" if any(swap.significant for swap in swaps) else ", not significantly"
    return f", swaps {named}{more}{significant}"


def _findings(found: Agreement, per_query: Literal["hidden", "shown"]) -> dict[str, Any]:
    panel = found.labels.panel
    return {
        "judges": list(panel.names),
        "runs": list(found.runs),
        "resamples": found.labels.bootstrap.resamples,
        "level": found.labels.bootstrap.level,
        "seed": found.labels.bootstrap.seed,
        "pairs": [_pair_findings(found, pair, per_query) for pair in found.labels.pairs],
        "alpha": {scale: _plain(value) for scale, value in found.labels.alpha.items()},
        "orders": [
            {"judge": panel.names[place], **_order_findings(order, found.runs)}
            for place, orders in enumerate(found.orders, start=1)
            for order in orders
        ],
    }


def _pair_findings(
    found: Agreement, pair: PairAgreement, per_query: Literal["hidden", "shown"]
) -> dict[str, Any]:
    panel = found.labels.panel
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
