"""The answer of `ragkpi check`: a row per finding, and one per example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.studies.check.finding import Severity
from ragkpi.studies.check.inspection import Inspection
from ragkpi.wording import counted

_TONES: Mapping[Severity, Literal["plain", "bad", "warning"]] = {
    "error": "bad",
    "warning": "warning",
    "note": "plain",
}


def check_answer(inspections: Sequence[Inspection]) -> Answer:
    """Put the findings about some runs into words; examples are named by FILE:LINE."""
    several = len(inspections) > 1
    rows = [row for inspection in inspections for row in _rows(inspection)]
    columns = [
        Column("run"),
        Column("severity"),
        Column("finding"),
        Column("count", "integer"),
        Column("where", role="detail" if several else "core"),
        Column("what", role="prose"),
    ]
    shown = slice(0 if several else 1, None)
    notes = [
        f"{inspection.file}: {note}" if several else note
        for inspection in inspections
        for note in _notes(inspection)
    ]
    return Answer(
        question="check",
        rows=Table(columns[shown], [row[shown] for row in rows], notes),
        sentences=[_sentence(inspection) for inspection in inspections],
        findings={"runs": [_object(inspection) for inspection in inspections]},
        heads=4 if several else 3,
    )


def _rows(inspection: Inspection) -> Iterator[list[Cell]]:
    for check, finding in inspection.findings:
        heads = [
            Cell(inspection.file),
            Cell(check.severity, tone=_TONES[check.severity]),
            Cell(check.name),
            Cell(finding.count),
        ]
        yield [*heads, Cell(), Cell(finding.text)]
        for line, text in finding.examples:
            where = Cell() if line is None else Cell(f"{inspection.file}:{line}")
            yield [*heads, where, Cell(text)]
        more = finding.count - len(finding.examples)
        if more > 0 and finding.examples and finding.examples[0].line:
            yield [*heads, Cell(), Cell(f"… and {more:,} more")]


def _notes(inspection: Inspection) -> Iterator[str]:
    for tied in inspection.ranges:
        if tied.lowest < tied.highest:
            yield (
                f"{tied.name} is {tied.value:.4f}; over all orders of equal scores it is "
                f"{tied.lowest:.4f} to {tied.highest:.4f}"
            )
    fixed = [tied.name for tied in inspection.ranges if tied.lowest == tied.highest]
    if fixed:
        yield f"the same in all orders of equal scores: {', '.join(fixed)}"
    if inspection.without_range:
        names = ", ".join(inspection.without_range)
        yield f"{names}: how far ties could move it is not known"
    for change in inspection.changes or ():
        yield f"fixed: {change}"


def _sentence(inspection: Inspection) -> str:
    parts = ", ".join(counted(inspection.count(severity), severity) for severity in _TONES)
    queries = counted(inspection.queries, "query", "queries")
    documents = counted(inspection.documents, "document")
    return f"{inspection.file}: {parts} ({queries}, {documents})."


def _object(inspection: Inspection) -> dict[str, Any]:
    return {
        "file": inspection.file,
        "queries": inspection.queries,
        "documents": inspection.documents,
        "errors": inspection.count("error"),
        "warnings": inspection.count("warning"),
        "notes": inspection.count("note"),
        "findings": [
            {
                "name": check.name,
                "severity": check.severity,
                "count": finding.count,
                "text": finding.text,
                "examples": [example._asdict() for example in finding.examples],
            }
            for check, finding in inspection.findings
        ],
        "tie_ranges": list(inspection.ranges),
        "without_range": list(inspection.without_range),
        "changes": None if inspection.changes is None else list(inspection.changes),
    }
