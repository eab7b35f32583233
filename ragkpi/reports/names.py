"""Names of runs: after files, distinct, and short enough for a terminal."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

# These suffixes tell how a file is stored, and nothing about the run.
_ENDINGS = {
    *(".gz", ".bz2", ".xz", ".zst"),
    *(".txt", ".run", ".res", ".trec", ".tsv", ".csv", ".json", ".jsonl", ".parquet"),
}


class NamedPath(str):
    """The path of a run that has a name of its own: ``BM25=runs/s1.run`` on a command line."""

    name: str


class Seed(NamedPath):
    """A seed of a system, by a name of its own: ``dense:s1``.

    `system` is the name of the system in the call, of which there are `seeds`.
    """

    system: str
    seeds: int


def system_of(run: str) -> str:
    """Return the system of a seed, and any other run itself, by the names of a call."""
    return run.system if isinstance(run, Seed) else run


def run_names(paths: Sequence[str], run_ids: Sequence[str] = ()) -> list[str]:
    """Name runs distinctly: by their own names, their run ids, or after their files.

    Names after files have no folders and suffixes.
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


_WORDS = r"[/\\\-_.:#+,;\s]+"  # what separates the words of a name
_CUT = "…"


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Shorten distinct names to at most a width, so that they stay distinct.

    Names that fit are kept whole. Of the others, the words are left out with which all of them
    begin or end; then the middle is cut, and names that have become equal get numbers.

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
    """Return the length of the words with which all names begin, and that leave each some text."""
    letters = zip(*names, strict=False)
    alike = names[0][: sum(1 for _ in takewhile(lambda of_each: len({*of_each}) == 1, letters))]
    alike = alike[: min(map(len, names)) - 1]
    return max((match.end() for match in re.finditer(_WORDS, alike)), default=0)


def _cut(text: str, width: int) -> str:
    """Cut the middle of a text."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    head, end = text[: width - 1 - tail], text[len(text) - tail :]
    return f"{head.rstrip(_CUT)}{_CUT}{end.lstrip(_CUT)}"


def _told_apart(names: list[str], width: int) -> list[str]:
    """Number the names that have become equal."""
    count, taken = Counter(names), set(names)
    numbered = []
    for name in names:
        if count[name] > 1:
            number = 1
            while (new := f"{_cut(name, max(width - len(f'~{number}'), 1))}~{number}") in taken:
                number += 1
            taken.add(new)
            name = new
        numbered.append(name)
    return numbered
