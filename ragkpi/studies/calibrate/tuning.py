"""The choice of alpha: on a grid, by Spearman's rho with quality, checked on held-out queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.parameters import Cutoffs
from ragkpi.progress import steps
from ragkpi.ranking.judged import BoolArray, IntArray
from ragkpi.records import NamedTuple, dataclass
from ragkpi.statistics.bootstrap import UNKNOWN, Bootstrap, Interval, order_statistics
from ragkpi.statistics.correlation import spearman, spearman_of_each
from ragkpi.statistics.resampling import drawn
from ragkpi.statistics.weighted_ranks import Reference

Segment = Literal["all", "K < R", "K >= R"]
FEWEST = 3  # observations that a correlation is worth computing from
FEWEST_HELD_OUT = 10  # queries of a fold: rho of fewer is noise
_SAME = 1e-12


class Sample(NamedTuple):
    """The n observations of a segment: values as asked for, by alpha (A, n), and what they meet."""

    x: FloatArray
    grid: FloatArray
    quality: FloatArray
    query: IntArray


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
    gain
        Interval of what the chosen alpha adds to rho on held-out queries; unknown without folds.
    folds
        How many folds these are over.
    matters
        Whether alpha changes rho: ``"no"`` if all alphas order the observations alike,
        ``"only shifts"`` if they even differ by the same amount.
    """

    metric: Metric
    segment: Segment
    alphas: Sequence[float]
    curve: FloatArray
    band: Sequence[Interval]
    alpha: float
    range: Interval
    chosen: float
    held_out: float
    held_out_before: float
    gain: Interval
    folds: int
    matters: Literal["yes", "no", "only shifts"]

    @property
    def better(self) -> bool:
        """Whether the chosen alpha is shown to be better than the one that was asked for."""
        return self.gain.low > 0

    @property
    def best(self) -> float:
        """Rho at the best alpha."""
        return float(np.nanmax(self.curve)) if np.isfinite(self.curve).any() else float("nan")


def takes_alpha(metric: Metric) -> bool:
    """Whether a value has an alpha that weighs one thing against another, from 0 to 1."""
    grammar = metric.measure.parameters
    if not isinstance(grammar, Cutoffs) or "alpha" not in grammar.options:
        return False
    alpha = grammar.options["alpha"]
    return (alpha.least, alpha.most) == (0, 1)


def tune(
    metric: Metric,
    segment: Segment,
    alphas: Sequence[float],
    sample: Sample,
    replicates: FloatArray,
    bootstrap: Bootstrap,
    folds: int,
) -> Tuning:
    """Choose the alpha of a value for a segment.

    Parameters
    ----------
    sample
        The observations of the segment.
    replicates : (B, A)
        Rho at each of the alphas in every resample.
    bootstrap
        What drew them.
    folds
        Parts of the queries that each are held out once.
    """
    rho = spearman_of_each(sample.grid, sample.quality)(np.ones((1, len(sample.quality))))[0]
    best = _best(rho)
    held_out = _held_out(sample, folds, bootstrap)
    optima = _best_of_each(replicates)
    optima = optima[optima >= 0]
    grid = np.asarray(alphas)
    return Tuning(
        metric=metric,
        segment=segment,
        alphas=alphas,
        curve=rho,
        band=[interval(column, bootstrap) for column in replicates.T],
        alpha=float(grid[best]) if best >= 0 else math.nan,
        range=order_statistics(grid[optima], bootstrap.tails) if len(optima) else UNKNOWN,
        chosen=float(_is_best(replicates, best).mean()) if best >= 0 else math.nan,
        held_out=held_out.chosen,
        held_out_before=held_out.before,
        gain=held_out.gain,
        folds=held_out.folds,
        matters=_matters(sample.grid, rho),
    )


def interval(replicates: FloatArray, bootstrap: Bootstrap) -> Interval:
    """Read an interval off replicates; an undefined one could be anything from -1 to 1."""
    low, high = order_statistics(replicates, bootstrap.tails)
    return Interval(max(low, -1.0), min(high, 1.0))


def _is_best(curves: FloatArray, index: int) -> BoolArray:
    """Whether a place of each curve, (B, A), is as high as its highest."""
    highest = np.where(np.isnan(curves), -np.inf, curves).max(axis=1)
    return np.asarray(curves[:, index] >= highest - _SAME)


def _best(rho: FloatArray) -> int:
    """Return where a curve is highest: the middle of equally good places; -1 for nowhere."""
    return int(_best_of_each(rho[np.newaxis])[0])


def _best_of_each(curves: FloatArray) -> IntArray:
    """Return where each of the curves, (B, A), is highest, as `_best` does, (B,)."""
    known = np.where(np.isnan(curves), -np.inf, curves)
    highest = known.max(axis=1, keepdims=True)
    best = known >= highest - _SAME
    middle = (best.sum(axis=1, keepdims=True) - 1) // 2
    place = (np.cumsum(best, axis=1) > middle).argmax(axis=1)
    return np.asarray(np.where(np.isneginf(highest[:, 0]), -1, place))


def _matters(grid: FloatArray, rho: FloatArray) -> Literal["yes", "no", "only shifts"]:
    known = rho[~np.isnan(rho)]
    if len(known) and np.ptp(known) > _SAME:
        return "yes"
    shifts = grid - grid[0]
    return "only shifts" if np.ptp(shifts, axis=1).max() < _SAME else "no"


class _HeldOut(NamedTuple):
    """Mean rhos over folds of queries, with the alpha chosen on the others and with the given."""

    chosen: float
    before: float
    gain: Interval
    folds: int


def _held_out(sample: Sample, folds: int, bootstrap: Bootstrap) -> _HeldOut:
    """Choose alpha on all folds but one, and correlate on that one.

    Folds are parts of the queries, of at least `FEWEST_HELD_OUT`; a fold where rho is undefined
    is left out. The interval of the gain is over resamples of the queries within their folds,
    each with the alpha that the other folds chose.
    """
    x, grid, y, query = sample
    distinct = np.unique(query)
    nothing = _HeldOut(math.nan, math.nan, UNKNOWN, 0)
    folds = min(folds, len(distinct) // FEWEST_HELD_OUT)
    if folds < 2:
        return nothing
    shuffled = np.random.default_rng(bootstrap.seed).permutation(distinct)
    known = []
    for part in steps(range(folds), "held-out queries", folds):
        tested = np.isin(query, shuffled[part::folds])
        others = np.ones((1, int((~tested).sum())))
        best = _best(spearman_of_each(grid[:, ~tested], y[~tested])(others)[0])
        if best < 0:
            continue
        quality = Reference(y[tested])
        under = [spearman(values[tested], quality) for values in (grid[best], x)]
        # Block by block: rows of all resamples would not fit the cache.
        blocks = [
            [of_weights(weights) for of_weights in under]
            for weights in _resampled_with_all(query[tested], bootstrap)
        ]
        rhos = np.stack([np.concatenate(rho) for rho in zip(*blocks, strict=True)])
        if not np.isnan(rhos[:, 0]).any():
            known.append(rhos)
    if not known:
        return nothing
    chosen, before = np.mean([rhos[:, 0] for rhos in known], axis=0)
    gains = np.mean([rhos[0, 1:] - rhos[1, 1:] for rhos in known], axis=0)
    gain = order_statistics(gains, bootstrap.tails)
    return _HeldOut(float(chosen), float(before), Interval(*gain), len(known))


def _resampled_with_all(query: IntArray, bootstrap: Bootstrap) -> Iterator[FloatArray]:
    """Weigh n observations, 1 + B rows in all: alike in the first, then as queries are drawn."""
    distinct, number = np.unique(query, return_inverse=True)
    yield np.ones((1, len(query)))
    for block in drawn(len(distinct), bootstrap.resamples, bootstrap.seed):
        yield block[:, number]
