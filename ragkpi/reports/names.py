"""Names of runs: from files, distinct, and short enough for a terminal."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

# These suffixes describe the storage of a file, not the run.
_ENDINGS = {
    *(".gz", ".bz2", ".xz", ".zst"),
    *(".txt", ".run", ".res", ".trec", ".tsv", ".csv", ".json", ".jsonl", ".parquet"),
}


class NamedPath(str):
    """The path of a run with a given name: ``BM25=runs/s1.run`` on a command line."""

    name: str


class Seed(NamedPath):
    """A seed of a system, named like ``dense:s1``.

    `system` is the name of the system in the call, which has `seeds` seeds.
    """

    system: str
    seeds: int


def system_of(run: str) -> str:
    """Return the system of a seed, and any other run itself, by the names of a call."""
    return run.system if isinstance(run, Seed) else run


def run_names(paths: Sequence[str], run_ids: Sequence[str] = ()) -> list[str]:
    """Name runs distinctly: by their given names, their run ids, or their files.

    Names from files have no folders and suffixes.
    """
    own = [path.name if isinstance(path, NamedPath) else "" for path in paths]
    names = list(run_ids) or [_stem(path) for path in paths]
    for candidates in (paths, [f"{path}#{number}" for number, path in enumerate(paths, start=1)]):
        names = [mine or name for mine, name in zip(own, names, strict=True)]
        count = Counter(names)
        names = [
            candidate if count[name] > 1 else name
            for name, candidate in zip(names, candidates, strict=True)
        ]
    return [mine or name for mine, name in zip(own, names, strict=True)]


def _stem(path: str) -> str:
    name = os.path.basename(path) or path
    stem, ending = os.path.splitext(name)
    while stem and ending.lower() in _ENDINGS:
        name = stem
        stem, ending = os.path.splitext(name)
    return name


_WORDS = r"[/\\\-_.:#+,;\s]+"  # the separators of words in a name
_CUT = "…"


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Shorten distinct names to at most a width, so that they stay distinct.

    Names that fit are kept whole. From the others, common words at the beginning or the end are
    removed; then the middle is cut, and equal names get numbers.

    >>> short_names(["trec-bge-large.k9", "trec-bm25-rerank.k9", "trec-e5-v2-base.k9"], 14)
    ['…bge-large…', '…bm25-rerank…', '…e5-v2-base…']
    >>> short_names(["an-extraordinary-name"], 12)
    ['an-ext…-name']
    """
    long = [name for name in names if len(name) > width]
    begin = end = 0
    if len(long) > 1:
        begin = _alike(long)
        end = _alike([name[begin:][::-1] for name in long])
    short = {
        name: f"{_CUT * bool(begin)}{name[begin : len(name) - end]}{_CUT * bool(end)}"
        for name in long
    }
    return _told_apart([_cut(short.get(name, name), width) for name in names], width)


def _alike(names: Sequence[str]) -> int:
    """Return the length of the common first words of all names, shorter than any name."""
    letters = zip(*names, strict=False)
    common = names[0][: sum(1 for _ in takewhile(lambda of_each: len({*of_each}) == 1, letters))]
    common = common[: min(map(len, names)) - 1]
    return max((match.end() for match in re.finditer(_WORDS, common)), default=0)


def _cut(text: str, width: int) -> str:
    """Cut the middle of a text."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    head, end = text[: width - 1 - tail], text[len(text) - tail :]
    return f"{head.rstrip(_CUT)}{_CUT}{end.lstrip(_CUT)}"


def _told_apart(names: list[str], width: int) -> list[str]:
    """Number equal names."""
    count, used = Counter(names), set(names)
    numbered = []
    for name in names:
        if count[name] > 1:
            number = 1
            while (new := f"{_cut(name, max(width - len(f'~{number}'), 1))}~{number}") in used:
                number += 1
            used.add(new)
            name = new
        numbered.append(name)
    return numbered
