"""Names of runs: after files, distinct, and short enough for a terminal."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Sequence

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
_LONG = 3  # a word with more characters says something alone


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Shorten distinct names to at most a width, so that they stay distinct.

    Names that fit are kept whole. Of the others, the first word that some of them lack is kept; as
    long as some look alike, each keeps the rarest further word among these; then come long words,
    and words that follow kept ones, if they fit. If that is not enough, the middle is cut, and
    names that have become equal get numbers.

    >>> short_names(["bge-large.k9.cohere-3", "bge-large.k9.monot5", "e5-base.k9.cohere-3"], 18)
    ['bge-large…cohere-3', 'bge-large…monot5', 'e5-base…cohere-3']
    >>> short_names(["an-extraordinary-name"], 12)
    ['an-ext…-name']
    """
    long = [number for number, name in enumerate(names) if len(name) > width]
    parts = {number: _WORDS.split(names[number]) for number in long}
    count = Counter(word for of_name in parts.values() for word in set(of_name[::2]))
    telling = {  # places of words that some of the long names lack
        number: [
            place for place in range(0, len(of), 2) if of[place] and count[of[place]] < len(long)
        ]
        for number, of in parts.items()
    }
    kept = {number: {places[0]} for number, places in telling.items() if places}
    short = list(names)
    for number, places in kept.items():
        short[number] = _spelled(parts[number], places)
    while True:
        equal = Counter(short)
        alike = [n for n in kept if equal[short[n]] > 1 and len(kept[n]) < len(telling[n])]
        if not alike:
            break
        shared = Counter((short[n], word) for n in alike for word in set(parts[n][::2]))
        for number in alike:
            group, of = short[number], parts[number]
            left = (place for place in telling[number] if place not in kept[number])
            kept[number].add(min(left, key=lambda place: shared[group, of[place]]))
            short[number] = _spelled(of, kept[number])
    for number, places in kept.items():
        for place in telling[number]:
            longer = _spelled(parts[number], {*places, place})
            is_next = place - 2 in places or len(parts[number][place]) > _LONG
            if is_next and len(longer) <= width:
                places.add(place)
                short[number] = longer
    return _told_apart([_cut(text, width) for text in short], width)


def _spelled(parts: Sequence[str], kept: Collection[int]) -> str:
    """Join the kept words of a name, an ellipsis for each gap; words and separators alternate."""
    text, last = "", -2
    for place in sorted(kept):
        if place:
            text += parts[place - 1] if place == last + 2 else _CUT
        text, last = text + parts[place], place
    return text if last == len(parts) - 1 else text + _CUT


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
