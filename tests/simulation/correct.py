"""What would people say? People judge some of the queries, and a model all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from ragkpi.questions.correct.answer import Of, correct
from tests.made_scores import MAP, SUCCESS, scores
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.values import Matrix

World = Callable[[np.random.Generator, int], tuple[Matrix, Matrix]]


def beta(a: float, b: float) -> World:
    """Values of a beta distribution; the model sees them with noise and gives 0.1 more."""

    def made(rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
        people = rng.beta(a, b, n)
        spread = np.sqrt(a * b / (a + b + 1)) / (a + b)
        return people, np.clip(people + 0.1 + rng.normal(scale=0.75 * spread, size=n), 0, 1)

    return made


def rate(share: float) -> World:
    """Successes; the model errs in one of ten."""

    def made(rng: np.random.Generator, n: int) -> tuple[Matrix, Matrix]:
        people = rng.random(n) < share
        return people * 1.0, (people ^ (rng.random(n) < 0.1)) * 1.0

    return made


def corrected(people: Matrix, model: Matrix, judged: int, of: Of = "values") -> Any:
    """Correct the values, (n, R), of runs by people's of the first queries."""
    metric = SUCCESS if np.isin(people, (0.0, 1.0)).all() else MAP
    names = [b"q%04d" % number for number in range(len(people))]
    human = [scores([(metric, column)], names[:judged]) for column in people[:judged].T]
    other = [scores([(metric, column)], names) for column in model.T]
    (one,) = correct(["run0", "run1"][: len(human)], ("", ""), human, other, of).corrected
    return one.result


def covered(world: World, judged: int, queries: int) -> Trial:
    """Whether the intervals contain what people would give to these queries."""

    def trial(rng: np.random.Generator) -> Outcome:
        people, model = (values[:, np.newaxis] for values in world(rng, queries))
        found, truth = corrected(people, model, judged), people.mean()
        error = people[:judged].std(ddof=1) / np.sqrt(judged)
        reach = stats.t.ppf(0.975, judged - 1) * error
        return {
            "corrected": _contains(found.interval, truth),
            "people alone": _contains(found.human_interval, truth),
            "people alone, Student's of many queries": abs(people[:judged].mean() - truth) <= reach,
        }

    return trial


def _contains(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] <= truth + 1e-12 and truth - 1e-12 <= interval[1]


def equal(judged: int, queries: int) -> Trial:
    """Two runs of one expectation under people."""

    def trial(rng: np.random.Generator) -> Outcome:
        people = np.clip(rng.normal(0.5, 0.18, (queries, 2)), 0, 1)
        model = people + rng.normal(0.1, 0.1, people.shape)
        found = corrected(people, model, judged, "differences")
        t = stats.ttest_1samp(people[:judged, 1] - people[:judged, 0], 0)
        return {"better or worse": found.p < 0.05, "t test of people alone": t.pvalue < 0.05}

    return trial


RULE = """\
A value is that of all N queries, n of them judged by people. Its interval has the factor of a
finite population (Cochran's 1 - n/N). A rate has the mid-p interval of as many queries as have that
variance. For comparison: Student's interval of the human judgements alone, which is about many more
queries. A difference between runs (`--of differences`) is about queries like these, without the
factor, as in compare. Whether the judged queries look like a random sample is tested by the
first measure alone."""

WORLDS = {
    "beta(2, 2)": beta(2, 2),
    "low and skewed: beta(0.5, 4)": beta(0.5, 4),
    **{f"rate {share:g}": rate(share) for share in (0.5, 0.8, 0.95, 0.99)},
}
SIZES = ((10, 20), (50, 100), (30, 300))

STUDY = Study(
    "correct: what would people say?",
    RULE,
    [
        Rates(
            "95% intervals of the value of these queries",
            {
                f"{name}, {judged} of {queries} judged": covered(world, judged, queries)
                for name, world in WORLDS.items()
                for judged, queries in SIZES
            },
            ["corrected", "people alone", "people alone, Student's of many queries"],
            least={"corrected": 0.92, "people alone": 0.92},
        ),
        Rates(
            "equal runs, `--of differences`",
            {f"{judged} of {queries} judged": equal(judged, queries) for judged, queries in SIZES},
            ["better or worse", "t test of people alone"],
            {"better or worse": 0.05},
        ),
    ],
)
