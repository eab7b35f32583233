"""Two runs whose values are not normal: equal ones, better ones, and rare complete failures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.values import SPREAD, Matrix, Values, any_claim, compared


def heavy(n: int, better: float = 0.0) -> Values:
    """Differences of Student's distribution with 3 degrees of freedom, scaled to the usual spread.

    Source: variance of t(3) is 3
    """

    def made(rng: np.random.Generator) -> Matrix:
        own = rng.standard_t(3, size=n) * SPREAD / np.sqrt(3)
        first = rng.normal(scale=SPREAD, size=n)
        return np.column_stack([first, first + own + better])

    return made


def beta(a: float, b: float) -> Callable[..., Values]:
    """Values of a beta distribution, half of whose variance belongs to the query."""

    def world(n: int, better: float = 0.0) -> Values:
        def made(rng: np.random.Generator) -> Matrix:
            query, own = rng.normal(size=(n, 1)), rng.normal(size=(n, 2))
            rank = stats.norm.cdf((query + own) / np.sqrt(2))
            mean = a / (a + b)
            high = mean + better
            return np.column_stack(
                [
                    stats.beta.ppf(rank[:, 0], a, b),
                    stats.beta.ppf(rank[:, 1], high * (a + b), (1 - high) * (a + b)),
                ]
            )

        return made

    return world


def inflated(zeros: float) -> Callable[..., Values]:
    """A share of the values is 0, query by query alike in part; the others are uniform."""

    def world(n: int, better: float = 0.0) -> Values:
        def made(rng: np.random.Generator) -> Matrix:
            rank = stats.norm.cdf((rng.normal(size=(n, 1)) + rng.normal(size=(n, 2))) / np.sqrt(2))
            limit = np.array([zeros, zeros - 2 * better])  # a uniform value has the mean 0.5
            return np.where(rank < limit, 0.0, (rank - limit) / (1 - limit))

        return made

    return world


def rates(share: float) -> Callable[..., Values]:
    """Successes and failures, half of whose variance belongs to the query."""

    def world(n: int, better: float = 0.0) -> Values:
        def made(rng: np.random.Generator) -> Matrix:
            rank = stats.norm.cdf((rng.normal(size=(n, 1)) + rng.normal(size=(n, 2))) / np.sqrt(2))
            return (rank < [share, share + better]).astype(float)

        return made

    return world


def failing(n: int, share: float = 0.1, loss: float = 0.72) -> Values:
    """The second run fails completely on a share of the queries and wins a little on the others.

    Its losses and its wins have the same expectation: any claim is false.
    """
    win = loss * share / (1 - share)

    def made(rng: np.random.Generator) -> Matrix:
        gain = np.where(rng.random(n) < share, -loss, win + rng.normal(scale=win / 4, size=n))
        first = rng.uniform(0.75, 0.9, size=n)
        return np.column_stack([first, first + gain])

    return made


def outcome(values: Values) -> Trial:
    """Compare two runs, and test the same differences by scipy."""

    def trial(rng: np.random.Generator) -> Outcome:
        made = values(rng)
        (found,) = compared(made).differences
        t = stats.ttest_1samp(made[:, 1] - made[:, 0], 0)
        excludes = not found.interval.low <= 0 <= found.interval.high
        return {
            "any claim": any_claim([found.decision]),
            "better": found.decision == "better",
            "worse": found.decision == "worse",
            "t test": bool(t.pvalue < 0.05),
            "t test: better": bool(t.pvalue < 0.05 and t.statistic > 0),
            "p against interval": excludes != bool(found.p < 0.05),
        }

    return trial


SHAPES: dict[str, Callable[..., Values]] = {
    "heavy tails (t with 3 degrees of freedom)": heavy,
    "saturated (beta, mean 0.89)": beta(4, 0.5),
    "low and skewed (beta, mean 0.11)": beta(0.5, 4),
    "six of ten are 0, the others uniform": inflated(0.6),
    "successes, rate 0.5": rates(0.5),
    "successes, rate 0.85": rates(0.85),
}


RARE = {"ten": 0.1, "twenty": 0.05, "forty": 0.025}


def _shift(shape: str) -> float:
    return 0.05 if "beta" in shape else 0.1


RULE = """\
Test and interval of a difference are one procedure: Student's for means, Tango's for rates. 0 is
outside the interval exactly if p < 0.05. "p against interval" counts contradictions. For
comparison: scipy's paired t test (`ttest_1samp`). No test sees failures that are not in the sample:
a run that fails completely on one query in ten, twenty or forty and wins slightly on the others is
called better if its failures happen to be few. Below 30 queries a note warns, below 100
`--explain`."""

STUDY = Study(
    "compare: values that are not normal",
    RULE,
    [
        Rates(
            "equal runs",
            {
                f"{shape}, {n} queries": outcome(world(n))
                for shape, world in SHAPES.items()
                for n in (12, 30, 50)
            },
            ["any claim", "t test", "p against interval"],
            {"any claim": 0.05, "p against interval": 0.0},
        ),
        Rates(
            "a better run, 50 queries",
            {
                f"{shape}, by {_shift(shape):g}": outcome(world(50, _shift(shape)))
                for shape, world in SHAPES.items()
            },
            ["better", "t test: better", "p against interval"],
            {"p against interval": 0.0},
            beside={"better": "t test: better"},
        ),
        Rates(
            "equal means, a run with rare complete failures",
            {
                f"one query in {name}, {n} queries": outcome(failing(n, share))
                for name, share in RARE.items()
                for n in (12, 30, 50, 100, 200)
            },
            ["better", "worse", "t test"],
            {"better": 0.05, "worse": 0.05},
        ),
    ],
)
