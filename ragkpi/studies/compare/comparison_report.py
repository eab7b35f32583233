"""The report on a comparison: differences from a baseline, and what the test is, in two lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
    explanation,
    joined,
    probability,
    short,
)
from ragkpi.studies.compare.query_outcomes import outcome_columns, outcome_objects, outcome_rows
from ragkpi.studies.evaluate.evaluation_report import (
    ALL,
    EvaluatedRun,
    EvaluationReport,
    evaluated,
)
from ragkpi.studies.evaluate.evaluation_table import with_signatures
from ragkpi.wording import as_json

REPORTED = ("map", "ndcg_cut.10", "recip_rank", "recall.100")  # compared if nothing is asked for


@dataclass(frozen=True)
class ComparisonReport:
    """A comparison, and the signature of each of its runs."""

    comparison: Comparison
    signatures: Sequence[Signature | None] = ()

    @property
    def explanation(self) -> list[str]:
        """The two lines under the table, and a third where there are few queries."""
        tested = [
            difference.metric.name
            for difference in self.comparison.differences
            if not math.isnan(difference.p)
        ]
        whole = self.comparison.procedure.family == "all"
        tests = len(tested) if whole else max(map(tested.count, tested), default=0)
        lines = explanation(self.comparison.procedure, tests)
        few = few_queries_note(self.comparison.resampled, self.comparison.procedure.bootstrap)
        return [*lines, few] if few else lines

    @property
    def sentences(self) -> list[str]:
        """Who is better on what, and what is undecided: one per measure."""
        return [_sentence(of_metric, self.comparison) for of_metric in self.comparison.by_metric]

    def table(self, layout: Layout) -> Table:
        """Lay out a row per measure and run, the baseline first; or the queries won and lost."""
        if layout.per_query == "shown":
            return self._queries(layout)
        corrected, _ = CORRECTIONS_IN_WORDS[self.comparison.procedure.correction]
        columns = [
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
            *([Column(corrected, "decimal")] if corrected else []),
        ]
        rows = []
        for differences in self.comparison.by_metric:
            rows.append(_baseline_row(self.comparison.names[0], differences[0], len(columns)))
            rows += [_row(difference, self._limit)[: len(columns)] for difference in differences]
        notes = [*self.explanation, *self.sentences]
        return with_signatures(Table(columns, rows, notes), self._runs(), layout)

    def _queries(self, layout: Layout) -> Table:
        """Lay out the queries that each run won and lost, and behind them what all add up to."""
        corrected, _ = CORRECTIONS_IN_WORDS[self.comparison.procedure.correction]
        columns = outcome_columns(corrected)
        rows = []
        for difference in self.comparison.differences:
            padding = [Cell()] * (2 if corrected else 1)
            rows += [[*row, *padding] for row in outcome_rows(self.comparison, difference)]
            if layout.summary == "shown":
                rows.append(_all_queries(difference, self._limit)[: len(columns)])
        notes = [*self.explanation, *self.sentences]
        unlisted = [
            difference.metric.name
            for difference in self.comparison.differences
            if not difference.metric.is_printed("query")
        ]
        if unlisted:
            notes.insert(0, f"no value per query: {', '.join(dict.fromkeys(unlisted))}")
        return with_signatures(Table(columns, rows, notes), self._runs(), layout)

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the runs and their differences as one JSON object."""
        procedure = self.comparison.procedure
        return {
            **EvaluationReport(self._runs()).document(layout),
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
                "differences": self._differences(layout),
            },
        }

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run, then one per difference."""
        yield from EvaluationReport(self._runs()).lines(layout)
        for difference in self._differences(layout):
            yield {"ragkpi": __version__, "kind": "difference", **difference}

    @property
    def _limit(self) -> float:
        return 1 - self.comparison.procedure.bootstrap.level

    def _runs(self) -> list[EvaluatedRun]:
        return evaluated(self.comparison.names, self.comparison.runs, self.signatures)

    def _differences(self, layout: Layout) -> list[dict[str, Any]]:
        objects = []
        for difference in self.comparison.differences:
            made = _difference_object(self.comparison.names[0], difference, layout.digits)
            if layout.per_query == "shown":
                made["per_query"] = outcome_objects(self.comparison, difference, layout.digits)
            objects.append(made)
        return objects


def _sentence(differences: Sequence[Difference], comparison: Comparison) -> str:
    """Sum up one measure; a difference counts where its corrected p is below 1 - confidence."""
    limit = 1 - comparison.procedure.bootstrap.level
    baseline = comparison.names[0]
    verdicts: dict[str, list[str]] = {}
    for difference in differences:
        sign = difference.metric.measure.sign
        p = difference.corrected
        if math.isnan(p):
            verdict = "has no test against"
        elif p >= limit:
            verdict = "is not shown to differ from"
        elif sign * difference.difference > 0:
            verdict = "is better than"
        else:
            verdict = "is worse than"
        text = difference.run if math.isnan(p) else f"{difference.run} (p = {short(p)})"
        verdicts.setdefault(verdict, []).append(text)
    parts = [
        f"{joined(runs)} {agreeing(verdict, len(runs))} {baseline}"
        for verdict, runs in verdicts.items()
    ]
    return f"{differences[0].metric.name}: {'; '.join(parts)}."


def _baseline_row(name: str, difference: Difference, width: int) -> list[Cell]:
    style = difference.metric.measure.style
    cells = [
        Cell(difference.metric.name),
        Cell(name),
        Cell(difference.queries),
        Cell(difference.baseline, style=style),
    ]
    return cells + [Cell()] * (width - len(cells))


def _row(difference: Difference, limit: float) -> list[Cell]:
    style = difference.metric.measure.style
    tone = _tone(difference, limit)
    return [
        Cell(difference.metric.name),
        Cell(difference.run),
        Cell(difference.queries),
        Cell(difference.summary, style=style),
        Cell(difference.difference, difference.interval, style=style, tone=tone),
        Cell(difference.wins),
        Cell(difference.ties),
        Cell(difference.losses),
        Cell(difference.effect_size),
        probability(difference.p),
        probability(difference.corrected),
    ]


def _tone(difference: Difference, limit: float) -> Literal["plain", "good", "bad"]:
    """Say what is shown of a run: that it is better, or worse."""
    if not difference.corrected < limit or not difference.difference:
        return "plain"
    gain = difference.metric.measure.sign * difference.difference
    return "good" if gain > 0 else "bad"


def _all_queries(difference: Difference, limit: float) -> list[Cell]:
    style = difference.metric.measure.style
    return [
        Cell(difference.metric.name),
        Cell(difference.run),
        Cell(ALL),
        Cell(f"won {difference.wins}, lost {difference.losses}"),
        Cell(difference.baseline, style=style),
        Cell(difference.summary, style=style),
        Cell(
            difference.difference,
            difference.interval,
            style=style,
            tone=_tone(difference, limit),
        ),
        probability(difference.p),
        probability(difference.corrected),
    ]


def _difference_object(baseline: str, difference: Difference, digits: int | None) -> dict[str, Any]:
    style = difference.metric.measure.style

    def number(value: float) -> int | float | str | None:
        return as_json(value, style, digits)

    return {
        "measure": difference.metric.name,
        "baseline": baseline,
        "run": difference.run,
        "queries": difference.queries,
        "baseline_value": number(difference.baseline),
        "value": number(difference.summary),
        "difference": number(difference.difference),
        "interval": [number(bound) for bound in difference.interval],
        "wins": difference.wins,
        "ties": difference.ties,
        "losses": difference.losses,
        "effect_size": as_json(difference.effect_size, "significant", digits),
        "p": as_json(difference.p, "significant", digits),
        "p_corrected": as_json(difference.corrected, "significant", digits),
    }
