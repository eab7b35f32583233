"""The report on all pairs of runs: values with letters, and the p-value of each pair."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.questions.compare.report import (
    IN_CAPTIONS,
    correction_in_words,
    joined,
    probability,
    short,
    test_in_words,
)
from ragkpi.questions.evaluate.report import EvaluationReport, evaluated, with_signatures
from ragkpi.reports.layout import Cell, Column, Layout, Table, with_best_marked
from ragkpi.reports.signature import Signature
from ragkpi.statistics.paired import AllPairs, Comparison, MetricPairs
from ragkpi.statistics.significance import corrected
from ragkpi.version import __version__
from ragkpi.wording import as_json, counted

_TUKEY = (
    "p: randomized Tukey's HSD, two-sided: how often are the best and the worst run at least as "
    "far apart as these two when all runs are shuffled at random on every query? {trials:,} "
    "trials, p = (count + 1) / (trials + 1), seed {seed}; all shuffles, p = share, where there "
    "are no more. It holds for all pairs together and needs no correction"
)
_MOST_NAMED = 5  # runs in a sentence


@dataclass(frozen=True)
class AllPairsReport:
    """A comparison of all pairs of runs, and the signature of each run."""

    pairs: AllPairs
    signatures: Sequence[Signature | None] = ()

    @property
    def explanation(self) -> list[str]:
        """What the p-values are, and what the letters mean."""
        procedure = self.pairs.procedure
        seed, limit = procedure.bootstrap.seed, 1 - procedure.bootstrap.level
        letters = f"letters: runs that share one are not shown to differ (p < {limit:.3g} is shown)"
        if self.pairs.is_tukey:
            return [_TUKEY.format(trials=procedure.trials, seed=seed), letters]
        runs = len(self.pairs.names)
        tests = runs * (runs - 1) // 2
        tests *= len(self.pairs.by_metric) if procedure.family == "all" else 1
        return [test_in_words(procedure), correction_in_words(procedure, tests), letters]

    @property
    def sentences(self) -> list[str]:
        """Which runs are better than which, a sentence per measure."""
        return [self._sentence(by_metric) for by_metric in self.pairs.by_metric]

    def table(self, layout: Layout) -> Table:
        """Lay out a row per measure and run, the best first, and a column per run with p."""
        names = self.pairs.names
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
                Cell(by_metric.letters[run]),
                *(
                    Cell() if other == run else probability(float(by_metric.p[run, other]))
                    for other in range(len(names))
                ),
            ]
            for by_metric in self.pairs.by_metric
            for run in by_metric.order
        ]
        notes = [*self.explanation, *self.sentences]
        return with_signatures(Table(columns, rows, notes), self._runs().runs, layout)

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the runs and all pairs as one JSON object."""
        procedure = self.pairs.procedure
        return {
            **self._runs().document(layout),
            "all_pairs": {
                "test": "tukey" if self.pairs.is_tukey else procedure.test,
                "correction": "none" if self.pairs.is_tukey else procedure.correction,
                "family": procedure.family,
                "trials": procedure.trials,
                "level": procedure.bootstrap.level,
                "seed": procedure.bootstrap.seed,
                "explanation": self.explanation,
                "answer": self.sentences,
                "letters": {
                    by_metric.metric.name: dict(
                        zip(self.pairs.names, by_metric.letters, strict=True)
                    )
                    for by_metric in self.pairs.by_metric
                },
                "pairs": list(self._pairs(layout)),
            },
        }

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run, then one per pair."""
        yield from self._runs().lines(layout)
        for pair in self._pairs(layout):
            yield {"ragkpi": __version__, "kind": "pair", **pair}

    def _runs(self) -> EvaluationReport:
        return EvaluationReport(evaluated(self.pairs.names, self.pairs.runs, self.signatures))

    def _pairs(self, layout: Layout) -> Iterator[dict[str, Any]]:
        for by_metric in self.pairs.by_metric:
            style = by_metric.metric.measure.style
            for first, second in itertools.combinations(by_metric.order, 2):
                difference = float(by_metric.values[first] - by_metric.values[second])
                yield {
                    "measure": by_metric.metric.name,
                    "run": self.pairs.names[first],
                    "other": self.pairs.names[second],
                    "queries": by_metric.queries,
                    "difference": as_json(difference, style, layout.digits),
                    "p": as_json(float(by_metric.p[first, second]), "significant", layout.digits),
                }

    def _sentence(self, by_metric: MetricPairs) -> str:
        limit = 1 - self.pairs.procedure.bootstrap.level
        order = by_metric.order
        parts, undecided = [], 0
        for rank, run in enumerate(order):
            worse = []
            for other in order[rank + 1 :]:
                p = float(by_metric.p[run, other])
                if math.isnan(p) or p >= limit:
                    undecided += 1
                else:
                    worse.append(f"{self.pairs.names[other]} (p = {short(p)})")
            if len(worse) > _MOST_NAMED:
                worse[_MOST_NAMED:] = [f"{len(worse) - _MOST_NAMED} more"]
            if worse:
                parts.append(f"{self.pairs.names[run]} is better than {joined(worse)}")
        if len(parts) > _MOST_NAMED:
            others = counted(len(parts) - _MOST_NAMED, "more run")
            parts[_MOST_NAMED:] = [f"{others} better than some: see the letters"]
        if not parts:
            parts = ["no two runs are shown to differ"]
        elif undecided:
            of_all = f"{counted(undecided, 'pair')} of {len(order) * (len(order) - 1) // 2}"
            parts.append(f"{of_all} {'is' if undecided == 1 else 'are'} not shown to differ")
        return f"{by_metric.metric.name}: {'; '.join(parts)}."


MARKS = "†‡§¶‖#"
Pair = tuple[str, frozenset[str]]  # a metric's name, and two runs


@dataclass(frozen=True)
class PaperTable:
    """Runs compared with one or several baselines.

    Attributes
    ----------
    names
        All runs, in the order of the table.
    comparisons
        One per baseline; see `ragkpi.statistics.paired.compare_each`.
    signatures
        The signatures of the runs, if they are known.
    """

    names: Sequence[str]
    comparisons: Sequence[Comparison]
    signatures: Sequence[Signature | None] = ()

    def __post_init__(self) -> None:
        """Refuse more baselines than there are marks."""
        if len(self.comparisons) > len(MARKS):
            raise UsageError(
                f"{option('against')}: {len(self.comparisons)} runs; there are marks for "
                f"{len(MARKS)}"
            )

    @property
    def caption(self) -> str:
        """What the table shows, and what its marks mean."""
        first = self.comparisons[0]
        procedure = first.procedure
        tested = sum(p == p for p in self._corrected.values())
        metrics = len({name for name, _ in self._corrected})
        number = tested if procedure.family == "all" else tested // max(metrics, 1)
        test, correction = IN_CAPTIONS[procedure.test], IN_CAPTIONS[procedure.correction]
        family = counted(number, "test")
        family += " in all" if procedure.family == "all" else " by each measure"
        marks = ", ".join(
            f"{mark} differs from {comparison.names[0]}"
            for mark, comparison in zip(MARKS, self.comparisons, strict=False)
        )
        queries = sorted({difference.queries for difference in first.differences})
        over = " to ".join(f"{number:,}" for number in dict.fromkeys((queries[0], queries[-1])))
        return (
            f"{counted(len(self.names), 'run')} over {over} queries; the best value of each "
            f"measure stands out. {marks} at p < {self._limit:.3g} ("
            f"{test.format(trials=procedure.trials)}, {correction.format(family=family)})."
        )

    def table(self, layout: Layout) -> Table:
        """Lay out a row per run and a column per measure."""
        metrics = [differences[0].metric for differences in self.comparisons[0].by_metric]
        columns = [
            Column("run"),
            *(Column(m.name, m.measure.style, m.measure.better) for m in metrics),
        ]
        first = self.comparisons[0]
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
        scores = dict(zip(first.names, first.runs, strict=True))
        runs = evaluated(self.names, [scores[name] for name in self.names], self.signatures)
        return with_signatures(table, runs, layout)

    def document(self, layout: Layout) -> dict[str, Any]:
        """Refuse: the JSON of a comparison has no form for papers."""
        raise UsageError(
            "--paper is for readers; expected --format table, markdown, latex, csv or tsv, or json "
            "without --paper"
        )

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Refuse as well."""
        yield self.document(layout)

    @property
    def _limit(self) -> float:
        return 1 - self.comparisons[0].procedure.bootstrap.level

    def _marks(self, metric: str, name: str) -> str:
        return "".join(
            mark
            for mark, comparison in zip(MARKS, self.comparisons, strict=False)
            if self._corrected.get((metric, frozenset((name, comparison.names[0]))), 1)
            < self._limit
        )

    @property
    def _corrected(self) -> Mapping[Pair, float]:
        """The p-values of all tested pairs, each pair once, corrected together."""
        procedure = self.comparisons[0].procedure
        families: dict[str, dict[Pair, float]] = {}
        for comparison in self.comparisons:
            for difference in comparison.differences:
                metric = difference.metric.name
                pair = metric, frozenset((difference.run, comparison.names[0]))
                family = "all" if procedure.family == "all" else metric
                families.setdefault(family, {})[pair] = difference.p
        return {
            pair: float(p)
            for family in families.values()
            for pair, p in zip(
                family, corrected(np.array([*family.values()]), procedure.correction), strict=True
            )
        }


def _with_marks_as_columns(table: Table) -> Table:
    """Move the marks of each measure into a column of their own, for programs."""
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
