"""Physical lines with their numbers, for formats that are read line by line."""

from __future__ import annotations

from collections.abc import Iterator

from ragkpi.errors import InputError
from ragkpi.formats.blocks import BlockReader
from ragkpi.formats.opening import Source


def read_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield every line of a source, without its newline, and its 1-based number.

    Raises `InputError` for a NUL byte and for a line that is too long to be one.
    """
    reader = BlockReader(source)
    block = reader.read()
    while block is not None:
        lines = block.buffer[block.start : block.end].tobytes().split(b"\n")
        for number, line in enumerate(lines[:-1], start=block.first_line):
            if b"\0" in line:
                raise InputError(block.file, number, "a NUL byte", "expected text")
            yield number, line
        block = reader.read(lines=len(lines) - 1)
