"""Blocks put together give the text, whatever their size and whatever is left over of each."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.errors import InputError
from ragkpi.formats import blocks
from ragkpi.formats.blocks import BlockReader
from ragkpi.formats.opening import Source

pieces = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"a", b"#\n", b"bb\n", b"\0", b"\xef\xbb\xbf"])
    | st.binary(max_size=70),
    max_size=30,
).map(b"".join)


class Text:
    """A source that hands out at most a few bytes at a time."""

    name, at_start = "file", True

    def __init__(self, text, at_once):
        self.rest, self.at_once = text, at_once

    def fill(self, buffer):
        filled = 0
        while filled < len(buffer) and self.rest:
            some = self.rest[: min(self.at_once, len(buffer) - filled)]
            buffer[filled : filled + len(some)] = some
            filled += len(some)
            self.rest = self.rest[len(some) :]
        return filled


def lines_of(text):
    """What is to be read: no byte order mark, and a newline behind the last line."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    if text and not text.endswith(b"\n"):
        text += b"\n"
    return text.splitlines(True) if not text else [line + b"\n" for line in text.split(b"\n")[:-1]]


def text_of(block):
    return block.buffer[block.start : block.end].tobytes()


@given(pieces, st.integers(3, 80), st.integers(1, 80), st.data())
def test_blocks_of_whole_lines(text, size, at_once, data):
    lines = lines_of(text)
    reader = BlockReader(Text(text, at_once), size)
    block, used = reader.read(), 0
    while block is not None:
        here = text_of(block).split(b"\n")[:-1]
        assert [line + b"\n" for line in here] == lines[used : used + len(here)]
        assert text_of(block).endswith(b"\n")
        assert block.first_line == used + 1
        assert block.last == (used + len(here) == len(lines)) or not block.last
        assert block.count_lines() == len(here)
        kept = 0 if block.last else data.draw(st.integers(0, len(here)))
        left_over = sum(len(line) + 1 for line in here[len(here) - kept :])
        used += len(here) - kept
        block = reader.read(block.end - left_over if kept else None, len(here) - kept)
    assert used == len(lines)


@given(pieces, st.integers(3, 80))
def test_the_whole_in_one_block_and_split_again(text, size):
    lines = lines_of(text)
    block = BlockReader(Text(text, 7), size).read_all()
    assert (block is None) == (not lines)
    if block is None:
        return
    assert text_of(block) == b"".join(lines)
    parts = list(block.split(size))
    assert b"".join(map(text_of, parts)) == b"".join(lines)
    assert all(text_of(part).endswith(b"\n") for part in parts)
    assert [part.last for part in parts] == [False] * (len(parts) - 1) + [True]
    before = 0
    for part in parts:
        assert part.first_line == before + 1
        before += part.count_lines()


@given(st.lists(st.sampled_from([b"a\n", b"bbb\n", b"\n"]), min_size=1), st.integers(1, 9))
def test_no_byte_beyond_the_limit(lines, size):
    here = b"".join(lines)
    reader = BlockReader(Text(here + b"beyond\n", 5), size, len(here))
    found, block = b"", reader.read()
    while block is not None:
        found += text_of(block)
        block = reader.read()
    assert found == here


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(blocks, "LONGEST_LINE", 1 << 20)
    text = b"q Q0 d 1 2 t\n" * 10 + b"x" * (3 << 20)
    reader = BlockReader(Text(text, 1 << 16), 1 << 10)
    with pytest.raises(InputError, match=r"file:11: a line of more than 1 MB"):
        reader.read_all()


def test_a_pipe_is_read_a_second_time():
    text = b"".join(b"line %d\n" % number for number in range(5_000))
    receiver, sender = os.pipe()
    os.write(sender, text)
    os.close(sender)
    with Source(f"/dev/fd/{receiver}") as source:
        source.keep_copy()
        first = BlockReader(source, 1 << 12).read()
        assert text_of(first) == text[: first.end - first.start]
        source.restart()
        assert text_of(BlockReader(source, 1 << 12).read_all()) == text
    os.close(receiver)


@pytest.mark.parametrize("size", [64, 300])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_query_longer_than_its_block_is_scanned_at_most_twice(
    tmp_path, monkeypatch, size, ending
):
    from ragkpi.formats import trec_runs

    lines = [
        b"%d Q0 d%d 1 1 me" % (query, i)
        for query, n in ((1, 3), (2, 400), (3, 2))
        for i in range(n)
    ]
    (tmp_path / "run").write_bytes(ending.join(lines))
    scanned = []
    scan = trec_runs.scan
    monkeypatch.setattr(
        trec_runs,
        "scan",
        lambda block, shape: scanned.append(block.end - block.start) or scan(block, shape),
    )
    with Source(str(tmp_path / "run")) as source:
        blocks = [
            (block.query.tolist(), [len(block.document), int(block.line[-1])])
            for block in trec_runs.stream_run(source, block_size=size)
        ]
    assert [query for queries, _ in blocks for query in queries] == [b"1", b"2", b"3"]
    assert sum(count for _, (count, _) in blocks) == len(lines)
    assert blocks[-1][1][1] == len(lines)
    assert sum(scanned) < 2.2 * (tmp_path / "run").stat().st_size
