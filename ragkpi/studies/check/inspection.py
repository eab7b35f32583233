"""All checks of the catalogue, on one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragkpi.errors import SeparateRankingsError
from ragkpi.records import dataclass
from ragkpi.studies.check.catalogue import CHECKS
from ragkpi.studies.check.checked_file import CheckedFile
from ragkpi.studies.check.checked_run import CheckedRun
from ragkpi.studies.check.finding import Asked, Check, Found, Part, Severity
from ragkpi.studies.check.mend import without_repetitions
from ragkpi.studies.check.problems import Example
from ragkpi.studies.check.tie_range import TieRange, TieRanges, has_range


@dataclass(frozen=True)
class Inspection:
    """All findings about a run, and how far its ties could move measures.

    Attributes
    ----------
    file
        The name of the run, for messages.
    queries, documents
        How many of each it has.
    findings
        The findings, in the order of the catalogue.
    ranges
        The extremes of the requested measures over all orders of ties; empty without ties.
    without_range
        The names of requested measures whose extremes are not known.
    last_run_id
        The run id of the last line.
    changes
        The changes of ``--fix``, a line each; None without ``--fix``.
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
    """Run all checks of the catalogue.

    Parameters
    ----------
    parts
        All parts of the run, whole queries each; none is kept in memory.
    asked
        What to check the run against.
    file
        The name of the run, for messages.
    """
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
    """Run all checks on a file, which may have to be read twice.

    A file with separate rankings of a query has no other finding: no ranking can be chosen.
    """
    try:
        return run.through(lambda parts: inspect_run(parts, asked, run.name))
    except SeparateRankingsError as problem:
        check = next(check for check in CHECKS if check.name == problem.finding)
        examples = [] if problem.line is None else [Example(problem.line, problem.found)]
        found = Found(1, f"{problem.found}; {problem.expected}", examples)
        return Inspection(run.name, 0, 0, [(check, found)], [], [])
