"""The quality of each run's responses, measured elsewhere."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ragkpi.errors import UsageError
from ragkpi.files.query_files import Quality, read_quality
from ragkpi.interface import spell
from ragkpi.library.session import Evaluations
from ragkpi.reports.names import run_names
from ragkpi.wording import decoded, joined, octets, visible


def quality_of(quality: Any) -> Quality:
    """Read a file, a mapping from queries to numbers, or a mapping from runs to such mappings."""
    if isinstance(quality, str | os.PathLike):
        return read_quality(os.fspath(quality))
    expected = "expected a path, {query: number} or {run: {query: number}}"
    if not isinstance(quality, Mapping) or not quality:
        raise UsageError(f"{spell('quality')} is {type(quality).__name__}; {expected}")
    nested = all(isinstance(of_run, Mapping) for of_run in quality.values())
    by_run: Mapping[Any, Any] = quality if nested else {None: quality}
    try:
        return {
            None if run is None else octets(run): {
                octets(one): float(number) for one, number in of_run.items()
            }
            for run, of_run in by_run.items()
        }
    except (TypeError, ValueError):
        raise UsageError(f"{spell('quality')}: a value is not a number; {expected}") from None


def quality_of_runs(quality: Quality, runs: Evaluations) -> list[Mapping[bytes, float]]:
    """Return the quality of each run, by its path, its name or its run id.

    Quality without a run belongs to a single run. `UsageError` for a run without quality.
    """
    of_runs = []
    for (path, run), file in zip(runs.items(), run_names(list(runs)), strict=True):
        names = [*map(str.encode, (path, run.name, file)), run.plain.run_id]
        matches: Sequence[bytes | None] = [name for name in names if name in quality]
        if None in quality and len(runs) == 1:
            matches = [None]
        if not matches:
            whose = joined([visible(decoded(name)) for name in dict.fromkeys(names)])
            has = joined([visible(decoded(name)) for name in quality if name] or ["no run"])
            raise UsageError(
                f"{spell('quality')}: no scores for {whose}; expected lines with one of these "
                f"names, but they name {has}"
            )
        of_runs.append(quality[matches[0]])
    return of_runs
