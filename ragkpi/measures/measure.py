"""`Measure`, a measure's declaration; `Metric`, a measure with parameters; and their scores.

A measure returns one row of S sufficient statistics per query. For most measures S is 1, the row
is the value and the summary is the mean. For Bits-over-Random the row is (success, chance) and the
summary is the log of the ratio of their means. Both are functions of sums over queries, so means,
bootstrap intervals and paired tests work for every measure alike.

trec_eval is written in C. numpy's vectorised logarithms round a few arguments in a thousand
differently, enough to change a printed fourth decimal now and then; `log` and `log2` do not.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import DataError
from ragkpi.measures.parameters import Grammar
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.relevance import AnyJudged
from ragkpi.wording import Style


@dataclass(frozen=True)
class Aggregate:
    """A rule that turns statistics into values.

    `value` turns the statistics of queries, (..., S), into per-query values, (...), and `summary`
    the sums of statistics, (..., S), and the count of the queries into summaries, (...). Leading
    axes are bootstrap replicates. Lines are printed for queries, the summary or both. `absent`
    is each statistic of a query that counts in the means but was not evaluated. If the summary
    `rises_with_first`, the mean of the first statistic, an interval of that mean gives one of the
    summary.
    """

    name: str
    value: Callable[[FloatArray], FloatArray]
    summary: Callable[[FloatArray, FloatArray | int], FloatArray]
    prints: Literal["both", "summary", "query"] = "both"
    absent: float = 0.0
    rises_with_first: bool = False
    kind: Literal["estimate", "count"] = "estimate"


def first(statistics: FloatArray) -> FloatArray:
    """Return the only statistic of each row: the value itself."""
    return statistics[..., 0]


@np.errstate(invalid="ignore", divide="ignore")
def _mean(sums: FloatArray, count: FloatArray | int) -> FloatArray:
    return np.asarray(first(sums) / count)


@np.errstate(invalid="ignore", divide="ignore")
def _ratio(sums: FloatArray, _: FloatArray | int = 1) -> FloatArray:
    return np.asarray(sums[..., 0] / sums[..., 1])


def _sum(sums: FloatArray, _: FloatArray | int) -> FloatArray:
    return first(sums)


def _count(sums: FloatArray, count: FloatArray | int) -> FloatArray:
    return np.broadcast_to(np.asarray(count, dtype=np.float64), sums.shape[:-1])


def _with_value(aggregate: Aggregate, sums: FloatArray, count: FloatArray | int) -> FloatArray:
    """Count the queries of a summary; 0 where the summary is NA."""
    with np.errstate(divide="ignore", invalid="ignore"):
        has_value = ~np.isnan(aggregate.summary(sums, count))
    return np.where(has_value, np.asarray(count, dtype=np.float64), 0.0)


def _exp_mean(sums: FloatArray, count: FloatArray | int) -> FloatArray:
    return np.asarray(np.exp(_mean(sums, count)))


# No lambdas: results are pickled with their measures, and pickle stores functions by name.
MEAN = Aggregate("mean over queries", first, _mean, rises_with_first=True)
SUM = Aggregate("sum over queries", first, _sum)
COUNT = Aggregate("number of queries", first, _count, prints="summary", kind="count")


# trec_eval's stand-in for 0 in geometric means.
SMALLEST = 0.00001
GEOMETRIC_MEAN = Aggregate(
    "geometric mean over queries",
    first,
    _exp_mean,
    prints="summary",
    absent=math.log(SMALLEST),
)
RATIO_OF_MEANS = Aggregate("ratio of the means over queries", _ratio, _ratio, rises_with_first=True)
LABEL = Aggregate("text of the run", first, _sum, prints="summary")
PER_QUERY_TEXT = Aggregate("none", first, _sum, prints="query")


def log(numbers: FloatArray) -> FloatArray:
    """Return the natural logarithms of positive numbers, (n,)."""
    return _each(math.log, numbers)


def log2(numbers: FloatArray | IntArray) -> FloatArray:
    """Return the base-2 logarithms of positive numbers, (n,)."""
    if np.issubdtype(numbers.dtype, np.integer):
        largest = int(numbers.max(initial=0))
        if largest <= len(numbers):  # ranks repeat from query to query: take each once
            return _each(math.log2, np.arange(1, largest + 1))[numbers - 1]
    return _each(math.log2, numbers)


def _each(function: Callable[[float], float], numbers: npt.NDArray[np.generic]) -> FloatArray:
    return np.fromiter(map(function, numbers.tolist()), dtype=np.float64, count=len(numbers))


def plus_ones(totals: FloatArray, count: IntArray) -> FloatArray:
    """Add 1.0 to each of the totals `count` times, rounding where the single additions round."""
    remaining = count.astype(np.float64)
    while remaining.any():
        # Additions of 1 are exact up to the next power of two, so add them at once.
        to_power = np.ceil(np.ldexp(1.0, np.frexp(totals)[1]) - totals)
        step = np.minimum(remaining, np.maximum(to_power, 1.0))
        totals = totals + step
        remaining = remaining - step
    return totals


Need = Literal["corpus_size", "grade_map", "outside_pool"]
RelInfo = Literal["qrels", "qrels_jg", "prefs", "any"]
Better = Literal["higher", "lower", "neither"]
TieEffect = Literal["monotone", "unproven"]
Search = Literal["corners", "staircase", "counts", "none"]
Question = Literal[
    "counts", "early", "found", "gain", "incomplete", "chance", "evidence", "tradeoff", "assessors"
]

QUESTIONS: Mapping[Question, str] = {
    "counts": "What was evaluated, and how much of it?",
    "early": "Do relevant documents come early?",
    "found": "How many shown documents are relevant, and how many relevant ones are shown?",
    "gain": "Do the better documents come first?",
    "incomplete": "What if many documents are unjudged?",
    "chance": "Is it better than a random draw?",
    "evidence": "Does the best evidence reach the generator's K documents?",
    "tradeoff": "Precision and recall in one number?",
    "assessors": "Does it agree with preferences, or with several assessors?",
}


class GainRatio(NamedTuple):
    """A measure of the form: sum of gain times weight of the rank, over an ideal sum.

    `gain` turns levels into gains of 0 or more, and `weight` ranks down to the cutoff into weights.
    The ideal sum is that of all judged documents, best first, or 1.
    """

    gain: Callable[[IntArray], FloatArray]
    weight: Callable[[IntArray], FloatArray]
    over: Literal["ideal", "1"] = "ideal"


class PrecisionSum(NamedTuple):
    """A measure of Σ r(i)/i over the ranks i of relevant documents, and of R or min(R, cutoff)."""

    value: Callable[[FloatArray, IntArray], FloatArray]  # (n,) of both
    beside: Literal["R", "min(R, K)"] = "R"


class Bounds(NamedTuple):
    """Where the extremes of a measure lie while documents are unjudged, as far as proven.

    An assignment gives every unjudged document ("hole") that some run retrieves a level of the
    scale. A run's *own* holes are those in its ranking down to the depth of the measure. The
    *other* holes are below its cutoff or only in other runs; they change only R and ideals.
    `ragkpi.bounds` searches the assignments that a declaration names. Tests check every
    declaration against all assignments of small rankings.

    ``"corners"``: the value is monotone in the level of own holes, and in that of other holes; so
    all own holes are at one end of the scale, and all others at one end.

    ``"staircase"``: equally good own holes give the maximum at the highest ranks and the minimum at
    the lowest; other holes never raise the value. At the maximum, levels fall with the rank, and
    other holes are worthless. At the minimum, the last ranks and the other holes have the top
    level. Only the lowest and the top level occur, or in a `GainRatio` all levels.

    ``"counts"``: only the number of holes of each level matters, not their order.

    ``"none"``: no bounds, for the `reason`.
    """

    search: Search
    reach: int = 1  # the depth of the measure, as a multiple of its cutoff
    parameters: Literal["any", "default"] = "any"  # for which all this holds, besides the cutoff
    # Its form, if it has one whose sums tell the extreme assignments without judging each.
    form: GainRatio | PrecisionSum | Literal["1 / first rank", "any"] = "any"
    reason: str = ""
    # For ``"counts"`` with too many assignments to try: from a run, the numbers of own and other
    # holes of its queries and the arguments to statistics, (Q, C, S), whose extremes are at
    # least as wide as the true ones.
    outer: Callable[..., FloatArray] | None = None
    order: Literal["matters", "ignored"] = "matters"  # whether the ranks of own holes matter


UNPROVEN = Bounds("none", reason="no bounds are proven for it")
UNCHANGED = Bounds("none", reason="judgements do not change it")
COUNTS_HOLES = Bounds("none", reason="it counts the unjudged documents themselves")
SKIPS_HOLES = Bounds("none", reason="it does not treat unjudged documents as not relevant")
OTHER_HOLES = Bounds("none", reason="the pool has unjudged documents of its own")
CHANCE_ALONE = Bounds("none", reason="it depends on the random baseline and not on the run")
COSTLY = Bounds("none", reason="each ranking would be judged thousands of times")

CORNERS = Bounds("corners")
CORNERS_OF_COUNTS = CORNERS._replace(order="ignored")
STAIRCASE = Bounds("staircase")
STAIRCASE_TWICE_AS_DEEP = STAIRCASE._replace(reach=2)


@dataclass(frozen=True)
class Measure:
    """The declaration of a measure: everything that commands know about it.

    `better`, `bounds`, `ties` and `question` have no default: commands need them for every measure.
    """

    name: str  # in ``-m`` and in output
    # From `Judged` and the parameters to sufficient statistics, (Q,) or (Q, S). NaN in a row is NA,
    # which is printed as such and left out of the summary. Text measures return (Q,) of objects.
    # The docstring is the help text.
    function: Callable[..., Any]
    parameters: Grammar = field(default_factory=Grammar)  # of ``PARAMS`` in ``-m NAME.PARAMS``
    aggregate: Aggregate = MEAN  # how statistics become one number
    style: Style = "decimal"  # how a value is printed
    needs: frozenset[Need] = frozenset()  # inputs besides qrels and run
    reads: RelInfo = "qrels"  # the relevance format it is computed from
    cautions: tuple[Caution, ...] = ()  # functions that warn of misleading values
    # Its names in other tools, in any case. A name with a cutoff (``nDCG@10``) asks for the
    # measure that takes one.
    aliases: tuple[str, ...] = ()
    # Which values are better, for marks, wins and gates; ``"neither"`` for counts and properties of
    # the collection.
    better: Better = field(kw_only=True)
    # Where its extremes lie while documents are unjudged; `UNPROVEN` or another reason if unknown.
    bounds: Bounds = field(kw_only=True)
    # ``"monotone"`` if it never falls when a document moves above a neighbour of a lower level.
    # Then its extremes over all orders of equal scores are known.
    ties: TieEffect = field(kw_only=True)
    question: Question = field(kw_only=True)  # the heading among `QUESTIONS` in lists
    # The part of judgements that it reads: levels; levels, or real gains in their place, from
    # `ragkpi.measures.gain`; or only which documents are judged.
    worth: Literal["level", "gain", "judged"] = field(default="level", kw_only=True)
    # Its expected value over all orders of equal scores (``--ties expected``): a function like
    # `function`, of a `Judged` whose `tied` is known; ``"itself"`` if that is what `function` makes
    # of expected counts; ``"unchanged"`` if no order changes it; None if it is refused.
    expected: Callable[..., Any] | Literal["unchanged", "itself"] | None = field(
        default=None, kw_only=True
    )
    # Whether its mean is a rate, each query's value being 0 or 1 by definition.
    rate: Literal["always", "at cutoff 1", "never"] = field(default="never", kw_only=True)

    @property
    def expectation(self) -> Callable[..., Any] | None:
        """The function of its expected value over all orders of equal scores."""
        return self.function if isinstance(self.expected, str) else self.expected

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self.style not in ("text", "quoted")

    @property
    def sign(self) -> float:
        """The factor that makes better values larger: -1.0 if lower is better, else 1.0."""
        return -1.0 if self.better == "lower" else 1.0

    @property
    def is_mean(self) -> bool:
        """Whether its summary is the mean of the values of the queries."""
        return self.aggregate.value is MEAN.value and self.aggregate.summary is MEAN.summary

    @property
    def num_q(self) -> Measure:
        """The measure ``num_q_NAME``: the number of queries in this measure's summary."""
        return replace(
            self,
            name=f"num_q_{self.name}",
            aggregate=replace(COUNT, summary=partial(_with_value, self.aggregate)),
            style="integer",
            cautions=(),
            aliases=(),
            better="neither",
            bounds=Bounds("none", reason="it counts queries"),
            ties="unproven",
            question="counts",
        )

    @property
    def help(self) -> str:
        """The docstring, unindented."""
        return inspect.getdoc(self.function) or ""

    @property
    def range(self) -> tuple[float, float]:
        """The minimum and maximum value; infinite if its help gives no number."""
        match = re.search(
            r"^Range: +(-?[\d.]+)?(?:.*? (?:to|or) ([\d.]+)(?=;|$))?", self.help, re.M
        )
        low, high = (match[1], match[2]) if match else (None, None)
        return float(low or -math.inf), float(high or math.inf)

    @property
    def in_short(self) -> str:
        """The first line of the docstring, without its full stop."""
        return self.help.partition("\n")[0].removesuffix(".")


@dataclass(frozen=True)
class Metric:
    """A measure with its parameters, such as ``ndcg_cut.10``: one printed line, by its `name`.

    `arguments` are those of the measure's function besides a judged run. Documents are relevant
    from `relevance_level`, None for that of ``-l``. `printed_place` is the position in printing
    order among the metrics of one call.
    """

    measure: Measure
    name: str
    arguments: Mapping[str, Any]
    relevance_level: int | None = None
    printed_place: int = 0

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """Its cutoffs: one, or two of a difference between depths."""
        cutoff = self.arguments["cutoff"]
        return cutoff if isinstance(cutoff, tuple) else (cutoff,)

    @property
    def depth(self) -> int | None:
        """The last rank at which an unjudged document counts; None if all ranks count."""
        if self.arguments.get("cutoff") is None:
            return None
        return self.measure.bounds.reach * max(self.cutoffs)

    @property
    def is_graded(self) -> bool:
        return "grade_map" in self.measure.needs

    @property
    def is_rate(self) -> bool:
        """Whether the value of every query is 0 or 1 by definition."""
        rate = self.measure.rate
        return rate == "always" or (rate == "at cutoff 1" and self.arguments.get("cutoff") == 1)

    @property
    def is_value(self) -> bool:
        """Whether the printed value of a query is all that the summary needs."""
        return self.is_printed("query") and self.measure.aggregate.value is first

    def at_own_level(self, judged: AnyJudged) -> AnyJudged:
        """Return a judged run with the relevance level of this metric."""
        if self.relevance_level is None or not isinstance(judged, Judged):
            return judged
        settings = replace(judged.settings, relevance_level=self.relevance_level)
        return replace(judged, settings=settings)

    def is_printed(self, where: Literal["query", "summary"]) -> bool:
        """Return whether it has a line per query, or a line over all queries."""
        return self.measure.aggregate.prints in ("both", where)

    @property
    def is_estimate(self) -> bool:
        """Whether its summary is an estimate, not a text or the number of queries."""
        measure = self.measure
        return (
            measure.numeric and self.is_printed("summary") and measure.aggregate.kind == "estimate"
        )

    @property
    def is_comparable(self) -> bool:
        """Whether a run can be better than another by this metric."""
        return self.is_estimate and self.measure.better != "neither"

    def best_first(self, values: FloatArray) -> list[int]:
        """Return the indices of runs' values, (R,): best first, NA last, ties as given."""
        order: list[int] = np.argsort(-self.measure.sign * values, kind="stable").tolist()
        return order


Caution = Callable[[Judged, Sequence[Metric]], Iterable[str]]
"""From a judged run and the metrics that name the caution to warnings of one line each."""


def names_of(metrics: Iterable[Metric]) -> str:
    """Return the names of metrics, for messages."""
    return ", ".join(metric.name for metric in metrics)


Function = TypeVar("Function", bound=Callable[..., Any])


def record(family: list[Measure], name: str = "", **facts: Any) -> Callable[[Function], Function]:
    """Append a function to the measures of a family, as a decorator.

    The measure is named like the function unless `name` is given; `facts` are the other attributes
    of `Measure`.
    """

    def decorate(function: Function) -> Function:
        family.append(Measure(name or function.__name__, function, **facts))
        return function

    return decorate


@dataclass(frozen=True, eq=False)
class MetricScores:
    """The scores of a run by one metric: sufficient statistics of every query, (Q, S).

    A row with NaN is NA. Text metrics have (Q, 1) of objects. The divisor is the number of queries
    of the summary: Q, except for a single query out of a complete set (``-c -D 0.QID``), as in
    trec_eval. The scores of a system are means over its `seeds`; a single run has none.
    """

    metric: Metric
    statistics: npt.NDArray[Any]
    divisor: int
    seeds: Sequence[MetricScores] = ()

    @property
    def name(self) -> str:
        """The printed name of the metric."""
        return self.metric.name

    @cached_property
    def per_query(self) -> npt.NDArray[Any]:
        """The value of every query, (Q,); NaN is NA."""
        return np.asarray(self.metric.measure.aggregate.value(self.statistics))

    @cached_property
    def has_value(self) -> BoolArray:
        """Whether the value of each query is not NA, (Q,)."""
        if self.statistics.dtype == object:
            return np.ones(len(self.statistics), dtype=np.bool_)
        return np.asarray(~np.isnan(self.statistics).any(axis=1))

    @property
    def valid(self) -> int:
        """The number of queries of the summary whose value is not NA."""
        return self.divisor - int((~self.has_value).sum())

    @cached_property
    def summary(self) -> Any:
        """The value over all queries: a float, NaN for NA, or a text; for a system the mean."""
        if self.seeds:
            return float(np.mean([seed.summary for seed in self.seeds]))
        if self.statistics.dtype == object:
            return self.statistics[-1, 0] if len(self.statistics) else b""
        rows = self.statistics[self.has_value]
        # Left to right, like trec_eval's sums: numpy's own sum is pairwise.
        sums = np.add.accumulate(rows, axis=0)[-1] if len(rows) else np.zeros(rows.shape[1])
        aggregate = self.metric.measure.aggregate
        sums = sums + (self.divisor - len(self.statistics)) * aggregate.absent
        return float(aggregate.summary(sums, self.valid))

    def over(self, rows: IntArray) -> MetricScores:
        """Return the scores of the queries in these rows, in this order."""
        seeds = [seed.over(rows) for seed in self.seeds]
        return MetricScores(self.metric, self.statistics[rows], len(rows), seeds)


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a run, with the run id of its last line.

    Queries are in byte order, columns in the order of ``-m``, with distinct names. The divisor is
    that of `MetricScores`.
    """

    run_id: bytes
    queries: list[bytes]
    columns: Sequence[MetricScores]
    divisor: int

    @property
    def metrics(self) -> list[Metric]:
        """The metrics, in the order of ``-m``."""
        return [column.metric for column in self.columns]

    def __getitem__(self, name: str) -> MetricScores:
        return self._by_name[name]

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, MetricScores]:
        return {column.name: column for column in self.columns}

    def printed(self, where: Literal["query", "summary"]) -> list[MetricScores]:
        """Return the columns that have a line per query, or a line over all queries."""
        return [column for column in self.columns if column.metric.is_printed(where)]

    def estimates(self) -> list[MetricScores]:
        """Return the columns that are estimates, without texts and numbers of queries."""
        return [column for column in self.columns if column.metric.is_estimate]

    def only(self, columns: Iterable[MetricScores]) -> Scores:
        """Return the same run with only these columns."""
        return replace(self, columns=list(columns))

    def of_queries(self, kept: Collection[bytes]) -> Scores:
        """Return the same run over its queries that are in `kept`."""
        queries = frozenset(kept)
        return self.over(np.flatnonzero([query in queries for query in self.queries]))

    def over(self, rows: IntArray) -> Scores:
        """Return the same run over the queries in these rows, in this order."""
        queries = [self.queries[row] for row in rows.tolist()]
        columns = [column.over(rows) for column in self.columns]
        return Scores(self.run_id, queries, columns, len(rows))

    @property
    def seeds(self) -> int:
        """The number of seeds of a system; 1 for a single run."""
        return max((len(column.seeds) for column in self.columns), default=0) or 1


def score(judged: AnyJudged, metrics: Sequence[Metric], divisor: int | None = None) -> Scores:
    """Compute every metric for every query of a run, judged in the format that they read."""
    over = len(judged.queries) if divisor is None else divisor
    columns = [MetricScores(metric, _statistics(judged, metric), over) for metric in metrics]
    return Scores(judged.run_id, judged.queries, columns, over)


def _statistics(judged: AnyJudged, metric: Metric) -> npt.NDArray[Any]:
    judged = metric.at_own_level(judged)
    function: Any = metric.measure.function
    if isinstance(judged, Judged) and judged.settings.ties == "expected":
        function = metric.measure.expectation
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            statistics = np.asarray(function(judged, **metric.arguments))
    except FloatingPointError as problem:
        # NA would leave the query out of the mean, and a gate would decide by the others.
        raise DataError(
            f"{metric.name}: the levels or gains of some query overflow its arithmetic "
            f"({problem}); expected smaller ones, or another measure"
        ) from None
    return statistics if statistics.ndim == 2 else statistics[:, np.newaxis]
