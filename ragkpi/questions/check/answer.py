"""Run all checks of the catalogue on a run, and put the findings into words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragkpi.errors import SeparateRankingsError
from ragkpi.questions.check.files import CheckedFile, CheckedRun, Example, without_repetitions
from ragkpi.questions.check.findings import (
    CHECKS,
    Asked,
    Check,
    Found,
    Part,
    Severity,
    TieRange,
    TieRanges,
    has_range,
)
from ragkpi.reports.layout import Answer, Cell, Column, Table
from ragkpi.wording import counted


@dataclass(frozen=True)
class Inspection:
    """All findings about a run, and the ranges of measures over the orders of its ties.

    Attributes
    ----------
    file
        The name of the run, for messages.
    queries, documents
        The number of each.
    findings
        The findings, in the order of the catalogue.
    ranges
        The extremes of the requested measures over all orders of ties; empty without ties.
    without_range
        The names of requested measures with unknown extremes.
    last_run_id
        The run id of the last line.
    changes
        The changes of ``--fix``, one per line; None without ``--fix``.
    """

    file: str
    queries: int
    documents: int
    findings: Sequence[tuple[Check, Found]]
    ranges: Sequence[TieRange]
    without_range: Sequence[str]
    last_run_id: bytes = b""
    changes: Sequence[str] | None = None

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(check.severity == severity for check, _ in self.findings)


def inspect_run(parts: Iterable[CheckedRun], asked: Asked, file: str) -> Inspection:
    """Run all checks on the parts of a run, whole queries each, without keeping a part."""
    findings = [(check, check.finding(asked)) for check in CHECKS]
    ranges = TieRanges(asked)
    queries, documents, last_run_id = 0, 0, b""
    for run in parts:
        part = Part(run, asked)
        for _, finding in findings:
            finding.see(part)
        clean = without_repetitions(run)
        ranges.see(part if clean is run else Part(clean, asked))
        queries += len(run.queries)
        documents += len(run)
        last_run_id = run.last_run_id
    results = [(check, found) for check, finding in findings if (found := finding.found())]
    tied = asked.judgements is not None and any(check.name == "ties" for check, _ in results)
    return Inspection(
        file=file,
        queries=queries,
        documents=documents,
        findings=results,
        ranges=ranges.extremes() if tied else [],
        without_range=[metric.name for metric in asked.metrics if tied and not has_range(metric)],
        last_run_id=last_run_id,
    )


def inspect_file(run: CheckedFile, asked: Asked) -> Inspection:
    """Run all checks on a file, reading it twice if necessary.

    Several rankings of a query in the file are its only finding, since none can be chosen.
    """
    try:
        return run.through(lambda parts: inspect_run(parts, asked, run.name))
    except SeparateRankingsError as problem:
        check = next(check for check in CHECKS if check.name == problem.finding)
        examples = [] if problem.line is None else [Example(problem.line, problem.found)]
        found = Found(1, f"{problem.found}; {problem.expected}", examples)
        return Inspection(run.name, 0, 0, [(check, found)], [], [])


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
    shown = slice(0 if several else 1, None)
    notes = [
        f"{inspection.file}: {note}" if several else note
        for inspection in inspections
        for note in _notes(inspection)
    ]
    many = len(inspections) > _FILES_NAMED
    explanation = [_sentence(inspection) for inspection in inspections if many]
    return Answer(
        question="check",
        rows=Table(columns[shown], [row[shown] for row in rows], notes, explanation=explanation),
        verdict=_verdict(inspections),
        findings={"runs": [_object(inspection) for inspection in inspections]},
        heads=4 if several else 3,
    )


def _rows(inspection: Inspection) -> Iterator[list[Cell]]:
    for check, finding in inspection.findings:
        heads = [
            Cell(inspection.file),
            Cell(check.severity, tone=_TONES[check.severity]),
            *map(Cell, (check.name, finding.count)),
        ]
        yield [*heads, Cell(), Cell(finding.text)]
        for line, text in finding.examples:
            where = Cell() if line is None else Cell(f"{inspection.file}:{line}")
            yield [*heads, where, Cell(text)]
        more = finding.count - len(finding.examples)
        if more > 0 and finding.examples and finding.examples[0].line:
            yield [*heads, Cell(), Cell(f"… and {more:,} more")]


def _notes(inspection: Inspection) -> Iterator[str]:
    if inspection.changes:
        yield f"fixed: {'; '.join(inspection.changes)}"
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


_FILES_NAMED = 3  # lines of a verdict


def _verdict(inspections: Sequence[Inspection]) -> list[str]:
    """Count the findings of each file, or of many files the files with findings."""
    if len(inspections) <= _FILES_NAMED:
        return [_sentence(inspection) for inspection in inspections]
    worst: dict[str, list[str]] = {}
    for inspection in inspections:
        severity = next((name for name in _TONES if inspection.count(name)), "")
        worst.setdefault(severity, []).append(inspection.file)
    counts = []
    for severity, kind in (("error", "errors"), ("warning", "warnings")):
        files = worst.get(severity, [])
        named = f" ({files[0]}{', …' if len(files) > 1 else ''})" if files else ""
        counts.append(f"{len(files)} with {kind}{named}")
    others = len(inspections) - sum(len(worst.get(name, [])) for name in ("error", "warning"))
    counts.append(f"{others} with neither")
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
