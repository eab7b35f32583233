"""Inputs that are made from those of `make_inputs`: other formats, second runs, qualities."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from peers import ROOT

Lines = Iterator[bytes]


class Files:
    """The files of a benchmark, made when they are asked for and not there.

    Parameters
    ----------
    quick
        Whether no run has more than a million lines.
    """

    def __init__(self, quick: bool) -> None:
        self.quick = quick
        self.big = "M" if quick else "L"
        self.folder = self.of("S")[0].parents[1] / "derived"
        self.folder.mkdir(parents=True, exist_ok=True)

    def of(self, name: str) -> tuple[Path, Path]:
        """Return the qrels and the run of an input."""
        if name == "M-spacing":
            qrels, run = self.of("M")
            return qrels, self._made("M-spacing.run", run, _spaced)
        script = Path(__file__).with_name("make_inputs.py")
        made = subprocess.run([sys.executable, script, name], stdout=subprocess.PIPE, check=True)
        folder = Path(os.fsdecode(made.stdout.strip()))
        return folder / "qrels.txt", folder / "run.txt"

    def pair(self, name: str) -> tuple[Path, Path, Path]:
        """Return qrels and two runs of nearly the same documents."""
        qrels, run = self.of(name)
        return qrels, run, self._made(f"{name}.second.run", run, _disturbed)

    def judged(self, name: str, kind: str) -> Path:
        """Return preferences, or judgements of two groups of assessors, for a run."""
        qrels, _ = self.of(name)
        return self._made(f"{name}.{kind}", qrels, {"prefs": _preferred, "qrels_jg": _twice}[kind])

    def quality(self, name: str) -> Path:
        """Return how good the responses were."""
        qrels, _ = self.of(name)
        return self._made(f"{name}.quality", qrels, _rated)

    def converted(self, name: str, suffix: str) -> Path:
        """Return a run in another format."""
        _, run = self.of(name)
        path = self.folder / f"{name}.{suffix}"
        if not _is_fresh(path, run):
            command = [sys.executable, "-m", "ragkpi", "convert", run, path]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        return path

    def flat(self, name: str) -> Path:
        """Return a run as JSON Lines, a line for each document."""
        _, run = self.of(name)
        return self._made(f"{name}.flat.jsonl", run, _flattened)

    def _made(self, name: str, source: Path, make: Callable[[Lines], Lines]) -> Path:
        path = self.folder / name
        if not _is_fresh(path, source):
            with open(source, "rb") as lines, open(path, "wb") as out:
                out.writelines(make(lines))
        return path


def _is_fresh(path: Path, source: Path) -> bool:
    return path.exists() and path.stat().st_mtime > source.stat().st_mtime


def _flattened(lines: Lines) -> Lines:
    for line in lines:
        query, _, document, _, score, _ = line.split()
        yield b'{"query_id": "%b", "doc_id": "%b", "score": %b}\n' % (query, document, score)


def _spaced(lines: Lines) -> Lines:
    for number, line in enumerate(lines):
        yield line.replace(b" ", b"  ", 1 + number % 4) if number % 3 else line


def _disturbed(lines: Lines) -> Lines:
    draw = random.Random(1)
    for query, group in groupby(lines, key=lambda line: line.split(None, 1)[0]):
        documents = [line.split()[2] for line in group]
        places = [place + draw.random() * 20 for place in range(len(documents))]
        ordered = sorted(range(len(documents)), key=places.__getitem__)
        for rank, place in enumerate(ordered):
            yield b"%b Q0 %b %d %d second\n" % (query, documents[place], rank + 1, -rank)


def _twice(lines: Lines) -> Lines:
    for line in lines:
        query, _, document, level = line.split()
        for group in (b"0", b"1"):
            yield b"%b %b %b %b\n" % (query, group, document, level)


def _preferred(lines: Lines) -> Lines:
    """Prefer what is judged to a document that nobody has, so that there are pairs."""
    for line in lines:
        query, _, document, level = line.split()
        yield b"%b 1 1 %b %d\n" % (query, document, int(level) + 1)
        yield b"%b 1 1 none-%b 0\n" % (query, document)


def _rated(lines: Lines) -> Lines:
    draw = random.Random(2)
    for query in dict.fromkeys(line.split(None, 1)[0] for line in lines):
        yield b"%b\t%d\n" % (query, draw.randint(1, 5))
