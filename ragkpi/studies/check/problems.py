"""Lines of a TREC run that cannot be read, or only in part: they are noted, and passed over."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import Block
from ragkpi.formats.line_scanner import Lines, scan
from ragkpi.formats.tokens import Tokens
from ragkpi.formats.trec_runs import LINE
from ragkpi.records import NamedTuple
from ragkpi.wording import shown

Kind = Literal["columns", "number", "nul_byte", "extra_columns"]

_MOST_KEPT = 100


class Problem(NamedTuple):
    """A line that cannot be read, or only in part."""

    line: int
    text: str


class Problems:
    """How many lines have a problem of each kind, and the first of them."""

    def __init__(self) -> None:
        self.count: Counter[Kind] = Counter()
        self.first: dict[Kind, list[Problem]] = {}

    def add(self, kind: Kind, line: int, text: str) -> None:
        """Note a line."""
        self.count[kind] += 1
        if self.count[kind] <= _MOST_KEPT:
            self.first.setdefault(kind, []).append(Problem(line, text))


def scan_tolerantly(block: Block, problems: Problems) -> Lines:
    """Find the columns of all lines that have them; the others are noted, and blanked."""
    try:
        return scan(block, LINE)
    except InputError:
        start = block.start
        for number, line in enumerate(_lines(block), start=block.first_line):
            if not _readable(number, line, problems):
                block.buffer[start : start + len(line)] = ord(" ")
            start += len(line) + 1
    return scan(block, LINE)


def _lines(block: Block) -> list[bytes]:
    return block.buffer[block.start : block.end].tobytes().split(b"\n")[:-1]


def _readable(number: int, line: bytes, problems: Problems) -> bool:
    """Say whether a line is a result, a comment or blank; note it if it is none of them."""
    if b"\0" in line:
        problems.add("nul_byte", number, f"a NUL byte ({shown(line)})")
        return False
    words = line.split()
    if not words or words[0].startswith(b"#") or len(words) >= len(LINE.columns):
        return True
    problems.add("columns", number, f"{len(words)} columns ({shown(line)})")
    return False


def note_extra_columns(block: Block, table: Lines, problems: Problems) -> None:
    """Note the lines on which anything follows the run id."""
    end = table.column(len(LINE.columns) - 1).end
    following = block.buffer[end]
    rows = np.flatnonzero((following != ord("\n")) & (following != ord("\r")))
    if not len(rows):
        return
    newlines = block.start + np.flatnonzero(block.buffer[block.start : block.end] == ord("\n"))
    rests = Tokens(block.buffer, end[rows], newlines[np.searchsorted(newlines, end[rows])])
    for line, rest in zip(table.line[rows].tolist(), rests, strict=True):
        if rest.strip():
            count = len(LINE.columns) + len(rest.split())
            text = f"{count} columns, the last of them {shown(rest.strip())}"
            problems.add("extra_columns", line, text)
