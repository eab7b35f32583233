"""Findings about single lines of a run: columns, numbers, run ids."""

from __future__ import annotations

import numpy as np

from ragkpi.studies.check.finding import MOST_EXAMPLES, Asked, Example, Finding, Found, Part
from ragkpi.studies.check.problems import Kind, Problems
from ragkpi.wording import counted, listed, named


class _Lines(Finding):
    """Lines that cannot be read, or only in part."""

    kind: Kind
    words: tuple[str, str, str]

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._problems = Problems()

    def see(self, part: Part) -> None:
        self._problems = part.run.problems

    def found(self) -> Found | None:
        count = self._problems.count[self.kind]
        if not count:
            return None
        singular, plural, what = self.words
        examples = [Example(*problem) for problem in self._problems.first[self.kind]]
        text = f"{counted(count, singular, plural)} {what}"
        return Found(count, text, examples[:MOST_EXAMPLES])


class Columns(_Lines):
    """Lines with fewer than the six columns `query Q0 document rank score run_id`.

    'ragkpi eval' stops at the first of them. Often a run id is missing, or a line was cut off.
    """

    kind = "columns"
    words = "line has", "lines have", "fewer than 6 columns"


class NoNumber(_Lines):
    """Scores that are no decimal numbers, NaN among them.

    'ragkpi eval' stops at the first of them; trec_eval takes a word for 0 and ranks NaN anywhere.
    """

    kind = "number"
    words = "line has", "lines have", "a score that is no number"


class NulByte(_Lines):
    """Lines with a NUL byte: the file is binary, damaged, or UTF-16.

    'ragkpi eval' stops at the first of them.
    """

    kind = "nul_byte"
    words = "line holds", "lines hold", "a NUL byte"


class ExtraColumns(_Lines):
    """Lines with more than six columns; the rest is ignored, as trec_eval does.

    A run id with a space in it is harmless; a document id with one is not.
    """

    kind = "extra_columns"
    words = "line has", "lines have", "more than 6 columns"


class Infinite(Finding):
    """Scores that are infinite: they rank first or last and tie with each other."""

    def see(self, part: Part) -> None:
        run = part.run
        rows = np.flatnonzero(np.isinf(run.score))
        self.count += len(rows)
        self.note(run, rows, lambda row: f"score {run.score[row]}")

    def found(self) -> Found | None:
        if not self.count:
            return None
        text = f"{counted(self.count, 'score')} {'is' if self.count == 1 else 'are'} infinite"
        return Found(self.count, text, self.examples)


class RunIds(Finding):
    """Lines with different run ids: perhaps two runs in one file. The last one is reported."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._ids: dict[bytes, None] = {}

    def see(self, part: Part) -> None:
        run = part.run
        if run.run_id is None or run.different_run_ids is None:
            return
        ids = run.run_id.take(run.different_run_ids).tolist()
        new = [
            row
            for row, id_ in zip(run.different_run_ids.tolist(), ids, strict=True)
            if id_ not in self._ids
        ]
        self._ids.update(dict.fromkeys(ids))
        run_id = run.run_id
        rows = np.array(new, dtype=np.int64)
        self.note(run, rows, lambda row: f"run id {named(run_id[row])}")

    def found(self) -> Found | None:
        count = len(self._ids)
        if count < 2:
            return None
        text = f"{count:,} different run ids: {listed(list(self._ids))}"
        return Found(count, text, self.examples)


class Scattered(Finding):
    """Queries whose lines do not stand together; the values are the same.

    Such a run is held in memory and takes longer; 'ragkpi check --fix' puts the lines together.
    """

    def see(self, part: Part) -> None:
        self.count += part.run.stretches - len(part.run.queries)

    def found(self) -> Found | None:
        if self.count <= 0:
            return None
        times = counted(self.count, "time")
        return Found(self.count, f"lines of a query go on elsewhere in the file {times}")
