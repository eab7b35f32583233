"""Everything in the catalogue, looked for in one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragkpi.errors import SeparateRankingsError
from ragkpi.records import dataclass
from ragkpi.studies.check.catalogue import CHECKS
from ragkpi.studies.check.checked_file import CheckedFile
from ragkpi.studies.check.checked_run import CheckedRun
from ragkpi.studies.check.finding import Asked, Check, Example, Found, Part, Severity
from ragkpi.studies.check.mend import without_repetitions
from ragkpi.studies.check.tie_range import TieRange, TieRanges, has_range


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
    last_run_id
        The run id of the last line.
    changes
        What ``--fix`` changed, a line each; None if nothing was to be mended.
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
    """Check everything in the catalogue.

    Parameters
    ----------
    parts
        All of the run, whole queries each; one that was looked at is not held.
    asked
        What it is checked for.
    file
        What messages call it.
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
    told = [(check, text) for check, finding in findings if (text := finding.found())]
    tied = asked.judgements is not None and any(check.name == "ties" for check, _ in told)
    return Inspection(
        file=file,
        queries=queries,
        documents=documents,
        findings=told,
        ranges=ranges.found() if tied else [],
        without_range=[metric.name for metric in asked.metrics if tied and not has_range(metric)],
        last_run_id=last_run_id,
    )


def inspect_file(run: CheckedFile, asked: Asked) -> Inspection:
    """Check everything in the catalogue, in a file that may have to be read twice.

    Separate rankings of a query are all that is found: nothing says which one is to be checked.
    """
    try:
        return run.through(lambda parts: inspect_run(parts, asked, run.name))
    except SeparateRankingsError as problem:
        check = next(check for check in CHECKS if check.name == problem.finding)
        examples = [] if problem.line is None else [Example(problem.line, problem.found)]
        found = Found(1, f"{problem.found}; {problem.expected}", examples)
        return Inspection(run.name, 0, 0, [(check, found)], [], [])
