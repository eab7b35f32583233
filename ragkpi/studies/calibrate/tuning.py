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
from ragkpi.records import dataclass, replace
from ragkpi.statistics.bootstrap import UNKNOWN, Bootstrap, Interval, order_statistics
from ragkpi.statistics.correlation import spearman, spearman_of_each
from ragkpi.statistics.resampling import drawn
from ragkpi.statistics.weighted_ranks import Reference

Segment = Literal["all", "K < R", "K >= R"]
FEWEST = 3  # observations: a correlation of fewer means nothing
FEWEST_HELD_OUT = 10  # queries of a fold: rho of fewer is noise
_SAME = 1e-12


@dataclass(frozen=True)
class Sample:
    """A metric of the n observations of a segment.

    Attributes
    ----------
    metric, segment
        The metric as it was asked for, and which observations.
    alphas
        The grid, ascending.
    x : (n,)
        The value of each observation.
    grid : (A, n)
        The value with each alpha; no rows for a metric without one.
    quality, query : (n,)
        The quality of each response, and the number of its query.
    """

    metric: Metric
    segment: Segment
    alphas: Sequence[float]
    x: FloatArray
    grid: FloatArray
    quality: FloatArray
    query: IntArray


@dataclass(frozen=True)
class Tuning:
    """The alpha that makes a metric track quality best, by Spearman's rho.

    Attributes
    ----------
    metric, segment
        The metric as it was asked for, and the observations it is over.
    alphas, curve, band
        The grid, rho at each of its points, and its bootstrap intervals.
    alpha
        The best one; the middle one of several equally good. NaN if there is none.
    range
        The interval of the best alpha over resamples of the queries.
    chosen
        The share of resamples in which `alpha` is (one of) the best.
    matters
        Whether alpha changes rho: ``"no"`` if all alphas order the observations alike,
        ``"only shifts"`` if they even differ by the same amount.
    held_out, held_out_before
        Mean rho over folds of queries that alpha was not chosen on: with the alpha chosen on the
        other folds, and with the one that was asked for.
    gain
        Interval of what the chosen alpha adds to rho on held-out queries; unknown without folds.
    folds
        How many folds these are over.
    """

    metric: Metric
    segment: Segment
    alphas: Sequence[float]
    curve: FloatArray
    band: Sequence[Interval]
    alpha: float
    range: Interval
    chosen: float
    matters: Literal["yes", "no", "only shifts"]
    held_out: float = math.nan
    held_out_before: float = math.nan
    gain: Interval = UNKNOWN
    folds: int = 0

    @property
    def better(self) -> bool:
        """Whether the chosen alpha is shown to be better than the one that was asked for."""
        return self.gain.low > 0

    @property
    def best(self) -> float:
        """Rho at the best alpha."""
        return float(np.nanmax(self.curve)) if np.isfinite(self.curve).any() else math.nan


def takes_alpha(metric: Metric) -> bool:
    """Whether a metric has an alpha that weighs one thing against another, from 0 to 1."""
    grammar = metric.measure.parameters
    if not isinstance(grammar, Cutoffs) or "alpha" not in grammar.options:
        return False
    alpha = grammar.options["alpha"]
    return (alpha.least, alpha.most) == (0, 1)


def tune(sample: Sample, replicates: FloatArray, bootstrap: Bootstrap, folds: int) -> Tuning:
    """Choose the alpha of a metric for a segment.

    Parameters
    ----------
    sample
        The observations of the segment.
    replicates : (B, A)
        Rho at each of the alphas in every resample.
    bootstrap
        How the queries were resampled.
    folds
        Parts of the queries that each are held out once.
    """
    rho = _rho_by_alpha(sample.grid, sample.quality)
    (best,) = _middle(_peaks(rho)).tolist()
    optima = _middle(_peaks(replicates))
    optima = optima[optima >= 0]
    grid = np.asarray(sample.alphas)
    tuning = Tuning(
        metric=sample.metric,
        segment=sample.segment,
        alphas=sample.alphas,
        curve=rho[0],
        band=[interval(column, bootstrap) for column in replicates.T],
        alpha=float(grid[best]) if best >= 0 else math.nan,
        range=order_statistics(grid[optima], bootstrap.tails) if len(optima) else UNKNOWN,
        chosen=float(_peaks(replicates)[:, best].mean()) if best >= 0 else math.nan,
        matters=_matters(sample.grid, rho),
    )
    return _held_out(tuning, sample, folds, bootstrap)


def interval(replicates: FloatArray, bootstrap: Bootstrap) -> Interval:
    """Read an interval off replicates; an undefined one could be anything from -1 to 1."""
    low, high = order_statistics(replicates, bootstrap.tails)
    return Interval(max(low, -1.0), min(high, 1.0))


def _rho_by_alpha(grid: FloatArray, quality: FloatArray) -> FloatArray:
    """Correlate the values with every alpha, (A, n), with quality, (1, A)."""
    return spearman_of_each(grid, quality)(np.ones((1, len(quality))))


def _peaks(curves: FloatArray) -> BoolArray:
    """Return which points of each curve, (B, A), are as high as its highest."""
    highest = np.where(np.isnan(curves), -np.inf, curves).max(axis=1, keepdims=True)
    return np.asarray(curves >= highest - _SAME)


def _middle(peaks: BoolArray) -> IntArray:
    """Return the middle one of the peaks of each curve, (B, A); -1 for a curve without any."""
    count = peaks.sum(axis=1, keepdims=True)
    middle = (np.cumsum(peaks, axis=1) > (count - 1) // 2).argmax(axis=1)
    return np.where(count[:, 0] > 0, middle, -1)


def _matters(grid: FloatArray, rho: FloatArray) -> Literal["yes", "no", "only shifts"]:
    known = rho[~np.isnan(rho)]
    if len(known) and np.ptp(known) > _SAME:
        return "yes"
    shifts = grid - grid[0]
    return "only shifts" if np.ptp(shifts, axis=1).max() < _SAME else "no"


def _held_out(tuning: Tuning, sample: Sample, folds: int, bootstrap: Bootstrap) -> Tuning:
    """Choose alpha on all folds but one, correlate on that one, and add the mean over folds.

    Folds are parts of the queries, of at least `FEWEST_HELD_OUT`; a fold where rho is undefined
    is left out. The interval of the gain is over resamples of the queries within their folds,
    each with the alpha that the other folds chose.
    """
    distinct = np.unique(sample.query)
    folds = min(folds, len(distinct) // FEWEST_HELD_OUT)
    if folds < 2:
        return tuning
    shuffled = np.random.default_rng(bootstrap.seed).permutation(distinct)
    known = []
    for part in steps(range(folds), "held-out queries", folds):
        tested = np.isin(sample.query, shuffled[part::folds])
        rho = _rho_by_alpha(sample.grid[:, ~tested], sample.quality[~tested])
        (best,) = _middle(_peaks(rho)).tolist()
        if best < 0:
            continue
        quality = Reference(sample.quality[tested])
        under = [spearman(x[tested], quality) for x in (sample.grid[best], sample.x)]
        # Block by block: rows of all resamples would not fit the cache.
        blocks = [
            [of_weights(weights) for of_weights in under]
            for weights in _resampled_with_all(sample.query[tested], bootstrap)
        ]
        rhos = np.stack([np.concatenate(rho) for rho in zip(*blocks, strict=True)])
        if not np.isnan(rhos[:, 0]).any():
            known.append(rhos)
    if not known:
        return tuning
    chosen, before = np.mean([rhos[:, 0] for rhos in known], axis=0)
    gains = np.mean([rhos[0, 1:] - rhos[1, 1:] for rhos in known], axis=0)
    return replace(
        tuning,
        held_out=float(chosen),
        held_out_before=float(before),
        gain=order_statistics(gains, bootstrap.tails),
        folds=len(known),
    )


def _resampled_with_all(query: IntArray, bootstrap: Bootstrap) -> Iterator[FloatArray]:
    """Weigh n observations in 1 + B rows: all alike in the first, then by resampled queries."""
    distinct, number = np.unique(query, return_inverse=True)
    yield np.ones((1, len(query)))
    for block in drawn(len(distinct), bootstrap.resamples, bootstrap.seed):
        yield block[:, number]
