"""The quality of answers at several depths, measured elsewhere, beside success."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ragkpi.errors import DataError, InputError, UsageError
from ragkpi.files.lines import whole_text
from ragkpi.files.opening import Source
from ragkpi.interface import spell
from ragkpi.library.arguments import whole
from ragkpi.wording import decoded, shown, visible

# By run ("" where none is named), then by depth.
Qualities = Mapping[str, Mapping[int, float]]

_EXPECTED = "expected K QUALITY or RUN K QUALITY, such as 10 0.66"


def qualities(source: Any) -> Qualities:
    """Take a file, a mapping from depths to qualities, or one from runs to such mappings."""
    if isinstance(source, str | os.PathLike):
        return read_qualities(os.fspath(source))
    if not isinstance(source, Mapping) or not source:
        raise UsageError(
            f"{spell('quality')} {source!r}: expected a file, or a mapping from depths"
        )
    nested = isinstance(next(iter(source.values())), Mapping)
    return {
        name: {whole("quality", depth, 1): float(value) for depth, value in of_run.items()}
        for name, of_run in (source if nested else {"": source}).items()
    }


def read_qualities(path: str) -> Qualities:
    """Read lines of K and quality, or run, K and quality, below an optional header.

    `InputError` for a line that is neither, `DataError` for a depth that is there twice.
    """
    with Source(path) as source:
        block = whole_text(source)
    by_run: dict[str, dict[int, float]] = {}
    for number, line in () if block is None else block.lines():
        words = line.replace(b",", b" ").split()
        if not words or words[0].startswith(b"#"):
            continue
        try:
            *run, depth_text, quality_text = words
            if b"_" in depth_text + quality_text:  # which Python's numbers may have
                raise ValueError
            depth, quality = int(depth_text), float(quality_text)
        except ValueError:
            if number == 1:
                continue  # a header
            raise InputError(path, number, shown(line), _EXPECTED) from None
        if len(run) > 1 or depth < 1 or not math.isfinite(quality):
            raise InputError(path, number, shown(line), _EXPECTED)
        of_run = by_run.setdefault(str(decoded(run[0])) if run else "", {})
        if depth in of_run:
            raise DataError(f"{path}:{number}: K = {depth} again; expected it once per run")
        of_run[depth] = quality
    if not by_run:
        raise InputError(path, None, "no quality", _EXPECTED)
    return by_run


def for_runs(by_run: Qualities, names: Sequence[str]) -> Qualities:
    """Return the qualities by the names of the runs; a single run needs no name in the file."""
    if len(by_run) == 1 and len(names) == 1:
        return {names[0]: next(iter(by_run.values()))}
    for name in by_run:
        if name not in names:
            whose = visible(name) if name else "no run is named"
            runs = ", ".join(map(visible, names))
            raise UsageError(f"{spell('quality')}: {whose}; expected lines for {runs}")
    return by_run
