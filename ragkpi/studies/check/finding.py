"""What a check finds, and what it may look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.measures.measure import Metric
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.studies.check.checked_run import CheckedRun

Severity = Literal["error", "warning", "note"]

MOST_EXAMPLES = 3


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
class Subject:
    """What is checked.

    Attributes
    ----------
    run
        The run, as far as it could be read.
    judgements
        The qrels, or None without any.
    values
        The measures that are asked about.
    settings
        The choices that change them.
    max_hits
        Most documents that a query may retrieve; None for any number.
    """

    run: CheckedRun
    judgements: Judgements | None = None
    metrics: Sequence[Metric] = ()
    settings: Settings = field(default_factory=Settings)
    max_hits: int | None = None

    @cached_property
    def judged_queries(self) -> IntArray:
        """The number of each query of the run in the judgements, -1 if it is not there, (Q,)."""
        index = {} if self.judgements is None else self.judgements.index
        return np.array([index.get(query, -1) for query in self.run.queries], dtype=np.int64)

    @cached_property
    def judgement(self) -> IntArray:
        """The row of each line's judgement, -1 if it has none, (n,)."""
        return self.find(self.run.document, self.judgements)

    def find(self, document: Tokens, judgements: Judgements | None) -> IntArray:
        """Find the judgement of each line by an id that may stand for its own, (n,)."""
        run = self.run
        rows = np.full(len(run), -1, dtype=np.int64)
        if judgements is not None:
            ranked = document.take(run.order)
            key = judgements.keys_of(ranked)
            position, row = judgements.find(self.judged_queries, run.starts, ranked, key)
            rows[run.order[position]] = row
        return rows

    @property
    def cutoffs(self) -> list[int]:
        """The ranks at which the measures cut the ranking off, ascending."""
        asked = {metric.arguments.get("cutoff") for metric in self.metrics}
        return sorted(cutoff for cutoff in asked if isinstance(cutoff, int))


@dataclass(frozen=True)
class Check:
    """One line of the catalogue; the docstring of `function` explains it."""

    name: str
    severity: Severity
    function: Callable[[Subject], Found | None]


def first_examples(
    run: CheckedRun, rows: IntArray, describe: Callable[[int], str]
) -> list[Example]:
    """Describe the rows that come first in the file."""
    first = rows[np.argsort(run.line[rows], kind="stable")[:MOST_EXAMPLES]]
    return [Example(int(run.line[row]), describe(row)) for row in first.tolist()]
