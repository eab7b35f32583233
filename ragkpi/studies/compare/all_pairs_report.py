"""The report on all pairs of runs: values with letters, and the p-value of each pair."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ragkpi import __version__
from ragkpi.records import dataclass
from ragkpi.reports.layout import Cell, Column, Layout, Table
from ragkpi.reports.signature import Signature
from ragkpi.statistics.all_pairs import AllPairs, MetricPairs
from ragkpi.studies.compare.comparison_wording import (
    correction_in_words,
    joined,
    probability,
    short,
    test_in_words,
)
from ragkpi.studies.evaluate.evaluation_report import EvaluationReport, evaluated
from ragkpi.studies.evaluate.evaluation_table import with_signatures
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
