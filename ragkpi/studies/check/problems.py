"""Lines of a TREC run that cannot be read, or only in part; they are noted and skipped."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np

from ragkpi.formats.lines import Block, LineColumns, split_lines
from ragkpi.formats.tokens import Tokens
from ragkpi.formats.trec_runs import LINE
from ragkpi.records import NamedTuple
from ragkpi.wording import shown

Kind = Literal["columns", "number", "nul_byte", "extra_columns"]

MOST_EXAMPLES = 3


class Example(NamedTuple):
    """A line number of the run (None for the whole file), and what is wrong there."""

    line: int | None
    text: str


class Problems:
    """How many lines have a problem of each kind, and the first of them."""

    def __init__(self) -> None:
        self.count: Counter[Kind] = Counter()
        self.first: dict[Kind, list[Example]] = {}

    def add(self, kind: Kind, line: int, text: str) -> None:
        """Note a line."""
        self.count[kind] += 1
        if self.count[kind] <= MOST_EXAMPLES:
            self.first.setdefault(kind, []).append(Example(line, text))


def scan_tolerantly(block: Block, problems: Problems) -> LineColumns:
    """Split the lines that have all columns; note the others."""
    lines, wrong = split_lines(
        block, len(LINE.columns), extra=LINE.extra, comments=LINE.comments, wrong="all"
    )
    for line in wrong:
        if b"\0" in line.text:
            problems.add("nul_byte", line.number, f"a NUL byte ({shown(line.text)})")
        else:
            count = len(line.text.split())
            problems.add("columns", line.number, f"{count} columns ({shown(line.text)})")
    return lines


def note_extra_columns(lines: LineColumns, problems: Problems) -> None:
    """Note the lines with text after the run id."""
    end = lines.end[:, -1]
    rows = np.flatnonzero(end < lines.stop)
    rests = Tokens(lines.text, end[rows], lines.stop[rows])
    for line, rest in zip(lines.line[rows].tolist(), rests, strict=True):
        if rest.strip():
            count = len(LINE.columns) + len(rest.split())
            text = f"{count} columns, the last of them {shown(rest.strip())}"
            problems.add("extra_columns", line, text)
