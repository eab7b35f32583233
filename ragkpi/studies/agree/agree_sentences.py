"""What the judgements may be used for, in sentences: how alike the labels are, and the orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ragkpi.studies.agree.agree_study import Agreement
from ragkpi.studies.agree.label_study import Estimate, PairAgreement
from ragkpi.studies.agree.order_study import OrderAgreement, Reversal
from ragkpi.wording import counted

ALIKE = 0.9  # a tau from which two orders are called the same, since Voorhees (SIGIR 1998)
_FEW_RUNS = 5  # fewer have hardly any orders to choose from
_SWAPS_NAMED = 3


def sentences(agreement: Agreement) -> Iterator[str]:
    """Say for every judge how alike the reference it is, and what it may be used for."""
    panel = agreement.labels.panel
    for other in range(1, len(panel.names)):
        pair = agreement.pair(other)
        if pair is None:
            continue
        reference, judge = panel.names[0], panel.names[other]
        yield _label_sentence(reference, judge, pair)
        orders = agreement.orders[other - 1] if agreement.orders else []
        for order in orders:
            yield from _order_sentences(reference, judge, order, agreement.runs)
        yield _last_sentence(reference, judge, pair, orders, agreement.runs)


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
    named = ", ".join(
        f"{runs[swap.better]} and {runs[swap.worse]}" for swap in swaps[:_SWAPS_NAMED]
    )
    more = f" and {len(swaps) - _SWAPS_NAMED} more pairs" if len(swaps) > _SWAPS_NAMED else ""
    significant = "" if any(swap.significant for swap in swaps) else ", not significantly"
    return f", swaps {named}{more}{significant}"
