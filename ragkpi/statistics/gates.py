"""Limits that a run has to keep, for Makefiles and CI."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.measures.scores import Scores
from ragkpi.statistics.alignment import aligned


@dataclass(frozen=True)
class Gate:
    """The worst that a value may be: the lowest, or the highest where lower is better."""

    name: str
    limit: float


@dataclass(frozen=True)
class Margin:
    """How much worse than a baseline a run may be: an amount, or a share of the baseline."""

    amount: float
    relative: bool = False

    def below(self, baseline: float) -> float:
        """Return how far from the baseline the limit is."""
        return self.amount * abs(baseline) if self.relative else self.amount


@dataclass(frozen=True)
class Shortfall:
    """A value that is worse than its limit, or NA."""

    run: str
    name: str
    found: float
    limit: float

    def __str__(self) -> str:
        if math.isnan(self.found):
            return f"{self.run}: {self.name} is NA; its limit is {self.limit:.6g}"
        side = "under" if self.found < self.limit else "over"
        by = abs(self.limit - self.found)
        return f"{self.run}: {self.name} is {self.found:.6g}, {side} {self.limit:.6g} by {by:.6g}"


def parse_gate(text: str) -> Gate:
    """Read ``NAME=NUMBER``, as ``--fail-under`` takes it; `UsageError` otherwise."""
    name, _, number = text.rpartition("=")
    limit = _finite(number)
    if not name or limit is None:
        raise UsageError(f"--fail-under {text}: expected NAME=NUMBER, such as ndcg_cut_10=0.35")
    return Gate(name, limit)


def parse_margin(text: str) -> Margin:
    """Read an amount such as ``0.01`` or a share such as ``2%``; `UsageError` otherwise."""
    amount = _finite(text.removesuffix("%"))
    if amount is None or amount < 0:
        raise UsageError(f"--margin {text}: expected a number from 0, or a percentage such as 2%")
    return Margin(amount / 100, relative=True) if text.endswith("%") else Margin(amount)


def shortfalls(run: str, scores: Scores, gates: Iterable[Gate]) -> list[Shortfall]:
    """Find the gates that a run misses; NA misses every gate.

    Raises
    ------
    UsageError
        If a gate names what was not computed or is no number.
    """
    numbers = {
        column.name: column for column in scores.printed("summary") if column.metric.measure.numeric
    }
    missed = []
    for gate in gates:
        if gate.name not in numbers:
            raise UsageError(
                f"--fail-under {gate.name}: not among the numbers of this evaluation "
                f"({', '.join(numbers) or 'none'}); ask for it with -m"
            )
        found = numbers[gate.name].summary
        sign = numbers[gate.name].metric.measure.sign
        worse = sign * found < sign * gate.limit
        # 0.4 - 0.1 is more than 0.3 in doubles: what agrees to nine digits keeps its limit.
        worse = worse and not math.isclose(found, gate.limit, rel_tol=1e-9)
        if worse or math.isnan(found):
            missed.append(Shortfall(run, gate.name, found, gate.limit))
    return missed


def shortfalls_of_baseline(
    baseline: tuple[str, Scores], run: tuple[str, Scores], margin: Margin
) -> list[Shortfall]:
    """Find the values in which a run is worse than a baseline by more than a margin.

    Both are taken over the queries that they share. Counts, and values that are NA for the
    baseline, are no gates.
    """
    limits, tested = aligned([baseline[0], run[0]], [baseline[1], run[1]])
    gates = []
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
        limit = reference - metric.measure.sign * margin.below(reference)
        gates.append(Gate(metric.name, limit))
    return shortfalls(run[0], tested, gates)


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
