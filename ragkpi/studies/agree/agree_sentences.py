"""What the judgements may be used for, in sentences: how alike the labels are, and the orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ragkpi.studies.agree.agree_study import Agreement
from ragkpi.studies.agree.label_study import PairAgreement
from ragkpi.studies.agree.order_study import Estimate, OrderAgreement, Reversal
from ragkpi.wording import counted

ALIKE = 0.9  # a tau from which two orders are called the same, since Voorhees (SIGIR 1998)
_FEW_RUNS = 5  # fewer runs have hardly any orders to choose from
_SWAPS_NAMED = 3


def sentences(agreement: Agreement) -> Iterator[str]:
    """Say for every judge how alike the reference it is, and what it may be used for."""
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
    known = [order for order in pair.orders if not math.isnan(order.agreements["tau_ap"].value)]
    if not known:
        what = "the runs are all alike" if pair.orders else "no runs were given"
        return f"{judge} {biased}; {what}, so nothing is known of how it orders them."
    worst = min(known, key=lambda order: order.agreements["tau_ap"].value)
    tau = worst.agreements["tau_ap"].value
    significant = any(swap.significant for order in known for swap in order.swaps)
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
    by = f" by {worst.metric.name}" if len(known) > 1 else ""
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
