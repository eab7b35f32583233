"""Names of runs: after files, distinct, and short enough for a terminal."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# These suffixes tell how a file is stored, and nothing about the run.
_ENDINGS = {
    *(".gz", ".bz2", ".xz", ".zst"),
    *(".txt", ".run", ".res", ".trec", ".tsv", ".csv", ".json", ".jsonl", ".parquet"),
}


def run_names(paths: Sequence[str], run_ids: Sequence[str] = ()) -> list[str]:
    """Name runs distinctly after their files, without folders and suffixes, or their run ids."""
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


_WORDS = re.compile(r"([/\\\-_.:#+,;\s]+)")  # what separates the words of a name
_CUT = "…"


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Shorten distinct names to at most a width, so that they stay distinct.

    Names that fit are kept whole. Of the others, words that most share are left out, and words that
    occur in the same names as an earlier word and so tell nothing more; then shared words are
    shortened, and at last the middle is cut, and names that have become equal get numbers.

    >>> short_names(["runs/bge-large-k10.run", "runs/bge-large-k50.run", "bm25"], 9)
    ['runs…k10…', 'runs…k50…', 'bm25']
    >>> short_names(["an-extraordinary-name"], 12)
    ['an-ext…-name']
    """
    if all(len(name) <= width for name in names):
        return list(names)
    made = [_Name(name, tuple(_WORDS.split(name))) for name in names]
    holders: dict[str, list[int]] = {}  # by word, the long names that have it
    for number, name in enumerate(made):
        if len(name.text) > width:
            for word in dict.fromkeys(name.words[::2]):
                holders.setdefault(word, []).append(number)
    patterns = Counter(map(tuple, holders.values()))
    long = sum(len(name.text) > width for name in made)
    latest = list(holders.items())[::-1]  # the earliest word of a pattern is kept
    for word, of_word in sorted(latest, key=lambda item: -len(item[1])):
        pattern = tuple(of_word)
        if len(pattern) > 1 and (patterns[pattern] > 1 or 4 * len(pattern) > 3 * long):
            patterns[pattern] -= 1
            for number in pattern:
                if len(made[number].text) > width:
                    made[number] = made[number].without(word)
    for letters in (6, 4, 3):
        for number, name in enumerate(made):
            if len(name.text) > width:
                made[number] = name.shortened(letters, holders)
    return _told_apart([_cut(name.text, width) for name in made], width)


class _Name(NamedTuple):
    """A name as it is written, and its words, with the separators between them."""

    text: str
    words: tuple[str, ...]

    def without(self, word: str) -> _Name:
        """Leave out a word; a name keeps its last one."""
        words = self.words
        if word not in words[::2] or all(one in (word, "") for one in words[::2]):
            return self
        return self._spelled(tuple("" if one == word else one for one in words))

    def shortened(self, letters: int, holders: Mapping[str, Sequence[int]]) -> _Name:
        """Shorten words without digits that other names have, too, to their first letters."""
        return self._spelled(
            tuple(
                one[:letters] if one.isalpha() and len(holders.get(one, ())) != 1 else one
                for one in self.words
            )
        )

    def _spelled(self, words: tuple[str, ...]) -> _Name:
        kept = [place for place in range(0, len(words), 2) if words[place]]
        text, last = "", -2
        for place in kept:
            text += _CUT if place > last + 2 else words[place - 1] if place else ""
            text, last = text + words[place], place
        return _Name(text if last == len(words) - 1 else text + _CUT, words)


def _cut(text: str, width: int) -> str:
    """Cut the middle of a text."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}{_CUT}{text[len(text) - tail :]}"


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
