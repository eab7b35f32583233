"""Commands under hard conditions: little memory, no disk, signals, pipes that close.

New processes where their beginning, their memory or who else gets a signal counts; else copies.
"""

import bz2
import gzip
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import begin, finished, outputs

QRELS = b"1 0 d1 1\n"
RUN = b"".join(b"1 Q0 d%d %d %d me\n" % (i, i, -i) for i in range(20000))
LITTLE = [(resource.RLIMIT_AS, 512 << 20)]  # of which Python and numpy take a third


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    return tmp_path


def start(folder, *arguments, limits=(), workers=None, **options):
    def prepare():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells have it ignored in the background
        for kind, most in limits:
            resource.setrlimit(kind, (most, most))

    return subprocess.Popen(
        [sys.executable, "-m", "ragkpi", *arguments],
        cwd=folder,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        preexec_fn=prepare,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            **({"RAGKPI_WORKERS": str(workers)} if workers else {}),
        },
        **options,
    )


def evaluate_in(folder, program, **environment):
    """Run a program that evaluates qrels and run, and does something unusual besides."""
    return subprocess.run(
        [sys.executable, "-c", program, "eval", "qrels", "run"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        check=False,
    )


def finish(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err.decode()


def feed(pieces):
    """Write pieces to a pipe from a thread, for as long as anybody reads; return its end."""
    reading, writing = os.pipe()

    def write():
        with open(writing, "wb") as file:
            try:
                for piece in pieces:
                    file.write(piece)
            except BrokenPipeError:
                pass

    threading.Thread(target=write, daemon=True).start()
    return open(reading, "rb")


@pytest.mark.parametrize("scales", [1, 2])
def test_five_thousand_documents_that_two_assessors_compare(scales, folder):
    """A matrix of all pairs would need 200 MB; the run is in the order that both prefer."""
    documents = range(5_000)
    (folder / "prefs").write_bytes(
        b"".join(
            b"1 u%d s%d d%d %d\n" % (assessor, document % scales, document, document + 1)
            for assessor in range(2)
            for document in documents
        )
    )
    (folder / "run").write_bytes(b"".join(b"1 Q0 d%d 1 %d me\n" % (d, d) for d in documents))
    measures = ["-m", "prefs_simp", "-m", "prefs_pair"]
    process = start(folder, "eval", "-R", "prefs", *measures, "prefs", "run", limits=LITTLE)
    status, out, err = finish(process)
    assert (status, err) == (0, "")
    assert [line.split()[2] for line in out.splitlines()] == [b"1.0000", b"1.0000"]


@pytest.mark.parametrize(
    ("words", "reader"),
    [
        (["eval", "qrels", "-"], "compiled"),
        (["eval", "qrels", "-"], "plain"),
        (["check", "-"], "plain"),  # which reads lines by neither
    ],
    indirect=["reader"],
)
def test_a_gigabyte_without_a_newline(words, folder, reader):
    with feed(b"x" * (1 << 24) for _ in range(64)) as pipe:
        process = start(folder, *words, stdin=pipe, limits=LITTLE)
        assert finish(process) == (
            2,
            b"",
            "ragkpi: error: -:1: a line of more than 64 MB; expected lines of text\n",
        )


def test_a_bomb_of_zeros(folder):
    bomb = bz2.compress(bytes(1 << 24)) * 64  # a gigabyte in a few kilobytes
    (folder / "bomb").write_bytes(bomb)
    process = start(folder, "eval", "qrels", "bomb", limits=LITTLE)
    status, out, err = finish(process)
    assert (status, out) == (2, b"")
    assert err.startswith("ragkpi: error: bomb:1: a line ")


def test_a_bomb_of_lines_streams_through(folder, reader):
    """As a run it takes time but no memory; and it may well be one."""
    piece = gzip.compress((b"#" + b"x" * 65534 + b"\n") * (1 << 8), 1)
    (folder / "bomb").write_bytes(piece * 26 + gzip.compress(RUN, 1))
    process = start(folder, "eval", "-m", "num_ret", "qrels", "bomb", limits=LITTLE)
    assert finish(process) == (0, b"num_ret               \tall\t20000\n", "")


@pytest.mark.parametrize("text", [b"", b"{"])
def test_a_bomb_that_has_to_be_held(text, folder):
    """Qrels and JSON documents are held; if that cannot be, one line says so."""
    piece = gzip.compress(b"\n" * (1 << 24))
    (folder / "bomb").write_bytes(gzip.compress(text) + piece * 40)
    process = start(folder, "eval", "bomb", "run", limits=LITTLE)
    assert finish(process) == (
        2,
        b"",
        "ragkpi: error: not enough memory for this input (--max-memory SIZE sets the limit)\n",
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit what is mapped")
@pytest.mark.parametrize("most", [32, 60, 90])
def test_too_little_memory_to_start(folder, most):
    """Not even for numpy, whose own words would be many."""
    limits = [(resource.RLIMIT_AS, most << 20)]
    status, out, err = finish(start(folder, "eval", "qrels", "run", limits=limits))
    assert (status, out) == (2, b"")
    assert "--max-memory" in err
    assert err.count("\n") == 1


def test_max_memory(folder):
    """Anywhere on the command line; processes that read are held to it, too."""
    with gzip.open(folder / "bomb", "wb", compresslevel=1) as file:
        file.write(b"{")
        for _ in range(20):
            file.write(b"\n" * (1 << 24))
    for arguments in (["eval", "--max-memory", "200M"], ["eval", "--max-memory=200M"]):
        status, out, err = finish(start(folder, *arguments, "bomb", "run"))
        assert (status, out) == (2, b"")
        assert "--max-memory SIZE" in err
    arguments = ("eval", "--max-memory", "1g", "-m", "num_ret", "qrels", "run")
    assert finish(start(folder, *arguments))[:2] == (0, b"num_ret               \tall\t20000\n")
    for size in ("x", "1", "1Q", "nan"):
        status, out, err = outputs(["eval", "--max-memory", size, "qrels", "run"], folder)
        assert (status, out) == (1, b"")
        assert b"--max-memory %b: expected a size from 64M" % size.encode() in err


def test_a_pipe_that_closes_early(folder, reader):
    """Half a line has too few columns; half a gzip stream is a truncated one."""
    with feed([b"1 Q0 d1 1 2 me\n1 Q0 d2"]) as pipe:
        status, out, err = outputs(["eval", "qrels", "-"], folder, pipe.fileno())
    assert (status, out) == (2, b"")
    assert err.startswith(b"ragkpi: error: -:2: 3 columns ('1 Q0 d2'); expected 6")
    with feed([gzip.compress(RUN)[:5000]]) as pipe:
        status, out, err = outputs(["eval", "qrels", "-"], folder, pipe.fileno())
    assert (status, out) == (2, b"")
    assert err.startswith(b"ragkpi: error: -: broken gzip data (")


def test_a_fifo_is_read_like_a_file(folder, reader):
    os.mkfifo(folder / "fifo")
    threading.Thread(target=(folder / "fifo").write_bytes, args=[RUN], daemon=True).start()
    words = ["eval", "-m", "num_ret", "qrels", "fifo"]
    assert outputs(words, folder) == (0, b"num_ret               \tall\t20000\n", b"")


@pytest.fixture
def after_a_block(monkeypatch):
    """Do something to a file when a block of it is read."""
    from ragkpi.files.opening import Source
    from ragkpi.ranking import reading

    def do(something):
        monkeypatch.setattr(reading, "BLOCK_SIZE", 1 << 12)
        fill, done = Source.fill, []

        def fill_and_do(source, buffer):
            count = fill(source, buffer)
            if not done and source.name.endswith("run"):
                done.append(something())
            return count

        monkeypatch.setattr(Source, "fill", fill_and_do)

    return do


def test_a_file_that_shrinks_while_it_is_read(folder, after_a_block, ragkpi, reader):
    run = b"".join(b"%d Q0 d1 1 2 me\n" % query for query in range(20000))
    (folder / "run").write_bytes(run)
    after_a_block(lambda: os.truncate(folder / "run", 1 << 15))
    status, out, err = ragkpi("eval", "qrels", "run", folder=folder)
    assert (status, out) == (2, b"")
    assert err == (
        b"ragkpi: error: run: shrank while it was read (from %d to 32768 bytes); "
        b"wait until it is complete, and try again\n" % len(run)
    )


def test_a_file_that_is_written_to_while_it_is_read(folder, after_a_block, ragkpi, reader):
    """The numbers would be of neither the old file nor the new one."""

    def write():
        with open(folder / "run", "r+b") as file:
            file.write(b"2")
        os.utime(folder / "run", (1, 1))  # the clock of a file system may be coarse

    after_a_block(write)
    status, out, err = ragkpi("eval", "qrels", "run", folder=folder)
    assert (status, out) == (2, b"")
    assert err.startswith(b"ragkpi: error: run: changed while ")


def test_a_file_that_takes_the_place_of_the_opened_one_is_not_read(folder):
    from ragkpi.files.opening import Source

    with Source(str(folder / "run")) as source:
        (folder / "other").write_bytes(RUN.replace(b"d1", b"x1"))
        os.replace(folder / "other", folder / "run")
        text = memoryview(bytearray(len(RUN)))
        assert source.fill(text) == len(RUN)
        assert text.tobytes() == RUN


@pytest.mark.parametrize("kind", ["file", "pipe", "gzip", "begun"])
@pytest.mark.parametrize("megabytes", [0, 3])
def test_standard_input_of_every_kind_and_size(kind, megabytes, folder, reader):
    """A file is read from where standard input stands in it."""
    line = b"%d Q0 d%d 1 %d me\n"
    lines = [line % (query, i, -i) for query in (1, 2) for i in range(10 + megabytes * 32000)]
    text, head = b"".join(lines), b"a line that somebody has read\n" if kind == "begun" else b""
    (folder / "big").write_bytes(gzip.compress(text, 1) if kind == "gzip" else head + text)
    with feed([text]) if kind == "pipe" else open(folder / "big", "rb") as file:
        if head:
            os.lseek(file.fileno(), len(head), os.SEEK_SET)
        words = ["eval", "-m", "num_ret", "qrels", "-"]
        expected = b"num_ret               \tall\t%d\n" % (len(lines) // 2)
        note = b"ragkpi: note: 1 query of the run is unjudged and ignored (2)\n"
        assert outputs(words, folder, file.fileno()) == (0, expected, note)


def test_an_interrupt(folder):
    """Status 130, one line, and the file that was to be replaced as it was."""
    (folder / "out.json").write_bytes(b"old")
    os.mkfifo(folder / "fifo")
    process = start(folder, "convert", "fifo", "out.json")
    with open(folder / "fifo", "wb") as file:
        file.write(RUN)
        file.flush()
        time.sleep(0.2)  # it waits for more
        process.send_signal(signal.SIGINT)
        assert finish(process) == (130, b"", "ragkpi: interrupted\n")
    assert sorted(os.listdir(folder)) == ["fifo", "out.json", "qrels", "run"]
    assert (folder / "out.json").read_bytes() == b"old"


@pytest.fixture(scope="module")
def big_run(tmp_path_factory):
    """A run that takes long to read."""
    path = tmp_path_factory.mktemp("run") / "big"
    with path.open("wb") as file:
        for query in range(200):
            file.write(b"".join(b"%d Q0 d%d 1 1 me\n" % (query, i) for i in range(20_000)))
    return path


@pytest.mark.parametrize("files", [1, 3])
def test_an_interrupt_while_the_kernel_reads(folder, files, reader, big_run):
    """Several runs are read side by side."""
    runs = [str(big_run)] * files
    process = start(folder, "eval", "qrels", *runs, workers=3, start_new_session=True)
    time.sleep(0.5)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        status, out, err = finish(process)
        if status:  # notes may have been told before, and no number
            assert (status, out) == (130, b"")
            assert err.endswith("ragkpi: interrupted\n")
    else:
        finish(process)


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, "ragkpi: interrupted\n"),
        (signal.SIGTERM, 143, "ragkpi: stopped by SIGTERM\n"),
        (signal.SIGHUP, 129, "ragkpi: stopped by SIGHUP\n"),
    ],
)
def test_an_interrupt_while_several_runs_wait_for_more(folder, number, status, said):
    """Whoever writes them may never go on: nobody waits for the threads that read them."""
    for name in ("one", "two"):
        os.mkfifo(folder / name)
    process = start(folder, "eval", "-o", "out", "qrels", "one", "two", workers=2)
    with open(folder / "one", "wb") as one, open(folder / "two", "wb") as two:
        for file in (one, two):
            file.write(RUN)
            file.flush()
        time.sleep(0.5)
        process.send_signal(number)
        try:
            assert finish(process) == (status, b"", said)
        finally:
            process.kill()
    assert sorted(os.listdir(folder)) == ["one", "qrels", "run", "two"]


@contextmanager
def unwritable(kind):
    """What a shell may give as a stream that takes nothing."""
    if kind == "full":
        with open("/dev/full", "wb") as full:
            yield full.fileno()
        return
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def test_nobody_reads_the_output(folder):
    with unwritable("nobody reads") as stdout, (folder / "err").open("wb") as err:
        words = ["convert", "run", "-", "--to", "jsonl"]
        assert finished(begin(words, folder, {}, stdout, err.fileno())) == 141
    assert (folder / "err").read_bytes() == b""


def test_the_disk_is_full(folder):
    with unwritable("full") as stdout, (folder / "err").open("wb") as err:
        assert finished(begin(["eval", "qrels", "run"], folder, {}, stdout, err.fileno())) == 1
    assert (folder / "err").read_bytes().endswith(b" (No space left on device)\n")


@pytest.mark.parametrize("kind", ["full", "nobody reads"])
@pytest.mark.parametrize(
    ("arguments", "status", "lines"),
    [
        (["qrels", "run"], 0, 1),
        (["qrels", "nosuch"], 2, 0),
        (["--fail-under", "recip_rank=0.9", "qrels", "run"], 3, 1),
        (["-o", "out", "qrels", "run"], 0, 0),
        (["--nosuch", "qrels", "run"], 1, 0),
    ],
    ids=["a result", "a missing input", "a gate", "a file", "an option"],
)
def test_messages_that_cannot_be_written_lose_no_result(folder, kind, arguments, status, lines):
    """What is said is lost, the result and the status are not; run has a query nobody judged."""
    with open(folder / "run", "ab") as run:
        run.write(b"unjudged Q0 a 1 1 t\n")
    words = ["eval", "-m", "recip_rank", *arguments]
    with unwritable(kind) as stderr, (folder / "printed").open("wb") as stdout:
        assert finished(begin(words, folder, {}, stdout.fileno(), stderr)) == status
    value = b"recip_rank            \tall\t0.5000\n"  # d1 is the second of RUN
    assert (folder / "printed").read_bytes() == value * lines
    if "-o" in arguments:
        assert (folder / "out").read_bytes() == value


@pytest.mark.parametrize(
    "arguments", [["convert", "run", "out.csv"], ["check", "run", "--fix", "out.csv"]]
)
def test_a_file_that_cannot_grow_is_left_as_it_was(arguments, folder):
    (folder / "out.csv").write_bytes(b"old")
    status, _, err = outputs(arguments, folder, limits=[(resource.RLIMIT_FSIZE, 1 << 16)])
    assert status == 1
    assert err.endswith(b"out.csv: cannot be written: File too large; give another file\n")
    assert err.count(b"\n") == 1
    assert (folder / "out.csv").read_bytes() == b"old"
    assert sorted(os.listdir(folder)) == ["out.csv", "qrels", "run"]


@pytest.fixture(scope="module")
def big_table(tmp_path_factory):
    """A parquet file that takes a second to read."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    count = 4_000_000
    ids = arrow.array([f"d{number}" for number in range(count // 40)] * 40)
    queries = arrow.array([query for query in map(str, range(40)) for _ in range(count // 40)])
    scores = arrow.array([float(-number) for number in range(count)])
    path = tmp_path_factory.mktemp("parquet") / "big"
    parquet.write_table(arrow.table({"qid": queries, "docid": ids, "score": scores}), path)
    return path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_while_a_table_is_read(number, folder, big_table):
    """No partial file is left."""
    process = start(folder, "eval", "-o", "out", "qrels", str(big_table))
    maps = Path(f"/proc/{process.pid}/maps")
    while process.poll() is None and b"libparquet" not in maps.read_bytes():
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    process.send_signal(number)
    status, out, err = finish(process)
    said = {signal.SIGKILL: "", signal.SIGINT: "ragkpi: interrupted\n"}
    assert err == said.get(number, f"ragkpi: stopped by {number.name}\n")
    expected = {signal.SIGKILL: -9, signal.SIGINT: 130}.get(number, 128 + number)
    assert (status, out) == (expected, b"")
    assert sorted(os.listdir(folder)) == ["qrels", "run"]


def test_closed_standard_streams(folder):
    """They are not taken by the files that are opened next, and errors name them."""

    def run(redirections, *arguments):
        command = f'"$0" -m ragkpi "$@" {redirections}'
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            ["sh", "-c", command, sys.executable, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
        )

    evaluation = ("eval", "-m", "num_ret", "qrels")
    done = run(">&-", *evaluation, "run")
    assert (done.returncode, done.stderr) == (
        1,
        b"ragkpi: error: standard output cannot be written (Bad file descriptor)\n",
    )
    done = run(">&-", *evaluation, "-o", "out", "run")
    assert (done.returncode, done.stderr) == (0, b"")
    assert (folder / "out").read_bytes() == b"num_ret               \tall\t20000\n"
    done = run("<&-", *evaluation, "-")
    assert (done.returncode, done.stderr) == (
        2,
        b"ragkpi: error: -: standard input is closed; give a file\n",
    )
    done = run("2>&-", *evaluation, "nosuch")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")
    assert (folder / "run").read_bytes() == RUN


def test_standard_output_by_another_name_keeps_what_stands_there(folder):
    (folder / "all").write_bytes(b"old\n")
    words = ["eval", "-m", "num_ret", "-o", "/dev/stdout", "qrels", "run"]
    with open(folder / "all", "ab") as file:
        assert finished(begin(words, folder, {}, file.fileno(), 2)) == 0
    assert (folder / "all").read_bytes() == b"old\nnum_ret               \tall\t20000\n"


def test_what_nobody_thought_of_is_one_line(folder, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("so")

    monkeypatch.setattr("ragkpi.ranking.reading.hits_of", fail)
    for debug in ("", "1"):
        status, out, err = outputs(["eval", "qrels", "run"], folder, RAGKPI_DEBUG=debug)
        lines = err.decode().splitlines()
        assert (status, out) == (70, b"")
        assert lines[-1].startswith(
            "ragkpi: error: a bug in ragkpi (ZeroDivisionError: so); please report"
        )
        assert (len(lines) > 1) == (debug == "1")


def test_a_log_is_appended_to_whole_or_not_at_all(folder):
    """A full disk leaves what was there; half a line of a killed process is told and dropped."""
    words = ["eval", "-m", "num_ret", "--log", "log", "qrels", "run"]
    assert outputs(words, folder)[0] == 0
    before = (folder / "log").read_bytes()
    most = [(resource.RLIMIT_FSIZE, len(before) + 40)]
    status, _, err = outputs(words, folder, limits=most)
    assert (status, err) == (
        1,
        b"ragkpi: error: --log log: cannot be appended to: File too large\n",
    )
    assert (folder / "log").read_bytes() == before
    (folder / "log").write_bytes(before + before[:60])
    status, out, err = outputs(["log", "log"], folder)
    assert status == 0
    assert out.count(b"20000") == 1
    assert err.startswith(b"ragkpi: warning: log:2: the last line is incomplete")
    status, _, err = outputs(words, folder)
    assert status == 0
    assert err.startswith(b"ragkpi: warning: log: ")
    assert outputs(["log", "log"], folder)[1].count(b"20000") == 2


@pytest.mark.parametrize(
    "module",
    [
        *(
            "ragkpi.cli.program",
            "ragkpi.library.options",
            "ragkpi.questions.evaluate.command",
            "ragkpi.evaluation",
        ),
        *("numpy", "numpy._core.multiarray", "ragkpi.measures.registry"),
    ],
)
def test_an_interrupt_while_modules_are_imported_is_one_line(folder, module):
    program = (
        "import os, signal, sys, ragkpi.cli\n"
        "class Interrupted:\n"
        "    def find_spec(name, *_):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupted)\n"
        "ragkpi.cli.entry()"
    )
    done = evaluate_in(folder, program)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"ragkpi: interrupted\n")


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, b"ragkpi: interrupted\n"),
        (signal.SIGTERM, 143, b"ragkpi: stopped by SIGTERM\n"),
        (signal.SIGHUP, 129, b"ragkpi: stopped by SIGHUP\n"),
    ],
)
def test_a_signal_while_python_cleans_up_is_heeded(folder, monkeypatch, number, status, said):
    """Python only prints what is raised in a finaliser, and goes on."""
    from ragkpi.cli import program

    class Last:
        def __del__(self):
            os.kill(os.getpid(), number)

    def run(arguments):
        last = Last()
        del last
        return command(arguments)

    command = program.take
    monkeypatch.setattr(program, "take", run)
    assert outputs(["eval", "qrels", "run"], folder) == (status, b"", said)
