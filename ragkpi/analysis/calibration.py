"""Which measure tracks the quality of responses, and which alpha makes it track best.

Observations are pairs of a query and a run; queries are what is resampled, with all their runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.measure import Value
from ragkpi.measures.parameters import Cutoffs
from ragkpi.measures.scores import score
from ragkpi.ranking.judged import BoolArray, IntArray, Judged
from ragkpi.statistics.bootstrap import UNKNOWN, Bootstrap, Interval, order_statistics
from ragkpi.statistics.correlation import COEFFICIENTS, UnderWeights, once, spearman
from ragkpi.statistics.resampling import drawn

Segment = Literal["all", "K < R", "K >= R"]
FEWEST = 3  # observations that a correlation is worth computing from
_SAME = 1e-12


@dataclass(frozen=True)
class Observed:
    """N observations of quality, and the runs behind them.

    Attributes
    ----------
    queries
        The queries that have a score, in byte order.
    query : (N,)
        The number of each observation's query in `queries`.
    quality : (N,)
        How good the response was.
    runs
        Each run, the rows of its queries that have a score, and their places among the N.
    """

    queries: list[bytes]
    query: IntArray
    quality: FloatArray
    runs: Sequence[tuple[Judged, IntArray]]

    def values(self, value: Value) -> FloatArray:
        """Compute a value of every observation, (N,); NaN is NA."""
        parts = [score(judged, [value]).per_query(0)[rows] for judged, rows in self.runs]
        return np.concatenate(parts).astype(np.float64)

    @property
    def num_rel(self) -> IntArray:
        """Relevant documents of each observation's query, (N,)."""
        return np.concatenate([judged.num_rel[rows] for judged, rows in self.runs])


def observe(
    runs: Sequence[tuple[Judged, Mapping[bytes, float]]],
) -> Observed:
    """Join judged runs with the quality of the responses that were written from them."""
    scored = [
        np.array([row for row, q in enumerate(judged.queries) if q in quality], dtype=np.int64)
        for judged, quality in runs
    ]
    names = [
        [judged.queries[row] for row in rows.tolist()]
        for (judged, _), rows in zip(runs, scored, strict=True)
    ]
    queries = sorted(set().union(*names))
    place = {query: number for number, query in enumerate(queries)}
    return Observed(
        queries=queries,
        query=np.array([place[q] for of_run in names for q in of_run], dtype=np.int64),
        quality=np.array(
            [quality[q] for (_, quality), of_run in zip(runs, names, strict=True) for q in of_run]
        ),
        runs=[(judged, rows) for (judged, _), rows in zip(runs, scored, strict=True)],
    )


@dataclass(frozen=True)
class Correlation:
    """How a value goes with quality over one segment of the observations.

    Attributes
    ----------
    name, value
        What it is called, and what it is.
    segment
        Which observations it is over: all, or those with cutoffs below R, or from R.
    observations
        How many.
    coefficients, intervals
        By name of the coefficient; NaN where there is none.
    reason
        Why there is none.
    """

    name: str
    value: Value
    segment: Segment
    observations: int
    coefficients: Mapping[str, float]
    intervals: Mapping[str, Interval]
    reason: str = ""


@dataclass(frozen=True)
class Tuning:
    """The alpha that makes a value go best with quality, by Spearman's rho.

    Attributes
    ----------
    value, segment
        The value as it was asked for, and the observations it is over.
    alphas, curve, band
        The grid, rho at each of its points, and its bootstrap intervals.
    alpha
        The best one; the middle one of several equally good. NaN if there is none.
    range
        Where the best one lies in resamples of the queries.
    chosen
        The share of resamples in which `alpha` is (one of) the best.
    held_out, held_out_before
        Mean rho over folds of queries that alpha was not chosen on: with the alpha chosen on the
        other folds, and with the one that was asked for.
    folds
        How many folds these are over.
    matters
        Whether alpha changes rho: ``"no"`` if all alphas order the observations alike,
        ``"only shifts"`` if they even differ by the same amount.
    """

    value: Value
    segment: Segment
    alphas: Sequence[float]
    curve: FloatArray
    band: Sequence[Interval]
    alpha: float
    range: Interval
    chosen: float
    held_out: float
    held_out_before: float
    folds: int
    matters: Literal["yes", "no", "only shifts"]

    @property
    def best(self) -> float:
        """Rho at the best alpha."""
        return float(np.nanmax(self.curve)) if np.isfinite(self.curve).any() else float("nan")


@dataclass(frozen=True)
class Lead:
    """How surely a value goes best with quality.

    Attributes
    ----------
    first
        The value with the greatest rho, and those that have the same rho in every resample.
    second
        The next one.
    share
        The share of resamples in which the first goes better than the second.
    """

    first: list[str]
    second: str
    share: float


@dataclass(frozen=True)
class Calibration:
    """What came of it; `correlations` and `tunings` in the order of the values and segments."""

    observed: Observed
    correlations: list[Correlation]
    tunings: list[Tuning]
    lead: Lead | None
    bootstrap: Bootstrap
    refused: list[Value] = field(default_factory=list)


def takes_alpha(value: Value) -> bool:
    """Whether a value has an alpha that weighs one thing against another, from 0 to 1."""
    grammar = value.measure.parameters
    if not isinstance(grammar, Cutoffs) or "alpha" not in grammar.options:
        return False
    accepts = grammar.options["alpha"].accepts
    return accepts(0.0) and accepts(1.0) and not accepts(1.001)


def calibrate(
    observed: Observed,
    values: Sequence[Value],
    alphas: Sequence[float],
    bootstrap: Bootstrap,
    folds: int,
) -> Calibration:
    """Correlate every value with quality, and choose alpha where there is one.

    Parameters
    ----------
    observed
        Quality and runs.
    values
        With a value per query; others are refused.
    alphas
        The grid, ascending.
    bootstrap
        Of the queries.
    folds
        Parts of the queries that each are held out once.
    """
    offered = [v for v in values if _per_query(v)]
    tables = [_Table.of(observed, value, alphas) for value in offered]
    joined = [table.replicates(observed, bootstrap) for table in tables]
    correlations: list[Correlation] = []
    tunings: list[Tuning] = []
    for table, found in zip(tables, joined, strict=True):
        correlations += table.correlations(found, bootstrap)
        tunings += table.tunings(found, bootstrap, folds)
    return Calibration(
        observed,
        correlations,
        tunings,
        _lead(tables, joined),
        bootstrap,
        [value for value in values if not _per_query(value)],
    )


def _per_query(value: Value) -> bool:
    aggregate = value.measure.aggregate
    return aggregate.prints in ("both", "query") and value.measure.style not in ("text", "quoted")


@dataclass(frozen=True)
class _Table:
    """A value of every observation, and the same with every alpha of the grid.

    Attributes
    ----------
    x : (N,)
        As it was asked for.
    grid : (A, N)
        With each alpha; no row for a value without one.
    segments
        By name the observations that are part of it, (N,), and have a value.
    """

    value: Value
    alphas: Sequence[float]
    x: FloatArray
    grid: FloatArray
    quality: FloatArray
    query: IntArray
    segments: Mapping[Segment, BoolArray]

    @classmethod
    def of(cls, observed: Observed, value: Value, alphas: Sequence[float]) -> _Table:
        x = observed.values(value)
        tuned = [
            observed.values(replace(value, arguments={**value.arguments, "alpha": alpha}))
            for alpha in (alphas if takes_alpha(value) else ())
        ]
        known = ~np.isnan(x)
        segments: dict[Segment, BoolArray] = {"all": known}
        cutoff, num_rel = value.arguments.get("cutoff"), observed.num_rel
        if isinstance(cutoff, int):
            segments["K < R"] = known & (cutoff < num_rel)
            segments["K >= R"] = known & (cutoff >= num_rel) & (num_rel > 0)
        grid = np.array(tuned).reshape(len(tuned), len(x))
        return cls(value, alphas, x, grid, observed.quality, observed.query, segments)

    def replicates(self, observed: Observed, bootstrap: Bootstrap) -> Mapping[str, FloatArray]:
        """Compute every coefficient of every segment in every resample: (B,), or (B, A) by alpha.

        Keys are "segment coefficient" and "segment alpha".
        """
        found: dict[str, FloatArray] = {}
        for segment, inside in self.segments.items():
            if inside.sum() < FEWEST:
                continue
            x, y = self.x[inside], self.quality[inside]
            prepared = {f"{segment} {name}": of(x, y) for name, of in COEFFICIENTS.items()}
            if len(self.grid):
                prepared[f"{segment} alpha"] = _curve(self.grid[:, inside], y)
            parts: dict[str, list[FloatArray]] = {key: [] for key in prepared}
            for weights in drawn(len(observed.queries), bootstrap.resamples, bootstrap.seed):
                part = weights[:, observed.query[inside]]
                for key, under in prepared.items():
                    parts[key].append(under(part))
            found |= {key: np.concatenate(blocks) for key, blocks in parts.items()}
        return found

    def correlations(
        self, sample: Mapping[str, FloatArray], bootstrap: Bootstrap
    ) -> Iterator[Correlation]:
        """Yield the coefficients of every segment."""
        for segment, inside in self.segments.items():
            y, x = self.quality[inside], self.x[inside]
            reason = _reason(x, y)
            found = {
                name: float("nan") if reason else once(coefficient, x, y)
                for name, coefficient in COEFFICIENTS.items()
            }
            bounds = {
                name: UNKNOWN if np.isnan(at) else _interval(sample[f"{segment} {name}"], bootstrap)
                for name, at in found.items()
            }
            name = self.value.name
            yield Correlation(name, self.value, segment, len(x), found, bounds, reason)

    def tunings(
        self, sample: Mapping[str, FloatArray], bootstrap: Bootstrap, folds: int
    ) -> Iterator[Tuning]:
        """Yield the best alpha of every segment."""
        for segment, inside in self.segments.items():
            grid, y = self.grid[:, inside], self.quality[inside]
            if not len(grid) or len(y) < FEWEST or np.ptp(y) == 0:
                continue
            curve = _curve(grid, y)(np.ones((1, len(y))))[0]
            replicates = sample[f"{segment} alpha"]
            best = _best(curve)
            held_out, before, used = _held_out(
                grid, self.x[inside], y, self.query[inside], folds, bootstrap.seed
            )
            optima = np.array([_best(one) for one in replicates])
            optima = optima[optima >= 0]
            grid_of = np.asarray(self.alphas)
            yield Tuning(
                value=self.value,
                segment=segment,
                alphas=self.alphas,
                curve=curve,
                band=[_interval(column, bootstrap) for column in replicates.T],
                alpha=float(grid_of[best]) if best >= 0 else float("nan"),
                range=order_statistics(grid_of[optima], bootstrap.tails)
                if len(optima)
                else UNKNOWN,
                chosen=float(_is_best(replicates, best).mean()) if best >= 0 else float("nan"),
                held_out=held_out,
                held_out_before=before,
                folds=used,
                matters=_matters(grid, curve),
            )


def _reason(x: FloatArray, y: FloatArray) -> str:
    if len(x) < FEWEST:
        return f"{len(x)} observations, expected {FEWEST}"
    if (y == y[0]).all():
        return "quality does not vary"
    return "the value does not vary" if (x == x[0]).all() else ""


def _interval(replicates: FloatArray, bootstrap: Bootstrap) -> Interval:
    """Read an interval off replicates; an undefined one could be anything from -1 to 1."""
    low, high = order_statistics(replicates, bootstrap.tails)
    return Interval(max(low, -1.0), min(high, 1.0))


def _curve(grid: FloatArray, y: FloatArray) -> UnderWeights:
    """Return rho at each point of the grid under every row of weights, (B, n) to (B, A)."""
    prepared = [spearman(x, y) for x in grid]
    return lambda weights: np.stack([under(weights) for under in prepared], axis=1)


def _is_best(curves: FloatArray, place: int) -> BoolArray:
    """Whether a place of each curve, (B, A), is as high as its highest."""
    highest = np.where(np.isnan(curves), -np.inf, curves).max(axis=1)
    return np.asarray(curves[:, place] >= highest - _SAME)


def _best(curve: FloatArray) -> int:
    """Return where a curve is highest: the middle of equally good places; -1 for nowhere."""
    if np.isnan(curve).all():
        return -1
    places = np.flatnonzero(curve >= np.nanmax(curve) - _SAME)
    return int(places[(len(places) - 1) // 2])


def _matters(grid: FloatArray, curve: FloatArray) -> Literal["yes", "no", "only shifts"]:
    known = curve[~np.isnan(curve)]
    if len(known) and np.ptp(known) > _SAME:
        return "yes"
    shifts = grid - grid[0]
    return "only shifts" if np.ptp(shifts, axis=1).max() < _SAME else "no"


def _held_out(
    grid: FloatArray, x: FloatArray, y: FloatArray, query: IntArray, folds: int, seed: int
) -> tuple[float, float, int]:
    """Choose alpha on all folds but one, correlate on that one; return mean rhos and their number.

    Folds are parts of the queries, of at least three; a fold where rho is undefined is left out.
    """
    distinct = np.unique(query)
    folds = min(folds, len(distinct) // FEWEST)
    if folds < 2:
        return float("nan"), float("nan"), 0
    shuffled = np.random.default_rng(seed).permutation(distinct)
    chosen, before = [], []
    for part in range(folds):
        tested = np.isin(query, shuffled[part::folds])
        others = np.ones((1, int((~tested).sum())))
        best = _best(_curve(grid[:, ~tested], y[~tested])(others)[0])
        if best >= 0:
            chosen.append(once(spearman, grid[best, tested], y[tested]))
            before.append(once(spearman, x[tested], y[tested]))
    known = [both for both in zip(chosen, before, strict=True) if not np.isnan(both).any()]
    if not known:
        return float("nan"), float("nan"), 0
    held_out, plain = np.mean(known, axis=0)
    return float(held_out), float(plain), len(known)


def strength(value: Value, rho: float) -> float:
    """Return how well a value tracks quality: rho, reversed where lower values are better."""
    return -rho if value.measure.better == "lower" else rho


def _lead(tables: Sequence[_Table], samples: Sequence[Mapping[str, FloatArray]]) -> Lead | None:
    """Compare the two values that track quality best, over all observations."""
    found = []
    for table, sample in zip(tables, samples, strict=True):
        inside = table.segments["all"]
        x, y = table.x[inside], table.quality[inside]
        if not _reason(x, y) and table.value.measure.better != "neither":
            rho = once(spearman, x, y)
            found.append((strength(table.value, rho), table.value, sample["all spearman"]))
    found.sort(key=lambda one: -one[0])
    if not found:
        return None
    ahead = found[0][2]
    reversed_ = [-1.0 if one[1].measure.better == "lower" else 1.0 for one in found]
    level = [
        np.allclose(s * one[2], reversed_[0] * ahead, equal_nan=True)
        for s, one in zip(reversed_, found, strict=True)
    ]
    second = level.index(False) if False in level else None
    first = [one[1].name for one, same in zip(found, level, strict=True) if same]
    if second is None:
        return Lead(first, "", float("nan"))
    share = (reversed_[0] * ahead > reversed_[second] * found[second][2]).mean()
    return Lead(first, found[second][1].name, float(share))
