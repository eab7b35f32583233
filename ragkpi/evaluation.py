"""`Evaluation`: one evaluated run, with its values and the data behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.files.opening import Source
from ragkpi.measures.measure import Scores
from ragkpi.ranking.judge import Coverage
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.reading import Hits, RunInMemory
from ragkpi.ranking.relevance import AnyJudged

RunOrPath: TypeAlias = "str | Source | RunInMemory"
"""The path of a run, an open run, or a run in memory."""


@dataclass(frozen=True)
class Evaluation:
    """One evaluated run: its values, the hits and the judged run behind them, and messages.

    `name` is the name of the run in a result. `coverage` has the queries only in the qrels and the
    queries only in the run. `notes` report omissions and assumptions, `warnings` misleading values.
    """

    name: str
    hits: Hits
    judged: AnyJudged
    coverage: Coverage
    scores: Scores
    notes: Sequence[str]
    warnings: Sequence[str]

    def has_ranking_of(self, other: Evaluation) -> bool:
        """Return whether both rank the same judged documents equally, so that no value differs."""
        columns = ("num_ret", "query", "rank", "judgement")
        runs = self.judged, other.judged
        return all(isinstance(run, Judged) for run in runs) and all(
            np.array_equal(*(getattr(run, name) for run in runs)) for name in columns
        )

    @property
    def plain(self) -> Judged:
        """Return `judged` if the qrels are plain and have levels; else raise `UsageError`."""
        if not isinstance(self.judged, Judged):
            raise UsageError("this is answered for plain qrels alone")
        if self.judged.gains is not None:
            raise UsageError("this is answered by levels; qrels with fractional ones are gains")
        return self.judged
