"""What lines of JSON look like: the values of one of them, and every byte around these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
LONGEST_PATTERN = 1 << 20  # bytes of a line that is taken for a pattern


class RecordKeys(NamedTuple):
    """Under which keys a record has what; None where nothing stands.

    `listed` is the key of the list whose elements have the keys of document, score and rank. Each
    value is a string or a number.
    """

    query: str
    document: str
    score: str | None
    rank: str | None
    run_id: str | None
    listed: str | None


class Region(NamedTuple):
    """Values and the bytes around them: ``literals[0] value literals[1] … literals[-1]``."""

    literals: list[bytes]
    keys: list[str]
    quoted: list[bool]

    def quotes(self) -> int:
        return sum(literal.count(b'"') for literal in self.literals)


Token = tuple[bytes, int, int]


class Pattern(NamedTuple):
    """A line: what stands before the list of documents, an element of it, and what stands behind.

    `separator` stands between two elements; a line that is a document is one element alone.
    """

    keys: RecordKeys
    head: Region
    element: Region
    separator: bytes
    tail: Region


def pattern_of(line: bytes, keys: RecordKeys) -> Pattern | None:
    """Return what lines like one look like; None if it is not simple enough.

    Parameters
    ----------
    line
        A line, which was decoded and has no key twice.
    keys
        What stands under which keys.
    """
    if len(line) > LONGEST_PATTERN:
        return None
    if keys.listed is not None:
        line = _shortened(line)
    tokens = [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(line)]
    if keys.listed is None:
        values = _values(tokens)
        if values is None or values[-1][1] != len(tokens):
            return None
        nothing = Region([b""], [], [])
        element = _region(line, tokens, [value for value, _ in values], 0, len(line))
        return Pattern(keys, nothing, element, b"", nothing)
    name = b'"' + keys.listed.encode() + b'"'
    opened = next(
        (
            place
            for place, (token, _, _) in enumerate(tokens)
            if token == name
            and [text for text, _, _ in tokens[place + 1 : place + 3]] == [b":", b"["]
        ),
        None,
    )
    if opened is None:
        return None
    first = opened + 3
    elements = []
    place = first
    while place < len(tokens) and tokens[place][0] == b"{":
        values = _values(tokens[place:])
        if values is None:
            return None
        elements.append((place, [value + place for value, _ in values], place + values[-1][1]))
        place += values[-1][1]
        if place >= len(tokens) or tokens[place][0] != b",":
            break
        place += 1
    if len(elements) < 2 or place >= len(tokens) or tokens[place][0] != b"]":
        return None
    rest = [(b"{", 0, 0), *tokens[1 : first - 1], (b"0", 0, 0), *tokens[place + 1 :]]
    outer = _values(rest)
    if outer is None or outer[-1][1] != len(rest):
        return None
    before, after = [], []
    for value, _ in outer:
        if value < first - 1:
            before.append(value)
        elif value > first - 1:
            after.append(value - first + place + 1)
    begin, stop = tokens[elements[0][0]][1], tokens[elements[-1][2] - 1][2]
    _, values_of_first, behind = elements[0]
    end = tokens[behind - 1][2]
    return Pattern(
        keys,
        _region(line, tokens, before, 0, begin),
        _region(line, tokens, values_of_first, begin, end),
        line[end : tokens[elements[1][0]][1]],
        _region(line, tokens, after, stop, len(line)),
    )


def _shortened(line: bytes) -> bytes:
    """Leave most elements of a list out, for the first two are enough of a pattern."""
    ends = [match.end() for match in islice((m for m in _TOKEN.finditer(line) if m[0] == b"}"), 2)]
    behind = line.rfind(b"}", 0, line.rfind(b"]") + 1) + 1
    return line[: ends[1]] + line[behind:] if len(ends) > 1 and behind > ends[1] else line


def _values(tokens: Sequence[Token]) -> list[tuple[int, int]] | None:
    """Return which tokens are values of an object that begins here, and how many it has.

    None for an object that holds more than strings and numbers.
    """
    values = []
    place = 0
    for opening in (b"{", b","):
        while place < len(tokens) and tokens[place][0] == opening:
            kinds = [token[:1] for token, _, _ in tokens[place + 1 : place + 4]]
            if len(kinds) < 3 or kinds[0] != b'"' or kinds[1] != b":" or kinds[2] in b"{}[],:":
                return None
            values.append((place + 3, place + 5))
            place += 4
            if opening == b"{":
                break
    if not values or place >= len(tokens) or tokens[place][0] != b"}":
        return None
    return values


def _region(
    line: bytes, tokens: Sequence[Token], values: Sequence[int], begin: int, end: int
) -> Region:
    literals, keys, quoted = [], [], []
    for value in values:
        text, first, last = tokens[value]
        is_string = text.startswith(b'"')
        literals.append(line[begin : first + is_string])
        begin = last - is_string
        keys.append(tokens[value - 2][0][1:-1].decode("utf-8", "surrogateescape"))
        quoted.append(is_string)
    return Region([*literals, line[begin:end]], keys, quoted)
