"""A dump is read as the known run, or refused with a map; a map without ``?`` reads it so.

`DUMPS=5000 python -m pytest tests/fuzz/test_dumps.py` tries more of them.
"""

import os
import random
import re
import warnings

import pytest

from ragkpi.errors import RagkpiError
from ragkpi.files import lines, shape_reader
from ragkpi.files.formats import reader_of, reading_for
from ragkpi.files.opening import Source
from ragkpi.files.sieve import sieve_for
from tests.fuzz.dumps import dump, made_run, rankings

SEEDS = range(int(os.environ.get("DUMPS", "80")))


def ranked(path, map_=None, fold=None):
    """The documents of each query, best first."""
    sieve = sieve_for(fold or None, False, None)
    how = None if map_ is None else reading_for("run", map_=map_, sieve=sieve)
    best = {}
    with warnings.catch_warnings(action="ignore"), Source(str(path)) as source:
        for block in reader_of("run", source, how).stream_run(source, held=True):
            for row, group in enumerate(block.group().tolist()):
                some = best.setdefault(block.query[group].decode(), [])
                some.append((-block.score[row], block.document[row].decode()))
    return {query: [id_ for _, id_ in sorted(some)] for query, some in best.items()}


def outcome(path, expected):
    """What became of a dump: "read", "command", or what went wrong."""
    try:
        return "read" if ranked(path) == expected else f"misread as {ranked(path)}"
    except RagkpiError as refusal:
        problem = refusal
        maps = re.findall(r'map_run="([^"…]*)"(?: with max_passage="([^"]*)")?', str(problem))
    if "=?" in str(problem):
        return "refused"  # no name settles a part: nothing is guessed
    if not maps:
        return f"refused without a command: {problem}"
    try:
        readings = [ranked(path, *options) for options in maps]
    except RagkpiError as again:
        if "map_run=" in str(again):
            return "refused"  # the next part is asked about
        return f"a command of {problem} is refused: {again}"
    return "command" if expected in readings else f"commands that misread: {problem}"


@pytest.mark.parametrize("seed", SEEDS)
def test_read_or_refused_with_a_command(seed, tmp_path):
    rng = random.Random(seed)
    run = made_run(rng)
    made = dump(rng, run)
    if made is None:
        return
    text, suffix, _ = made
    path = tmp_path / f"dump{suffix}"
    path.write_bytes(text.encode())
    assert outcome(path, rankings(run)) in ("read", "command", "refused"), text[:600]


def answer(path):
    """The documents of each query, or the refusal."""
    try:
        return ranked(path)
    except RagkpiError as problem:
        return str(problem)


@pytest.mark.parametrize("seed", SEEDS)
def test_many_records_are_read_as_one_by_one(seed, tmp_path, monkeypatch):
    """Also where a value is missing, unlike the others or no JSON: the line in the refusal, too."""
    rng = random.Random(seed)
    made = dump(rng, made_run(rng))
    if made is None or made[1] != ".jsonl":
        return
    records = made[0].splitlines(keepends=True)
    place = rng.randrange(len(records))
    some = re.findall(r'"[^"]*"|[0-9.]+', records[place])
    value = rng.choice(["null", "1e9", '"x"', "[]", '{"a": 1, "a": 2}', "}"])
    damaged = records[place].replace(rng.choice(some), value, 1)
    path = tmp_path / "dump.jsonl"
    for text in (made[0], "".join([*records[:place], damaged, *records[place + 1 :]])):
        path.write_text(text)
        with monkeypatch.context() as one_by_one:
            many = answer(path)
            one_by_one.setattr(shape_reader, "_RECORDS_AT_ONCE", 1)
            one_by_one.setattr(lines.blocks, "__defaults__", (1,))
            assert answer(path) == many, text
