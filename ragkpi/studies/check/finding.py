"""Findings, and the parts of a run that they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from ragkpi.formats.tokens import IntArray
from ragkpi.measures.measure import Metric
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.records import NamedTuple, dataclass, field
from ragkpi.studies.check.checked_run import CheckedRun
from ragkpi.studies.check.problems import MOST_EXAMPLES, Example

Severity = Literal["error", "warning", "note"]

# The depths of the judged shares.
DEPTHS = (10, 100)


@dataclass(frozen=True)
class Found:
    """The result of a check: a count, a sentence, and the first places."""

    count: int
    text: str
    examples: Sequence[Example] = ()


@dataclass(frozen=True)
class Asked:
    """What to check a run against.

    Attributes
    ----------
    judgements
        The qrels; None without any.
    metrics
        The measures whose cutoffs and tie ranges are checked.
    settings
        The settings of those measures.
    max_hits
        The most documents that a query may retrieve; None for any number.
    """

    judgements: Judgements | None = None
    metrics: Sequence[Metric] = ()
    settings: Settings = field(default_factory=Settings)
    max_hits: int | None = None

    @property
    def cutoffs(self) -> list[int]:
        """The cutoffs of the measures, ascending."""
        cutoffs = {metric.arguments.get("cutoff") for metric in self.metrics}
        return sorted(cutoff for cutoff in cutoffs if isinstance(cutoff, int))


class Part:
    """Whole queries of a run, joined with the qrels.

    Parameters
    ----------
    run
        The n readable lines of the queries.
    asked
        What to check them against.
    """

    def __init__(self, run: CheckedRun, asked: Asked) -> None:
        self.run, self.asked = run, asked

    @cached_property
    def judged_queries(self) -> IntArray:
        """The number of each query in the judgements, -1 for an unjudged query, (Q,)."""
        judgements = self.asked.judgements
        index = {} if judgements is None else judgements.index
        return np.array([index.get(query, -1) for query in self.run.queries], dtype=np.int64)

    @cached_property
    def judgement(self) -> IntArray:
        """The row of each line's judgement, -1 for none, (n,)."""
        run, judgements = self.run, self.asked.judgements
        rows = np.full(len(run), -1, dtype=np.int64)
        if judgements is not None:
            position, row = judgements.find(self.judged_queries, run.starts, run.ranked)
            rows[run.order[position]] = row
        return rows

    @cached_property
    def meant(self) -> IntArray:
        """The row of the judgement whose id each unjudged document misspells, or -1, (n,)."""
        run, judgements = self.run, self.asked.judgements
        rows = np.full(len(run), -1, dtype=np.int64)
        if judgements is None:
            return rows
        for number in np.flatnonzero(self.judged_queries >= 0).tolist():
            of_query = run.order[run.starts[number] : run.starts[number + 1]]
            unjudged = of_query[self.judgement[of_query] < 0]
            documents = run.document.take(unjudged).tolist()
            spellings = judgements.spellings(int(self.judged_queries[number]))
            if spellings.any_meant(documents):
                rows[unjudged] = [spellings.meant(id_) for id_ in documents]
        return rows

    @cached_property
    def shares(self) -> IntArray:
        """Judged and retrieved documents of the judged queries down to each depth, (D, 2)."""
        run, judgements = self.run, self.asked.judgements
        of_judged = self.judged_queries >= 0
        if judgements is None or not of_judged.any():
            return np.zeros((len(DEPTHS), 2), dtype=np.int64)
        retrieved = np.diff(run.starts)[of_judged]
        row = self.judgement[run.order]
        hit = np.flatnonzero(row >= 0)
        rank = run.ranks[hit[judgements.level[row[hit]] >= 0]]
        return np.array(
            [
                (np.count_nonzero(rank <= depth), np.minimum(retrieved, depth).sum())
                for depth in DEPTHS
            ]
        )


class Finding:
    """One check of the catalogue. It sees a run part after part, and reports at the end.

    The docstring of a subclass explains the check to users.
    """

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.count = 0
        self.queries = 0
        self.examples: list[Example] = []

    def see(self, part: Part) -> None:
        """Look at some whole queries, in the order of the file."""

    def found(self) -> Found | None:
        """Return what was found; None for nothing."""
        return Found(self.count, self.text(), self.examples) if self.count else None

    def text(self) -> str:
        """Say what was found, if anything was."""
        raise NotImplementedError

    def note(self, run: CheckedRun, rows: IntArray, describe: Callable[[int], str]) -> None:
        """Count rows, and keep the first ones of the file as examples."""
        self.count += len(rows)
        room = MOST_EXAMPLES - len(self.examples)
        if room > 0:
            first = rows[np.argsort(run.line[rows], kind="stable")[:room]]
            self.examples += [Example(int(run.line[row]), describe(row)) for row in first.tolist()]


class Check(NamedTuple):
    """One line of the catalogue; the docstring of the finding explains it."""

    name: str
    severity: Severity
    finding: type[Finding]
