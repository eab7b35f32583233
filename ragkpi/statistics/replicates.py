"""Systems with several runs: seeds, folds or repeated answers of one system.

A system's value is the mean over its seeds. The difference of two systems varies with the queries
and with the seeds; a test of the queries' means over seeds accounts only for the queries.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray
from ragkpi.measures.measure import Scores
from ragkpi.statistics.bootstrap import (
    UNKNOWN,
    Bootstrap,
    Interval,
    QuerySample,
    intervals,
    query_samples,
    special,
    student_quantile,
)
from ragkpi.statistics.significance import corrected


class Part(NamedTuple):
    """An estimated variance, with its degrees of freedom."""

    variance: float
    freedom: float


def variance_bound(freedom: float) -> float:
    """Return the upper 80% bound of a variance by χ², over its estimate: 4.48 for three values."""
    return float(freedom / special().chdtri(freedom, 0.8))


@np.errstate(invalid="ignore")
def satterthwaite(queries: Part, seeds: Sequence[Part]) -> float:
    """Return the degrees of freedom of a sum of variances; NaN if all are 0.

    Formula:    (Q + Σ c s)² / (Q² / f + Σ (c s)² / (r - 1)), c = `variance_bound` of r - 1
    Source:     F. E. Satterthwaite, An approximate distribution of estimates of variance
                components, Biometrics Bulletin 2, 1946, with c = 1

    With c = 1, three seeds that happen to be close get the many degrees of freedom of the queries.
    """
    bounds = [variance_bound(part.freedom) * part.variance for part in seeds]
    variances = np.array([queries.variance, *bounds])
    freedoms = np.array([queries.freedom, *(part.freedom for part in seeds)])
    return float(variances.sum() ** 2 / (variances**2 / freedoms).sum())


class System(NamedTuple):
    """A system by one metric: the units' contributions to each seed, (G, r), and summaries, (r,).

    Contributions are `QuerySample.pseudo_values`: for means over queries, the queries' values.
    """

    units: FloatArray
    values: FloatArray

    @property
    def part(self) -> Part | None:
        """The variance of the mean over seeds, s; None for one seed."""
        r = len(self.values)
        return Part(float(self.values.var(ddof=1)) / r, r - 1) if r > 1 else None

    @property
    def value(self) -> float:
        """The mean over seeds."""
        return float(self.values.mean())

    @property
    def noise(self) -> float:
        """The part of s due to queries: each seed moves each query by its own amount."""
        (units, r), rows = self.units.shape, self.units.mean(axis=1, keepdims=True)
        residual = self.units - rows - self.units.mean(axis=0) + rows.mean()
        return float((residual**2).sum() / ((units - 1) * (r - 1) * units * r)) if r > 1 else 0.0


Evidence = Literal["systems", "two seeds", "one run", "runs"]
"""Systems of three seeds or more, a system of two, a run and a system, or two runs."""

# Two seeds are exploratory. The variance of a single run's seeds is unknown: against a system whose
# seeds differ, a claim would assume that it is 0.
DECIDING: tuple[Evidence, ...] = ("systems", "runs")

TOO_FEW_SEEDS: Mapping[Evidence, str] = {
    "two seeds": "two seeds of a system describe it and decide nothing; three or more decide",
    "one run": "how much another seed of a single run would differ is not known; expected several "
    "seeds of both systems",
}


def evidence_of(seeds: int, others: int) -> Evidence:
    """Return the evidence from two systems with these numbers of seeds."""
    fewer, more = sorted((seeds, others))
    if 2 in (fewer, more):
        return "two seeds"
    return "systems" if fewer > 1 else "one run" if more > 1 else "runs"


class SystemDifference(NamedTuple):
    """The mean over seeds of a system, minus that of the baseline.

    The standard error is NaN, and so are `interval` and `p`, if nothing varies or with fewer than
    two units (p is 1 for equal systems). `queries` is the variance due to queries; `seeds` those
    due to the seeds of the baseline and of the other system, None for a single run.
    """

    difference: float
    error: float
    freedom: float
    p: float
    interval: Interval
    queries: float
    seeds: tuple[Part | None, Part | None]

    @property
    def evidence(self) -> Evidence:
        """The evidence; only that in `DECIDING` allows a decision."""
        return evidence_of(*(int(part.freedom) + 1 if part else 1 for part in self.seeds))


@np.errstate(divide="ignore")
def systems_of(sample: QuerySample) -> list[list[System]]:
    """Return the runs of a sample as systems, per metric and run; a single run has one seed."""
    seeds = sample.seeds or np.split(sample.statistics, sample.statistics.shape[1], axis=1)
    as_runs = replace(sample, statistics=np.concatenate(seeds, axis=1), seeds=())
    ends = np.cumsum([of_run.shape[1] for of_run in seeds])[:-1]
    return [
        list(map(System, np.split(units, ends, axis=1), np.split(values, ends)))
        for units, values in zip(as_runs.pseudo_values(), as_runs.observed(), strict=True)
    ]


@np.errstate(invalid="ignore", divide="ignore")
def difference_of(
    baseline: System, other: System, freedom: float, level: float = 0.95
) -> SystemDifference:
    """Test a difference over the same G units; `freedom` is `QuerySample.freedom`.

    Formula:    D = mean over seeds of the other's values - of the baseline's; S = Σ var(values) / r
                over both; Q = max(0, var(d) / G - Σ noise), d the units' differences of means over
                seeds; t = D / √(Q + S), with `satterthwaite`'s degrees of freedom
    Edge cases: a single run adds no variance of seeds; two of them have the paired t test
    Source:     H. Scheffé, The Analysis of Variance, 1959 (mean squares of a table with two ways)
    """
    differences = unit_differences(baseline, other)
    difference = float(other.values.mean() - baseline.values.mean())
    moved = differences.var(ddof=1) / len(differences) if len(differences) > 1 else math.nan
    queries = float(np.maximum(0.0, moved - baseline.noise - other.noise))
    seeds = baseline.part, other.part
    parts = [part for part in seeds if part]
    error = math.sqrt(queries + sum(part.variance for part in parts))
    if error <= ROUNDING * max(np.abs(baseline.values).max(), np.abs(other.values).max()):
        error = math.nan
    of_both = satterthwaite(Part(queries, freedom), parts)
    reach = student_quantile(of_both, level) * error
    equal = len(differences) > 1 and not differences.any()
    p = 1.0 if equal else float(2 * special().stdtr(of_both, -abs(difference) / error))
    known = not math.isnan(error)
    interval = Interval(difference - reach, difference + reach) if known else UNKNOWN
    return SystemDifference(difference, error, of_both, p, interval, queries, seeds)


def intervals_of(scores: Scores, bootstrap: Bootstrap) -> dict[str, Interval]:
    """Return the intervals of a run's or a system's summaries, by printed names.

    The interval of a system is Student's, from its queries and its seeds.
    """
    if scores.seeds == 1:
        return intervals(scores, bootstrap)
    bounds = {column.name: UNKNOWN for column in scores.estimates()}
    for sample in query_samples([scores], lambda m: m.is_estimate, bootstrap.clusters):
        nothing = System(np.zeros((sample.units, 1)), np.zeros(1))
        for metric, (system,) in zip(sample.metrics, systems_of(sample), strict=True):
            result = difference_of(nothing, system, sample.freedom, bootstrap.level)
            bounds[metric.name] = result.interval
    return bounds


def unit_differences(baseline: System, other: System) -> FloatArray:
    """Return the differences of units' means over seeds, (G,)."""
    return np.asarray(other.units.mean(axis=1) - baseline.units.mean(axis=1))


def p_of_pairs(systems: Sequence[System], freedom: float) -> FloatArray:
    """Test all pairs of S systems by a metric: p, corrected by Holm for all pairs, (S, S).

    NaN means not tested: the diagonal, and pairs whose `evidence` allows no decision.
    """
    results = [difference_of(*pair, freedom) for pair in itertools.combinations(systems, 2)]
    p = np.full((len(systems), len(systems)), np.nan)
    above = np.triu_indices(len(systems), 1)
    p[above] = [d.p if d.evidence in DECIDING else math.nan for d in results]
    p[above] = p.T[above] = corrected(p[above], "holm")
    return p


_SEED = r"(.*?)(?<![a-z\d])(?:seed|replicate|rep|fold|trial|rs|s)[-_= ]?\d+(?![a-z\d])(.*)"


def look_like_seeds(names: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the runs whose names differ only by the number of a seed, by the name without it.

    A number without a word for seeds can be a version or a parameter.

    >>> look_like_seeds(["dense-s1.run", "dense-s2.run", "bm25-k1.run", "bm25-k2.run"])
    {'dense-.run': ['dense-s1.run', 'dense-s2.run']}
    """
    named: dict[str, list[str]] = {}
    for name in names:
        if seed := re.fullmatch(_SEED, name, re.IGNORECASE):
            named.setdefault(seed[1] + seed[2], []).append(name)
    return {system: runs for system, runs in named.items() if len(runs) > 1}
