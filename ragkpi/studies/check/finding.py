"""What a check finds, and what it may look at."""

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

Severity = Literal["error", "warning", "note"]

MOST_EXAMPLES = 3
# Where the judged share is looked at.
DEPTHS = (10, 100)


class Example(NamedTuple):
    """A place in the run: its physical line (None for the whole file), and what stands there."""

    line: int | None
    text: str


@dataclass(frozen=True)
class Found:
    """How often something was found, in words, and the first places."""

    count: int
    text: str
    examples: Sequence[Example] = ()


@dataclass(frozen=True)
class Asked:
    """What a run is checked for.

    Attributes
    ----------
    judgements
        The qrels, or None without any.
    metrics
        The measures that are asked about.
    settings
        The choices that change them.
    max_hits
        Most documents that a query may retrieve; None for any number.
    """

    judgements: Judgements | None = None
    metrics: Sequence[Metric] = ()
    settings: Settings = field(default_factory=Settings)
    max_hits: int | None = None

    @property
    def cutoffs(self) -> list[int]:
        """The ranks at which the measures cut the ranking off, ascending."""
        asked = {metric.arguments.get("cutoff") for metric in self.metrics}
        return sorted(cutoff for cutoff in asked if isinstance(cutoff, int))


class Part:
    """Whole queries of a run, beside the qrels.

    Parameters
    ----------
    run
        Its n readable lines.
    asked
        What it is checked for.
    """

    def __init__(self, run: CheckedRun, asked: Asked) -> None:
        self.run, self.asked = run, asked

    @cached_property
    def judged_queries(self) -> IntArray:
        """The number of each query of the part in the judgements, -1 if it is not there, (Q,)."""
        judgements = self.asked.judgements
        index = {} if judgements is None else judgements.index
        return np.array([index.get(query, -1) for query in self.run.queries], dtype=np.int64)

    @cached_property
    def judgement(self) -> IntArray:
        """The row of each line's judgement, -1 if it has none, (n,)."""
        run, judgements = self.run, self.asked.judgements
        rows = np.full(len(run), -1, dtype=np.int64)
        if judgements is not None:
            position, row = judgements.find(self.judged_queries, run.starts, run.ranked)
            rows[run.order[position]] = row
        return rows

    @cached_property
    def meant(self) -> IntArray:
        """The row of the judgement that each unjudged document is spelt like, or -1, (n,)."""
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
    def shares(self) -> list[tuple[int, int]]:
        """How many documents of judged queries are judged, and how many there are, by depth."""
        run, judgements = self.run, self.asked.judgements
        of_judged = self.judged_queries >= 0
        if judgements is None or not of_judged.any():
            return [(0, 0) for _ in DEPTHS]
        retrieved = np.diff(run.starts)[of_judged]
        row = self.judgement[run.order]
        hit = np.flatnonzero(row >= 0)
        rank = run.ranks[hit[judgements.level[row[hit]] >= 0]]
        return [
            (int(np.count_nonzero(rank <= depth)), int(np.minimum(retrieved, depth).sum()))
            for depth in DEPTHS
        ]


class Finding:
    """One kind of what may be wrong with a run: sees it part after part, and tells in the end.

    The docstring of a kind explains it to users.
    """

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.count = 0
        self.queries = 0
        self.examples: list[Example] = []

    def see(self, part: Part) -> None:
        """Look at some whole queries, in the order of the file."""

    def found(self) -> Found | None:
        """Say what was found; None for nothing."""
        raise NotImplementedError

    def note(self, run: CheckedRun, rows: IntArray, describe: Callable[[int], str]) -> None:
        """Keep rows as examples, those that come first in the file."""
        room = MOST_EXAMPLES - len(self.examples)
        if room > 0:
            first = rows[np.argsort(run.line[rows], kind="stable")[:room]]
            self.examples += [Example(int(run.line[row]), describe(row)) for row in first.tolist()]


@dataclass(frozen=True)
class Check:
    """One line of the catalogue; the docstring of the kind of finding explains it."""

    name: str
    severity: Severity
    finding: type[Finding]
