"""Findings about single lines of a run: columns, numbers, run ids."""

from __future__ import annotations

import numpy as np

from ragkpi.studies.check.finding import Asked, Finding, Found, Part
from ragkpi.studies.check.problems import Kind
from ragkpi.wording import counted, listed, named


class _Lines(Finding):
    """Lines that cannot be read, or only in part."""

    kind: Kind
    words: tuple[str, str, str]

    def see(self, part: Part) -> None:
        problems = part.run.problems  # those of all parts so far
        self.count = problems.count[self.kind]
        self.examples = problems.first.get(self.kind, [])

    def text(self) -> str:
        singular, plural, what = self.words
        return f"{counted(self.count, singular, plural)} {what}"


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
        self.note(run, np.flatnonzero(np.isinf(run.score)), lambda row: f"score {run.score[row]}")

    def text(self) -> str:
        return f"{counted(self.count, 'score is', 'scores are')} infinite"


class RunIds(Finding):
    """Lines with different run ids: perhaps two runs in one file. The last one is reported."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._ids: dict[bytes, None] = {}

    def see(self, part: Part) -> None:
        run = part.run
        new = [row for row, id_ in run.first_of_run_ids.items() if id_ not in self._ids]
        self._ids.update(dict.fromkeys(run.first_of_run_ids.values()))
        rows = np.array(new, dtype=np.int64)
        self.note(run, rows, lambda row: f"run id {named(run.first_of_run_ids[row])}")

    def found(self) -> Found | None:
        return super().found() if self.count > 1 else None

    def text(self) -> str:
        return f"{self.count:,} different run ids: {listed(self._ids)}"


class Scattered(Finding):
    """Queries whose lines do not stand together; the values are the same.

    Such a run is held in memory and takes longer; 'ragkpi check --fix' puts the lines together.
    """

    def see(self, part: Part) -> None:
        self.count += part.run.stretches - len(part.run.queries)

    def text(self) -> str:
        return f"lines of a query go on elsewhere in the file {counted(self.count, 'time')}"
