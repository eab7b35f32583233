"""Comparisons as tables, JSON and charts: with a baseline, of all pairs, and for papers."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray
from ragkpi.charts.chart import (
    Axis,
    Chart,
    IntervalChart,
    IntervalRow,
    Line,
    PlaneChart,
    Rule,
    gathered,
    noted,
)
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.library.evaluation_report import (
    EvaluationReport,
    gate_checks,
    gates_table,
    interval_notes,
    rows_of,
)
from ragkpi.library.ground import Signature
from ragkpi.library.unjudged_doubt import Doubt
from ragkpi.questions.compare.evidence import evidence_in_words
from ragkpi.questions.compare.verdict import (
    LINES,
    all_pairs_sentences,
    comparison_sentences,
    goodness,
    lines_of,
)
from ragkpi.reports.layout import ALL, Cell, Column, Layout, Report, Table, with_best_marked
from ragkpi.reports.names import short_names
from ragkpi.statistics.all_pairs import AllPairs
from ragkpi.statistics.bootstrap import intervals
from ragkpi.statistics.decisions import CHANCE, TESTS, CorrectionName
from ragkpi.statistics.gates import Verdict
from ragkpi.statistics.paired import Claim, Comparison, Difference, Procedure
from ragkpi.statistics.significance import TIED, corrected
from ragkpi.version import __version__
from ragkpi.wording import as_json, counted, decoded, short_p

# The column of corrected p-values, and how they are corrected.
_CORRECTIONS_IN_WORDS: Mapping[CorrectionName, tuple[str, str]] = {
    "holm": ("p_holm", "corrected by Holm for"),
    "benjamini-hochberg": ("p_bh", "corrected by Benjamini and Hochberg for"),
    "none": ("", "not corrected for"),
}


_STEP_DOWN = (
    "p: step-down test of the greatest difference, two-sided: how often is the greatest difference "
    "of all pairs, in its own standard errors, at least as large when differences change sign at "
    f"random, on a {{unit}} for all pairs? {CHANCE}; all signs, p = share, where there are no "
    "more. Pairs already shown to differ are left out. It assumes that without a difference the "
    "two runs could be swapped on any {unit}"
)


def _filled(words: str, procedure: Procedure) -> str:
    """Say how a test draws, and on what."""
    how = procedure.bootstrap
    unit = "query" if how.clusters is None else "cluster"
    return words.format(trials=procedure.trials, seed=how.seed, unit=unit)


def probability(p: float) -> Cell:
    """Return a cell for a p-value, in significant digits if it would otherwise look like 0."""
    return Cell(p, style="significant" if 0 < p < 0.00005 else "decimal")


def query_outcomes(
    comparison: Comparison, difference: Difference
) -> list[tuple[bytes, str, float, float, float]]:
    """List the queries won, then those lost, the largest differences first.

    Each has the values of baseline and run, and the difference. Values that agree to nine digits
    are ties, as in `Difference`, and left out. A metric without values per query has no outcomes.
    """
    metric = difference.metric
    if not metric.is_printed("query"):
        return []
    has_value, baseline, value = _per_query(comparison, difference)
    with np.errstate(invalid="ignore"):
        gain = metric.measure.sign * (value - baseline)
    apart = has_value & ~np.isclose(baseline, value, rtol=TIED, atol=0)
    order = np.argsort(-np.abs(gain), kind="stable").tolist()
    queries, low, high = comparison.runs[0].queries, baseline.tolist(), value.tolist()
    return [
        (queries[row], outcome, low[row], high[row], high[row] - low[row])
        for outcome, sign in (("won", 1), ("lost", -1))
        for row in order
        if apart[row] and sign * gain[row] > 0
    ]


def _per_query(
    comparison: Comparison, difference: Difference
) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Return which queries have a value in all runs, and the values of baseline and run."""
    columns = [scores[difference.metric.name] for scores in comparison.runs]
    has_value = np.all([column.has_value for column in columns], axis=0)
    run = comparison.names.index(difference.run, 1)
    return has_value, columns[0].per_query, columns[run].per_query


def outcome_objects(
    comparison: Comparison, difference: Difference, digits: int | None
) -> list[dict[str, Any]]:
    """Return the queries won and lost as JSON objects."""
    style = difference.metric.measure.style
    return [
        {
            "query": decoded(query),
            "outcome": outcome,
            "baseline_value": as_json(baseline, style, digits),
            "value": as_json(value, style, digits),
            "difference": as_json(apart, style, digits),
        }
        for query, outcome, baseline, value, apart in query_outcomes(comparison, difference)
    ]


def _over(differences: Sequence[Difference]) -> str:
    numbers = {d.metric.name: d.queries for d in differences}
    if len(set(numbers.values())) == 1:
        return counted(differences[0].queries, "query", "queries")
    return "queries: " + ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _lines_of_queries(
    comparison: Comparison, differences: Sequence[Difference], names: Mapping[str, str]
) -> list[Line]:
    """Return the differences of all queries, by run, in one order: the first run's, sorted.

    The names count the queries won, equal and lost.
    """
    lines: list[Line] = []
    order = np.empty(0, dtype=np.intp)
    for d in differences:
        has_value, baseline, value = _per_query(comparison, d)
        with np.errstate(invalid="ignore"):  # inf - inf, where the values are equal
            apart = np.where(value == baseline, 0.0, value - baseline)[has_value]
        order = order if lines else np.argsort(-apart, kind="stable")
        counts = f"{d.wins} won, {d.ties} equal, {d.losses} lost"
        name = f"{names[d.run]}: {counts}"
        lines.append(Line(name, range(1, len(apart) + 1), apart[order].tolist()))
    return lines


REPORTED = ("map", "ndcg_cut.10", "recip_rank", "recall.100")  # the default measures

_BESIDE_NAMES = 53  # columns of a terminal for a difference, its interval and p
_SHORTEST = 12  # characters of a name; shorter ones would look alike
_IN_LEGENDS = 24  # characters of a run's name, with counts of queries behind it

_TONES: Mapping[Claim, Literal["plain", "good", "bad"]] = {"better": "good", "worse": "bad"}

_DIFFERENCE = Column("difference", "decimal", signed=True)
_P = Column("p", "decimal")
_COLUMNS = [
    *map(Column, ("measure", "run")),
    Column("queries", "integer", role="detail"),
    Column("value", "decimal"),
    _DIFFERENCE,
    Column(
        "wins",
        "integer",
        role="detail",
        legend="queries on which the run is better (ties: equal, losses: worse)",
    ),
    Column("ties", "integer", role="detail"),
    Column("losses", "integer", role="detail"),
    Column(
        "d_z",
        "decimal",
        signed=True,
        digits=3,
        role="detail",
        legend="difference / standard deviation of the queries' differences",
    ),
]
_BRACKETS = "in brackets: described, p without a correction, which decides nothing"
_QUERY_COLUMNS = [
    *map(Column, ("measure", "run", "query")),
    Column("outcome", legend="queries that are equal are not listed"),
    Column("baseline", "decimal"),
    Column("value", "decimal"),
    _DIFFERENCE,
]


Compared = TypeVar("Compared", Comparison, AllPairs)


@dataclass(frozen=True)
class _ComparedReport(Report, Generic[Compared]):
    """What the reports on comparisons share; doubts are about claims of runs, by run."""

    compared: Compared
    signature: Signature | None = None
    doubts: Mapping[str, Doubt] = field(default_factory=dict)
    notes: Sequence[str] = ()
    gates: Sequence[Verdict] = ()
    name: ClassVar[str]  # in a JSON document
    kind: ClassVar[str]  # of its JSON lines

    @property
    @abstractmethod
    def explanation(self) -> list[str]:
        """How the p-values, intervals and letters were computed."""

    @abstractmethod
    def charts(self) -> list[Chart]:
        """Draw what is compared."""

    @property
    @abstractmethod
    def verdict(self) -> list[str]:
        """What the first measure decides, or with ``family="all"`` each."""

    @abstractmethod
    def _objects(self, layout: Layout) -> Iterator[dict[str, Any]]: ...

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the report with other names of runs."""
        doubts = {names[name]: doubt for name, doubt in self.doubts.items()}
        return replace(self, compared=self.compared.renamed(names), doubts=doubts)

    def own_document(self, layout: Layout) -> dict[str, Any]:
        """Return the runs and their differences or pairs as one JSON object."""
        compared = {**self._findings(), f"{self.kind}s": list(self._objects(layout))}
        return {**self._runs().own_document(layout), self.name: compared}

    def own_lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run, then one per difference or pair."""
        yield from self._runs().own_lines(layout)
        for difference in self._objects(layout):
            yield {"ragkpi": __version__, "kind": self.kind, **difference}

    def _evidence(self) -> Iterator[str]:
        compared = self.compared
        clusters = compared.procedure.bootstrap.clusters
        return evidence_in_words(compared.runs, compared.metrics[0], clusters)

    def _runs(self) -> EvaluationReport:
        scored = dict(zip(self.compared.names, self.compared.runs, strict=True))
        return EvaluationReport(rows_of(scored, self.signature, self.gates))

    def _shortened(self, layout: Layout) -> Self:
        """Shorten names as far as rows have room, and further until the verdict fits."""
        names, metrics = self.compared.names, self.compared.metrics
        report = self
        if layout.width is not None:
            room = layout.width - _BESIDE_NAMES - max(len(metric.name) for metric in metrics)
            for most in range(max(room, _SHORTEST), _SHORTEST - 1, -1):
                report = self.renamed(dict(zip(names, short_names(names, most), strict=True)))
                if lines_of(report.verdict) <= LINES:
                    break
        return report

    def _written(self, table: Table, verdict: list[str], layout: Layout) -> Table:
        """Add the explanation, and the verdict on whole names if it fits, else on those of rows."""
        table = replace(
            table,
            verdict=self.verdict if lines_of(self.verdict) <= LINES else verdict,
            explanation=self.explanation,
            notes=[*self.notes, *table.notes],
            below=gates_table(self.gates) if self.gates else None,
            checks=gate_checks(self.gates),
        )
        return self._runs().signed(table, layout)

    def _findings(self) -> dict[str, Any]:
        """Return the procedure, its explanation and the verdict for JSON."""
        procedure = self.compared.procedure
        return {
            "test": procedure.test,
            "correction": procedure.correction,
            "family": procedure.family,
            "trials": procedure.trials,
            "level": procedure.bootstrap.level,
            "seed": procedure.bootstrap.seed,
            "explanation": self.explanation,
            "answer": self.verdict,
        }


class ComparisonReport(_ComparedReport[Comparison]):
    """The report on a comparison with a baseline."""

    name, kind = "comparison", "difference"

    @property
    def explanation(self) -> list[str]:
        """How the p-values and intervals were computed."""
        comparison, procedure = self.compared, self.compared.procedure
        test, (column, how) = TESTS[procedure.test], _CORRECTIONS_IN_WORDS[procedure.correction]
        words = f"p: {test.name}, two-sided: {test.question}. It assumes {test.assumes}"
        decides = ""
        if procedure.family == "first" and len(comparison.metrics) > 1:
            first = comparison.metrics[0].name
            decides = (
                f" by {first}, which decides; the other measures are described, without claims"
            )
        outside = f"0 is outside where p < {procedure.limit:.3g}"
        if test.interval == "differs":
            outside = "the test has no interval of its own, so p may disagree with it"
        return [
            _filled(words, procedure),
            f"{column or 'p'}: {how} {counted(comparison.tests, 'test')}{decides}",
            f"[low, high]: Student's {procedure.bootstrap.percent} interval of the "
            "difference, from the queries' differences (of ratios of means: their jackknife "
            f"pseudo-values); of rates of 0 and 1 Tango's; {outside}",
            *self._evidence(),
        ]

    def charts(self) -> list[Chart]:
        """Draw, for each metric, the differences from the baseline by run and by query."""
        comparison = self.compared
        charts: list[Chart] = []
        no_curve = []
        names = dict(zip(comparison.names, short_names(comparison.names, _IN_LEGENDS), strict=True))
        from_baseline = f"difference from {names[comparison.names[0]]}"
        for differences in comparison.by_metric:
            metric = differences[0].metric
            title = metric.name + (" (less is better)" if metric.measure.better == "lower" else "")
            differences = sorted(differences, key=goodness, reverse=True)
            rows = [
                IntervalRow(d.run, d.interval.low, d.difference, d.interval.high)
                for d in differences
            ]
            charts.append(IntervalChart(title, Axis(from_baseline), rows, [Rule("x", 0.0)]))
            if not metric.is_printed("query"):
                no_curve.append(metric.name)
                continue
            lines = _lines_of_queries(comparison, differences, names)
            leader = names[differences[0].run]
            only = f"; {lines[0].name}" if len(lines) == 1 else ""  # one line has no legend
            charts.append(
                PlaneChart(
                    f"{title}, query by query{only}",
                    Axis(f"queries, the largest difference of {leader} first", low=1),
                    Axis(from_baseline),
                    gathered(lines, lines[:1]),
                    rules=[Rule("y", 0.0)],
                )
            )
        bars = f"bars: {comparison.procedure.bootstrap.percent} intervals of the difference"
        notes = [bars, _over(comparison.differences)]
        if no_curve:
            notes.append(f"no value per query, so no curve: {', '.join(no_curve)}")
        return noted(charts, notes)

    @property
    def verdict(self) -> list[str]:
        """What the first measure decides, or with ``family="all"`` each."""
        return comparison_sentences(self.compared, self.doubts)

    def own_table(self, layout: Layout) -> Table:
        """Lay out a row per measure and run, the baseline first; or the queries won and lost.

        For people the best run comes first among the others.
        """
        corrected, _ = _CORRECTIONS_IN_WORDS[self.compared.procedure.correction]
        of_tests = [_P]
        if corrected:
            described = len(self.compared.claims) < len(self.compared.differences)
            legend = _BRACKETS if described else ""
            of_tests = [replace(_P, role="detail"), Column(corrected, "decimal", legend=legend)]
        notes = self._interval_notes()
        short = self._shortened(layout)
        if layout.per_query == "shown":
            columns, rows = [*_QUERY_COLUMNS, *of_tests], self._query_rows(layout)
            alone = [m.name for m in self.compared.metrics if not m.is_printed("query")]
            if alone:
                notes.append(f"no value per query: {', '.join(alone)}")
        else:
            columns, rows = [*_COLUMNS, *of_tests], short._rows(layout)
        width = len(columns)
        filled = [[*row, *[Cell()] * width][:width] for row in rows]
        return self._written(Table(columns, filled, notes), short.verdict, layout)

    def _interval_notes(self) -> list[str]:
        """Say once where intervals and p are not of one procedure."""
        comparison, procedure = self.compared, self.compared.procedure
        if TESTS[procedure.test].interval == "differs":
            test = TESTS[procedure.test].name
            return [
                f"Intervals are Student's or Tango's, and p is of the {test}: they may disagree"
            ]
        corrected, _ = _CORRECTIONS_IN_WORDS[procedure.correction]
        if not corrected or comparison.tests < 2:
            return []
        return [f"Each interval is for its run alone; {corrected} is for {comparison.tests} tests"]

    def _rows(self, layout: Layout) -> Iterator[list[Cell]]:
        """Yield the rows of each measure; the baseline's rows have fewer cells."""
        for differences in self.compared.by_metric:
            metric, first = differences[0].metric, differences[0]
            if layout.notes == "below":
                differences = sorted(differences, key=goodness, reverse=True)
            value = Cell(first.baseline, style=metric.measure.style)
            yield [*map(Cell, (metric.name, self.compared.names[0], first.queries)), value]
            for d in differences:
                difference, *tests = self._tested(d, layout)
                counts = map(Cell, (d.wins, d.ties, d.losses, d.effect_size))
                value = Cell(d.summary, style=metric.measure.style)
                names = map(Cell, (metric.name, d.run, d.queries))
                yield [*names, value, difference, *counts, *tests]

    def _query_rows(self, layout: Layout) -> Iterator[list[Cell]]:
        """Yield the queries that each run won and lost, then the difference over all queries."""
        for d in self.compared.differences:
            style = d.metric.measure.style
            heads = [Cell(d.metric.name), Cell(d.run)]
            for query, outcome, *numbers in query_outcomes(self.compared, d):
                values = (Cell(number, style=style) for number in numbers)
                yield [*heads, Cell(query), Cell(outcome), *values]
            if layout.summary == "shown":
                heads += [Cell(ALL), Cell(f"won {d.wins}, lost {d.losses}")]
                values = (Cell(number, style=style) for number in (d.baseline, d.summary))
                yield [*heads, *values, *self._tested(d, layout)]

    def _findings(self) -> dict[str, Any]:
        return {"baseline": self.compared.names[0], **super()._findings()}

    def _objects(self, layout: Layout) -> Iterator[dict[str, Any]]:
        digits = layout.digits
        for d in self.compared.differences:
            style = d.metric.measure.style
            object_: dict[str, Any] = {
                "measure": d.metric.name,
                "baseline": self.compared.names[0],
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
                "decision": d.decision,
            }
            if layout.per_query == "shown":
                object_["per_query"] = outcome_objects(self.compared, d, digits)
            yield object_

    def _tested(self, d: Difference, layout: Layout) -> list[Cell]:
        """Return the cells of a difference and its p-values; in brackets where it is described."""
        tone = _TONES.get(d.decision, "plain")
        difference = Cell(d.difference, d.interval, style=d.metric.measure.style, tone=tone)
        corrected = probability(d.corrected)
        if d.decision == "described":
            in_brackets = f"({short_p(d.p)})" if layout.notes == "below" and d.p == d.p else None
            corrected = Cell(in_brackets, style="text")
        return [difference, probability(d.p), corrected]


class AllPairsReport(_ComparedReport[AllPairs]):
    """A comparison of all pairs of runs: values with letters, and the p-value of each pair.

    Doubts are about what the best run is better than.
    """

    name, kind = "all_pairs", "pair"

    @property
    def explanation(self) -> list[str]:
        """The lines that explain p-values and letters."""
        pairs, procedure = self.compared, self.compared.procedure
        number, limit = len(pairs.claims), procedure.limit
        letters = f"letters: runs that share one are not shown to differ (p < {limit:.3g} is shown)"
        if number < len(pairs.metrics):
            letters += f"; {pairs.metrics[0].name} decides, and the other measures are described: "
            letters += "p without a correction over measures, and no letters"
        runs = len(pairs.names)
        words = "p needs no correction: there is one pair"
        if runs > 2:
            words = f"p holds for all {math.comb(runs, 2)} pairs together and needs no correction; "
            words += f"against a baseline there are {runs - 1}"
        if pairs.factor > 1:
            words += f"; times {pairs.factor}, for as many measures and slices"
        return [_filled(_STEP_DOWN, procedure), words, letters, *self._evidence()]

    def charts(self) -> list[Chart]:
        """Draw, for each metric, the runs with their letters, the best at the top."""
        pairs, bootstrap = self.compared, self.compared.procedure.bootstrap
        bounds = [intervals(scores, bootstrap) for scores in pairs.runs]
        charts: list[Chart] = []
        for by_metric in pairs.by_metric:
            name = by_metric.metric.name
            rows = [
                IntervalRow(
                    pairs.names[run]
                    + (f" ({by_metric.letters[run]})" if by_metric.letters else ""),
                    bounds[run][name].low,
                    float(by_metric.values[run]),
                    bounds[run][name].high,
                )
                for run in by_metric.order
            ]
            charts.append(IntervalChart(name, Axis("value of each run"), rows))
        letters = (
            "runs that share a letter are not shown to differ; that their intervals overlap says "
            "little of that"
        )
        notes = interval_notes(bootstrap, pairs.runs)
        return noted(charts, [letters, *(text.replace("[low, high]", "bars") for text in notes)])

    @property
    def verdict(self) -> list[str]:
        """What the first measure decides, or with ``family="all"`` each."""
        return all_pairs_sentences(self.compared, self.doubts)

    def own_table(self, layout: Layout) -> Table:
        """Lay out a row per measure and run, the best first, and a column per run with p."""
        short = self._shortened(layout)
        names = short.compared.names
        columns = [
            Column("measure"),
            Column("run"),
            Column("queries", "integer", role="detail"),
            Column("value", "decimal"),
            Column("letters"),
            *(Column(f"p({name})", "decimal", role="detail") for name in names),
        ]
        rows = [
            [
                Cell(by_metric.metric.name),
                Cell(names[run]),
                Cell(by_metric.queries),
                Cell(float(by_metric.values[run]), style=by_metric.metric.measure.style),
                Cell(by_metric.letters and by_metric.letters[run]),
                *(
                    Cell() if other == run else probability(float(by_metric.p[run, other]))
                    for other in range(len(names))
                ),
            ]
            for by_metric in self.compared.by_metric
            for run in by_metric.order
        ]
        return self._written(Table(columns, rows), short.verdict, layout)

    def _findings(self) -> dict[str, Any]:
        letters = {
            by_metric.metric.name: dict(
                zip(self.compared.names, by_metric.letters or (), strict=True)
            )
            for by_metric in self.compared.claims
        }
        test = {"test": "step-down", "correction": "none"}
        return {**super()._findings(), **test, "letters": letters}

    def _objects(self, layout: Layout) -> Iterator[dict[str, Any]]:
        for by_metric in self.compared.by_metric:
            style = by_metric.metric.measure.style
            for first, second in itertools.combinations(by_metric.order, 2):
                difference = float(by_metric.values[first] - by_metric.values[second])
                yield {
                    "measure": by_metric.metric.name,
                    "run": self.compared.names[first],
                    "other": self.compared.names[second],
                    "queries": by_metric.queries,
                    "difference": as_json(difference, style, layout.digits),
                    "p": as_json(float(by_metric.p[first, second]), "significant", layout.digits),
                }


MARKS = "†‡§¶‖#"
RunPair = tuple[str, frozenset[str]]  # a metric's name, and two runs


@dataclass(frozen=True)
class PaperTable(Report):
    """Runs, in the order of the table, compared with one or several baselines."""

    names: Sequence[str]
    comparisons: Sequence[Comparison]
    signature: Signature | None = None

    def __post_init__(self) -> None:
        if len(self.comparisons) > len(MARKS):
            raise UsageError(
                f"{spell('against')}: {len(self.comparisons)} runs; there are marks for "
                f"{len(MARKS)}"
            )

    @property
    def caption(self) -> str:
        """The caption, which explains the values and the marks."""
        first = self.comparisons[0]
        procedure = first.procedure
        number = sum(p == p for p in self._corrected.values())
        test = TESTS[procedure.test].name
        if TESTS[procedure.test].is_drawn:
            test += f", {procedure.trials:,} trials"
        _, how = _CORRECTIONS_IN_WORDS[procedure.correction]
        marks = ", ".join(
            f"{mark} differs from {comparison.names[0]}"
            for mark, comparison in zip(MARKS, self.comparisons, strict=False)
        )
        queries = sorted({difference.queries for difference in first.differences})
        over = " to ".join(f"{number:,}" for number in dict.fromkeys((queries[0], queries[-1])))
        return (
            f"{counted(len(self.names), 'run')} over {over} queries; the best value of each "
            f"measure stands out. {marks} at p < {self._limit:.3g} ("
            f"{test}, {how} {counted(number, 'test')})."
        )

    def own_table(self, layout: Layout) -> Table:
        """Lay out a row per run and a column per measure."""
        first = self.comparisons[0]
        metrics = first.metrics
        columns = [
            Column("run"),
            *(Column(m.name, m.measure.style, m.measure.better) for m in metrics),
        ]
        values = {(d.run, d.metric.name): d.summary for d in first.differences}
        values |= {(first.names[0], d.metric.name): d.baseline for d in first.differences}
        rows = [
            [
                Cell(name),
                *(Cell(values[name, m.name], marks=self._marks(m.name, name)) for m in metrics),
            ]
            for name in self.names
        ]
        table = Table(columns, with_best_marked(columns, rows), [], self.caption)
        if layout.notes == "columns":
            table = _with_marks_as_columns(table)
        scored = dict(zip(first.names, first.runs, strict=True))
        return EvaluationReport(rows_of(scored, self.signature)).signed(table, layout)

    def own_document(self, layout: Layout) -> dict[str, Any]:
        """Raise an error: tables for papers have no JSON."""
        raise UsageError(
            "--paper has no JSON: it is for readers; expected another --format, or JSON without "
            "--paper, which has all that it shows"
        )

    def own_lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Raise the same error as `own_document`."""
        yield self.own_document(layout)

    @property
    def _limit(self) -> float:
        return self.comparisons[0].procedure.limit

    def _marks(self, metric: str, name: str) -> str:
        return "".join(
            mark
            for mark, comparison in zip(MARKS, self.comparisons, strict=False)
            if self._corrected.get((metric, frozenset((name, comparison.names[0]))), 1)
            < self._limit
        )

    @cached_property
    def _corrected(self) -> Mapping[RunPair, float]:
        """The p-values of all pairs and measures, each once, corrected together: all are claims."""
        p = {
            (d.metric.name, frozenset((d.run, comparison.names[0]))): d.p
            for comparison in self.comparisons
            for d in comparison.differences
        }
        values = corrected(np.array([*p.values()]), self.comparisons[0].procedure.correction)
        return dict(zip(p, values.tolist(), strict=True))


def _with_marks_as_columns(table: Table) -> Table:
    """Move each measure's marks into a separate column, for programs."""
    run, *measures = table.columns
    columns = [run]
    for column in measures:
        columns += [column, Column(f"{column.name}_marks")]
    rows = []
    for name, *cells in table.rows:
        row = [name]
        for cell in cells:
            row += [replace(cell, marks=""), Cell(cell.marks)]
        rows.append(row)
    return Table(columns, rows, table.notes, table.caption)
