"""The study of a run: all findings, and how far the order of equal scores could move measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.errors import SeparateRankingsError
from ragkpi.measures.measure import Metric, score
from ragkpi.questions.check.files import CheckedFile, CheckRequest, Example, QueryBlock
from ragkpi.questions.check.findings import FINDINGS, Finding, FindingResult, RunTotals, Severity
from ragkpi.ranking.judge import judge
from ragkpi.ranking.reading import Hits, join_hits
from ragkpi.wording import counted


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


def tie_ranges(request: CheckRequest, blocks: Sequence[Sequence[Hits]]) -> list[TieRange]:
    """Return the ranges of the requested measures that have one, from `tie_orders` of blocks."""
    metrics = [metric for metric in request.metrics if has_range(metric)]
    orders = [join_hits(list(parts)) for parts in zip(*blocks, strict=True)]
    if not metrics or request.judgements is None or not (orders[0].query >= 0).any():
        return []
    judged = [judge(request.judgements, hits, request.settings)[0] for hits in orders]
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
    worth = np.where(judgement < 0, -1, np.maximum(block.request.qrels.level[judgement], 0))
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
        run_id=block.last_run_id,
    )


@dataclass(frozen=True)
class Inspection:
    """All findings about a run, and the ranges of measures over the orders of its ties."""

    file: str  # the name of the run, for messages
    queries: int  # the number of queries
    documents: int
    findings: Sequence[tuple[Finding, FindingResult]]  # in the order of the catalogue
    ranges: Sequence[TieRange]  # of the requested measures; empty without ties
    without_range: Sequence[str]  # the names of requested measures with unknown extremes
    last_run_id: bytes = b""  # of the last line
    changes: Sequence[str] | None = None  # what ``--fix`` changes; None without ``--fix``

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(finding.severity == severity for finding, _ in self.findings)


def inspect_run(file: CheckedFile, blocks: Iterable[QueryBlock]) -> Inspection:
    """Look for all findings in a run, whose blocks are not kept."""
    request, orders = file.request, []
    run = RunTotals(request)
    ranged = request.judgements is not None and any(map(has_range, request.metrics))
    for block in blocks:
        run.add(block)
        if ranged:
            orders.append(tie_orders(block.distinct))
    run.tallies.update(file.unreadable)
    findings = run.results()
    tied = any(finding.name == "ties" for finding, _ in findings) and request.judgements is not None
    return Inspection(
        file=file.name,
        queries=len(run.queries),
        documents=run.documents,
        findings=findings,
        ranges=tie_ranges(request, orders) if tied and ranged else [],
        without_range=[m.name for m in request.metrics if tied and not has_range(m)],
        last_run_id=run.last_run_id,
        changes=changes_of(run),
    )


def changes_of(run: RunTotals) -> list[str]:
    """Say what `mended` changes in a run."""
    unreadable = sum(run.tallies[name].lines for name in ("columns", "number", "nul-byte"))
    duplicates = run.tallies["duplicates"].lines
    repeated = counted(duplicates, "repeated document")
    most = run.request.max_hits
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


def inspect_file(run: CheckedFile) -> Inspection:
    """Look for all findings in a file, reading it twice if necessary.

    Several rankings of a query in the file are its only finding, since none can be chosen.
    """
    try:
        return run.through(lambda blocks: inspect_run(run, blocks))
    except SeparateRankingsError as problem:
        (finding,) = [finding for finding in FINDINGS if finding.name == "separate-rankings"]
        examples = [] if problem.line is None else [Example(problem.line, problem.fault)]
        result = FindingResult(1, f"{problem.fault}; {problem.expected}", examples)
        return Inspection(run.name, 0, 0, [(finding, result)], [], [])
