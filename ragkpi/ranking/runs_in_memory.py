"""Runs that are in memory: mappings, rows and data frames."""

from __future__ import annotations

from collections.abc import Iterable
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
    """A run as it was given to a function: a mapping, rows or a data frame."""

    given: Any

    @cached_property
    def blocks(self) -> list[RunColumns]:
        """The run as columns; errors as `run_blocks` has them."""
        return run_blocks(self.given)

    def hits(
        self, judgements: Judgements, wanted: Wanted = JUDGED_ONLY, reading: Reading | None = None
    ) -> Hits:
        """Judge the run; errors as `run_blocks` has them, and for a document that comes twice.

        The format in `reading` is for files and means nothing here.
        """
        reading = reading or Reading()
        try:
            return self._hits(judgements, wanted, reading, held=False)
        except ScatteredQueryError:
            return self._hits(judgements, wanted, reading, held=True)

    def _hits(self, judgements: Judgements, wanted: Wanted, reading: Reading, held: bool) -> Hits:
        sieve = reading.sieve
        treatment = sieve.treatment if sieve else {}
        if reading.scores == "distance":
            treatment["distance"] = True
        by_row = (sieve and not sieve.in_kernel) or reading.shape or reading.subset is not None
        run = run_for(judgements, wanted, held, **treatment)
        with refusals("run"):
            if by_row or not run.mapping(self.given):
                # What is no plain mapping goes row by row, and is refused there.
                run = run_for(judgements, wanted, held, **treatment)
                blocks: Iterable[RunColumns] = self._blocks_as(reading)
                for part in sieve.folded(blocks) if sieve and not sieve.in_kernel else blocks:
                    run.add(
                        part.query.column, part.starts, part.document.column, part.score, part.line
                    )
            found = run.finish()
        if not found["queries"]:
            run_blocks({})  # refuses it
        if sieve is not None:
            sieve.say("run", found["left_out"])
        return hits_of(run, found, b"run")

    def _blocks_as(self, reading: Reading) -> list[RunColumns]:
        """Return the run as columns, by the shape that `reading` names."""
        if reading.subset is not None:
            raise UsageError(f"{option('subset')} {reading.subset}: only a path can hold subsets")
        if reading.shape is None:
            return self.blocks
        blocks = run_blocks(mapped_rows(self.given, reading.shape))
        if reading.shape.score:
            return blocks
        by_rank = [_by_rank(block) for block in blocks]
        return [ranked_once(regrouped(RunColumns.joined(by_rank)))]


def _by_rank(block: RunColumns) -> RunColumns:
    """Return a run whose numbers are ranks, as one of scores."""
    return block._replace(score=-block.score, by_rank=np.ones(len(block.score), dtype=bool))
