"""Gates: limits on the values of a run, absolute or against a baseline, for Makefiles and CI."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.interface import option
from ragkpi.measures.measure import MetricScores, Scores
from ragkpi.measures.registry import find_metrics
from ragkpi.statistics.bootstrap import UNKNOWN, Interval, QuerySample, query_samples, special
from ragkpi.statistics.paired import aligned
from ragkpi.statistics.significance import ROUNDING, interval_of_rates, pairs

# A run misses a gate if its value is worse than the baseline's by more than the margin; only if
# a test proves so at a level of confidence; or unless a test proves the opposite.
DecidedBy = Literal["value", "worse", "noninferior"]


@dataclass(frozen=True)
class Gate:
    """The worst allowed value: the lowest, or the highest if lower is better.

    ``lang=de:ndcg_cut_10`` limits the value of one slice, ``lang=*:ndcg_cut_10`` of every slice by
    ``lang``.
    """

    name: str
    limit: float

    @property
    def metric(self) -> str:
        """The name of the value, without the slice."""
        return self.name.rpartition(":")[2]

    def is_of(self, by: str, label: str) -> bool:
        """Return whether the gate limits a slice."""
        return self.name.rpartition(":")[0] in (f"{by}={label}", f"{by}=*")


@dataclass(frozen=True)
class Margin:
    """How much worse a run may be: an amount, or a share of the baseline."""

    amount: float
    relative: bool = False

    def below(self, baseline: float) -> float:
        """Return the distance of the limit from the baseline."""
        return self.amount * abs(baseline) if self.relative else self.amount


@dataclass(frozen=True)
class BaselineGate:
    """A run may be worse than a baseline by at most a margin, at a level of confidence.

    With ``"worse"`` the level holds for all values of a run together (Bonferroni): a run as good
    as its baseline fails with a probability of at most 1 - level, whatever the number of gates.
    """

    margin: Margin = Margin(0.0)
    decided_by: DecidedBy = "value"
    level: float = 0.95


@dataclass(frozen=True)
class Verdict:
    """A value of a run against its limit, which NA always misses.

    Attributes
    ----------
    bound
        The bound that was compared with the limit: the true value at best (`decided_by`
        ``"worse"``) or at worst (``"noninferior"``), at the level of confidence. NaN if the value
        itself was compared; infinite if no interval is valid, so nothing is proven.
    """

    run: str
    name: str
    found: float
    limit: float
    passed: bool
    bound: float = math.nan
    at: Literal["at best", "at worst"] = "at best"

    def __str__(self) -> str:
        if math.isnan(self.found):
            return f"{self.run}: {self.name} is NA; its limit is {self.limit:.6g}"
        tested = self.found if math.isnan(self.bound) else self.bound
        side = "under" if tested < self.limit else "over"
        by = abs(self.limit - tested)
        text = f"{self.run}: {self.name} is {self.found:.6g}"
        if math.isinf(self.bound) and not self.passed:
            return (
                f"{text}, not shown to keep its limit {self.limit:.6g}: no interval of the "
                "difference is valid (all queries differ by the same, or they are too few)"
            )
        if not math.isnan(self.bound):
            text += f" ({self.at} {self.bound:.6g})"
        if self.passed:
            return f"{text}; its limit is {self.limit:.6g}"
        return f"{text}, {side} {self.limit:.6g} by {by:.6g}"


def parse_gate(text: str) -> Gate:
    """Read ``NAME=NUMBER`` of ``--fail-under``; else `UsageError`."""
    name, _, number = text.rpartition("=")
    limit = _finite(number)
    if not name or limit is None:
        expected = "expected NAME=NUMBER, such as ndcg_cut_10=0.35"
        raise UsageError(f"{option('fail_under')} {text}: {expected}")
    return Gate(name, limit)


def parse_margin(text: str) -> Margin:
    """Read an amount such as ``0.01`` or a share such as ``2%``; else `UsageError`."""
    amount = _finite(text.removesuffix("%"))
    if amount is None or amount < 0:
        expected = "expected a number from 0, or a percentage such as 2%"
        raise UsageError(f"{option('margin')} {text}: {expected}")
    return Margin(amount / 100, relative=True) if text.endswith("%") else Margin(amount)


def verdicts(run: str, scores: Scores, gates: Iterable[Gate]) -> list[Verdict]:
    """Compare a run with gates; NA misses every gate.

    Gates name metrics as printed (``ndcg_cut_10``) or as in ``-m`` (``ndcg_cut.10``).
    """
    numbers = {c.name: c for c in scores.printed("summary") if c.metric.measure.numeric}
    return [_verdict(run, _column(gate.name, numbers), gate.limit) for gate in gates]


def baseline_verdicts(
    baseline: tuple[str, Scores], run: tuple[str, Scores], gate: BaselineGate
) -> list[Verdict]:
    """Compare a run with a baseline, value by value, over the queries of both.

    Counts, and values that are NA for the baseline, are not compared.
    """
    limits, tested = aligned([baseline[0], run[0]], [baseline[1], run[1]])
    bounds: Mapping[str, float] = {}
    if gate.decided_by != "value":
        bounds = _bounds([limits, tested], gate)
    verdicts = []
    for column in limits.columns:
        metric, reference = column.metric, column.summary
        if not metric.is_comparable:
            continue
        if math.isnan(reference):
            warnings.warn(
                f"{metric.name} is NA for {baseline[0]} and therefore no gate",
                RagkpiWarning,
                stacklevel=2,
            )
            continue
        limit = reference - metric.measure.sign * gate.margin.below(reference)
        bound = reference + bounds.get(metric.name, math.nan)
        if math.isnan(bound) and gate.decided_by == "noninferior":
            bound = -metric.measure.sign * math.inf  # nothing is proven
        verdict = _verdict(run[0], tested[metric.name], limit, bound)
        at: Literal["at best", "at worst"] = "at best" if gate.decided_by == "worse" else "at worst"
        verdicts.append(replace(verdict, at=at))
    return verdicts


def unmet(found: Sequence[Verdict]) -> list[Verdict]:
    """Return the failed verdicts: for each run and value, the limit missed the furthest."""
    missed: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in found:
        if not verdict.passed:
            missed.setdefault((verdict.run, verdict.name), []).append(verdict)
    return [max(of_one, key=lambda v: abs(v.limit - v.found)) for of_one in missed.values()]


def _column(name: str, numbers: Mapping[str, MetricScores]) -> MetricScores:
    if name in numbers:
        return numbers[name]
    try:
        metrics = [metric.name for metric in find_metrics([name])]
    except UsageError:
        metrics = []
    if len(metrics) != 1 or metrics[0] not in numbers:
        raise UsageError(
            f"{option('fail_under')} {name}: not among the numbers of this evaluation "
            f"({', '.join(numbers) or 'none'}); ask for it with -m"
        )
    return numbers[metrics[0]]


def _verdict(run: str, column: MetricScores, limit: float, bound: float = math.nan) -> Verdict:
    sign, value = column.metric.measure.sign, float(column.summary)
    tested = value if math.isnan(bound) else bound
    # 0.4 - 0.1 is more than 0.3 in doubles: a value that equals its limit to nine digits keeps it.
    kept = sign * tested >= sign * limit or math.isclose(tested, limit, rel_tol=1e-9)
    return Verdict(run, column.name, value, limit, kept and not math.isnan(value), bound)


def _bounds(runs: Sequence[Scores], gate: BaselineGate) -> dict[str, float]:
    """Bound the difference of the second run from the first, in one direction, per metric.

    The bound is the difference at best, to prove that a run is worse, or at worst, to prove that it
    is not. Rates of 0 and 1 have Tango's bound, other values that of `_students`. If neither is
    valid there is no bound: the value decides whether a run is worse, and nothing can prove that
    it is not.
    """
    samples = query_samples(runs, lambda metric: metric.is_comparable)
    tests = sum(len(sample.metrics) for sample in samples)
    worse, error = gate.decided_by == "worse", 1 - gate.level
    side, tail = (1, error / tests) if worse else (-1, error)
    bounds = {}
    for sample in samples:
        if sample.queries < 2:
            continue
        for metric, (pair,), student in zip(
            sample.metrics, pairs(sample), _students(sample, tail), strict=True
        ):
            low, high = interval_of_rates(pair, max(0.0, 1 - 2 * tail)) or student
            bounds[metric.name] = high if side * metric.measure.sign > 0 else low
    return bounds


def _students(sample: QuerySample, tail: float) -> list[Interval]:
    """Return Student's interval of each metric's difference, with `tail` on either side.

    It comes from the queries' jackknife pseudo-values, which for means are the differences. It is
    `UNKNOWN` if they do not vary, or if leaving out a query leaves no value.
    """
    n, found = sample.queries, []
    with np.errstate(invalid="ignore"):
        for summary, (spread,) in zip(sample.observed(), sample.spreads(), strict=True):
            difference = float(summary[1] - summary[0])
            error = float(spread) / math.sqrt(n)
            reach = float(special().stdtrit(n - 1, 1 - tail)) * error
            valid = math.isfinite(reach) and error > ROUNDING * np.abs(summary).max()
            found.append(Interval(difference - reach, difference + reach) if valid else UNKNOWN)
    return found


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
