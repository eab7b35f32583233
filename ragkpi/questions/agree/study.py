"""Agreement of judges on the levels of documents, and on the order of runs, with intervals.

A `Panel` has a column of levels per judge. The documents of a query are not independent, so the
bootstrap resamples queries. Every statistic is a function of the sum of one confusion matrix per
query, so a bootstrap sample is a weighted sum of these matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.files.lines import Tokens
from ragkpi.interface import spell
from ragkpi.measures.measure import Metric, Scores
from ragkpi.ranking.judgements import Judgements
from ragkpi.statistics.agreement import (
    AGREEMENTS,
    RANK_AGREEMENTS,
    AgreementStatistic,
    RankAgreement,
    Scale,
    bias_at,
    coincidences_of_panel,
    confusion,
    kappa_from,
    krippendorffs_alpha,
    p_of_chance,
)
from ragkpi.statistics.all_pairs import step_down
from ragkpi.statistics.bootstrap import (
    UNKNOWN,
    Bootstrap,
    Interval,
    Tails,
    drawn,
    order_statistics,
    query_samples,
    stretched,
    sums,
)
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.units import numbered_units
from ragkpi.wording import listed, visible

UNJUDGED = -1


@dataclass(frozen=True, eq=False)
class Panel:
    """The n documents to which at least one of J judges gave a level."""

    names: Sequence[str]  # of the judges; the first is the reference
    queries: list[bytes]  # length Q: all judged queries, in byte order
    query: IntArray  # (n,): the index of each document's query, ascending
    document: Tokens  # (n,)
    by_judge: IntArray  # (n, J): the level from each judge; `UNJUDGED` for none

    def both(self, first: int, second: int) -> BoolArray:
        """Return whether two judges both judged each document, (n,)."""
        return np.asarray((self.by_judge[:, [first, second]] >= 0).all(axis=1))

    def levels(self) -> IntArray:
        """Return the ascending levels of all judges."""
        return np.unique(self.by_judge[self.by_judge >= 0])


def panel(names: Sequence[str], judges: Sequence[Judgements]) -> Panel:
    """Join the judgements of several judges by document; negative levels are not judgements.

    Refuse gains instead of levels, and judges without a document in common with the reference.
    """
    for judge in judges:
        judge.refuse_gains("levels of judges must be whole numbers")
    queries = sorted(set().union(*(judge.queries for judge in judges)))
    number = {query: row for row, query in enumerate(queries)}
    of_judges = [
        np.array([number[name] for name in judge.queries], dtype=np.int64)[judge.query]
        for judge in judges
    ]
    level, query = np.concatenate([judge.level for judge in judges]), np.concatenate(of_judges)
    column = np.repeat(np.arange(len(judges)), [len(of_judge) for of_judge in of_judges])
    valid = np.argsort(query, kind="stable")
    valid = valid[level[valid] >= 0]
    query, document = query[valid], Tokens.joined([judge.document for judge in judges]).take(valid)
    first, row = np.unique(document.first_rows(query), return_inverse=True)
    by_judge = np.full((len(first), len(judges)), UNJUDGED, dtype=np.int64)
    by_judge[row, column[valid]] = level[valid]
    panel = Panel(names, queries, query[first], document.take(first), by_judge)
    for other in range(1, len(judges)):
        if not panel.both(0, other).any():
            raise NothingInCommonError(
                f"{names[0]} and {names[other]} have no judged document in common for any query "
                f"({names[0]}: {listed(judges[0].queries, 3)}; "
                f"{names[other]}: {listed(judges[other].queries, 3)})"
            )
    return panel


def difference_lines(panel: Panel) -> Iterator[bytes]:
    """Yield a line for every document whose level differs between the judges.

    Tab-separated: query, document, and each judge's level, empty for none; the first line has the
    column names.
    """
    names = [visible(name).encode("utf-8", "backslashreplace") for name in panel.names]
    yield b"\t".join([b"query", b"document", *names]) + b"\n"
    for row in np.flatnonzero((panel.by_judge != panel.by_judge[:, :1]).any(axis=1)).tolist():
        levels = [b"" if level < 0 else b"%d" % level for level in panel.by_judge[row].tolist()]
        yield b"\t".join([panel.queries[panel.query[row]], panel.document[row], *levels]) + b"\n"


def shared_queries(judges: Sequence[Judgements]) -> list[Judgements]:
    """Restrict judgements to the queries that all judges have, so that values are comparable."""
    shared = sorted(set(judges[0].queries).intersection(*(judge.queries for judge in judges[1:])))
    if not shared:
        raise NothingInCommonError("no query is judged by all judges, so runs cannot be compared")
    return [
        judge.of_queries(np.array([judge.index[query] for query in shared])) for judge in judges
    ]


def mapped(judge: Judgements, levels: Mapping[int, int], option: str) -> Judgements:
    """Map a judge's levels to another scale; an empty map changes nothing.

    The map must cover all of the judge's levels except negative ones, which mean unjudged.
    """
    if not levels:
        return judge
    old, place = np.unique(judge.level, return_inverse=True)
    for level in old[old >= 0].tolist():
        if level not in levels:
            raise UsageError(
                f"{option}: {judge.file} has level {level}, which the map lacks; expected every "
                f"level of it ({', '.join(map(str, old[old >= 0].tolist()))})"
            )
    new = np.array([levels.get(level, level) for level in old.tolist()], dtype=np.int64)
    return replace(judge, level=new[place])


SIGNIFICANT = 0.05
ALIKE = 0.5  # see `OrderAgreement.ranking`
_MOST_ORDERED = 1 << 20  # comparisons of runs in memory at a time; they fit into the cache


@dataclass(frozen=True)
class Estimate:
    """A value and its percentile interval; NaN if there is none."""

    value: float
    interval: Interval

    @classmethod
    def of(cls, value: float, replicates: FloatArray, tails: Tails) -> Estimate:
        """Attach the interval of replicates, (B,)."""
        has_interval = len(replicates) and np.isfinite(value)
        return cls(float(value), order_statistics(replicates, tails) if has_interval else UNKNOWN)


@dataclass(frozen=True)
class Reversal:
    """Two runs whose order under the other judgement reverses that under the reference."""

    better: str  # under the reference
    worse: str
    p_reference: float  # of `step_down` over all pairs of runs, times the number of metrics
    p_other: float  # the same under the other judgement
    significant: bool  # whether both judgements have significant, opposite differences


Ranking = Literal["otherwise", "undecided", "untested", "alike"]
"""Whether a judge ranks runs like the reference, the most evidence against it first."""


@dataclass(frozen=True)
class OrderAgreement:
    """How two judgements order R runs by one metric."""

    runs: Sequence[str]
    metric: Metric
    queries: int  # number of queries with a value for all runs under both judgements
    reference: list[float]  # the runs' values under the reference
    other: list[float]  # the runs' values under the other judgement
    shifts: list[Estimate]  # other minus reference, for each run
    agreements: Mapping[str, Estimate]  # the coefficients of `RANK_AGREEMENTS`, by name
    told_apart: int  # number of pairs that differ significantly by the reference
    swaps: list[Reversal]  # pairs of runs in reverse order, most significant first

    @property
    def tau_ap(self) -> Estimate:
        return self.agreements["tau_ap"]

    @property
    def ranking(self) -> Ranking:
        """Whether the judge ranks the runs like the reference.

        The whole interval of tau_AP has to lie above `ALIKE`: even at its lower bound, 75% of the
        runs that the judge puts above a run belong there. If all of it lies below, or a pair is
        reversed and significant under both judgements, the judge orders otherwise. Runs without
        significant differences under the reference have no order to agree with.

        `ALIKE` is below the 0.9 that E. M. Voorhees (SIGIR 1998) requires of the value, because the
        bootstrap adds the noise of both judgements. docs/decisions.md has the simulation.
        """
        low, high = self.tau_ap.interval
        if not self.told_apart:
            return "untested"
        if high < ALIKE or any(swap.significant for swap in self.swaps):
            return "otherwise"
        return "alike" if low > ALIKE else "undecided"


def hardest(orders: Sequence[OrderAgreement]) -> OrderAgreement | None:
    """Return the order with most evidence against the second judge; None without runs."""
    against = get_args(Ranking)
    return min(
        orders, key=lambda order: (against.index(order.ranking), order.tau_ap.value), default=None
    )


def order_agreement(
    runs: Sequence[str], reference: Sequence[Scores], other: Sequence[Scores], bootstrap: Bootstrap
) -> list[OrderAgreement]:
    """Compare the orders of runs by every metric with better and worse values.

    `reference` and `other` are the runs' scores under both judgements, over the same queries.
    """
    every = [*reference, *other]
    samples = query_samples(every, lambda metric: metric.is_comparable, bootstrap.clusters)
    if not samples:
        raise UsageError(
            "no measure with a direction (higher or lower is better); choose others with -m"
        )
    orders, metrics = {}, sum(len(sample.metrics) for sample in samples)
    for sample in samples:
        p_of_judges = [
            step_down(replace(sample, statistics=of_judge), Procedure.trials, bootstrap.seed)
            for of_judge in np.split(sample.statistics, 2, axis=1)
        ]
        sums = np.empty((0, *sample.statistics.shape[1:]))  # none with one query or cluster
        if sample.units > 1:
            sums = sample.resampled(sample.drawn(bootstrap))
        for metric, observed, resampled, *p in zip(
            sample.metrics, sample.observed(), sample.summaries(sums), *p_of_judges, strict=True
        ):
            values, replicates = observed.reshape(2, -1), resampled.reshape(-1, 2, len(runs))
            with np.errstate(invalid="ignore"):
                shifts, shifts_again = values[1] - values[0], replicates[:, 1] - replicates[:, 0]
            # Larger is better. Rounding makes runs equal that differ by rounding errors of sums.
            worth, again = (np.round(metric.measure.sign * of, 12) for of in (values, replicates))
            p_values = [np.minimum(1.0, metrics * of_judge) for of_judge in p]  # Bonferroni's
            orders[metric.name] = OrderAgreement(
                runs=runs,
                metric=metric,
                queries=sample.queries,
                reference=values[0].tolist(),
                other=values[1].tolist(),
                shifts=[
                    Estimate.of(shift, of_run, bootstrap.tails)
                    for shift, of_run in zip(shifts, shifts_again.T, strict=True)
                ],
                agreements={
                    name: Estimate.of(
                        float(coefficient(*worth)),
                        _in_parts(coefficient, again[:, 0], again[:, 1]),
                        bootstrap.tails,
                    )
                    for name, coefficient in RANK_AGREEMENTS.items()
                },
                told_apart=int((p_values[0] < SIGNIFICANT).sum()) // 2,
                swaps=_swaps(runs, *worth, *p_values),
            )
    return [orders[metric.name] for metric in reference[0].metrics if metric.name in orders]


def _in_parts(coefficient: RankAgreement, reference: FloatArray, other: FloatArray) -> FloatArray:
    """Compute a coefficient for every bootstrap sample, (B,), with bounded memory."""
    rows = max(1, _MOST_ORDERED // reference.shape[1] ** 2)
    parts = [slice(start, start + rows) for start in range(0, len(reference), rows)]
    return np.concatenate(
        [np.empty(0), *(coefficient(reference[part], other[part]) for part in parts)]
    )


def _swaps(
    runs: Sequence[str],
    reference: FloatArray,
    other: FloatArray,
    p_reference: FloatArray,
    p_other: FloatArray,
) -> list[Reversal]:
    swaps = []
    for pair in combinations(range(len(runs)), 2):
        better, worse = sorted(pair, key=lambda run: -reference[run])
        if reference[better] > reference[worse] and other[better] < other[worse]:
            p_of = (float(p_reference[better, worse]), float(p_other[better, worse]))
            swaps.append(Reversal(runs[better], runs[worse], *p_of, max(p_of) < SIGNIFICANT))
    return sorted(swaps, key=lambda swap: min(swap.p_reference, swap.p_other))


@dataclass(frozen=True)
class QueryAgreement:
    """The agreement of two judges on the documents of one query."""

    query: bytes
    documents: int  # number of documents that both judged
    agreement: float  # share of documents with the same level from both
    first: float  # the first judge's mean level
    second: float  # the second judge's mean level
    distance: float  # the mean distance between their levels
    differing: list[tuple[bytes, int, int]]  # id and both levels, farthest apart first


@dataclass(frozen=True)
class PairAgreement:
    """The agreement of two judges."""

    judges: tuple[str, str]
    queries: int  # number of queries that both judged
    documents: int  # number of documents that both judged
    only_first: int  # number of documents that only the first judged
    only_second: int
    levels: list[int]  # (L,): all levels, from either judge, of documents that both judged
    confusion: list[list[int]]  # (L, L): documents by the levels of the first and the second judge
    labels: Mapping[str, Estimate]  # by name: the statistics of `AGREEMENTS`, and at each level
    p_chance: float  # for a quadratic kappa of 0, see `p_of_chance`
    by_query: Sequence[QueryAgreement]  # largest distance first; empty unless requested
    orders: Sequence[OrderAgreement]  # agreement on orders, by metric; empty without runs
    over_ties: Sequence[OrderAgreement]  # the same over all orders of equal scores; or empty

    @property
    def kappa(self) -> Estimate:
        """Quadratic kappa."""
        return self.labels["kappa_quadratic"]

    @property
    def above_chance(self) -> bool:
        """Whether quadratic kappa is significantly above 0.

        Quadratic, because a judge with shifted levels can still rank runs; its plain kappa is near
        chance.
        """
        return self.p_chance < SIGNIFICANT and self.kappa.interval.low > 0

    @property
    def fitness(self) -> Ranking | Literal["chance", "no runs"]:
        """The fitness of the second judge; "alike" if it can rank runs by every metric."""
        order = hardest(self.orders)
        if not self.above_chance:
            return "chance"
        return "no runs" if order is None else order.ranking


def pair_agreement(
    panel: Panel,
    first: int,
    second: int,
    bootstrap: Bootstrap,
    by_query: Sequence[QueryAgreement] = (),
    orders: Sequence[OrderAgreement] = (),
    over_ties: Sequence[OrderAgreement] = (),
) -> PairAgreement:
    """Compare the levels of two judges, given by their indices in the panel."""
    both = panel.both(first, second)
    reference, other = panel.by_judge[both, first], panel.by_judge[both, second]
    levels = np.unique(np.concatenate([reference, other]))
    unit_of = numbered_units(panel.queries, bootstrap.clusters)
    units, unit = np.unique(unit_of[panel.query[both]], return_inverse=True)
    counts = confusion(unit, reference, other, len(units), levels)
    estimate_of = _estimator(counts, levels, bootstrap)
    statistics: dict[str, AgreementStatistic] = {
        **AGREEMENTS,
        **{f"kappa_from_{n}": partial(kappa_from, threshold=n) for n in levels.tolist()[1:]},
        **{f"bias_at_{n}": partial(bias_at, level=n) for n in np.unique(reference).tolist()},
    }
    labels = {name: estimate_of(statistic) for name, statistic in statistics.items()}
    p_chance, kappa = p_of_chance(counts, levels.astype(np.float64)), labels["kappa_quadratic"]
    if not p_chance < SIGNIFICANT:
        labels["kappa_quadratic"] = replace(kappa, interval=stretched(kappa.interval, 0.0))
    by_judge = panel.by_judge
    return PairAgreement(
        judges=(panel.names[first], panel.names[second]),
        queries=len(np.unique(panel.query[both])),
        documents=int(both.sum()),
        only_first=int(((by_judge[:, first] >= 0) & ~both).sum()),
        only_second=int(((by_judge[:, second] >= 0) & ~both).sum()),
        levels=levels.tolist(),
        confusion=counts.sum(axis=0).astype(int).tolist(),
        labels=labels,
        p_chance=p_chance,
        by_query=by_query,
        orders=orders,
        over_ties=over_ties,
    )


def _estimator(
    counts: FloatArray, levels: IntArray, bootstrap: Bootstrap
) -> Callable[[AgreementStatistic], Estimate]:
    """Return a function that estimates a statistic from matrices per unit, (G, L, L)."""
    total, numbers = counts.sum(axis=0), levels.astype(np.float64)
    resampled = np.empty((0, *total.shape))
    if len(counts) > 1:
        weights = drawn(len(counts), bootstrap.resamples, bootstrap.seed)
        resampled = sums(weights, counts)

    def estimate_of(statistic: AgreementStatistic) -> Estimate:
        replicates = statistic(resampled, numbers)
        # A bootstrap sample without a level has no bias there, so leave it out.
        replicates = replicates[~np.isnan(replicates)]
        return Estimate.of(float(statistic(total, numbers)), replicates, bootstrap.tails)

    return estimate_of


def agreement_by_query(panel: Panel, first: int, second: int) -> list[QueryAgreement]:
    """Return every query that two judges share, most disagreement first."""
    both = np.flatnonzero(panel.both(first, second))
    starts = np.flatnonzero(np.diff(panel.query[both], prepend=-1))
    queries = []
    for rows in np.split(both, starts[1:]):
        reference, other = panel.by_judge[rows, first], panel.by_judge[rows, second]
        distance = np.abs(reference - other)
        apart = np.argsort(-distance, kind="stable")[: np.count_nonzero(distance)]
        documents = panel.document.take(rows[apart])
        levels = reference[apart].tolist(), other[apart].tolist()
        queries.append(
            QueryAgreement(
                query=panel.queries[panel.query[rows[0]]],
                documents=len(rows),
                agreement=float((distance == 0).mean()),
                first=float(reference.mean()),
                second=float(other.mean()),
                distance=float(distance.mean()),
                differing=list(zip(documents, *levels, strict=True)),
            )
        )
    return sorted(queries, key=lambda query: (-query.distance, query.query))


MOST_LEVELS = 40  # more levels are probably measurements, with huge matrices


@dataclass(frozen=True)
class Agreement:
    """The agreement of the judges of a panel."""

    judges: Sequence[str]  # the reference first
    pairs: Sequence[PairAgreement]  # every pair of judges with a document in common
    alpha: Mapping[str, Estimate]  # Krippendorff's, of all judges, by scale; empty for two
    runs: Sequence[str]
    bootstrap: Bootstrap

    @property
    def with_reference(self) -> list[PairAgreement]:
        return [pair for pair in self.pairs if pair.judges[0] == self.judges[0]]


def agree(
    panel: Panel,
    bootstrap: Bootstrap,
    runs: Sequence[str] = (),
    scores: Sequence[Sequence[Scores]] = (),
    per_query: bool = False,
    expected: Sequence[Sequence[Scores]] = (),
) -> Agreement:
    """Measure the agreement of judges on documents and, with runs, on the order of runs.

    `scores` has, for each judge, the runs' scores under its judgements of `shared_queries`, and
    `expected` those over all orders of equal scores, if there are any.
    """
    levels = panel.levels()
    if len(levels) > MOST_LEVELS:
        raise UsageError(
            f"the judges give {len(levels)} different levels; expected at most {MOST_LEVELS}: put "
            f"them on a smaller scale with {spell('map_levels')}"
        )
    pairs = []
    for first, second in combinations(range(len(panel.names)), 2):
        if panel.both(first, second).any():
            by_query = agreement_by_query(panel, first, second) if per_query else []
            orders, over_ties = (
                order_agreement(runs, of[0], of[second], bootstrap) if of and first == 0 else []
                for of in (scores, expected)
            )
            of_pair = (bootstrap, by_query, orders, over_ties)
            pairs.append(pair_agreement(panel, first, second, *of_pair))
    alpha: Mapping[str, Estimate] = {}
    if len(panel.names) > 2:
        unit = numbered_units(panel.queries, bootstrap.clusters)[panel.query]
        counts = coincidences_of_panel(unit, panel.by_judge, len(panel.queries), levels)
        estimate_of = _estimator(counts[counts.any(axis=(1, 2))], levels, bootstrap)
        alpha = {
            scale: estimate_of(partial(krippendorffs_alpha, scale=scale))
            for scale in get_args(Scale)
        }
    return Agreement(panel.names, pairs, alpha, runs, bootstrap)
