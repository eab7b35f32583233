"""The study and the answer of `check`: findings, and the effect of ties on measures, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragkpi.errors import SeparateRankingsError
from ragkpi.files.trec import QrelsColumns, RunColumns
from ragkpi.interface import spell
from ragkpi.library.examiner import ExaminedRun, Example
from ragkpi.measures.measure import Metric, score
from ragkpi.questions.check.findings import Found, Severity, findings_of
from ragkpi.ranking.judge import judge
from ragkpi.ranking.judgements import repeated_rows
from ragkpi.reports.layout import Answer, Cell, Check, Column
from ragkpi.wording import counted, named

_TONES: Mapping[Severity, Literal["plain", "bad", "warning"]] = {
    "error": "bad",
    "warning": "warning",
    "note": "plain",
}


@dataclass(frozen=True)
class TieRange:
    """A measure over all queries: its printed value, and the extremes over all orders of ties."""

    name: str
    value: float
    lowest: float
    highest: float


def has_range(metric: Metric) -> bool:
    """Return whether the extremes are known, because a higher level never lowers the value.

    The measure is highest with the best levels first among equal scores, and lowest with the best
    levels last. The same holds for its means, since queries are ranked independently. With
    ``gains=``, a higher level can lower the value.
    """
    return metric.measure.ties == "monotone" and not metric.arguments.get("gains")


def tie_ranges(run: ExaminedRun, metrics: Sequence[Metric]) -> list[TieRange]:
    """Return the ranges of metrics that have one."""
    qrels, hits = run.examination.qrels, run.hits
    if not (hits.query >= 0).any():
        return []
    orders = [hits, hits.among_ties(qrels, "worst"), hits.among_ties(qrels, "best")]
    judged = [judge(qrels, order, run.examination.settings)[0] for order in orders]
    columns = [score(of_order, metrics).columns for of_order in judged]
    return [
        TieRange(metric.name, *(float(column.summary) for column in of_metric))
        for metric, *of_metric in zip(metrics, *columns, strict=True)
    ]


@dataclass(frozen=True)
class Inspection:
    """All findings about a run, and the ranges of measures over the orders of its ties."""

    file: str  # the name of the run, for messages
    queries: int  # the number of queries
    documents: int
    findings: Sequence[Found]  # in the order of the catalogue
    tie_ranges: Sequence[TieRange]  # of the requested measures; empty without ties
    without_range: Sequence[str]  # the names of requested measures with unknown extremes
    changes: Sequence[str] | None  # the changes of ``--fix``; None without ``--fix``

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(found.severity == severity for found in self.findings)


def refused_run(file: str, problem: SeparateRankingsError) -> Inspection:
    """Report several rankings of a query in a file: its only finding, since none can be chosen."""
    examples = [] if problem.line is None else [Example(problem.line, problem.fault)]
    text = f"{problem.fault}; {problem.expected}"
    found = Found("separate-rankings", "error", 1, text, examples)
    return Inspection(file, 0, 0, [found], [], [], [])


def judged_again(qrels: QrelsColumns) -> Inspection:
    """Report documents that qrels judge several times for a query, all of them."""
    rows, first = repeated_rows(qrels)
    examples = [
        Example(
            int(qrels.line[row]),
            f"document {named(qrels.document[row])} of query {named(qrels.query[row])} again, "
            f"level {qrels.level[row]}; line {qrels.line[of]} has level {qrels.level[of]}",
        )
        for row, of in zip(rows.tolist(), first.tolist(), strict=True)
    ]
    text = (
        f"{counted(len(rows), 'judgement')} of a document that is already judged; "
        f"{spell('repeated', 'max')} (or mean, last) with {spell('fix', 'OUT')} writes each once"
    )
    found = Found("repeated-judgements", "error", len(rows), text, examples)
    queries = len(np.unique(qrels.query.first_rows()))
    return Inspection(qrels.file, queries, len(qrels.line), [found], [], [], None)


def inspect_run(run: ExaminedRun) -> Inspection:
    """Look for all findings in a run."""
    metrics = run.examination.metrics
    findings = findings_of(run)
    judged = run.examination.judgements is not None
    tied = judged and any(found.name == "ties" for found in findings)
    ranged = [metric for metric in metrics if tied and has_range(metric)]
    return Inspection(
        file=run.file,
        queries=len(run.queries),
        documents=len(run),
        findings=findings,
        tie_ranges=tie_ranges(run, ranged) if ranged else [],
        without_range=[m.name for m in metrics if tied and not has_range(m)],
        changes=changes_of(run),
    )


def mended(run: ExaminedRun) -> Iterator[RunColumns]:
    """Yield the rankings of a run, cut at ``max_hits``, with the last run id."""
    rankings, most = run.rankings, run.examination.max_hits
    if most is not None:
        rankings = rankings.kept(np.flatnonzero(rankings.ranks() <= most))
    return rankings.pieces()


def changes_of(run: ExaminedRun) -> list[str]:
    """Describe the changes of `mended` in a run."""
    unreadable, duplicates = len(run.skipped), len(run.repeated[0])
    repeated = counted(duplicates, "repeated document")
    most = run.examination.max_hits
    sizes = np.diff(run.distinct.starts)
    cut = 0 if most is None else int(np.maximum(sizes - most, 0).sum())
    run_ids = 0 if run.run_id is None else len(np.unique(run.run_id.first_rows()))
    lines = run.line[run.order]  # lines of a scattered query are brought together
    is_sorted = bool((np.diff(run.order) > 0).all() and (np.diff(lines) >= 0).all())
    best = run.distinct
    is_numbered = best.rank is None or (best.rank.numbers()[best.order] == best.ranks).all()
    changes = {
        f"dropped {counted(unreadable, 'line')} that cannot be read": unreadable,
        f"dropped {repeated}, keeping the highest score of each": duplicates,
        "sorted the lines by query, score and document": not is_sorted,
        f"cut {counted(cut, 'document')} below rank {most}": cut,
        "gave all lines the last run id": run_ids > 1,
        "numbered the ranks from 1 by the scores": not is_numbered,
    }
    return [change for change, made in changes.items() if made]


def check_answer(inspections: Sequence[Inspection]) -> Answer:
    """Put the findings about runs into words, with examples by FILE:LINE."""
    several = len(inspections) > 1
    rows = [row for inspection in inspections for row in _rows(inspection)]
    columns = [
        *map(Column, ("run", "severity", "finding")),
        Column("count", "integer"),
        Column("where", role="detail" if several else "core"),
        Column("what", role="prose"),
    ]
    first = 0 if several else 1
    notes = [
        f"{inspection.file}: {note}" if several else note
        for inspection in inspections
        for note in _notes(inspection)
    ]
    checks = [check for inspection in inspections for check in _checks(inspection)]
    return Answer(
        columns[first:],
        [row[first:] for row in rows],
        notes,
        verdict=list(map(_sentence, inspections)),
        checks=checks,
        question="check",
        findings={
            "runs": [
                vars(inspection)
                | {f"{severity}s": inspection.count(severity) for severity in _TONES}
                for inspection in inspections
            ]
        },
        heads=4 if several else 3,
    )


def _rows(inspection: Inspection) -> Iterator[list[Cell]]:
    for found in inspection.findings:
        severity = Cell(found.severity, tone=_TONES[found.severity])
        heads = [Cell(inspection.file), severity, Cell(found.name), Cell(found.count)]
        yield [*heads, Cell(), Cell(found.text)]
        for example in found.examples:
            where = None if example.line is None else f"{inspection.file}:{example.line}"
            yield [*heads, Cell(where), Cell(example.text)]
        more = found.count - len(found.examples)
        if more > 0 and found.examples and found.examples[0].line:
            yield [*heads, Cell(), Cell(f"… and {more:,} more")]


def _checks(inspection: Inspection) -> Iterator[Check]:
    """Yield a check per finding, at its first line; a passed check for a file without findings."""
    for found in inspection.findings:
        text, line = found.text, None
        for example in found.examples[:1]:
            text, line = f"{text}: {example.text}", example.line
        yield Check(found.name, found.severity, text, inspection.file, line)
    if not inspection.findings:
        yield Check("check", "passed", _sentence(inspection), inspection.file)


def _notes(inspection: Inspection) -> Iterator[str]:
    if inspection.changes:
        yield f"fixed: {'; '.join(inspection.changes)}"
    for range_ in inspection.tie_ranges:
        if range_.lowest < range_.highest:
            yield (
                f"{range_.name} is {range_.value:.4f}; over all orders of equal scores it is "
                f"{range_.lowest:.4f} to {range_.highest:.4f}"
            )
    same = [range_.name for range_ in inspection.tie_ranges if range_.lowest == range_.highest]
    if same:
        yield f"unaffected by ties: {', '.join(same)}"
    if inspection.without_range:
        names = ", ".join(inspection.without_range)
        yield f"{names}: the effect of ties is not known"


def _sentence(inspection: Inspection) -> str:
    parts = ", ".join(counted(inspection.count(severity), severity) for severity in _TONES)
    queries = counted(inspection.queries, "query", "queries")
    documents = counted(inspection.documents, "document")
    return f"{inspection.file}: {parts} ({queries}, {documents})."
