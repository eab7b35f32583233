"""Runs read in blocks of a few bytes, against the lines read one by one."""

import bz2
import gzip
import itertools
import lzma
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragkpi.errors import InputError
from ragkpi.files.lines import blocks, spans
from ragkpi.files.opening import Source
from ragkpi.files.trec import RUN_LINE, TREC, columns_of_blocks, whole_queries
from tests.files.hostile import ids, texts
from tests.files.surroundings import followed
from tests.slow_reference.reading import read_words

in_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

SCORES = [b"1", b"-2.5", b"2.50", b"1e-3", b".5", b"7.", b"inf", b"12.345678", b"9" * 30]
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)


def word(column):
    if column == 0:
        return st.sampled_from([b"1", b"1", b"2", b"query-10", b"query-11", b"x" * 30])
    if column == 4:
        return st.sampled_from(SCORES) | st.floats(allow_nan=False).map(lambda x: b"%r" % x)
    return ids.filter(lambda id_: len(id_) < 100)


def one_by_one(text):
    """Rows (line, query, document, score), or the number of the line that is refused."""
    rows = read_words(text.removeprefix(b"\xef\xbb\xbf"), 6, "ignored", "first_word")
    if not isinstance(rows, list):
        return rows
    for number, words in rows:
        if not NUMBER.fullmatch(words[4]):
            return number
    return [(number, words[0], words[2], float(words[4])) for number, words in rows]


def streamed(path, size):
    rows = []
    with Source(str(path)) as source:
        for run in whole_queries(columns_of_blocks(blocks(source, size), RUN_LINE, TREC)):
            queries = [run.query[group] for group in run.group()]
            assert len(run.query) == len(list(itertools.groupby(queries)))
            assert not rows or rows[-1][1] != queries[0]  # no query is cut
            rows += zip(
                run.line.tolist(), queries, run.document.tolist(), run.score.tolist(), strict=True
            )
            last = run.run_id
    return rows, last if rows else b""


@in_files
@given(texts(6, word), st.sampled_from([3, 7, 40, 200, 1 << 12]))
@example(b"1 Q0 d 1 2\n\0\n", 3)
@example(b"\0\n1 Q0 d 1 2\n", 3)
@example(b"#\0\n1 Q0 d 1 2 r\n", 3)
def test_stream_run(tmp_path, text, size):
    path = tmp_path / "run"
    path.write_bytes(text)
    expected = one_by_one(text)
    if isinstance(expected, list):
        rows, run_id = streamed(path, size)
        assert rows == expected
        last = text.splitlines()[expected[-1][0] - 1 :] if expected else []
        assert not expected or run_id in b" ".join(last).split()
    else:
        # Within a block NUL bytes and wrong columns are refused before scores.
        with pytest.raises(InputError) as caught:
            streamed(path, 1 << 16)
        assert caught.value.line == expected
        with pytest.raises(InputError):
            streamed(path, size)


def test_every_line_can_be_named_as_the_wrong_one(tmp_path):
    lines = [b"%d Q0 d%d 1 %d.5 tag" % (number // 9, number, number) for number in range(40)]
    path = tmp_path / "run"
    for wrong in range(40):
        for spoiled in (lines[wrong].replace(b".5", b",5"), lines[wrong][:-4]):
            path.write_bytes(b"\n".join([*lines[:wrong], spoiled, *lines[wrong + 1 :]]))
            for size in (64, 100, 1 << 12):
                with pytest.raises(InputError) as caught:
                    streamed(path, size)
                assert caught.value.line == wrong + 1


@pytest.mark.parametrize("module", [gzip, bz2, lzma])
def test_compressed_runs(tmp_path, module):
    text = b"".join(b"%d Q0 d%d 1 -%d.25 t\n" % (n // 100, n, n) for n in range(3_000))
    path = tmp_path / "run"
    path.write_bytes(module.compress(text[:9_000]) + module.compress(text[9_000:]))
    assert streamed(path, 1 << 12)[0] == one_by_one(text)
    path.write_bytes(module.compress(text)[:-20])
    with pytest.raises(InputError):
        streamed(path, 1 << 12)


def test_gzip_without_isal(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "isal", None)
    test_compressed_runs(tmp_path, gzip)


# What follows a token, which no answer may depend on.
FOLLOWERS = st.sampled_from([b" ", b"\0", b" Q0", b"\xff\xff\xff"])


@given(st.lists(st.tuples(ids, st.integers(1, 4))), st.lists(FOLLOWERS, min_size=1))
@example([(b"1", 2), (b"1 Q", 1), (b"", 3)], [b" Q0", b" Q1"])
@example([(b"", 2)], [b" ", b"x"])
@example([(b"a-query-of-24-characters", 2), (b"a-query-of-24-character!", 2)], [b" ", b"!"])
def test_changes(groups, followers):
    strings = [string for string, count in groups for _ in range(count)]
    sizes = [len(list(group)) for _, group in itertools.groupby(strings)]
    tokens = followed(strings, itertools.cycle(followers))
    assert tokens.changes().tolist() == [0, *itertools.accumulate(sizes)]


@given(st.lists(st.integers(1, 9)), st.integers(1, 20))
def test_spans(sizes, most):
    starts = np.cumsum([0, *sizes])
    found = list(spans(starts, most))
    assert [group for first, last in found for group in range(first, last)] == list(
        range(len(sizes))
    )
    for (first, last), (_, following) in itertools.pairwise([*found, (0, 0)]):
        assert sum(sizes[first:last]) <= most or last == first + 1
        assert following == 0 or sum(sizes[first : last + 1]) > most
