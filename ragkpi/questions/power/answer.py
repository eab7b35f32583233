"""How many queries a comparison needs, and the reliability of a plan from a pilot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.statistics.power import (
    Noise,
    least_difference,
    power_of,
    queries_needed,
    short_of_power,
)
from ragkpi.wording import counted, exact_percent, joined, rounded


@dataclass(frozen=True)
class Pilot:
    """Two runs over some queries, by one metric; `units` are queries, or clusters of them."""

    names: Sequence[str]
    metric: str
    queries: int
    units: int


@dataclass(frozen=True)
class Plan:
    """The plan: the queries for some differences, or the differences that some queries detect."""

    noise: Noise
    power: float
    alpha: float
    differences: Sequence[float]
    queries: Sequence[int]
    pilot: Pilot | None


def plan_answer(plan: Plan) -> Answer:
    """Return a row for each difference, or number of queries, and a sentence on it."""
    rows: list[tuple[float, int | None]] = [
        (difference, queries_needed(difference, plan.noise, plan.power, plan.alpha))
        for difference in plan.differences
    ]
    rows += [
        (least_difference(number, plan.noise, plan.power, plan.alpha), number)
        for number in plan.queries
    ]
    columns = [
        Column("difference", "decimal", legend="the difference of two systems' values"),
        Column("d", "decimal", digits=2, legend="the difference in standard deviations"),
        Column("queries", "integer", legend="queries needed to detect it; NA: no number is enough"),
        Column("power", "decimal", digits=3, legend="the probability of p < alpha"),
    ]
    cells = [
        [
            Cell(difference),
            Cell(difference / plan.noise.deviation),
            Cell(float("nan") if number is None else number),
            Cell(power_of(difference, number, plan.noise, plan.alpha) if number else float("nan")),
        ]
        for difference, number in rows
    ]
    return Answer(
        columns,
        cells,
        list(_notes(plan)),
        verdict=[_sentence(plan, rows)],
        explanation=list(_explanation(plan)),
        question="power",
        findings={"deviation": plan.noise.deviation, "design_effect": plan.noise.design_effect},
    )


def _sentence(plan: Plan, rows: Sequence[tuple[float, int | None]]) -> str:
    of = f" of {plan.pilot.metric}" if plan.pilot else ""
    sure = f"with a power of {exact_percent(plan.power)} at p < {plan.alpha:.2g}"
    if plan.queries:
        detected = joined([f"{queries} of {rounded(d, 'decimal')}" for d, queries in rows])
        return f"Queries and the difference{of} that they detect {sure}: {detected}."
    needed = joined([f"{'any number is too few' if n is None else n} for {d:g}" for d, n in rows])
    return f"Queries needed to detect a difference{of} {sure}: {needed}."


def _notes(plan: Plan) -> Iterator[str]:
    if plan.pilot is None:
        return
    short = short_of_power(plan.pilot.units)
    least, most = min(short.values()), max(short.values())
    yield (
        f"Planned with a standard deviation of {rounded(plan.noise.deviation, 'decimal')}, the "
        f"upper 80% bound of the pilot's {counted(plan.pilot.queries, 'query', 'queries')}; in "
        f"simulations the true power was below 70% in {exact_percent(least)} to "
        f"{exact_percent(most)} of such plans"
    )


def _explanation(plan: Plan) -> Iterator[str]:
    yield (
        "power: noncentral t of a two-sided paired t test; the difference is the one that would "
        "matter, not the pilot's"
    )
    if plan.noise.design_effect > 1:
        effect = rounded(plan.noise.design_effect, "decimal", 2)
        yield f"clusters: {effect} queries are as informative as one"
    if plan.pilot:
        shapes = short_of_power(plan.pilot.units).items()
        worlds = ", ".join(f"{name} {exact_percent(share)}" for name, share in shapes)
        yield f"plans below 70% power, by the shape of the differences: {worlds}"
