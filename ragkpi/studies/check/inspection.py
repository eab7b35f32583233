"""Everything in the catalogue, looked for in one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragkpi.studies.check.catalogue import CHECKS
from ragkpi.studies.check.finding import Check, Found, Severity, Subject
from ragkpi.studies.check.mend import without_repetitions
from ragkpi.studies.check.tie_range import TieRange, has_range, tie_ranges


@dataclass(frozen=True)
class Inspection:
    """All findings about a run, and how far its ties could move measures.

    Attributes
    ----------
    file
        What messages call the run.
    queries, documents
        How many of each it has.
    findings
        What was found, in the order of the catalogue.
    ranges
        The extremes of the measures that were asked about, where anything ties.
    without_range
        The names of those whose extremes are not known.
    changes
        What ``--fix`` changed, a line each; None if nothing was to be mended.
    """

    file: str
    queries: int
    documents: int
    findings: Sequence[tuple[Check, Found]]
    ranges: Sequence[TieRange]
    without_range: Sequence[str]
    changes: Sequence[str] | None = None

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(check.severity == severity for check, _ in self.findings)


def inspect_run(subject: Subject) -> Inspection:
    """Check everything in the catalogue."""
    findings = [(check, finding) for check in CHECKS if (finding := check.function(subject))]
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
