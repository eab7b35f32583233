"""The study and the answer of `check`: findings, and how far ties could move measures, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.errors import SeparateRankingsError
from ragkpi.library.examiner import Examination, ExaminedRun, Example, QueryBlock
from ragkpi.measures.measure import Metric, score
from ragkpi.questions.check.findings import Found, RunTotals, Severity
from ragkpi.ranking.judge import judge
from ragkpi.ranking.reading import Hits, join_hits
from ragkpi.reports.layout import Answer, Cell, Check, Column
from ragkpi.wording import counted

_TONES: Mapping[Severity, Literal["plain", "bad", "warning"]] = {
    "error": "bad",
    "warning": "warning",
    "note": "plain",
}
_FILES_NAMED = 3  # lines of a verdict


@dataclass(frozen=True)
class TieRange:
    """A measure over all queries: its printed value, and the extremes over all orders of ties."""

    name: str
    value: float
    lowest: float
    highest: float


def has_range(metric: Metric) -> bool:
    """Return whether the extremes are known, because a higher level is never worth less.

    Such a measure is highest with the best levels first among equal scores, and lowest with the
    best levels last. The same holds for its means, since queries are ranked independently. With
    ``gains=`` a higher level may be worth less.
    """
    return metric.measure.ties == "monotone" and not metric.arguments.get("gains")


def tie_ranges(
    examination: Examination, metrics: Sequence[Metric], blocks: Sequence[Sequence[Hits]]
) -> list[TieRange]:
    """Return the ranges of metrics that have one, from `tie_orders` of blocks."""
    orders = [join_hits(list(parts)) for parts in zip(*blocks, strict=True)]
    if not orders or not (orders[0].query >= 0).any():
        return []
    judged = [judge(examination.qrels, hits, examination.settings)[0] for hits in orders]
    columns = [score(of_order, metrics).columns for of_order in judged]
    return [
        TieRange(metric.name, *(float(column.summary) for column in of_metric))
        for metric, *of_metric in zip(metrics, *columns, strict=True)
    ]


def tie_orders(block: QueryBlock) -> list[Hits]:
    """Return the hits as ranked, with the best levels last among ties, and with them first.

    No query of the block may repeat a document.
    """
    judgement = block.judgement[block.tied]
    # Negative levels gain as little as 0.
    worth = np.where(judgement < 0, -1, np.maximum(block.examination.qrels.level[judgement], 0))
    orders = block.order, *map(block.order_among_ties, (worth, -worth))
    return [_hits_in(order, block) for order in orders]


def _hits_in(order: IntArray, block: QueryBlock) -> Hits:
    """Return the hits of rankings in another order of the rows."""
    judgement = block.judgement[order]
    hit = np.flatnonzero(judgement >= 0)
    return Hits(
        queries=block.queries,
        query=block.judged_queries,
        num_ret=np.diff(block.starts),
        judgement=judgement[hit],
        rank=block.ranks[hit],
        run_id=b"",
    )


@dataclass(frozen=True)
class Inspection:
    """All findings about a run, and the ranges of measures over the orders of its ties."""

    file: str  # the name of the run, for messages
    queries: int  # the number of queries
    documents: int
    findings: Sequence[Found]  # in the order of the catalogue
    tie_ranges: Sequence[TieRange]  # of the requested measures; empty without ties
    without_range: Sequence[str]  # the names of requested measures with unknown extremes
    changes: Sequence[str] | None  # what ``--fix`` changes; None without ``--fix``

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(found.severity == severity for found in self.findings)


def inspect_run(file: ExaminedRun) -> Inspection:
    """Look for all findings in a run, whose blocks are not kept, reading it twice if necessary.

    Several rankings of a query in the file are its only finding, since none can be chosen.
    """
    examination = file.examination
    judged = examination.judgements is not None
    ranged = [metric for metric in examination.metrics if judged and has_range(metric)]

    def looked_at(blocks: Iterable[QueryBlock]) -> tuple[RunTotals, list[list[Hits]]]:
        run, orders = RunTotals(examination), []
        for block in blocks:
            run.add(block)
            if ranged:
                orders.append(tie_orders(block.distinct))
        run.tallies.update(file.unreadable)
        return run, orders

    try:
        run, orders = file.through(looked_at)
    except SeparateRankingsError as problem:
        examples = [] if problem.line is None else [Example(problem.line, problem.fault)]
        text = f"{problem.fault}; {problem.expected}"
        found = Found("separate-rankings", "error", 1, text, examples)
        return Inspection(file.name, 0, 0, [found], [], [], [])
    findings = run.found()
    tied = judged and any(found.name == "ties" for found in findings)
    return Inspection(
        file=file.name,
        queries=len(run.queries),
        documents=run.documents,
        findings=findings,
        tie_ranges=tie_ranges(examination, ranged, orders) if tied else [],
        without_range=[m.name for m in examination.metrics if tied and not has_range(m)],
        changes=changes_of(run),
    )


def changes_of(run: RunTotals) -> list[str]:
    """Say what `mended` changes in a run."""
    unreadable = sum(run.tallies[name].lines for name in ("columns", "number", "nul-byte"))
    duplicates = run.tallies["duplicates"].lines
    repeated = counted(duplicates, "repeated document")
    most = run.examination.max_hits
    cut = run.tallies["max-hits"].numbers[most or 0]
    changes = {
        f"dropped {counted(unreadable, 'line')} that cannot be read": unreadable,
        f"dropped {repeated}, keeping the highest score of each": duplicates,
        "sorted the lines by query, score and document": not run.is_sorted,
        f"cut {counted(cut, 'document')} below rank {most}": cut,
        "gave all lines the last run id": len(run.run_ids) > 1,
        "numbered the ranks from 1 by the scores": not run.is_numbered,
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
    many = len(inspections) > _FILES_NAMED
    explanation = [_sentence(inspection) for inspection in inspections if many]
    checks = [check for inspection in inspections for check in _checks(inspection)]
    return Answer(
        columns[first:],
        [row[first:] for row in rows],
        notes,
        verdict=_verdict(inspections),
        explanation=explanation,
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
    """Yield a check per finding, at its first line; one that passed for a file without any."""
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
        yield f"the same in all orders of equal scores: {', '.join(same)}"
    if inspection.without_range:
        names = ", ".join(inspection.without_range)
        yield f"{names}: how far ties could move it is not known"


def _verdict(inspections: Sequence[Inspection]) -> list[str]:
    """Count the findings of each file, or of many files the files with findings."""
    if len(inspections) <= _FILES_NAMED:
        return [_sentence(inspection) for inspection in inspections]
    worst = [next(filter(inspection.count, _TONES), "note") for inspection in inspections]
    pairs = list(zip(inspections, worst, strict=True))
    counts = []
    for severity in ("error", "warning"):
        files = [inspection.file for inspection, most in pairs if most == severity]
        names = f" ({files[0]}{', …' if len(files) > 1 else ''})" if files else ""
        counts.append(f"{len(files)} with {severity}s{names}")
    counts.append(f"{worst.count('note')} with neither")
    return [f"{len(inspections)} files: {', '.join(counts)}."]


def _sentence(inspection: Inspection) -> str:
    parts = ", ".join(counted(inspection.count(severity), severity) for severity in _TONES)
    queries = counted(inspection.queries, "query", "queries")
    documents = counted(inspection.documents, "document")
    return f"{inspection.file}: {parts} ({queries}, {documents})."
