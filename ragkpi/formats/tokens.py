"""`Tokens`: a column of byte strings as places in a buffer, never as Python objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ragkpi.records import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

IntArray: TypeAlias = "npt.NDArray[np.int64]"
ByteArray: TypeAlias = "npt.NDArray[np.uint8]"
BoolArray: TypeAlias = "npt.NDArray[np.bool_]"
FloatArray: TypeAlias = "npt.NDArray[np.float64]"

# Bytes that must exist before the first token and behind the last one, so that eight-byte words
# may be gathered anywhere around a token without leaving the buffer.
PADDING = 32
# Bytes of text per string up to which the text between strings is worked on with them.
SPARSE = 256


# As in all classes that hold arrays, eq=False: arrays are not simply equal or unequal, and code
# for the comparison would be generated at every start.
@dataclass(frozen=True, eq=False)
class Tokens:
    """A column of n byte strings: ``buffer[start[i]:end[i]]``.

    Attributes
    ----------
    buffer : (B,) uint8
        Text with at least `PADDING` bytes before the first token and behind the last.
    start, end : (n,) int64
        Where each string begins and ends.
    """

    buffer: ByteArray
    start: IntArray
    end: IntArray

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: int) -> bytes:
        return self.buffer[self.start[index] : self.end[index]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        text = self.buffer.data
        for start, end in zip(self.start.tolist(), self.end.tolist(), strict=True):
            yield bytes(text[start:end])

    def take(self, rows: npt.NDArray[np.integer | np.bool_] | slice) -> Tokens:
        """Keep the given rows (a mask, indices or a slice), in the same buffer."""
        return Tokens(self.buffer, self.start[rows], self.end[rows])

    def copied(self) -> Tokens:
        """Copy the strings, and nothing that stands between them, to a buffer of their own."""
        lengths = self.end - self.start
        before = np.cumsum(lengths) - lengths
        places = np.repeat(self.start - before, lengths) + np.arange(lengths.sum())
        return Tokens.from_text(self.buffer[places].tobytes(), lengths)

    def stripped(self) -> Tokens:
        """Take spaces off both ends of the strings."""
        start, end = self.start, self.end
        outer = self.buffer.take(start) == ord(" ")
        outer |= self.buffer.take(end - 1) == ord(" ")
        if not outer.any():  # as nearly always
            return self
        while True:
            left = (self.buffer[start] == ord(" ")) & (start < end)
            right = (self.buffer[end - 1] == ord(" ")) & (start + left < end)
            if not (left.any() or right.any()):
                return Tokens(self.buffer, start, end)
            start, end = start + left, end - right

    def tolist(self) -> list[bytes]:
        """Copy all strings out, as Python objects."""
        if not len(self):
            return []
        first, last = int(self.start.min()), int(self.end.max())
        if last - first > SPARSE * len(self):  # a few strings of a long text
            return list(self)
        text = self.buffer[first:last].tobytes()
        places = zip((self.start - first).tolist(), (self.end - first).tolist(), strict=True)
        return [text[start:end] for start, end in places]

    @classmethod
    def from_strings(cls, strings: Iterable[bytes]) -> Tokens:
        """Build a column from Python byte strings."""
        pieces = list(strings)
        lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        return cls.from_text(b"".join(pieces), lengths)

    @classmethod
    def from_text(cls, text: bytes, lengths: IntArray) -> Tokens:
        """Build a column from strings that are joined already, and their lengths in bytes."""
        pad = bytes(PADDING)
        end = PADDING + np.cumsum(lengths)
        return cls(np.frombuffer(pad + text + pad, dtype=np.uint8), end - lengths, end)

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """Put at least one column together; no text is copied if all are of one buffer."""
        if len(parts) == 1:
            return parts[0]
        buffer = parts[0].buffer
        start = np.concatenate([part.start for part in parts])
        end = np.concatenate([part.end for part in parts])
        if any(part.buffer is not buffer for part in parts):
            buffer = np.concatenate([part.buffer for part in parts])
            offsets = np.cumsum([0, *(len(part.buffer) for part in parts[:-1])])
            shift = np.repeat(offsets, [len(part) for part in parts])
            start += shift
            end += shift
        return cls(buffer, start, end)
