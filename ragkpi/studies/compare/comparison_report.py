"""The report on a comparison: differences from a baseline, and what the test is, in two lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragkpi import __version__
from ragkpi.reports.layout import Cell, Column, Layout, Table
from ragkpi.reports.signature import Signature
from ragkpi.statistics.bootstrap import few_queries_note
from ragkpi.statistics.corrections import CorrectionName
from ragkpi.statistics.paired import Comparison, Difference, Procedure
from ragkpi.statistics.significance import TestName
from ragkpi.studies.compare.query_outcomes import outcome_columns, outcome_objects, outcome_rows
from ragkpi.studies.evaluate.evaluation_report import (
    ALL,
    EvaluatedRun,
    EvaluationReport,
    evaluated,
    interval_note,
    with_signatures,
)
from ragkpi.wording import as_json, counted

_CHANCE = "{trials:,} trials, p = (count + 1) / (trials + 1), seed {seed}"

TESTS_IN_WORDS: Mapping[TestName, str] = {
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
# The same in a caption.
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
REPORTED = ("map", "ndcg_cut.10", "recip_rank", "recall.100")  # compared if nothing is asked for


def explanation(procedure: Procedure, tests: int) -> list[str]:
    """Say in two lines what the p-values are, and what the intervals and effect sizes."""
    seed = procedure.bootstrap.seed
    family = counted(tests, "test")
    family += " in this call" if procedure.family == "all" else " by each measure"
    return [
        TESTS_IN_WORDS[procedure.test].format(trials=procedure.trials, seed=seed),
        f"{CORRECTIONS_IN_WORDS[procedure.correction][1].format(family=family)}; "
        f"{interval_note(procedure.bootstrap, ' of the difference')}; "
        "d_z: difference / standard deviation of the queries' differences",
    ]


@dataclass(frozen=True)
class ComparisonReport:
    """A comparison, and the signature of each of its runs."""

    comparison: Comparison
    signatures: Sequence[Signature | None] = ()

    @property
    def explanation(self) -> list[str]:
        """The two lines under the table, and a third where there are few queries."""
        tested = [found.metric.name for found in self.comparison.differences if found.p == found.p]
        whole = self.comparison.procedure.family == "all"
        tests = len(tested) if whole else max(map(tested.count, tested), default=0)
        lines = explanation(self.comparison.procedure, tests)
        few = few_queries_note(self.comparison.runs, "resampled")
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
        found = []
        for difference in self.comparison.differences:
            made = _difference_object(self.comparison.names[0], difference, layout.digits)
            if layout.per_query == "shown":
                made["per_query"] = outcome_objects(self.comparison, difference, layout.digits)
            found.append(made)
        return found


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
        f"{joined(runs)} {_plural(verdict, len(runs))} {baseline}"
        for verdict, runs in verdicts.items()
    ]
    return f"{differences[0].metric.name}: {'; '.join(parts)}."


def short(p: float) -> str:
    """Write a p-value in a sentence."""
    return f"{p:.4f}" if p >= 0.00005 else f"{p:.1g}"


_PLURAL = {"is": "are", "has": "have"}


def joined(names: Sequence[str]) -> str:
    """Write a list of names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _plural(verdict: str, number: int) -> str:
    verb, _, rest = verdict.partition(" ")
    return verdict if number == 1 else f"{_PLURAL[verb]} {rest}"


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


def probability(p: float) -> Cell:
    """Write a p-value that would look like 0 with all its zeros."""
    return Cell(p, style="significant" if 0 < p < 0.00005 else "decimal")


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
