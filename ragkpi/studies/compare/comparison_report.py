"""The report on a comparison: differences from a baseline, and two lines about the tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from ragkpi import __version__
from ragkpi.records import dataclass
from ragkpi.reports.layout import Cell, Column, Layout, Table
from ragkpi.reports.signature import Signature
from ragkpi.statistics.bootstrap import few_queries_note
from ragkpi.statistics.paired import Comparison, Difference
from ragkpi.studies.compare.comparison_wording import (
    CORRECTIONS_IN_WORDS,
    agreeing,
    correction_in_words,
    joined,
    probability,
    short,
    test_in_words,
)
from ragkpi.studies.compare.query_outcomes import outcome_objects, query_outcomes
from ragkpi.studies.evaluate.evaluation_report import (
    ALL,
    EvaluationReport,
    evaluated,
    interval_note,
)
from ragkpi.studies.evaluate.evaluation_table import with_signatures
from ragkpi.wording import as_json

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
