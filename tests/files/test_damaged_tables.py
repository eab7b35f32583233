"""Tables of parquet and Arrow that are damaged, and the process of its own in which they are read.

Few files have checksums: a flipped bit may go unseen, be refused, or crash pyarrow. None of them
ends the process that evaluates.
"""

import gzip
import io
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import ragkpi as library
from ragkpi.errors import InputError, RagkpiError
from tests import hostile_files
from tests.tries import seeds

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ipc = pytest.importorskip("pyarrow.ipc")

QRELS = {"q1": {"b": 1}, "q2": {"c": 1}}
TABLE = pyarrow.table(
    {"qid": ["q1", "q1", "q2", "q2"], "docid": list("abcd"), "score": [2.5, 1.5, 2.0, 1.0]}
)
EXPECTED = {"q1": 0.5, "q2": 1.0}  # reciprocal ranks of b and c
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def as_parquet(table=TABLE):
    file = io.BytesIO()
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
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


# Prints the first flips that crash pyarrow, by reading each in a process that it forks.
CRASHES = """
import os, sys
sys.modules["numpy"] = None  # a smaller process forks faster
import pyarrow
import pyarrow.parquet as parquet
octets, found = open(sys.argv[1], "rb").read(), 0
out = os.fdopen(os.dup(1), "w")
for stream in (1, 2):
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
for place in range(len(octets) // 3, len(octets)):
    for bit in range(8):
        if found == 3:
            sys.exit()
        child = os.fork()
        if not child:
            try:
                flipped = bytearray(octets)
                flipped[place] ^= 1 << bit
                file = parquet.ParquetFile(pyarrow.BufferReader(flipped))
                group = file.metadata.row_group(0)
                print([group.column(column).num_values for column in range(3)])
            finally:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            found += 1
            print(place, bit, os.WTERMSIG(status), file=out, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_flips_that_crash_pyarrow(ragkpi, tmp_path):
    (tmp_path / "whole").write_bytes(as_parquet())
    (tmp_path / "qrels").write_text("q1 0 b 1\n", "utf-8")
    command = [sys.executable, "-c", CRASHES, str(tmp_path / "whole")]
    lines = subprocess.run(command, capture_output=True, check=False).stdout.splitlines()
    if not lines:
        pytest.skip("this pyarrow does not crash")
    for place, bit, number in (map(int, line.split()) for line in lines):
        octets = bytearray(as_parquet())
        octets[place] ^= 1 << bit
        (tmp_path / "run").write_bytes(octets)
        expected = (
            f"run: the parquet reader crashed (signal {number}), so that the file is damaged; "
            f"{hostile_files.TABLE}"
        )
        outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
        assert (outcome.status, outcome.out) == (2, b"")
        assert outcome.err.decode() == f"ragkpi: {expected}\n"
        with pytest.raises(InputError, match=re.escape(expected)):
            library.read_qrels(str(tmp_path / "run"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels", "run", "whole"]


def test_flips(tmp_path):
    """A seeded sample, several at a time in threads."""
    chance = random.Random(25)
    octets = as_parquet()

    def outcome(place, bit):
        flipped = bytearray(octets)
        flipped[place] ^= 1 << bit
        path = tmp_path / f"{place}.{bit}"
        path.write_bytes(flipped)
        try:
            return evaluated(path)
        except RagkpiError as problem:
            return one_line(problem)

    flips = [(chance.randrange(len(octets)), chance.randrange(8)) for _ in seeds(10)]
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda flip: outcome(*flip), flips))
    assert any(isinstance(found, str) for found in outcomes)


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
    assert b"run: no table (a stream without its end marker, or " in outcome.err


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
    with pytest.raises(InputError, match="end marker, or with more behind it"):
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
    """Each thread has a reader of its own, and none waits for what another one holds open."""

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


@pytest.mark.skipif(not hasattr(os, "WNOHANG"), reason="needs wait")
def test_no_reader_is_left(tmp_path):
    """Neither of a table that is read to its end, nor of one that is refused in the midst."""
    (tmp_path / "whole").write_bytes(as_parquet())
    (tmp_path / "cut").write_bytes(as_stream()[0][:-8])
    code = (
        "import os, ragkpi\n"
        "for name in ('whole', 'cut'):\n"
        "    try:\n"
        "        ragkpi.evaluate({'q1': {'b': 1}}, name, 'map')\n"
        "    except ragkpi.RagkpiError:\n"
        "        pass\n"
        "try:\n"
        "    print(os.waitpid(-1, os.WNOHANG))\n"
        "except ChildProcessError:\n"
        "    print('none')\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    ended = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=False)
    assert (ended.stdout, ended.stderr) == (b"none\n", b"")


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_end_the_reader_too(number, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 b 1\n", "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "ragkpi", "eval", "qrels", "-"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        many = pyarrow.concat_tables([TABLE] * 1000)
        process.stdin.write(as_parquet(many)[:-8])  # and it waits for more
        process.stdin.flush()
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        reader = when(lambda: open(children).read().split())[0]  # noqa: SIM115
        time.sleep(0.3)  # until it waits for more
        process.send_signal(number)
        process.wait(60)
        err = process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    words = {signal.SIGINT: b"interrupted", signal.SIGTERM: b"stopped by SIGTERM"}
    assert err == (b"ragkpi: " + words[number] + b"\n" if number in words else b"")
    when(lambda: not os.path.exists(f"/proc/{reader}") or is_zombie(reader))


def is_zombie(process):
    """Whether it ended, and whoever adopted it has not asked yet how."""
    with open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"


def when(found, seconds=60):
    """Return what a function finds, as soon as it finds anything."""
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.02)
    return result


def test_modules_in_the_current_folder_are_not_run(tmp_path):
    """Somebody evaluates in the folder of a stranger's data."""
    for name in ("pyarrow", "json", "numpy", "ragkpi"):
        (tmp_path / f"{name}.py").write_text("open('run by mistake', 'w')\n", "utf-8")
    (tmp_path / "run").write_bytes(as_parquet())
    (tmp_path / "qrels").write_text("q1 0 b 1\n", "utf-8")
    code = (
        "import sys; sys.path.remove(''); from ragkpi.cli.program import main; "
        "sys.exit(main(['eval', '-m', 'recip_rank', 'qrels', 'run']))"
    )
    command = [sys.executable, "-c", code]
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert ended.stdout.split() == [b"recip_rank", b"all", b"0.5000"]
    assert not (tmp_path / "run by mistake").exists()


@pytest.mark.parametrize("executable", [None, "", "/nowhere/python"])
def test_without_a_python(executable, ragkpi, tmp_path, monkeypatch):
    """A program that has Python inside may not know where a Python is."""
    (tmp_path / "run").write_bytes(as_parquet())
    (tmp_path / "qrels").write_text("q1 0 b 1\n", "utf-8")
    monkeypatch.setattr(sys, "executable", executable)
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    said = "cannot be started (No such" if executable else f"(sys.executable is {executable!r})"
    assert said in one_line(outcome.err.decode().rstrip("\n"))


def test_without_pyarrow(ragkpi, tmp_path, monkeypatch):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/pyarrow.py").write_text("raise ImportError('not here')\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    (tmp_path / "run").write_bytes(as_parquet())
    (tmp_path / "qrels").write_text("q1 0 b 1\n", "utf-8")
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.startswith(b"ragkpi: parquet and Arrow files need a package (not here); ")
    assert outcome.err.endswith(b" pip install 'ragkpi[arrow]'\n")
