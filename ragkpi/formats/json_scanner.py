"""Lines of JSON that all look alike, read by their commas, without decoding.

What a program writes has the same keys and spaces in every line: nothing but the values differs.
Between two values stands the same text each time, a *literal*. It has one comma, or at the end of
a line the newline; so the places of commas and newlines tell where all literals are, and what is
between them is values. Every byte of every literal is compared with that of one line, which was
decoded. Whatever is unlike it is left to the decoder.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ragkpi.formats.blocks import Block
from ragkpi.formats.decimals import parse_decimals, parse_json_numbers
from ragkpi.formats.json_patterns import Pattern, Region
from ragkpi.formats.line_scanner import Lines
from ragkpi.formats.literals import stand_alone
from ragkpi.formats.tokens import BoolArray, ByteArray, IntArray, Tokens
from ragkpi.formats.trec_runs import ColumnOrder

# With so many bytes a comma, it is faster to count the quotes before each than before each byte.
_BYTES_OF_TEXT = 32
_QUOTE, _BACKSLASH, _NEWLINE, _COMMA = b'"\\\n,'

_ESCAPES, _HEXADECIMAL = np.zeros((2, 256), dtype=bool)
_ESCAPES[list(b'"\\/bfnrtu')] = True
_HEXADECIMAL[list(b"0123456789abcdefABCDEF")] = True

# Where literals begin, or where a value begins and ends.
Places = IntArray
Span = tuple[Places, Places]


class UnlikeError(Exception):
    """A block with a line that is not like the others."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block


class _Literal(NamedTuple):
    """A literal, and where its mark, the comma or the newline, is; -1 if it has not one."""

    text: bytes
    mark: int

    @classmethod
    def of(cls, text: bytes) -> _Literal:
        marks = [place for place, octet in enumerate(text) if octet in (_COMMA, _NEWLINE)]
        return cls(text, marks[0] if len(marks) == 1 else -1)


class LikeLines:
    """What all lines of a file are like.

    A record is what a line holds: values of its own, the elements of its list, and again values of
    its own. Where each line is one document, a block is one record, and its lines are the elements.

    Attributes
    ----------
    layout
        In which columns the lines that are found have what.
    """

    def __init__(self, pattern: Pattern) -> None:
        keys, head, element, separator, tail = pattern
        self._listed = keys.listed is not None
        self._has_run_id = keys.run_id is not None
        self._keys = head.keys, element.keys, tail.keys
        # Columns, and whether they are the record's: it and its elements may both have a key "id".
        columns = [
            (keys.query, self._listed),
            (keys.document, False),
            (keys.score, False),
            (keys.rank, False),
            (keys.run_id, self._listed),
        ]
        self._columns = [(name, is_of_record) for name, is_of_record in columns if name]
        self._bare_of_record, self._bare = _bare(head) | _bare(tail), _bare(element)
        # Scores and ranks are looked at where they are read.
        parsed = {name for name in (keys.score, keys.rank) if name}
        all_bare = parsed <= self._bare
        self._bare -= parsed if all_bare else set()
        column = itertools.count(2)
        self.layout = ColumnOrder(
            self.scan,
            0,
            1,
            next(column) if keys.score else None,
            next(column) if keys.rank else None,
            next(column) if keys.run_id else None,
            padded=False,
            numbers=parse_json_numbers if all_bare else parse_decimals,
        )

        first, *inside, last = element.literals
        before = [*head.literals[:-1], head.literals[-1] + first]
        after = [last + tail.literals[0], *tail.literals[1:]]
        after[-1] += b"\n"
        self._before, self._inside, self._after = (
            [_Literal.of(text) for text in texts] for texts in (before, inside, after)
        )
        self._between = _Literal.of(last + (separator if self._listed else b"\n") + first)
        marked = [*self._before[1:], *self._inside, self._between, *self._after]
        self._has_marks = b"," not in before[0] and all(literal.mark >= 0 for literal in marked)
        self._has_marks &= not any(b"\\" in text for text in before + inside + after)
        self._commas_in_strings = False

    def scan(self, block: Block) -> Lines:
        """Find the columns of every document of a block; `UnlikeError` if a line is unlike."""
        text = block.buffer[block.start : block.end]
        lines, quotes, commas = None, text == _QUOTE, text == _COMMA
        backslashes = np.flatnonzero(text == _BACKSLASH)
        escaped = _escaped(text, backslashes)
        if self._has_marks and escaped is not None:
            quotes[escaped] = False
            if not self._commas_in_strings:
                lines = self._scan(block, commas, quotes)
            if lines is None:
                # A comma is in a string if the quotes before it are odd.
                places = np.flatnonzero(commas)
                if len(places) < len(text) // _BYTES_OF_TEXT:
                    odd = np.searchsorted(np.flatnonzero(quotes), places) % 2 == 1
                else:
                    odd = np.logical_xor.accumulate(quotes)[places]
                commas[places[odd]] = False
                lines = self._scan(block, commas, quotes)
                self._commas_in_strings = lines is not None
        if lines is None or (len(backslashes) and _have_any(lines, backslashes + block.start)):
            raise UnlikeError(block)
        return lines

    def _scan(self, block: Block, commas: BoolArray, quotes: BoolArray) -> Lines | None:
        marks = np.flatnonzero(commas | (block.buffer[block.start : block.end] == _NEWLINE))
        marks += block.start
        ends = np.flatnonzero(block.buffer.take(marks) == _NEWLINE)  # of lines, among the marks
        number = block.first_line + np.arange(len(ends))
        ends = ends if self._listed else ends[-1:]
        starts = np.append(0, ends[:-1] + 1)
        begin = np.append(block.start, marks[ends[:-1]] + 1)
        head, each, tail = len(self._before) - 1, len(self._inside) + 1, len(self._after) - 1
        count, rest = np.divmod(ends + 1 - starts - head - tail, each)
        if rest.any() or (count < 1).any():
            return None
        last = np.cumsum(count) - 1
        first = last + 1 - count

        # Where the literals begin.
        of_head = [starts + mark for mark in range(head)]
        of_tail = [ends - mark for mark in reversed(range(tail))]
        if of_head or of_tail:
            of_elements = np.delete(marks, np.concatenate([*of_head, *of_tail])).reshape(-1, each)
        else:
            of_elements = marks.reshape(-1, each)
        before = [begin, *_begin(self._before[1:], [marks[mark] for mark in of_head])]
        inside = _begin([*self._inside, self._between], list(of_elements.T))
        after = _begin(self._after, [of_elements[last, -1], *(marks[mark] for mark in of_tail)])
        between = inside[-1]
        places = [
            *zip(self._before, before, strict=True),
            *zip(self._inside, inside[:-1], strict=True),
            (self._between, np.delete(between, last)),
            *zip(self._after, after, strict=True),
        ]
        literals = [(literal.text, place) for literal, place in places]
        if not stand_alone(block.buffer, block.start, block.end, literals, quotes):
            return None

        # Where the values are.
        opened = np.empty_like(between)
        opened[1:] = between[:-1] + len(self._between.text)
        opened[first] = before[-1] + len(self._before[-1].text)
        between[last] = after[0]
        keys_before, keys_inside, keys_after = self._keys
        of_record = _spans(keys_before, self._before, before)
        of_record |= _spans(keys_after, self._after, after)
        of_element = _spans(keys_inside[1:], self._inside, inside)
        of_element[keys_inside[0]] = opened, inside[0]
        if not (
            _are_values(block, of_record, self._bare_of_record)
            and _are_values(block, of_element, self._bare)
        ):
            return None
        values = np.empty((2, len(self._columns), len(opened)), dtype=np.int64)
        for column, (name, is_of_record) in enumerate(self._columns):
            span = of_record[name] if is_of_record else of_element[name]
            for side, place in enumerate(span):
                values[side, column] = np.repeat(place, count) if is_of_record else place
        if self._has_run_id and (values[0, -1] == values[1, -1]).any():
            return None  # an empty one gives way to the one before
        start, end = values[0].T, values[1].T
        start -= 1
        if not self._listed:
            return Lines(block.buffer, 0, start, end, number, opened - len(self._before[0].text))
        line, begin = np.repeat(number, count), np.repeat(begin, count)
        return Lines(block.buffer, 0, start, end, line, begin, np.append(first, len(opened)))


def _escaped(text: ByteArray, backslashes: IntArray) -> IntArray | None:
    """Return the places behind backslashes that escape; None if JSON does not have one so."""
    number = np.arange(len(backslashes))
    begins = np.diff(backslashes, prepend=-2) != 1  # several in a row
    first = np.maximum.accumulate(np.where(begins, number, 0))
    escaped = backslashes[(number - first) % 2 == 0] + 1
    kinds = text[escaped]
    hexadecimal = (escaped[kinds == ord("u")][:, np.newaxis] + np.arange(1, 5)).ravel()
    if hexadecimal.max(initial=0) >= len(text):
        return None
    valid = _ESCAPES[kinds].all() and _HEXADECIMAL[text[hexadecimal]].all()
    return escaped if valid else None


def _have_any(lines: Lines, places: IntArray) -> bool:
    """Say whether one of some bytes is in a column."""
    for number in range(lines.before.shape[1]):
        column = lines.column(number)
        before = np.searchsorted(places, column.start)
        if (before != np.searchsorted(places, column.end)).any():
            return True
    return False


def _bare(region: Region) -> set[str]:
    """Return the keys whose values have no quotes."""
    return {key for key, quoted in zip(region.keys, region.quoted, strict=True) if not quoted}


def _are_values(block: Block, spans: dict[str, Span], bare: set[str]) -> bool:
    """Say whether no literals overlap, and all values without quotes are numbers."""
    for key, (start, end) in spans.items():
        if (start > end).any():
            return False
        if key in bare and np.isnan(parse_json_numbers(Tokens(block.buffer, start, end))).any():
            return False
    return True


def _begin(literals: Sequence[_Literal], marks: Sequence[Places]) -> list[Places]:
    """Return where each literal begins, by the places of its mark."""
    return [place - literal.mark for literal, place in zip(literals, marks, strict=True)]


def _spans(
    keys: Sequence[str], literals: Sequence[_Literal], begin: Sequence[Places]
) -> dict[str, Span]:
    """Return where the values of some keys are, each between two literals."""
    return {
        key: (begin[number] + len(literals[number].text), begin[number + 1])
        for number, key in enumerate(keys)
    }
