"""Tables of parquet and Arrow that are damaged.

Few files have checksums. Where there are some, no flipped bit goes unseen.
"""

import gzip
import io
import os
import random
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

import ragkpi as library
from ragkpi.errors import InputError, RagkpiError
from tests.tries import seeds

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ipc = pytest.importorskip("pyarrow.ipc")

QRELS = {"q1": {"b": 1}, "q2": {"c": 1}}
TABLE = pyarrow.table(
    {"qid": ["q1", "q1", "q2", "q2"], "docid": list("abcd"), "score": [2.5, 1.5, 2.0, 1.0]}
)
EXPECTED = {"q1": 0.5, "q2": 1.0}  # reciprocal ranks of b and c


def as_parquet(table=TABLE, **options):
    file = io.BytesIO()
    plain = options | {"compression": "none", "use_dictionary": False, "write_statistics": False}
    parquet.write_table(table, file, store_schema=False, **plain)
    return file.getvalue()


def as_stream(table=TABLE, **options):
    """A stream of batches of two rows, and where each message ends."""
    file, ends = io.BytesIO(), []
    with ipc.new_stream(file, table.schema, **options) as writer:
        for row in range(0, len(table), 2):
            writer.write_table(table.slice(row, 2))
            ends.append(file.tell())
    return file.getvalue(), ends


def evaluated(path):
    result = library.evaluate(QRELS, str(path), "recip_rank", missing="zero")
    return {query: values["recip_rank"] for query, values in result.per_query.items()}


def one_line(problem):
    text = str(problem)
    assert "\n" not in text
    assert re.search(r": .+; expected ", text), text
    return text


@pytest.mark.parametrize("octets", [as_parquet(), as_stream()[0]], ids=["parquet", "stream"])
def test_flips(octets, tmp_path):
    """A seeded sample: each is refused in one line, or unseen."""
    chance = random.Random(25)
    refused = 0
    for _ in seeds(200):
        flipped = bytearray(octets)
        flipped[chance.randrange(len(octets))] ^= 1 << chance.randrange(8)
        (tmp_path / "run").write_bytes(flipped)
        try:
            evaluated(tmp_path / "run")
        except RagkpiError as problem:
            one_line(problem)
            refused += 1
        except MemoryError:  # a length that was flipped
            refused += 1
    assert refused


def test_flips_in_the_metadata_of_a_column(tmp_path):
    """Some of them abort the process as soon as pyarrow is asked for it."""
    octets = as_parquet()
    begin = len(octets) - 8 - int.from_bytes(octets[-8:-4], "little")
    for place in range(begin, len(octets) - 8):
        flipped = bytearray(octets)
        flipped[place] ^= 4
        (tmp_path / "run").write_bytes(flipped)
        with suppress(RagkpiError):
            evaluated(tmp_path / "run")


def test_flips_under_checksums(tmp_path):
    """Every bit of a page with the ids of documents: another id would be evaluated unseen."""
    octets = as_parquet(write_page_checksum=True)
    ids = b"".join(b"\1\0\0\0" + id_ for id_ in (b"a", b"b", b"c", b"d"))
    (tmp_path / "run").write_bytes(octets)
    assert evaluated(tmp_path / "run") == EXPECTED
    for bit in range(8 * len(ids)):
        flipped = bytearray(octets)
        flipped[octets.index(ids) + bit // 8] ^= 1 << bit % 8
        (tmp_path / "run").write_bytes(flipped)
        with pytest.raises(InputError, match="run: invalid table") as refused:
            evaluated(tmp_path / "run")
        one_line(refused.value)


def test_streams_that_are_cut(tmp_path):
    """A writer that was killed leaves whole batches, and no mark of the end."""
    octets, ends = as_stream()
    chance = random.Random(4)
    cuts = {*ends, *(end + 4 for end in ends), len(octets) - 1}
    cuts |= {chance.randrange(1, len(octets)) for _ in seeds(4)}
    for cut in sorted(cuts):
        (tmp_path / "run").write_bytes(octets[:cut])
        with pytest.raises(InputError) as refused:
            library.evaluate(QRELS, str(tmp_path / "run"), "recip_rank", missing="zero")
        one_line(refused.value)
    (tmp_path / "run").write_bytes(octets)
    assert evaluated(tmp_path / "run") == EXPECTED


def test_a_stream_without_its_end_marker(ragkpi, tmp_path):
    octets, ends = as_stream()
    (tmp_path / "qrels").write_text("q1 0 b 1\nq2 0 c 1\n", "utf-8")
    (tmp_path / "run").write_bytes(octets[: ends[0]])
    outcome = ragkpi("eval", "-m", "recip_rank", "qrels", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"run: invalid table (a stream without end marker, or " in outcome.err


def test_the_last_number_may_look_like_the_end_marker(tmp_path):
    """4294967295 is written as the bytes of the marker."""
    scores = pyarrow.array([3 * 2**32, 2 * 2**32, 3 * 2**32, 2**32 - 1], "int64")
    octets, ends = as_stream(TABLE.set_column(2, "score", scores))
    assert b"\xff\xff\xff\xff\0\0\0\0" in octets[ends[0] : ends[1]]
    (tmp_path / "run").write_bytes(octets)
    assert evaluated(tmp_path / "run") == EXPECTED
    (tmp_path / "run").write_bytes(octets[: ends[1]])
    with pytest.raises(InputError, match="end marker"):
        evaluated(tmp_path / "run")


def test_two_streams_one_after_the_other(tmp_path):
    """The second one would be left out in silence."""
    (tmp_path / "run").write_bytes(as_stream()[0] * 2)
    with pytest.raises(InputError, match="end marker, or with data after it"):
        evaluated(tmp_path / "run")


def test_streams_as_older_arrows_wrote_them(tmp_path):
    options = ipc.IpcWriteOptions(use_legacy_format=True)
    octets, ends = as_stream(options=options)
    how = {"missing": "zero", "run_format": "arrow"}
    (tmp_path / "run").write_bytes(octets)
    result = library.evaluate(QRELS, str(tmp_path / "run"), "recip_rank", **how)
    assert {query: row["recip_rank"] for query, row in result.per_query.items()} == EXPECTED
    (tmp_path / "run").write_bytes(octets[: ends[1]])
    with pytest.raises(InputError, match="end marker"):
        library.evaluate(QRELS, str(tmp_path / "run"), "recip_rank", **how)


def test_qrels_whose_first_bytes_read_like_a_line_of_trec(ragkpi, tmp_path):
    """Up to the first newline there are four words, and the last is a number."""
    table = pyarrow.table({"query_id": ["1"], "doc_id": ["xyz 1\n"], "relevance": [1]})
    octets = as_parquet(table)
    words = octets.split(b"\n")[0].split()
    assert (len(words), words[-1]) == (4, b"1")
    (tmp_path / "qrels").write_bytes(octets)
    (tmp_path / "run.json").write_text('{"1": {"a": 2, "xyz 1\\n": 1}}', "utf-8")
    outcome = ragkpi("eval", "-m", "recip_rank", "qrels", "run.json", folder=tmp_path)
    assert (outcome.status, outcome.err) == (0, b"")
    assert outcome.out.split() == [b"recip_rank", b"all", b"0.5000"]


@pytest.mark.parametrize("id_", ["PAR1", "ARROW1"])
def test_queries_named_like_a_format(id_, ragkpi, tmp_path):
    (tmp_path / "qrels").write_text(f"{id_} 0 b 1\n", "utf-8")
    (tmp_path / "run").write_text(f"{id_} Q0 a 1 2 me\n{id_} Q0 b 2 1 me\n", "utf-8")
    outcome = ragkpi("eval", "-m", "recip_rank", "qrels", "run", folder=tmp_path)
    assert outcome.out.split() == [b"recip_rank", b"all", b"0.5000"]


@pytest.mark.parametrize("octets", [as_parquet(), as_stream()[0]], ids=["parquet", "stream"])
@pytest.mark.parametrize("how", ["file", "gzip", "standard input", "gzip, standard input"])
def test_ways_in(how, octets, ragkpi, tmp_path):
    packed = gzip.compress(octets) if "gzip" in how else octets
    (tmp_path / "run").write_bytes(packed)
    (tmp_path / "qrels").write_text("q1 0 b 1\nq2 0 c 1\n", "utf-8")
    name = "-" if "input" in how else "run"
    outcome = ragkpi("eval", "-m", "recip_rank", "qrels", name, folder=tmp_path, stdin=packed)
    assert (outcome.status, outcome.err) == (0, b"")
    assert outcome.out.split() == [b"recip_rank", b"all", b"0.7500"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_threads(tmp_path):
    """None waits for what another one holds open."""

    def one(number):
        path = tmp_path / f"pipe{number}"
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(as_parquet(),))
        writer.start()
        try:
            return evaluated(path)
        finally:
            writer.join()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(8))) == [EXPECTED] * 8


def test_without_pyarrow(ragkpi, tmp_path, monkeypatch):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/pyarrow.py").write_text("raise ImportError('not here')\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "run").write_bytes(as_parquet())
    (tmp_path / "qrels").write_text("q1 0 b 1\n", "utf-8")
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.startswith(
        b"ragkpi: error: parquet and Arrow files need a package (not here); "
    )
    assert outcome.err.endswith(b" pip install 'ragkpi[arrow]'\n")
