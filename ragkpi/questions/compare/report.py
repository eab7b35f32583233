"""The words of comparisons: tests and corrections, p-values, and lists of runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Rule,
    noted,
)
from ragkpi.questions.evaluate.report import (
    ALL,
    EvaluationReport,
    evaluated,
    interval_note,
    with_signatures,
)
from ragkpi.reports.layout import Cell, Column, Layout, Table
from ragkpi.reports.signature import Signature
from ragkpi.statistics.bootstrap import Bootstrap, few_queries_note, intervals, resampled
from ragkpi.statistics.paired import AllPairs, Comparison, Difference, Procedure
from ragkpi.statistics.significance import TIED, CorrectionName, TestName
from ragkpi.version import __version__
from ragkpi.wording import as_json, counted, decoded

_CHANCE = "{trials:,} trials, p = (count + 1) / (trials + 1), seed {seed}"

_TESTS_IN_WORDS: Mapping[TestName, str] = {
    "randomization": "p: paired randomization test, two-sided: how often is a difference at least "
    "as large when run and baseline are swapped at random on every query? "
    + _CHANCE
    + "; all swaps, p = share, where there are no more",
    "bootstrap": "p: paired bootstrap test, two-sided: how often does a resample of the queries "
    "stray from the difference by at least its size, both in standard errors? " + _CHANCE,
    "t": "p: paired t test, two-sided: is the mean of the queries' differences 0? "
    "NA for ratios of means",
    "wilcoxon": "p: Wilcoxon's signed-rank test, two-sided: do the queries' differences lie "
    "evenly around 0? (Of skewed ones the mean may be 0 and p small.) Sizes within 1e-9 of the "
    "largest value are tied; NA for ratios of means",
    "sign": "p: sign test, two-sided: are wins as likely as losses, whatever their sizes? Ties "
    "are left out",
}

CORRECTIONS_IN_WORDS: Mapping[CorrectionName, tuple[str, str]] = {
    "holm": ("p_holm", "p_holm: corrected by Holm for {family}"),
    "benjamini-hochberg": ("p_bh", "p_bh: corrected by Benjamini and Hochberg for {family}"),
    "none": ("", "p is not corrected for {family}"),
}
# The short forms, for captions.
IN_CAPTIONS: Mapping[TestName | CorrectionName, str] = {
    "randomization": "paired randomization test, {trials:,} trials",
    "bootstrap": "paired bootstrap test, {trials:,} resamples",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "holm": "Holm's correction for {family}",
    "benjamini-hochberg": "Benjamini and Hochberg's correction for {family}",
    "none": "not corrected for {family}",
}


def test_in_words(procedure: Procedure) -> str:
    """Say what the p-values are."""
    seed = procedure.bootstrap.seed
    return _TESTS_IN_WORDS[procedure.test].format(trials=procedure.trials, seed=seed)


def correction_in_words(procedure: Procedure, tests: int) -> str:
    """Say how the p-values of a family of tests were corrected."""
    family = counted(tests, "test")
    family += " in this call" if procedure.family == "all" else " by each measure"
    return CORRECTIONS_IN_WORDS[procedure.correction][1].format(family=family)


def probability(p: float) -> Cell:
    """Return a cell for a p-value; a tiny one, which would look like 0, gets significant digits."""
    return Cell(p, style="significant" if 0 < p < 0.00005 else "decimal")


def short(p: float) -> str:
    """Write a p-value in a sentence."""
    return f"{p:.4f}" if p >= 0.00005 else f"{p:.1g}"


def joined(names: Sequence[str]) -> str:
    """Write a list of names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def agreeing(verdict: str, number: int) -> str:
    """Make the verb of a verdict agree with the number of runs."""
    verb, _, rest = verdict.partition(" ")
    plural = {"is": "are", "has": "have"}
    return verdict if number == 1 else f"{plural[verb]} {rest}"


class QueryOutcome(NamedTuple):
    """A query on which a run and the baseline differ, and the values of both."""

    query: bytes
    outcome: Literal["won", "lost"]
    baseline: float
    value: float

    @property
    def difference(self) -> float:
        """The run's value less the baseline's."""
        return self.value - self.baseline


def query_outcomes(comparison: Comparison, difference: Difference) -> list[QueryOutcome]:
    """List the queries won, the largest difference first, then those lost, the largest first.

    Values that agree to nine digits are ties, as in `Difference`, and left out. A metric without
    values per query has no outcomes.
    """
    outcomes: tuple[tuple[Literal["won", "lost"], int], ...] = (("won", 1), ("lost", -1))
    metric = difference.metric
    if not metric.is_printed("query"):
        return []
    run = comparison.names.index(difference.run, 1)
    columns = [scores[metric.name] for scores in comparison.runs]
    known = np.all([column.known for column in columns], axis=0)
    baseline, value = columns[0].per_query, columns[run].per_query
    with np.errstate(invalid="ignore"):
        gain = metric.measure.sign * (value - baseline)
    apart = known & ~np.isclose(baseline, value, rtol=TIED, atol=0)
    order = np.argsort(-np.abs(gain), kind="stable").tolist()
    return [
        QueryOutcome(
            comparison.runs[0].queries[row], outcome, float(baseline[row]), float(value[row])
        )
        for outcome, sign in outcomes
        for row in order
        if apart[row] and sign * gain[row] > 0
    ]


def outcome_objects(
    comparison: Comparison, difference: Difference, digits: int | None
) -> list[dict[str, Any]]:
    """Return the queries won and lost as JSON objects."""
    style = difference.metric.measure.style
    return [
        {
            "query": decoded(outcome.query),
            "outcome": outcome.outcome,
            "baseline_value": as_json(outcome.baseline, style, digits),
            "value": as_json(outcome.value, style, digits),
            "difference": as_json(outcome.difference, style, digits),
        }
        for outcome in query_outcomes(comparison, difference)
    ]


def comparison_charts(comparison: Comparison) -> list[Chart]:
    """Draw, for each metric, the runs' differences from the baseline, and those of the queries."""
    charts: list[Chart] = []
    no_curve = []
    for differences in comparison.by_metric:
        metric = differences[0].metric
        title = metric.name + (" (less is better)" if metric.measure.better == "lower" else "")
        charts.append(_means(title, comparison, differences))
        if metric.is_printed("query"):
            charts.append(_queries(title, comparison, differences))
        else:
            no_curve.append(metric.name)
    notes = [_bars(comparison.procedure.bootstrap), _over(comparison.differences)]
    if no_curve:
        notes.append(f"no value per query, so no curve: {', '.join(no_curve)}")
    return noted(charts, notes)


def all_pairs_charts(pairs: AllPairs) -> list[Chart]:
    """Draw, for each metric, the runs with their letters, the best on top."""
    bootstrap = pairs.procedure.bootstrap
    bounds = [intervals(scores, bootstrap) for scores in pairs.runs]
    charts: list[Chart] = []
    for by_metric in pairs.by_metric:
        name = by_metric.metric.name
        rows = [
            IntervalRow(
                f"{pairs.names[run]} ({by_metric.letters[run]})",
                bounds[run][name].low,
                float(by_metric.values[run]),
                bounds[run][name].high,
            )
            for run in by_metric.order
        ]
        charts.append(IntervalChart(name, Axis("value of each run"), rows))
    letters = "runs that share a letter are not shown to differ; that their intervals overlap says "
    few = few_queries_note(resampled(pairs.runs, bootstrap), bootstrap)
    return noted(charts, [f"{letters}little of that", _bars(bootstrap), *([few] if few else [])])


def _bars(bootstrap: Bootstrap) -> str:
    return (
        f"bars: {bootstrap.level * 100:g} % bootstrap intervals, {bootstrap.resamples:,} "
        f"resamples, seed {bootstrap.seed}"
    )


def _over(differences: Sequence[Difference]) -> str:
    numbers = {d.metric.name: d.queries for d in differences}
    if len(set(numbers.values())) == 1:
        return counted(differences[0].queries, "query", "queries")
    return "queries: " + ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _means(title: str, comparison: Comparison, differences: Sequence[Difference]) -> Chart:
    rows = [IntervalRow(d.run, d.interval.low, d.difference, d.interval.high) for d in differences]
    axis = Axis(f"difference from {comparison.names[0]}")
    return IntervalChart(title, axis, rows, [Rule("x", 0.0)])


def _queries(title: str, comparison: Comparison, differences: Sequence[Difference]) -> Chart:
    lines = list(_sorted_differences(comparison, differences))
    only = f"; {lines[0].name}" if len(lines) == 1 else ""  # one line has no legend
    return PlaneChart(
        f"{title}, query by query{only}",
        Axis("queries, the largest difference first", low=1),
        Axis(f"difference from {comparison.names[0]}"),
        lines,
        rules=[Rule("y", 0.0)],
    )


def _sorted_differences(
    comparison: Comparison, differences: Sequence[Difference]
) -> Iterator[Line]:
    """Yield the sorted differences of each run; the name counts queries won, equal and lost."""
    name = differences[0].metric.name
    columns = [run[name] for run in comparison.runs]
    known = np.all([column.known for column in columns], axis=0)
    for difference, column in zip(differences, columns[1:], strict=True):
        value, baseline = column.per_query[known], columns[0].per_query[known]
        with np.errstate(invalid="ignore"):  # inf - inf, where the values are equal
            apart = np.where(value == baseline, 0.0, value - baseline)
        apart = np.sort(apart)[::-1].tolist()
        counts = f"{difference.wins} won, {difference.ties} equal, {difference.losses} lost"
        yield Line(f"{difference.run}: {counts}", range(1, len(apart) + 1), apart)


REPORTED = ("map", "ndcg_cut.10", "recip_rank", "recall.100")  # the default measures

_Decision = Literal["untested", "undecided", "better", "worse"]

_IN_WORDS: Mapping[_Decision, str] = {
    "untested": "has no test against",
    "undecided": "is not shown to differ from",
    "better": "is better than",
    "worse": "is worse than",
}
_TONES: Mapping[_Decision, Literal["plain", "good", "bad"]] = {
    "untested": "plain",
    "undecided": "plain",
    "better": "good",
    "worse": "bad",
}

_COLUMNS = [
    Column("measure"),
    Column("run"),
    Column("queries", "integer", role="detail"),
    Column("value", "decimal"),
    Column("difference", "decimal", signed=True),
    Column(
        "wins",
        "integer",
        role="detail",
        legend="queries on which the run is better (ties: equal, losses: worse)",
    ),
    Column("ties", "integer", role="detail"),
    Column("losses", "integer", role="detail"),
    Column("d_z", "decimal", signed=True, digits=3, role="detail"),
    Column("p", "decimal"),
]
_QUERY_COLUMNS = [
    Column("measure"),
    Column("run"),
    Column("query"),
    Column("outcome", legend="queries that are equal are not listed"),
    Column("baseline", "decimal"),
    Column("value", "decimal"),
    Column("difference", "decimal", signed=True),
    Column("p", "decimal", role="detail"),
]


@dataclass(frozen=True)
class ComparisonReport:
    """A comparison, and the signature of each of its runs."""

    comparison: Comparison
    signatures: Sequence[Signature | None] = ()

    @property
    def explanation(self) -> list[str]:
        """The two lines below the table, and a third where there are few queries."""
        comparison = self.comparison
        tested = [d.metric.name for d in comparison.differences if not math.isnan(d.p)]
        whole = comparison.procedure.family == "all"
        tests = len(tested) if whole else max(map(tested.count, tested), default=0)
        bootstrap = comparison.procedure.bootstrap
        intervals = interval_note(bootstrap, " of the difference")
        few = few_queries_note(comparison.resampled, bootstrap)
        return [
            test_in_words(comparison.procedure),
            f"{correction_in_words(comparison.procedure, tests)}; {intervals}, of rates of 0 and 1 "
            "Tango's; d_z: difference / standard deviation of the queries' differences",
            *([few] if few else []),
        ]

    @property
    def sentences(self) -> list[str]:
        """Which runs are better or worse, and which are undecided: a sentence per measure."""
        return [self._sentence(of_metric) for of_metric in self.comparison.by_metric]

    def table(self, layout: Layout) -> Table:
        """Lay out a row per measure and run, the baseline first; or the queries won and lost."""
        corrected, _ = CORRECTIONS_IN_WORDS[self.comparison.procedure.correction]
        of_tests = [Column(corrected, "decimal")] if corrected else []
        notes = [*self.explanation, *self.sentences]
        if layout.per_query == "shown":
            columns, rows = [*_QUERY_COLUMNS, *of_tests], self._query_rows(layout)
            alone = [
                d.metric for d in self.comparison.differences if not d.metric.is_printed("query")
            ]
            if alone:
                names = dict.fromkeys(metric.name for metric in alone)
                notes.insert(0, f"no value per query: {', '.join(names)}")
        else:
            columns, rows = [*_COLUMNS, *of_tests], self._rows()
        width = len(columns)
        filled = [[*row, *[Cell()] * width][:width] for row in rows]
        return with_signatures(Table(columns, filled, notes), self._runs().runs, layout)

    def _rows(self) -> Iterator[list[Cell]]:
        """Yield the rows of each measure; those of the baseline have fewer cells."""
        for differences in self.comparison.by_metric:
            metric, first = differences[0].metric, differences[0]
            value = Cell(first.baseline, style=metric.measure.style)
            yield [*map(Cell, (metric.name, self.comparison.names[0], first.queries)), value]
            for d in differences:
                yield [
                    *map(Cell, (metric.name, d.run, d.queries)),
                    Cell(d.summary, style=metric.measure.style),
                    self._difference(d),
                    *map(Cell, (d.wins, d.ties, d.losses, d.effect_size)),
                    probability(d.p),
                    probability(d.corrected),
                ]

    def _query_rows(self, layout: Layout) -> Iterator[list[Cell]]:
        """Yield the queries that each run won and lost, and then the difference over all."""
        for d in self.comparison.differences:
            style = d.metric.measure.style
            heads = [Cell(d.metric.name), Cell(d.run)]
            for outcome in query_outcomes(self.comparison, d):
                numbers = (outcome.baseline, outcome.value, outcome.difference)
                yield [
                    *heads,
                    *map(Cell, (outcome.query, outcome.outcome)),
                    *(Cell(number, style=style) for number in numbers),
                ]
            if layout.summary == "shown":
                yield [
                    *heads,
                    *map(Cell, (ALL, f"won {d.wins}, lost {d.losses}")),
                    *(Cell(number, style=style) for number in (d.baseline, d.summary)),
                    self._difference(d),
                    probability(d.p),
                    probability(d.corrected),
                ]

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the runs and their differences as one JSON object."""
        procedure = self.comparison.procedure
        return {
            **self._runs().document(layout),
            "comparison": {
                "baseline": self.comparison.names[0],
                "test": procedure.test,
                "correction": procedure.correction,
                "family": procedure.family,
                "trials": procedure.trials,
                "resamples": procedure.bootstrap.resamples,
                "level": procedure.bootstrap.level,
                "seed": procedure.bootstrap.seed,
                "explanation": self.explanation,
                "answer": self.sentences,
                "differences": list(self._objects(layout)),
            },
        }

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run, then one per difference."""
        yield from self._runs().lines(layout)
        for difference in self._objects(layout):
            yield {"ragkpi": __version__, "kind": "difference", **difference}

    def _objects(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield the differences as JSON objects."""
        digits = layout.digits
        for d in self.comparison.differences:
            style = d.metric.measure.style
            yield {
                "measure": d.metric.name,
                "baseline": self.comparison.names[0],
                "run": d.run,
                "queries": d.queries,
                "baseline_value": as_json(d.baseline, style, digits),
                "value": as_json(d.summary, style, digits),
                "difference": as_json(d.difference, style, digits),
                "interval": [as_json(bound, style, digits) for bound in d.interval],
                "wins": d.wins,
                "ties": d.ties,
                "losses": d.losses,
                "effect_size": as_json(d.effect_size, "significant", digits),
                "p": as_json(d.p, "significant", digits),
                "p_corrected": as_json(d.corrected, "significant", digits),
                **(
                    {"per_query": outcome_objects(self.comparison, d, digits)}
                    if layout.per_query == "shown"
                    else {}
                ),
            }

    def _runs(self) -> EvaluationReport:
        comparison = self.comparison
        return EvaluationReport(evaluated(comparison.names, comparison.runs, self.signatures))

    def _decision(self, difference: Difference) -> _Decision:
        """Judge a run by its corrected p-value, which has to be below 1 - confidence."""
        if math.isnan(difference.corrected):
            return "untested"
        if difference.corrected >= 1 - self.comparison.procedure.bootstrap.level:
            return "undecided"
        better = difference.metric.measure.sign * difference.difference > 0
        return "better" if better else "worse"

    def _difference(self, difference: Difference) -> Cell:
        tone = _TONES[self._decision(difference)] if difference.difference else "plain"
        style = difference.metric.measure.style
        return Cell(difference.difference, difference.interval, style=style, tone=tone)

    def _sentence(self, differences: Sequence[Difference]) -> str:
        """Sum up one measure."""
        runs: dict[_Decision, list[str]] = {}
        for d in differences:
            p = "" if math.isnan(d.corrected) else f" (p = {short(d.corrected)})"
            runs.setdefault(self._decision(d), []).append(d.run + p)
        baseline = self.comparison.names[0]
        parts = [
            f"{joined(names)} {agreeing(_IN_WORDS[decision], len(names))} {baseline}"
            for decision, names in runs.items()
        ]
        return f"{differences[0].metric.name}: {'; '.join(parts)}."
