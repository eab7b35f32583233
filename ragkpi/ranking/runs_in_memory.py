"""Runs that are in memory: mappings, rows and data frames."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.formats.file_formats import Reading
from ragkpi.formats.in_memory import mapped_rows, run_blocks
from ragkpi.formats.score_order import ranked_once
from ragkpi.formats.trec_runs import RunColumns, regrouped
from ragkpi.interface import option
from ragkpi.ranking.hits import JUDGED_ONLY, Hits, Wanted, hits_of, run_for
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import ScatteredQueryError, refusals
from ragkpi.records import dataclass


@dataclass(frozen=True, eq=False)
class RunInMemory:
    """A run as it was given to a function: a mapping, rows or a data frame.

    `reading` says whether small scores are the better ones, and what is done with documents.
    """

    given: Any
    reading: Reading | None = None

    def read_as(self, reading: Reading | str | None) -> RunInMemory:
        """Return the run as it is to be read; the name of a format says nothing about it."""
        if not isinstance(reading, Reading) or reading == self.reading:
            return self
        return RunInMemory(self.given, reading)

    @cached_property
    def blocks(self) -> list[RunColumns]:
        """The run as columns; errors as `run_blocks` has them."""
        shape = None if self.reading is None else self.reading.shape
        if self.reading is not None and self.reading.subset is not None:
            raise UsageError(
                f"{option('subset')} {self.reading.subset}: only a path can hold subsets"
            )
        blocks = run_blocks(self.given if shape is None else mapped_rows(self.given, shape))
        if shape is None or shape.score:
            return blocks
        by_rank = [_by_rank(block) for block in blocks]
        return [ranked_once(regrouped(RunColumns.joined(by_rank)))]

    def hits(self, judgements: Judgements, wanted: Wanted = JUDGED_ONLY) -> Hits:
        """Judge the run; errors as `run_blocks` has them, and for a document that comes twice."""
        try:
            return self._hits(judgements, wanted, held=False)
        except ScatteredQueryError:
            return self._hits(judgements, wanted, held=True)

    def _hits(self, judgements: Judgements, wanted: Wanted, held: bool) -> Hits:
        sieve = self.reading.sieve if self.reading else None
        treatment = sieve.treatment if sieve else {}
        if self.reading and self.reading.scores == "distance":
            treatment["distance"] = True
        run = run_for(judgements, wanted, held, **treatment)
        with refusals("run"):
            if (sieve and not sieve.in_kernel) or self._has_shape or not run.mapping(self.given):
                # What is no plain mapping goes row by row, and is refused there.
                run = run_for(judgements, wanted, held, **treatment)
                blocks = sieve.folded(self.blocks) if sieve and not sieve.in_kernel else self.blocks
                for part in blocks:
                    run.add(
                        part.query.column, part.starts, part.document.column, part.score, part.line
                    )
            found = run.finish()
        if not found["queries"]:
            run_blocks({})  # refuses it
        if sieve is not None:
            sieve.say("run", found["left_out"])
        return hits_of(run, found, b"run")

    @property
    def _has_shape(self) -> bool:
        return self.reading is not None and (
            self.reading.shape is not None or self.reading.subset is not None
        )


def _by_rank(block: RunColumns) -> RunColumns:
    """Return a run whose numbers are ranks, as one of scores."""
    return block._replace(score=-block.score, by_rank=np.ones(len(block.score), dtype=bool))
