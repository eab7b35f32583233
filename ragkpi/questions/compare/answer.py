"""The answers of `ragkpi compare`: against a baseline, of all pairs of runs, and for papers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.library.doubts import Doubt
from ragkpi.library.evaluation_report import (
    EvaluationReport,
    gate_checks,
    gate_lines,
    signed,
)
from ragkpi.library.ground import Signature
from ragkpi.questions.compare.verdict import (
    evidence_in_words,
    goodness,
    seeds_in_words,
    sentences,
)
from ragkpi.reports.layout import (
    Answer,
    Cell,
    Column,
    Layout,
    Report,
    Table,
    with_best_marked,
)
from ragkpi.statistics.all_pairs import AllPairs
from ragkpi.statistics.decisions import CHANCE, TESTS, CorrectionName
from ragkpi.statistics.paired import Claim, Comparison, Difference, Procedure
from ragkpi.statistics.significance import TIED, corrected
from ragkpi.version import __version__
from ragkpi.wording import as_json, counted, decoded, rounded

REPORTED = ("map", "ndcg_cut.10", "recip_rank", "recall.100")  # the default measures


@dataclass(frozen=True)
class ComparedReport(Report):
    """Runs and their differences, from a baseline or between all pairs.

    `notes` are reasons for caution about the verdict.
    """

    runs: EvaluationReport
    compared: Comparison | AllPairs
    verdict: Sequence[str]
    explanation: Sequence[str]
    notes: Sequence[str] = ()

    def own_table(self, layout: Layout) -> Table:
        one, gates = self.compared, self.runs.gates
        if isinstance(one, Comparison):
            table = _comparison_table(one, layout)
        else:
            table = _all_pairs_table(one)
        table = replace(
            table,
            verdict=self.verdict,
            explanation=self.explanation,
            notes=[*self.notes, *table.notes],
            below=gate_lines(gates),
            checks=gate_checks(gates),
        )
        return signed(table, self.runs.signature, layout)

    def own_document(self, layout: Layout) -> dict[str, Any]:
        """Return the runs and their differences or pairs as one JSON object."""
        kind, objects = self._objects(layout)
        said = {"explanation": self.explanation, "answer": self.verdict, "notes": list(self.notes)}
        compared = {**_findings(self.compared), **said, f"{kind}s": list(objects)}
        of = "comparison" if kind == "difference" else "all_pairs"
        return {**self.runs.own_document(layout), of: compared}

    def own_lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run, then one per difference or pair."""
        yield from self.runs.own_lines(layout)
        kind, objects = self._objects(layout)
        for one in objects:
            yield {"ragkpi": __version__, "kind": kind, **one}

    def _objects(self, layout: Layout) -> tuple[str, Iterator[dict[str, Any]]]:
        if isinstance(self.compared, Comparison):
            return "difference", _difference_objects(self.compared, layout)
        return "pair", _pair_objects(self.compared, layout)


def compared_report(
    compared: Comparison | AllPairs,
    signature: Signature | None = None,
    doubts: Mapping[str, Doubt] | None = None,
) -> ComparedReport:
    """Put a comparison into words, rows and JSON; `doubts` of claims are by run (`doubts_of`)."""
    runs = dict(zip(compared.names, compared.runs, strict=True))
    verdict, report = sentences(compared, doubts or {}), EvaluationReport(runs, signature)
    return ComparedReport(report, compared, verdict, explained(compared))


def _findings(compared: Comparison | AllPairs) -> dict[str, Any]:
    procedure = compared.procedure
    how = ("test", "correction", "family", "trials")
    findings = {name: getattr(procedure, name) for name in how}
    findings |= {"level": procedure.bootstrap.level, "seed": procedure.bootstrap.seed}
    if isinstance(compared, Comparison):
        return {"baseline": compared.names[0], **findings}
    test, correction = ("t", "holm") if compared.has_systems else ("step-down", "none")
    letters, ranks = {}, {}
    for one in compared.claims:
        open_ranks = map(list, one.ranks(procedure.limit))
        letters[one.metric.name] = dict(zip(compared.names, one.letters or (), strict=True))
        ranks[one.metric.name] = dict(zip(compared.names, open_ranks, strict=True))
    of_test = {"test": test, "correction": correction}
    return {**findings, **of_test, "letters": letters, "ranks": ranks}


def explained(compared: Comparison | AllPairs) -> list[str]:
    """Explain how p-values, intervals and letters were computed, and from what evidence."""
    if isinstance(compared, Comparison):
        lines = _comparison_explained(compared)
    else:
        lines = _all_pairs_explained(compared)
    if compared.procedure.family == "first" and len(compared.metrics) > 1:
        first = compared.metrics[0].name
        lines.append(
            f"{first} decides; the other measures are exploratory: no correction, no claim"
        )
    if any(run.seeds > 1 for run in compared.runs):
        lines.append(
            "systems, also by rates: t test and interval with the variance of queries and of "
            "seeds, and Satterthwaite's degrees of freedom; three seeds or more decide"
        )
    clusters = compared.procedure.bootstrap.clusters
    return [*lines, *evidence_in_words(compared.runs, compared.metrics[0], clusters)]


def _filled(words: str, procedure: Procedure) -> str:
    """Fill a test's explanation with the number and the units of its draws."""
    how = procedure.bootstrap
    unit = "query" if how.clusters is None else "cluster"
    return words.format(trials=procedure.trials, seed=how.seed, unit=unit)


# --- against a baseline

# The column of corrected p-values, and the correction in words.
_CORRECTIONS_IN_WORDS: Mapping[CorrectionName, tuple[str, str]] = {
    "holm": ("p_holm", "corrected by Holm for"),
    "benjamini-hochberg": ("p_bh", "corrected by Benjamini and Hochberg for"),
    "none": ("", "not corrected for"),
}
_TONES: Mapping[Claim, Literal["plain", "good", "bad"]] = {"better": "good", "worse": "bad"}
_DIFFERENCE = Column("difference", "decimal", signed=True)
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
_QUERY_COLUMNS = [
    *map(Column, ("measure", "run", "query")),
    Column("outcome", legend="queries that are equal are not listed"),
    Column("baseline", "decimal"),
    Column("value", "decimal"),
    _DIFFERENCE,
]
_BRACKETS = "in brackets: exploratory, p without a correction and without a claim"


def _comparison_explained(comparison: Comparison) -> list[str]:
    """Explain how the p-values and intervals were computed."""
    procedure = comparison.procedure
    test, (column, how) = TESTS[procedure.test], _CORRECTIONS_IN_WORDS[procedure.correction]
    words = f"p: {test.name}, two-sided: {test.question}. It assumes {test.assumes}"
    outside = f"0 is outside where p < {procedure.limit:.3g}"
    if test.interval == "differs":
        outside = "the test has no interval of its own, so p may disagree with it"
    return [
        _filled(words, procedure),
        f"{column or 'p'}: {how} {counted(comparison.tests, 'test')}",
        f"[low, high]: Student's {procedure.bootstrap.percent} interval of the "
        "difference, from the queries' differences (for ratios of means, from jackknife "
        f"pseudo-values); for rates of 0 and 1, Tango's; {outside}",
    ]


def _comparison_table(comparison: Comparison, layout: Layout) -> Table:
    """Lay out a row per measure and run, the baseline first; or the queries won and lost.

    For people, the other runs are sorted, best first.
    """
    corrected_p, _ = _CORRECTIONS_IN_WORDS[comparison.procedure.correction]
    of_tests = [Column("p", "probability", role="detail" if corrected_p else "core")]
    if corrected_p:
        described = len(comparison.claims) < len(comparison.differences)
        of_tests.append(Column(corrected_p, "probability", legend=_BRACKETS if described else ""))
    test = TESTS[comparison.procedure.test]
    notes = []
    if test.interval == "differs":
        notes.append(
            f"Intervals are Student's or Tango's, and p is of the {test.name}: they may disagree"
        )
    elif corrected_p and comparison.tests > 1:
        notes.append(
            f"Intervals are not adjusted for multiple comparisons; {corrected_p} is "
            f"({comparison.tests} tests)"
        )
    if layout.per_query == "shown":
        columns, rows = list(_QUERY_COLUMNS), _query_rows(comparison)
        alone = [m.name for m in comparison.metrics if not m.is_printed("query")]
        notes += [f"no value per query: {', '.join(alone)}"] if alone else []
    else:
        columns, rows = [*_COLUMNS, *of_tests], _rows(comparison, layout)
    width = len(columns)
    return Table(columns, [[*row, *[Cell()] * width][:width] for row in rows], notes)


def _rows(comparison: Comparison, layout: Layout) -> Iterator[list[Cell]]:
    """Yield the rows of each measure; the baseline's rows have fewer cells."""
    for differences in comparison.by_metric:
        metric, first = differences[0].metric, differences[0]
        style, for_people = metric.measure.style, layout.notes == "below"
        if for_people:
            differences = sorted(differences, key=goodness, reverse=True)
        names = map(Cell, (metric.name, comparison.names[0], first.queries))
        yield [*names, Cell(first.baseline, style=style)]
        for d in differences:
            corrected_p = Cell(d.corrected)
            if d.decision == "described":  # in brackets
                is_shown = for_people and d.p == d.p
                corrected_p = Cell(f"({rounded(d.p, 'probability')})" if is_shown else None)
            tone = _TONES.get(d.decision, "plain")
            yield [
                *map(Cell, (metric.name, d.run, d.queries)),
                Cell(d.summary, style=style),
                Cell(d.difference, d.interval, style=style, tone=tone),
                *map(Cell, (d.wins, d.ties, d.losses, d.effect_size, d.p)),
                corrected_p,
            ]


def _query_rows(comparison: Comparison) -> Iterator[list[Cell]]:
    """Yield the queries that each run won and lost."""
    for d in comparison.differences:
        for query, outcome, *numbers in query_outcomes(comparison, d):
            values = (Cell(number, style=d.metric.measure.style) for number in numbers)
            yield [*map(Cell, (d.metric.name, d.run, query, outcome)), *values]


_OUTCOME = ("query", "outcome", "baseline_value", "value", "difference")
Outcome = tuple[bytes, Literal["won", "lost"], float, float, float]


def query_outcomes(comparison: Comparison, difference: Difference) -> list[Outcome]:
    """List the queries won, then those lost, the largest differences first, as `_OUTCOME`.

    Values that agree to nine digits are ties, as in `Difference`, and are left out. A metric
    without values per query has no outcomes.
    """
    metric = difference.metric
    if not metric.is_printed("query"):
        return []
    has_value, baseline, value = per_query(comparison, difference)
    with np.errstate(invalid="ignore"):
        gain = metric.measure.sign * (value - baseline)
    apart = has_value & ~np.isclose(baseline, value, rtol=TIED, atol=0)
    order = [row for row in np.argsort(-np.abs(gain), kind="stable").tolist() if apart[row]]
    queries, low, high = comparison.runs[0].queries, baseline.tolist(), value.tolist()
    won: list[Outcome] = []
    lost: list[Outcome] = []
    for row in order:
        numbers = low[row], high[row], high[row] - low[row]
        if gain[row] > 0:
            won.append((queries[row], "won", *numbers))
        else:
            lost.append((queries[row], "lost", *numbers))
    return won + lost


def per_query(
    comparison: Comparison, difference: Difference
) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Return which queries have a value in all runs, and the values of baseline and run, (Q,)."""
    columns = [scores[difference.metric.name] for scores in comparison.runs]
    has_value = np.all([column.has_value for column in columns], axis=0)
    run = comparison.names.index(difference.run, 1)
    return has_value, columns[0].per_query, columns[run].per_query


def _difference_objects(comparison: Comparison, layout: Layout) -> Iterator[dict[str, Any]]:
    for d in comparison.differences:
        number = partial(as_json, style=d.metric.measure.style, digits=layout.digits)
        significant = partial(as_json, style="significant", digits=layout.digits)
        object_: dict[str, Any] = {
            "measure": d.metric.name,
            "baseline": comparison.names[0],
            "run": d.run,
            "queries": d.queries,
            "baseline_value": number(d.baseline),
            "value": number(d.summary),
            "difference": number(d.difference),
            "interval": [*map(number, d.interval)],
            "wins": d.wins,
            "ties": d.ties,
            "losses": d.losses,
            "effect_size": significant(d.effect_size),
            "p": significant(d.p),
            "p_corrected": significant(d.corrected),
            "decision": d.decision,
        }
        if layout.per_query == "shown":
            object_["per_query"] = [
                {
                    name: number(value) if isinstance(value, float) else decoded(value)
                    for name, value in zip(_OUTCOME, one, strict=True)
                }
                for one in query_outcomes(comparison, d)
            ]
        yield object_


# --- each with each

_STEP_DOWN = (
    "p: step-down test of the maximum difference, two-sided: how often is the maximum difference "
    "of all pairs, in its own standard errors, at least as large when differences change sign at "
    f"random, on a {{unit}} for all pairs? {CHANCE}; all signs, p = share, where there are no "
    "more. Pairs already found to differ are left out. It assumes that without a difference the "
    "two runs could be swapped on any {unit}"
)


def _all_pairs_explained(pairs: AllPairs) -> list[str]:
    """Explain how the p-values and letters were computed."""
    number = counted(math.comb(len(pairs.names), 2), "pair")
    if pairs.has_systems:
        lines = [f"p: t test, two-sided, corrected by Holm for {number}"]
    else:
        lines = [_filled(_STEP_DOWN, pairs.procedure), f"p holds for {number} together"]
    if pairs.factor > 1:
        lines[-1] += f"; times {pairs.factor}, for as many measures and slices"
    return [
        *lines,
        "letters: runs that share one are not significantly different (p < "
        f"{pairs.procedure.limit:.3g}); rank: the ranks that these tests leave possible",
    ]


def _all_pairs_table(pairs: AllPairs) -> Table:
    """Lay out a row per measure and run, the best first, and a column per run with p."""
    columns = [
        *map(Column, ("measure", "run")),
        Column("queries", "integer", role="detail"),
        Column("value", "decimal"),
        Column("letters"),
        Column("rank"),
        *(Column(f"p({name})", "probability", role="detail") for name in pairs.names),
    ]
    rows = [
        [
            *map(Cell, (by_metric.metric.name, pairs.names[run], by_metric.queries)),
            Cell(float(by_metric.values[run]), style=by_metric.metric.measure.style),
            Cell(by_metric.letters and by_metric.letters[run]),
            Cell(by_metric.letters and " to ".join(map(str, dict.fromkeys(ranks[run])))),
            *(
                Cell() if other == run else Cell(float(by_metric.p[run, other]))
                for other in range(len(pairs.names))
            ),
        ]
        for by_metric in pairs.by_metric
        for ranks in [by_metric.ranks(pairs.procedure.limit)]
        for run in by_metric.order
    ]
    return Table(columns, rows)


def _pair_objects(pairs: AllPairs, layout: Layout) -> Iterator[dict[str, Any]]:
    for by_metric in pairs.by_metric:
        style = by_metric.metric.measure.style
        for first, second in itertools.combinations(by_metric.order, 2):
            difference = float(by_metric.values[first] - by_metric.values[second])
            yield {
                "measure": by_metric.metric.name,
                "run": pairs.names[first],
                "other": pairs.names[second],
                "queries": by_metric.queries,
                "difference": as_json(difference, style, layout.digits),
                "p": as_json(float(by_metric.p[first, second]), "significant", layout.digits),
            }


# --- for papers

MARKS = "†‡§¶‖#"


@dataclass(frozen=True, kw_only=True)
class PaperTable(Answer):
    """Runs and measures, with marks for significant differences; the marks are the answer."""

    signature: Signature | None

    def own_table(self, layout: Layout) -> Table:
        return signed(self, self.signature, layout)

    def own_document(self, layout: Layout) -> dict[str, Any]:
        """Raise an error: tables for papers have no JSON."""
        raise UsageError(
            "--paper has no JSON: it is for readers; expected another --format, or JSON without "
            "--paper, which has all that it shows"
        )


def paper_table(
    names: Sequence[str], comparisons: Sequence[Comparison], signature: Signature | None = None
) -> PaperTable:
    """Lay out a row per run, in this order, and a column per measure, with a mark per baseline.

    The p-values of all pairs and measures, each once, are corrected together as claims.
    """
    if len(comparisons) > len(MARKS):
        raise UsageError(
            f"{spell('against')}: {len(comparisons)} runs; there are marks for {len(MARKS)}"
        )
    first, procedure = comparisons[0], comparisons[0].procedure
    p = {
        (d.metric.name, frozenset((d.run, comparison.names[0]))): d.p_of_claim
        for comparison in comparisons
        for d in comparison.differences
    }
    each = corrected(np.array([*p.values()]), procedure.correction).tolist()
    differing = {key for key, one in zip(p, each, strict=True) if one < procedure.limit}
    values = {(d.run, d.metric.name): d.summary for d in first.differences}
    values |= {(first.names[0], d.metric.name): d.baseline for d in first.differences}
    marked = {mark: one.names[0] for mark, one in zip(MARKS, comparisons, strict=False)}
    columns = [Column(m.name, m.measure.style, m.measure.better) for m in first.metrics]

    def marks(name: str, metric: str) -> str:
        every = marked.items()
        return "".join(m for m, other in every if (metric, frozenset((name, other))) in differing)

    rows = [
        [
            Cell(name),
            *(Cell(values[name, m.name], marks=marks(name, m.name)) for m in first.metrics),
        ]
        for name in names
    ]
    test = TESTS[procedure.test].name
    if TESTS[procedure.test].is_drawn:
        test += f", {procedure.trials:,} trials"
    _, how = _CORRECTIONS_IN_WORDS[procedure.correction]
    meanings = ", ".join(f"{mark} differs from {name}" for mark, name in marked.items())
    queries = [difference.queries for difference in first.differences]
    over = " to ".join(f"{number:,}" for number in sorted({min(queries), max(queries)}))
    tests = counted(sum(one == one for one in each), "test")
    caption = (
        f"{counted(len(names), 'run')} over {over} queries; the best value of each measure stands "
        f"out. {meanings} at p < {procedure.limit:.3g} ({test}, {how} {tests})."
    )
    seeds = seeds_in_words(first.names, first.runs)
    if seeds:
        seeds.append("Differences of systems are tested with the variance of queries and of seeds.")
    columns = [Column("run"), *columns]
    return PaperTable(
        columns,
        with_best_marked(columns, rows),
        caption=" ".join([caption, *seeds]),
        question="compare",
        signature=signature,
    )
