"""`--fix`: the run without what was wrong with it, and what that took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ragkpi.formats.rows import Ranking
from ragkpi.formats.tokens import BoolArray, IntArray
from ragkpi.studies.check.checked_run import CheckedRun
from ragkpi.wording import counted


@dataclass(frozen=True)
class Mended:
    """A run that can be submitted, and what was changed to make it so, a line each."""

    run: CheckedRun
    max_hits: int | None
    changes: list[str]

    def rankings(self) -> Iterator[Ranking]:
        """Yield the queries as they first appear, documents by score and id."""
        run = self.run
        documents = run.document.take(run.order).tolist()
        scores = run.score[run.order].tolist()
        bounds = run.starts.tolist()
        for query, start, end in zip(run.queries, bounds[:-1], bounds[1:], strict=True):
            if self.max_hits is not None:
                end = min(end, start + self.max_hits)
            yield Ranking(query, documents[start:end], scores[start:end])


def without_repetitions(run: CheckedRun) -> CheckedRun:
    """Keep the best place of every document that a query has several times."""
    if not len(run.repeated[0]):
        return run
    ranked = _select(run, run.order)  # so that the first one is the best one
    again, _ = replace(ranked, line=np.arange(len(run))).repeated
    kept = np.ones(len(run), dtype=bool)
    kept[run.order[again]] = False
    return _select(run, kept)


def mend(run: CheckedRun, max_hits: int | None) -> Mended:
    """Drop unreadable lines and repetitions, sort, renumber the ranks and cut at `max_hits`."""
    changes = []
    dropped = sum(run.problems.count[kind] for kind in ("columns", "number", "nul_byte"))
    if dropped:
        changes.append(f"dropped {counted(dropped, 'line')} that cannot be read")
    mended = without_repetitions(run)
    if len(mended) < len(run):
        changes.append(
            f"dropped {counted(len(run) - len(mended), 'repeated document')}, "
            "keeping the highest score of each"
        )
    moved = len(run) - int(np.count_nonzero(run.order == np.arange(len(run))))
    if moved:
        changes.append("sorted the lines by query, score and document")
    if max_hits is not None:
        cut = int(np.maximum(np.diff(mended.starts) - max_hits, 0).sum())
        if cut:
            changes.append(f"cut {counted(cut, 'document')} below rank {max_hits}")
    if run.different_run_ids is not None and len(run.different_run_ids[1]) > 1:
        changes.append("gave all lines the last run id")
    if mended.rank_numbers is not None and not _is_numbered(mended, *mended.rank_numbers):
        changes.append("numbered the ranks from 1 by the scores")
    return Mended(mended, max_hits, changes)


def _is_numbered(run: CheckedRun, numbers: IntArray, valid: BoolArray) -> bool:
    """Say whether ranks count from 1 by the scores."""
    return bool(valid.all()) and bool((numbers[run.order] == run.ranks).all())


def _select(run: CheckedRun, rows: IntArray | BoolArray) -> CheckedRun:
    return CheckedRun(
        file=run.file,
        queries=run.queries,
        query=run.query[rows],
        document=run.document.take(rows),
        score=run.score[rows],
        line=run.line[rows],
        rank=None if run.rank is None else run.rank.take(rows),
        run_id=None if run.run_id is None else run.run_id.take(rows),
        last_run_id=run.last_run_id,
        places=run.places,
        problems=run.problems,
    )
