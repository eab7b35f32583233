"""`Tokens`: a column of ids or other byte strings as places in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ragkpi import kernel
from ragkpi.records import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

IntArray: TypeAlias = "npt.NDArray[np.int64]"
ByteArray: TypeAlias = "npt.NDArray[np.uint8]"
BoolArray: TypeAlias = "npt.NDArray[np.bool_]"
FloatArray: TypeAlias = "npt.NDArray[np.float64]"
HashArray: TypeAlias = "npt.NDArray[np.uint64]"


# eq=False, as in all classes that hold arrays: == of two arrays is an array, not a truth value.
@dataclass(frozen=True, eq=False)
class Tokens:
    """A column of n byte strings: ``buffer[start[i]:end[i]]``.

    Attributes
    ----------
    buffer : (B,) uint8
        The text.
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

    @property
    def column(self) -> tuple[ByteArray, IntArray, IntArray]:
        """The column as an argument of the kernel."""
        return self.buffer, np.ascontiguousarray(self.start), np.ascontiguousarray(self.end)

    def take(self, rows: npt.NDArray[np.integer | np.bool_] | slice) -> Tokens:
        """Keep the given rows (a mask, indices or a slice), in the same buffer."""
        return Tokens(self.buffer, self.start[rows], self.end[rows])

    def changes(self) -> IntArray:
        """Return the first row of each group of equal neighbours, and the length: (G+1,)."""
        return np.frombuffer(kernel.changes(*self.column), np.int64)

    def numbers(self) -> FloatArray:
        """Read decimals as Python's ``float`` does, (n,); NaN for anything else.

        A number is ``[+-]?(digits[.digits]|digits.|.digits)([eE][+-]?digits)?`` in ASCII, or
        ``inf`` or ``infinity`` with an optional sign, in any case. Spaces may surround it.
        """
        return np.frombuffer(kernel.numbers(*self.column), np.float64)

    def first_rows(self, group: IntArray | None = None) -> IntArray:
        """Return for each row the first row of its group with the same string, (n,)."""
        groups = np.zeros(len(self), dtype=np.int64) if group is None else group
        groups = np.ascontiguousarray(groups, dtype=np.int64)
        return np.frombuffer(kernel.first_rows(*self.column, groups), np.int64)

    def hashes(self) -> HashArray:
        """Hash the strings, (n,)."""
        return np.frombuffer(kernel.hashes(*self.column), np.uint64)

    def tolist(self) -> list[bytes]:
        """Copy all strings out, as Python objects."""
        return list(self)

    @classmethod
    def from_strings(cls, strings: Iterable[bytes]) -> Tokens:
        """Build a column from Python byte strings."""
        pieces = list(strings)
        lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        return cls.from_text(b"".join(pieces), lengths)

    @classmethod
    def from_text(cls, text: bytes | bytearray, lengths: IntArray) -> Tokens:
        """Build a column from joined strings and their lengths in bytes."""
        end = np.cumsum(lengths)
        return cls(np.frombuffer(text, dtype=np.uint8), end - lengths, end)

    @classmethod
    def repeated(cls, string: bytes, count: int) -> Tokens:
        """Build a column in which all strings are the same."""
        nothing = np.zeros(count, dtype=np.int64)
        return cls(np.frombuffer(string, dtype=np.uint8), nothing, nothing + len(string))

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """Concatenate at least one column; no text is copied if all share one buffer."""
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
