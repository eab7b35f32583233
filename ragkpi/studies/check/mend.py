"""`--fix`: the run without its mistakes, and a list of the changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ragkpi.formats.rankings import Rankings
from ragkpi.formats.tokens import BoolArray, IntArray, Tokens
from ragkpi.records import replace
from ragkpi.studies.check.checked_run import CheckedRun
from ragkpi.wording import counted


class Mender:
    """Mends a run part after part, and counts the changes.

    Parameters
    ----------
    max_hits
        The most documents that a query keeps; None for all.
    """

    def __init__(self, max_hits: int | None = None) -> None:
        self._max_hits = max_hits
        self._unreadable = self._repeated = self._moved = self._cut = 0
        self._run_ids: set[bytes] = set()
        self._numbered = True

    def rankings(self, parts: Iterable[CheckedRun]) -> Iterator[Rankings]:
        """Yield the queries as they first appear, documents by score and id."""
        for run in parts:
            mended = without_repetitions(run)
            self._count(run, mended)
            query = Tokens.from_strings(mended.queries)
            rankings = Rankings(query, mended.starts, mended.ranked, mended.score[mended.order])
            yield rankings if self._max_hits is None else rankings.cut(self._max_hits)

    def _count(self, run: CheckedRun, mended: CheckedRun) -> None:
        self._unreadable = sum(
            run.problems.count[kind] for kind in ("columns", "number", "nul_byte")
        )
        self._repeated += len(run) - len(mended)
        self._moved += int(np.count_nonzero(run.order != np.arange(len(run))))
        if self._max_hits is not None:
            self._cut += int(np.maximum(np.diff(mended.starts) - self._max_hits, 0).sum())
        self._run_ids.update(run.first_of_run_ids.values())
        if mended.rank_numbers is not None:
            numbers, valid = mended.rank_numbers
            self._numbered &= bool(valid.all() and (numbers[mended.order] == mended.ranks).all())

    @property
    def changes(self) -> list[str]:
        """The changes, a line each."""
        changes = []
        if self._unreadable:
            changes.append(f"dropped {counted(self._unreadable, 'line')} that cannot be read")
        if self._repeated:
            changes.append(
                f"dropped {counted(self._repeated, 'repeated document')}, "
                "keeping the highest score of each"
            )
        if self._moved:
            changes.append("sorted the lines by query, score and document")
        if self._cut:
            changes.append(f"cut {counted(self._cut, 'document')} below rank {self._max_hits}")
        if len(self._run_ids) > 1:
            changes.append("gave all lines the last run id")
        if not self._numbered:
            changes.append("numbered the ranks from 1 by the scores")
        return changes


def without_repetitions(run: CheckedRun) -> CheckedRun:
    """Keep the best place of every document that a query retrieves several times."""
    if not len(run.repeated[0]):
        return run
    ranked = _select(run, run.order)  # the first place of a document is now its best
    again, _ = replace(ranked, line=np.arange(len(run))).repeated
    kept = np.ones(len(run), dtype=bool)
    kept[run.order[again]] = False
    return _select(run, kept)


def _select(run: CheckedRun, rows: IntArray | BoolArray) -> CheckedRun:
    return replace(
        run,
        query=run.query[rows],
        document=run.document.take(rows),
        score=run.score[rows],
        line=run.line[rows],
        rank=None if run.rank is None else run.rank.take(rows),
        run_id=None if run.run_id is None else run.run_id.take(rows),
    )
