"""The findings about runs in words, rows and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from ragkpi.questions.check.findings import Severity
from ragkpi.questions.check.study import Inspection
from ragkpi.reports.layout import Answer, Cell, Check, Column
from ragkpi.wording import counted

_TONES: Mapping[Severity, Literal["plain", "bad", "warning"]] = {
    "error": "bad",
    "warning": "warning",
    "note": "plain",
}


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
        findings={"runs": [_object(inspection) for inspection in inspections]},
        heads=4 if several else 3,
    )


def _rows(inspection: Inspection) -> Iterator[list[Cell]]:
    for finding, result in inspection.findings:
        heads = [
            Cell(inspection.file),
            Cell(finding.severity, tone=_TONES[finding.severity]),
            *map(Cell, (finding.name, result.count)),
        ]
        yield [*heads, Cell(), Cell(result.text)]
        for example in result.examples:
            where = None if example.line is None else f"{inspection.file}:{example.line}"
            yield [*heads, Cell(where), Cell(example.text)]
        more = result.count - len(result.examples)
        if more > 0 and result.examples and result.examples[0].line:
            yield [*heads, Cell(), Cell(f"… and {more:,} more")]


def _checks(inspection: Inspection) -> Iterator[Check]:
    """Yield a check per finding, at its first line; one that passed for a file without any."""
    for finding, result in inspection.findings:
        first = result.examples[0] if result.examples else None
        text = f"{result.text}: {first.text}" if first else result.text
        line = first.line if first else None
        yield Check(finding.name, finding.severity, text, inspection.file, line)
    if not inspection.findings:
        yield Check("check", "passed", _sentence(inspection), inspection.file)


def _notes(inspection: Inspection) -> Iterator[str]:
    if inspection.changes:
        yield f"fixed: {'; '.join(inspection.changes)}"
    for range_ in inspection.ranges:
        if range_.lowest < range_.highest:
            yield (
                f"{range_.name} is {range_.value:.4f}; over all orders of equal scores it is "
                f"{range_.lowest:.4f} to {range_.highest:.4f}"
            )
    same = [range_.name for range_ in inspection.ranges if range_.lowest == range_.highest]
    if same:
        yield f"the same in all orders of equal scores: {', '.join(same)}"
    if inspection.without_range:
        names = ", ".join(inspection.without_range)
        yield f"{names}: how far ties could move it is not known"


_FILES_NAMED = 3  # lines of a verdict


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


def _object(inspection: Inspection) -> dict[str, Any]:
    return {
        **{name: getattr(inspection, name) for name in ("file", "queries", "documents")},
        **{f"{severity}s": inspection.count(severity) for severity in _TONES},
        "findings": [
            {"name": finding.name, "severity": finding.severity, **vars(result)}
            for finding, result in inspection.findings
        ],
        "tie_ranges": list(inspection.ranges),
        "without_range": list(inspection.without_range),
        "changes": None if inspection.changes is None else list(inspection.changes),
    }
