"""How many queries a comparison needs, and the reliability of a plan from a pilot."""

from __future__ import annotations

from collections.abc import Sequence

from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.statistics.power import Noise, least_difference, queries_needed, short_of_power
from ragkpi.wording import counted, exact_percent, joined, rounded

_COLUMNS = [
    Column("difference", "decimal", legend="the difference of two systems' values"),
    Column("d", "decimal", digits=2, legend="the difference in standard deviations"),
    Column("queries", "integer", legend="queries needed to detect it; NA: no number is enough"),
]


def plan_answer(
    noise: Noise,
    power: float,
    alpha: float,
    differences: Sequence[float],
    sizes: Sequence[int],
    pilot: tuple[str, int, int] | None,
) -> Answer:
    """Return the queries for each of the `differences`, or the difference that `sizes` detect.

    `pilot` is the metric of two runs, their number of queries, and that of units; None without.
    """
    how = noise, power, alpha
    rows: list[tuple[float, int | None]] = [(d, queries_needed(d, *how)) for d in differences]
    rows += [(least_difference(number, *how), number) for number in sizes]
    of = f" of {pilot[0]}" if pilot else ""
    sure = f"with a power of {exact_percent(power)} at p < {alpha:.2g}"
    if sizes:
        each = joined([f"{n} of {rounded(d, 'decimal')}" for d, n in rows])
        said = f"Queries and the difference{of} that they detect {sure}: {each}."
    else:
        each = joined([f"{'any number is too few' if n is None else n} for {d:g}" for d, n in rows])
        said = f"Queries needed to detect a difference{of} {sure}: {each}."
    explanation = [
        "power: noncentral t of a two-sided paired t test; the difference is the one that would "
        "matter, not the pilot's"
    ]
    if noise.design_effect > 1:
        effect = rounded(noise.design_effect, "decimal", 2)
        explanation.append(f"clusters: {effect} queries are as informative as one")
    notes = []
    if pilot:
        _, queries, units = pilot
        short = short_of_power(units)
        least, most = map(exact_percent, (min(short.values()), max(short.values())))
        notes.append(
            f"Planned with a standard deviation of {rounded(noise.deviation, 'decimal')}, the "
            f"upper 80% bound of the pilot's {counted(queries, 'query', 'queries')}; in "
            f"simulations the true power was below 70% in {least} to {most} of such plans"
        )
        shapes = ", ".join(f"{name} {exact_percent(share)}" for name, share in short.items())
        explanation.append(f"plans below 70% power, by the shape of the differences: {shapes}")
    return Answer(
        _COLUMNS,
        [
            [Cell(d), Cell(d / noise.deviation), Cell(float("nan") if n is None else n)]
            for d, n in rows
        ],
        notes,
        verdict=[said],
        explanation=explanation,
        question="power",
        findings={"deviation": noise.deviation, "design_effect": noise.design_effect},
    )
