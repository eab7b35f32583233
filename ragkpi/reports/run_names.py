"""The names of runs in reports."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

# These endings tell how a file is stored, and nothing about the run.
_ENDINGS = {
    *(".gz", ".bz2", ".xz", ".zst"),
    *(".txt", ".run", ".res", ".trec", ".tsv", ".csv", ".json", ".jsonl", ".parquet"),
}


def run_names(paths: Sequence[str], run_ids: Sequence[str] = ()) -> list[str]:
    """Name runs after their files, or after their run ids; no two names are equal.

    Parameters
    ----------
    paths
        The files; folders and endings such as ``.txt.gz`` are not part of a name.
    run_ids
        A run id per file, to name the runs after them.
    """
    names = list(run_ids) or [_stem(path) for path in paths]
    for candidates in (paths, [f"{path}#{number}" for number, path in enumerate(paths, start=1)]):
        count = Counter(names)
        names = [
            candidate if count[name] > 1 else name
            for name, candidate in zip(names, candidates, strict=True)
        ]
    return names


def _stem(path: str) -> str:
    name = os.path.basename(path) or path
    stem, ending = os.path.splitext(name)
    while stem and ending.lower() in _ENDINGS:
        name = stem
        stem, ending = os.path.splitext(name)
    return name
