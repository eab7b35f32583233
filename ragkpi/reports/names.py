"""Names of runs: after files, distinct, and short enough for a terminal."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product, takewhile

# These suffixes tell how a file is stored, and nothing about the run.
_ENDINGS = {
    *(".gz", ".bz2", ".xz", ".zst"),
    *(".txt", ".run", ".res", ".trec", ".tsv", ".csv", ".json", ".jsonl", ".parquet"),
}


class NamedPath(str):
    """The path of a run that has a name of its own: ``BM25=runs/s1.run`` on a command line."""

    name: str


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


_WORDS = re.compile(r"([/\\\-_.:#+,;\s]+)")  # what separates the words of a name
_CUT = "…"


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Shorten distinct names to at most a width, so that they stay distinct.

    Names that fit are kept whole. Of the others, words are left out with which all of them begin or
    end; if that is not enough, the middle is cut, and names that have become equal get numbers.

    >>> short_names(["trec-bge-large.k9", "trec-bm25-rerank.k9", "trec-e5-v2-base.k9"], 14)
    ['…bge-large…', '…bm25-rerank…', '…e5-v2-base…']
    >>> short_names(["an-extraordinary-name"], 12)
    ['an-ext…-name']
    """
    parts = {name: _WORDS.split(name) for name in names if len(name) > width}
    short: list[str] = []
    if len(parts) > 1:
        fewest = min(map(len, parts.values())) - 1  # one word is left of each
        begin = min(_alike(parts.values()), fewest)
        end = min(_alike(of[::-1] for of in parts.values()), fewest - begin)
        ends = product(range(0, begin + 1, 2), range(0, end + 1, 2))
        for first, last in sorted(ends, key=sum):
            cuts = _CUT if first else "", _CUT if last else ""
            short = ["".join(of[first : len(of) - last]).join(cuts) for of in parts.values()]
            if max(map(len, short)) <= width:
                break
    new = dict(zip(parts, short or parts, strict=True))
    return _told_apart([_cut(new.get(name, name), width) for name in names], width)


def _alike(names: Iterable[Sequence[str]]) -> int:
    """Return with how many equal words names begin."""
    return sum(1 for _ in takewhile(lambda words: len({*words}) == 1, zip(*names, strict=False)))


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
