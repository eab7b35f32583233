"""Lines of JSON that all look alike, read by their quotes, without decoding.

What a program writes has the same keys and spaces in every line: nothing but the values differs.
Then the places of all quotes tell where values are. Every byte between them is compared with that
of one line, which was decoded; whatever is unlike it is left to the decoder.
"""

from __future__ import annotations

import re

import numpy as np

from ragkpi.formats.blocks import Block
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.json_patterns import Pattern, Region
from ragkpi.formats.line_scanner import Lines
from ragkpi.formats.token_words import FIRST_BYTES, LAST_BYTES, words_at, words_before
from ragkpi.formats.tokens import BoolArray, ByteArray, IntArray, Tokens

_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_QUOTE, _BACKSLASH, _NEWLINE = b'"\\\n'
_LETTER = np.uint64(0x4040404040404040)  # the bit that letters have, and no digits, signs, points
_WORDS = 3


class UnlikeError(Exception):
    """A block with a line that is not like the others."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block


class LikeLines:
    """What all lines of a file are like.

    The columns of the lines that it finds are the query, the document, then score, rank and run
    id as far as there are some, in the order of `columns`.
    """

    def __init__(self, pattern: Pattern) -> None:
        keys, self._head, self._element, self._separator, self._tail = pattern
        self.columns = [
            name for name in (keys.query, keys.document, keys.score, keys.rank, keys.run_id) if name
        ]
        self._outer = {keys.query, keys.run_id} if keys.listed else set()
        self._run_id = keys.run_id
        self._parsed = {keys.score, keys.rank}  # whoever reads them tells what is no number

    def scan(self, block: Block) -> Lines:
        """Find the columns of every document of a block; `UnlikeError` if a line is unlike."""
        lines = self._scan(block)
        if lines is None:
            raise UnlikeError(block)
        return lines

    def _scan(self, block: Block) -> Lines | None:
        text = block.buffer[block.start : block.end]
        newline = block.start + np.flatnonzero(text == _NEWLINE)
        if np.count_nonzero(text < ord(" ")) != len(newline) or (text == _BACKSLASH).any():
            return None
        quote = block.start + np.flatnonzero(text == _QUOTE)
        begin = np.append(block.start, newline[:-1] + 1)
        first_quote = np.searchsorted(quote, begin)
        head, each, tail = (part.quotes() for part in (self._head, self._element, self._tail))
        inside = np.diff(np.append(first_quote, len(quote))) - head - tail
        count, rest = np.divmod(inside, each)
        if rest.any() or (count < 1).any() or (not self._separator and (count > 1).any()):
            return None
        line = np.repeat(np.arange(len(begin)), count)
        starts = np.cumsum(count) - count
        number = np.arange(len(line)) - starts[line]
        of_element = quote[(first_quote[line] + head + number * each)[:, None] + np.arange(each)]
        of_head = quote[first_quote[:, None] + np.arange(head)]
        of_tail = quote[(first_quote + head + count * each)[:, None] + np.arange(tail)]
        last = np.zeros(len(line), dtype=bool)
        last[starts + count - 1] = True

        places: dict[str, tuple[IntArray, IntArray]] = {}
        bare: list[tuple[str, Tokens]] = []
        buffer = block.buffer
        tail_begin = _begin(self._tail, of_tail, newline)
        element_begin = _begin(self._element, of_element, tail_begin)
        element_end = np.empty_like(element_begin)
        element_end[:-1] = element_begin[1:] - len(self._separator)
        element_end[last] = tail_begin
        separated = element_end[~last]
        found = (
            _find(self._head, buffer, of_head, begin, element_begin[starts], places, bare)
            and _find(self._element, buffer, of_element, element_begin, element_end, places, bare)
            and _find(self._tail, buffer, of_tail, tail_begin, newline, places, bare)
            and _holds(buffer, separated, self._separator)
        )
        if not found or not all(_are_numbers(text, name in self._parsed) for name, text in bare):
            return None
        columns = [
            tuple(place[line] for place in places[name]) if name in self._outer else places[name]
            for name in self.columns
        ]
        if self._run_id and (columns[-1][0] == columns[-1][1]).any():
            return None  # an empty one gives way to the one before
        return Lines(
            buffer,
            0,
            np.stack([place[0] for place in columns], axis=1) - 1,
            np.stack([place[1] for place in columns], axis=1),
            (block.first_line + np.arange(len(begin)))[line],
            begin[line],
        )


def _begin(region: Region, quote: IntArray, end: IntArray) -> IntArray:
    """Return where a region begins, by its first quote, or by its end if it has none."""
    first = region.literals[0]
    if region.quotes():
        begin: IntArray = quote[:, 0] - first.index(b'"')
        return begin
    return end - len(first)


def _find(
    region: Region,
    buffer: ByteArray,
    quote: IntArray,
    begin: IntArray,
    end: IntArray,
    places: dict[str, tuple[IntArray, IntArray]],
    bare: list[tuple[str, Tokens]],
) -> bool:
    """Say whether a region stands between some places, and put those of its values down.

    Values without quotes, which may be no numbers, are put down in `bare` as well.
    """
    passed = 0
    below = begin  # of the literal that comes next
    for number, literal in enumerate(region.literals):
        # Without a quote is only the last, behind a number, or one without values.
        has_quote = b'"' in literal
        place = quote[:, passed] - literal.index(b'"') if has_quote else end - len(literal)
        passed += literal.count(b'"')
        if number == 0:
            if (place != begin).any():
                return False
        else:
            if (place < below).any():
                return False
            key = region.keys[number - 1]
            places[key] = (below, place)
            if not region.quoted[number - 1]:
                bare.append((key, Tokens(buffer, below, place)))
        if not _holds(buffer, place, literal):
            return False
        below = place + len(literal)
    return bool((below == end).all())


def _holds(buffer: ByteArray, place: IntArray, literal: bytes) -> bool:
    """Say whether a text stands at every place."""
    if not len(place) or not literal:
        return True
    if place.min() < 0 or place.max() + len(literal) > len(buffer):
        return False
    for offset in range(0, len(literal), 8 * _WORDS):
        piece = literal[offset : offset + 8 * _WORDS]
        words = words_at(buffer, place + offset, -(-len(piece) // 8))
        for number, word in enumerate(words):
            wanted = piece[8 * number : 8 * number + 8]
            expected = np.uint64(int.from_bytes(wanted, "little"))
            if ((word & FIRST_BYTES[len(wanted)]) != expected).any():
                return False
    return True


def _are_numbers(tokens: Tokens, parsed: bool) -> bool:
    """Say whether all are numbers as JSON has them, which is less than `parse_decimals` reads.

    With `parsed`, whether those are which it reads.
    """
    start, end, text = tokens.start, tokens.end, tokens.buffer
    if (start >= end).any():
        return False
    odd: BoolArray = end - start > 8 * _WORDS
    for number, word in enumerate(words_before(text, end, _WORDS)):
        kept = LAST_BYTES[np.clip(end - start - 8 * number, 0, 8)]
        odd |= (word & kept & _LETTER) != 0
    if odd.any():
        if not all(_NUMBER.fullmatch(token) for token in tokens.take(odd)):
            return False
        tokens = tokens.take(~odd)
        start, end = tokens.start, tokens.end
    digit = start + (text[start] == ord("-"))
    below = text[digit + 1]
    zero = (text[digit] == ord("0")) & (digit + 1 < end) & (below != ord("."))
    plain = _are_digits(text[digit]) & _are_digits(text[end - 1]) & ~zero & (digit < end)
    return bool(plain.all()) and (parsed or not np.isnan(parse_decimals(tokens)).any())


def _are_digits(octets: ByteArray) -> BoolArray:
    digits: BoolArray = (octets - np.uint8(ord("0"))) < 10
    return digits
