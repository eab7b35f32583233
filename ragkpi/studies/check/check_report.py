"""The outcome of a check, and how it is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragkpi.studies.check.catalogue import CHECKS
from ragkpi.studies.check.finding import Check, Found, Severity, Subject
from ragkpi.studies.check.mend import without_repetitions
from ragkpi.studies.check.tie_range import TieRange, has_range, tie_ranges
from ragkpi.wording import counted


@dataclass(frozen=True)
class Inspection:
    """All findings about a run, and how far its ties could move measures."""

    file: str
    queries: int
    documents: int
    findings: Sequence[tuple[Check, Found]]
    ranges: Sequence[TieRange]
    without_range: Sequence[str]

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(check.severity == severity for check, _ in self.findings)


def examine(subject: Subject) -> Inspection:
    """Check everything in the catalogue."""
    findings = [(check, found) for check in CHECKS if (found := check.function(subject))]
    ranges: list[TieRange] = []
    unknown: list[str] = []
    if any(check.name == "ties" for check, _ in findings) and subject.judgements is not None:
        clean = without_repetitions(subject.run)
        ranges = tie_ranges(subject if clean is subject.run else replace(subject, run=clean))
        unknown = [metric.name for metric in subject.metrics if not has_range(metric)]
    return Inspection(
        file=subject.run.file,
        queries=len(subject.run.queries),
        documents=len(subject.run),
        findings=findings,
        ranges=ranges,
        without_range=unknown,
    )


def as_text(report: Inspection) -> Iterator[str]:
    """Yield the report as lines for people; places are written FILE:LINE."""
    parts = [
        counted(report.count("error"), "error"),
        counted(report.count("warning"), "warning"),
        counted(report.count("note"), "note"),
    ]
    size = f"{counted(report.queries, 'query', 'queries')}, {counted(report.documents, 'document')}"
    yield f"{report.file}: {', '.join(parts)} ({size})"
    for check, found in report.findings:
        yield f"{check.severity:8} {check.name}: {found.text}"
        for line, text in found.examples:
            place = "" if line is None else f"{report.file}:{line}: "
            yield f"         {place}{text}"
        if len(found.examples) < found.count and found.examples and found.examples[0].line:
            yield f"         … and {found.count - len(found.examples):,} more"
    if report.ranges:
        width = max(len(range_.name) for range_ in report.ranges)
        yield "range over all orders of equal scores:"
        yield f"         {'':{width}}  as printed    lowest   highest"
        for range_ in report.ranges:
            yield (
                f"         {range_.name:{width}}  {range_.value:10.4f}"
                f"{range_.lowest:10.4f}{range_.highest:10.4f}"
            )
    if report.without_range:
        yield f"         no range is computed for {', '.join(report.without_range)}"


def as_json(report: Inspection, changes: Sequence[str] | None) -> str:
    """Return the report as one JSON object; `changes` are those of --fix, None without it."""
    document: dict[str, Any] = {
        "file": report.file,
        "queries": report.queries,
        "documents": report.documents,
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "findings": [
            {
                "name": check.name,
                "severity": check.severity,
                "count": found.count,
                "text": found.text,
                "examples": [example._asdict() for example in found.examples],
            }
            for check, found in report.findings
        ],
        "tie_ranges": [asdict(range_) for range_ in report.ranges],
        "changes": changes,
    }
    return json.dumps(document, indent=2)
