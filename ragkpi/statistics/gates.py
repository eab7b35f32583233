"""Gates: limits on the values of a run, absolute or against a baseline, for Makefiles and CI."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ragkpi.arrays import FloatArray
from ragkpi.errors import GateDoubtedError, GateFailedError, RagkpiError, UsageError
from ragkpi.interface import spell
from ragkpi.measures.measure import Measure, Metric, MetricScores, Scores, first, names_of
from ragkpi.measures.registry import metric_named
from ragkpi.statistics.bootstrap import Interval
from ragkpi.statistics.decisions import DecidedBy as DecidedBy
from ragkpi.statistics.paired import Difference, Procedure, compare, refuse_other_grounds
from ragkpi.statistics.replicates import DECIDING, TOO_FEW_SEEDS
from ragkpi.statistics.units import rarest_seen
from ragkpi.wording import as_json, counted, rounded


@dataclass(frozen=True)
class Gate:
    """The worst allowed value: the lowest, or the highest if lower is better."""

    name: str
    limit: float


@dataclass(frozen=True)
class Margin:
    """The tolerated loss: an amount, or a share of the baseline."""

    amount: float
    relative: bool = False

    def below(self, baseline: float) -> float:
        """Return the distance of the limit from the baseline."""
        return self.amount * abs(baseline) if self.relative else self.amount


@dataclass(frozen=True)
class BaselineGate:
    """A run may be worse than a baseline by at most a margin, at a level of confidence.

    With ``"worse"`` the level holds for all values of a run together: a run as good as its baseline
    fails with a probability of at most 1 - level, whatever the number of gates. `doubt` returns
    how unjudged documents or ties could change a difference, in a few words and as a sentence; else
    both are empty. `unknown` says why such doubts cannot be known.
    """

    margin: Margin = Margin(0.0)
    decided_by: DecidedBy = "worse"
    procedure: Procedure = field(default_factory=lambda: Procedure(family="all"))
    doubt: Callable[[Difference], tuple[str, str]] = lambda _: ("", "")
    unknown: str = ""

    def passes(self, difference: Difference, failed: Interval) -> bool:
        """Return whether a difference is allowed: by its test, or by the interval `failed`."""
        sign = difference.metric.measure.sign
        allowed = self.margin.below(difference.baseline)
        if self.decided_by == "noninferior":
            low = min(sign * bound for bound in failed)
            return low >= -allowed or math.isclose(low, -allowed, rel_tol=1e-9)  # False for NA
        high = max(sign * bound for bound in difference.interval)
        at_best = sign * difference.difference if math.isnan(high) else high
        return difference.decision != "worse" or (allowed > 0 and at_best >= -allowed)

    def in_words(
        self,
        difference: Difference,
        failed: Interval,
        baseline: str,
        passed: bool,
        doubt: tuple[str, str],
    ) -> str:
        """Describe a difference, with the numbers that it rests on."""
        change, interval = difference.difference, difference.interval
        margin = self.margin.below(difference.baseline)
        end = -difference.metric.measure.sign * margin
        value, reference, allowed = _alike(change, difference.summary, difference.baseline, margin)
        apart, low, high, end_text = _alike(change, change, *interval, end, signed=True)
        limits = [f"limit: {end_text if margin else 0} at {self.procedure.bootstrap.percent}"]
        if self.decided_by == "worse":
            by = f"more than {allowed} " if margin else ""
            claim, p = (
                f"{'not ' * passed}significantly {by}worse than",
                f", {difference.p_in_words}",
            )
        else:  # p tests a difference of 0, which is not what non-inferiority asks
            claim, p = f"{'' if passed else 'not shown to be '}non-inferior to", ""
            reference += f" within {allowed}" if margin else ""
            if failed != interval:
                bounds = ", ".join(_alike(change, *failed, signed=True))
                limits.append(f"with one more query that fails completely [{bounds}]")
        if math.isnan(interval.low):
            limits.append("no interval of the difference is valid")
        words, reason = doubt
        return (
            f"{value} is {claim} {baseline}'s {reference}{words and f' {words}'}: "
            f"{apart} [{low}, {high}]{p} ({'; '.join(filter(None, [*limits, self.unknown]))})"
            f"{reason and f'; in doubt: {reason}'}"
        )

    def unseen(self, difference: Difference) -> str:
        """Return the loss that a passed gate could have missed; "" if the rankings are equal.

        ``"noninferior"`` has none: it adds an unseen failure.
        """
        sign, measure = difference.metric.measure.sign, difference.metric.measure
        amount = -min(sign * bound for bound in difference.interval)
        equal = amount == 0 == difference.difference
        if self.decided_by == "noninferior" or equal or math.isnan(amount):
            return ""
        # No run can lose more than the baseline has.
        amount = min(amount, abs(difference.baseline - _worst(measure)))
        loss = f"a loss of {rounded(amount, 'decimal')}, or one" if amount > 0 else "a loss"
        bootstrap = self.procedure.bootstrap
        rare = f"1 in {rarest_seen(difference.units, bootstrap.level)} {bootstrap.units}"
        return f"{loss} that falls on fewer than {rare}"


# A gate is doubted if its claim depends on unjudged documents or on ties.
Outcome = Literal["passed", "missed", "doubted"]


@dataclass(frozen=True)
class Verdict:
    """A value of a run against its limit, which NA always misses.

    Attributes
    ----------
    outcome
        ``"doubted"`` is not a pass: unjudged documents or ties could reverse the claim.
    queries
        The number of queries behind the value.
    says
        The value in words.
    baseline, baseline_value
        The name and the value of the baseline; "" and None for an absolute limit.
    difference
        The comparison with the baseline, if a test or an interval decided.
    unseen
        The loss that a passed gate could have missed, in words.
    undecided
        Why no decision is possible, so that the gate is missed; else empty.
    """

    run: str
    name: str
    value: float
    limit: float
    outcome: Outcome
    queries: int
    says: str
    baseline: str = ""
    baseline_value: float | None = None
    difference: Difference | None = None
    unseen: str = ""
    undecided: str = ""

    @property
    def passed(self) -> bool:
        """Whether the gate lets the run through."""
        return self.outcome == "passed"

    @property
    def sentence(self) -> str:
        """The verdict as a sentence of a report."""
        over = counted(self.queries, "query", "queries")
        outcome = "in doubt" if self.outcome == "doubted" else self.outcome
        end = f"; it could have missed {self.unseen}" if self.passed and self.unseen else ""
        return f"gate {outcome}: {self}, over {over}{end}"

    def document(self) -> dict[str, Any]:
        """Return the verdict for programs."""
        numbers = {"value": self.value, "limit": self.limit}
        plain: dict[str, Any] = {"measure": self.name}
        if self.baseline_value is not None:
            plain["baseline"], reference = self.baseline, self.baseline_value
            numbers |= {"baseline_value": reference, "difference": self.value - reference}
        plain |= {name: as_json(x, "decimal") for name, x in numbers.items()}
        if self.difference is not None:
            plain["interval"] = [as_json(bound, "decimal") for bound in self.difference.interval]
        plain |= {"queries": self.queries, "passed": self.passed, "outcome": self.outcome}
        unseen = {"could_have_missed": self.unseen} if self.passed and self.unseen else {}
        return {**plain, "says": str(self), **unseen}

    def missed(self, why: str) -> Verdict:
        """Return the verdict, missed if there is a reason why no decision is possible."""
        return replace(self, outcome="missed", undecided=self.undecided or why) if why else self

    def __str__(self) -> str:
        says = f"is not decided: {self.undecided}" if self.undecided else self.says
        return f"{self.run}: {self.name} {says}"


def failures_of(verdicts: Sequence[Verdict]) -> list[RagkpiError]:
    """Return an error for each gate that did not pass, those in doubt last."""
    missed = [GateFailedError(str(v)) for v in verdicts if v.outcome == "missed"]
    return [*missed, *(GateDoubtedError(str(v)) for v in verdicts if v.outcome == "doubted")]


def refuse_failures(failures: Sequence[RagkpiError]) -> None:
    """Raise the failures of gates as one error, of the type of the first."""
    if failures:
        raise type(failures[0])("; ".join(map(str, failures)))


def _alike(smallest: float, *values: float, signed: bool = False) -> list[str]:
    """Write numbers with as many decimals as `smallest` needs for two digits, at least four."""
    digits = 4
    if smallest and math.isfinite(smallest):
        digits = min(12, max(4, 1 - math.floor(math.log10(abs(smallest)))))
    return [rounded(value, "decimal", digits, signed) for value in values]


def parse_gate(text: str) -> Gate:
    """Read ``NAME=NUMBER`` of ``--fail-under``, also with ``>=``; else `UsageError`."""
    name, _, number = text.rpartition("=")
    name = name.removesuffix(">")
    limit = _finite(number)
    if not name or limit is None:
        expected = "expected NAME=NUMBER, such as ndcg_cut_10=0.35"
        raise UsageError(f"{spell('fail_under')} {text}: {expected}")
    return Gate(name, limit)


def margin_of(margin: float | str | None) -> Margin:
    """Read an amount such as ``0.01`` or a share such as ``2%``; None is 0, else `UsageError`."""
    text = "0" if margin is None else str(margin)
    amount = _finite(text.removesuffix("%"))
    if amount is None or amount < 0:
        expected = "expected a number from 0, or a percentage such as 2%"
        raise UsageError(f"{spell('margin')} {text}: {expected}")
    return Margin(amount / 100, relative=True) if text.endswith("%") else Margin(amount)


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def refuse_idle(gate: Gate, metrics: Iterable[Metric]) -> None:
    """Raise `UsageError` for a limit that all or no values keep, or if no value is better."""
    metric = _named(gate.name, metrics)
    measure, begin = metric.measure, f"{spell('fail_under')} {gate.name}={gate.limit:g}"
    if not metric.is_comparable:
        raise UsageError(f"{begin}: no value of {metric.name} is better than another")
    low, high = measure.range
    can = "miss" if _is_worst(gate.limit, measure) else "keep"
    if can == "miss" or not low <= gate.limit <= high:
        between = f"{measure.name} lies between {low:g} and {high:g}"
        raise UsageError(f"{begin}: no run can {can} this limit; {between}")


def _named(name: str, metrics: Iterable[Metric]) -> Metric:
    numbers = [m for m in metrics if m.measure.numeric and m.is_printed("summary")]
    metric = metric_named(name, numbers)
    if metric is None:
        raise UsageError(
            f"{spell('fail_under')} {name}: not among the numbers of this evaluation "
            f"({names_of(numbers) or 'none'}); ask for it with -m"
        )
    return metric


def _worst(measure: Measure) -> float:
    return measure.range[0] if measure.sign > 0 else measure.range[1]


def _is_worst(value: float, measure: Measure) -> bool:
    """Return whether no value can be worse."""
    return measure.sign * value <= measure.sign * _worst(measure)


def limit_verdict(run: str, scores: Scores, gate: Gate) -> Verdict:
    """Compare a run with a limit, which NA misses.

    Gates name metrics as printed (``ndcg_cut_10``) or as in ``-m`` (``ndcg_cut.10``).
    """
    return _verdict(run, scores[_named(gate.name, scores.metrics).name], gate.limit)


def _verdict(run: str, column: MetricScores, limit: float, against: str = "") -> Verdict:
    """Compare a value with its limit; `against` is the baseline that gives it, with the margin."""
    sign, value = column.metric.measure.sign, float(column.summary)
    # 0.4 - 0.1 is more than 0.3 in doubles: a value that equals its limit to nine digits keeps it.
    kept = sign * value >= sign * limit or math.isclose(value, limit, rel_tol=1e-9)
    numbers = value, limit, abs(limit - value)
    number, bound, by = map("{:.6g}".format, numbers)
    if against:
        number, bound, by = _alike(numbers[-1], *numbers)
        bound += f" ({against})"
    if math.isnan(value):
        says = f"is NA; its limit is {limit:.6g}"
    elif value == limit:
        says = f"is {number}, at the limit {bound}"
    else:
        says = f"is {number}, {'below' if value < limit else 'above'} {bound} by {by}"
    outcome: Outcome = "passed" if kept else "missed"  # NA is not kept
    return Verdict(run, column.name, value, limit, outcome, column.valid, says)


def _value_verdict(
    baseline: str, run: str, column: MetricScores, reference: float, margin: Margin
) -> Verdict:
    """Compare a value with that of a baseline, minus the margin."""
    measure, allowed = column.metric.measure, margin.below(reference)
    limit, against, doubt = reference - measure.sign * allowed, baseline, ""
    if allowed:
        value, less = _alike(allowed, reference, allowed)
        against += f" {value} {'less' if measure.sign > 0 else 'plus'} {less}"
    if math.isnan(reference) or (_is_worst(reference, measure) and math.isinf(reference)):
        doubt = f"no value is worse than {baseline}'s {rounded(reference, 'decimal')}"
    elif allowed and _is_worst(limit, measure):
        doubt = f"{spell('margin')} allows every value"
    verdict = _verdict(run, column, limit, against)
    return replace(verdict, baseline=baseline, baseline_value=reference).missed(doubt)


def baseline_verdicts(
    baseline: tuple[str, Scores],
    run: tuple[str, Scores],
    gate: BaselineGate,
    rankings: Literal["differ", "equal"] = "differ",
) -> list[Verdict]:
    """Compare a run with a baseline, value by value, over the same queries.

    Counts are not compared. Values equal on every query differ by 0; but twelve equal successes do
    not show that two rates are equal, unless the `rankings` are equal. Nothing is decided if
    neither run nor baseline has any success.
    """
    (name, limits), (of_run, tested) = baseline, run
    refuse_other_grounds([name, of_run], [limits, tested])
    differences: dict[str, Difference] = {}
    too_few, after_failure = "", {}
    if gate.decided_by != "value":
        compared = compare([name, of_run], [limits, tested], gate.procedure)
        differences = {d.metric.name: d for d in compared.differences}
        too_few = compared.out_of_reach if gate.decided_by == "worse" else ""
    if gate.decided_by == "noninferior":
        after_failure = _after_failure(limits, tested, gate)
    verdicts = []
    for there in limits.columns:
        if not there.metric.is_comparable:
            continue
        column, d = tested[there.name], differences.get(there.name)
        reference = d.baseline if d and d.queries else there.summary
        verdict = _value_verdict(name, of_run, column, reference, gate.margin)
        if d is None or verdict.undecided or math.isnan(verdict.value):
            verdicts.append(verdict)
            continue
        undecided = too_few
        if d.evidence not in DECIDING:
            undecided = TOO_FEW_SEEDS[d.evidence]
        elif gate.decided_by == "worse" and d.decision == "untested":
            undecided = undecided or "no test of the difference is valid"
        if not np.array_equal(column.has_value, there.has_value):
            undecided = "it is NA for other queries of the baseline"
        failed = d.interval
        shown = rankings == "equal" or (d.queries > 1 and not there.metric.is_rate)
        if shown and d.evidence == "runs" and d.ties == d.queries and not d.difference:
            failed = Interval(0.0, 0.0)
            d = replace(d, interval=failed)
        elif not math.isnan(failed.low):
            failed = after_failure.get(there.name, failed)
        passed = gate.passes(d, failed)
        # A missed test of non-inferiority lacks evidence, and claims nothing.
        claims = passed == (gate.decided_by == "noninferior")
        doubt = gate.doubt(d) if claims else ("", "")
        verdict = replace(
            verdict,
            outcome="doubted" if any(doubt) else "passed" if passed else "missed",
            queries=d.queries,
            says=gate.in_words(d, failed, name, passed, doubt),
            difference=d,
            unseen=gate.unseen(d),
        )
        verdicts.append(verdict.missed(undecided))
    gains = [(v, m) for v in verdicts if (m := tested[v.name].metric.measure).better == "higher"]
    nothing = [
        v.value == v.baseline_value and (not v.value or _is_worst(v.value, m)) for v, m in gains
    ]
    doubt_of_all = "no query of run or baseline has any success"
    return [v.missed(doubt_of_all if nothing and all(nothing) else "") for v in verdicts]


def _after_failure(baseline: Scores, run: Scores, gate: BaselineGate) -> dict[str, Interval]:
    """Return intervals of differences with one more query, on which the run fails completely.

    The interval of a mean ignores unseen failures: if one query in ten fails, 12 queries show none
    in 28% of the samples. The added query has the baseline's best value and the worst possible
    value of the run. Rates of single runs, whose interval allows for failures, and measures without
    a worst value are left out.
    """
    alone = baseline.seeds == run.seeds == 1
    longer: tuple[list[MetricScores], list[MetricScores]] = [], []
    for column in baseline.columns:
        metric, aggregate = column.metric, column.metric.measure.aggregate
        if not metric.is_comparable or (metric.is_rate and alone) or not column.has_value.any():
            continue
        worst = _worst(metric.measure) if aggregate.value is first else 0.0  # of a success, a share
        if math.isinf(worst) or not (aggregate.value is first or aggregate.rises_with_first):
            continue
        values = metric.measure.sign * column.per_query
        best = column.statistics[np.nanargmax(np.where(column.has_value, values, np.nan))]
        failed = np.concatenate([[worst], best[1:]])
        longer[0].append(_with_query(column, best))
        longer[1].append(_with_query(run[column.name], failed))
    if not longer[0]:
        return {}
    query = max(baseline.queries) + b" "
    queries = [*baseline.queries, query]
    with_failure = [Scores(b"", queries, made, len(queries)) for made in longer]
    bootstrap = gate.procedure.bootstrap
    if bootstrap.clusters is not None:
        clusters = {**bootstrap.clusters, query: query.decode("latin1")}
        bootstrap = replace(bootstrap, clusters=clusters)
    compared = compare(["", ""], with_failure, replace(gate.procedure, bootstrap=bootstrap))
    return {difference.metric.name: difference.interval for difference in compared.differences}


def _with_query(column: MetricScores, row: FloatArray) -> MetricScores:
    statistics = np.vstack([column.statistics, row])
    seeds = [_with_query(seed, row) for seed in column.seeds]
    return MetricScores(column.metric, statistics, len(statistics), seeds)
