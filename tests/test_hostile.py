"""The contract about bad input: what each file is refused with, word for word, and the status.

`…` stands for what another program says (zlib, the system).
"""

import gzip
import os
import re
import sys
from importlib.util import find_spec

import pytest

from ragkpi.files import lines, opening
from tests.hostile_files import ARROW, PARTS, QRELS, ROWS, RUNS, TABLES

pytestmark = pytest.mark.usefixtures("reader")


@pytest.mark.parametrize(("text", "message", "status"), RUNS.values(), ids=RUNS)
def test_refuses_runs(text, message, status, ragkpi, tmp_path):
    (tmp_path / "qrels").write_bytes(b"1 0 d 1\n")
    (tmp_path / "run").write_bytes(text)
    refused(ragkpi("eval", "qrels", "run", folder=tmp_path), message, status)


@pytest.mark.parametrize(("text", "message", "status"), QRELS.values(), ids=QRELS)
def test_refuses_qrels(text, message, status, ragkpi, tmp_path):
    (tmp_path / "qrels").write_bytes(text)
    (tmp_path / "run").write_bytes(b"1 Q0 d 1 1 me\n")
    refused(ragkpi("eval", "qrels", "run", folder=tmp_path), message, status)


@pytest.mark.parametrize(("text", "message"), ARROW.values(), ids=ARROW)
def test_refuses_tables(text, message, ragkpi, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "qrels").write_bytes(b"1 0 d 1\n")
    (tmp_path / "run").write_bytes(text)
    refused(ragkpi("eval", "qrels", "run", folder=tmp_path), message, 2)


@pytest.mark.parametrize(("columns", "message"), TABLES.values(), ids=TABLES)
def test_refuses_columns_of_tables(columns, message, ragkpi, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "qrels").write_bytes(b"1 0 d 1\n")
    parquet.write_table(arrow.table(columns), tmp_path / "run")
    refused(ragkpi("eval", "qrels", "run", folder=tmp_path), message, 2)


def test_infinite_scores_are_compared(ragkpi, tmp_path):
    (tmp_path / "qrels").write_bytes(b"1 0 d 1\n")
    (tmp_path / "run").write_bytes(b"qid,docid,score\n1,d,inf\n1,e,inf\n")
    outcome = ragkpi("eval", "-m", "num_ret", "qrels", "run", folder=tmp_path)
    assert (outcome.status, outcome.out.split()[-1]) == (0, b"2")
    assert b"internal" not in outcome.err


@pytest.mark.skipif(not find_spec("zstandard"), reason="needs zstandard")
def test_refuses_truncated_zstandard(ragkpi, tmp_path):
    """Its own reader gives what there is, without an error: a run that is merely shorter."""
    import zstandard

    (tmp_path / "qrels").write_bytes(b"1 0 d 1\n")
    (tmp_path / "run").write_bytes(zstandard.compress(ROWS)[:-20])
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    refused(outcome, f"run: broken zstandard data (ended before the end of a member); {PARTS}", 2)


def test_says_which_package_is_missing(ragkpi, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "qrels").write_bytes(b"\x28\xb5\x2f\xfd0")
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    refused(
        outcome,
        "qrels: is compressed with zstandard, which needs a package (…); "
        "install it with: pip install 'ragkpi[fast]'",
        2,
    )


def test_refuses_paths_that_are_no_files(ragkpi, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "run").write_bytes(b"1 Q0 d 1 1 me\n")
    outcome = ragkpi("eval", "folder", "run", folder=tmp_path)
    refused(outcome, "folder: is a directory; expected a file, or .parquet parts", 2)
    outcome = ragkpi("eval", "nothing", "run", folder=tmp_path)
    refused(
        outcome,
        "nothing: cannot be read (No such file or directory); expected a readable file",
        2,
    )


def test_refuses_files_without_permission(ragkpi, tmp_path, monkeypatch):
    monkeypatch.chdir("/")  # which every user may come back to
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(b"1 0 d 1\n")
    run.write_bytes(b"1 Q0 d 1 1 me\n")
    # All that is needed is imported before the user changes, who may not enter this checkout.
    assert ragkpi("eval", qrels, run, folder="/").status == 0
    assert ragkpi("eval", tmp_path / "nothing", run, folder="/").status == 2
    qrels.chmod(0)
    user = os.geteuid()
    try:
        if user == 0:  # who may read everything
            os.seteuid(65534)
        outcome = ragkpi("eval", qrels, run, folder="/")
    finally:
        os.seteuid(user)
    refused(outcome, f"{qrels}: cannot be read (Permission denied); expected a readable file", 2)


def test_refuses_files_that_the_system_cannot_read(ragkpi, tmp_path):
    if not os.path.exists("/proc/self/mem"):
        pytest.skip("needs a file that opens and cannot be read")
    outcome = ragkpi("eval", "/proc/self/mem", "run", folder=tmp_path)
    refused(outcome, f"/proc/self/mem: cannot be read (Input/output error); {PARTS}", 2)


def test_refuses_lines_that_are_too_long(ragkpi, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 1 << 20)
    (tmp_path / "qrels").write_bytes(b"1 0 d 1\n")
    (tmp_path / "run").write_bytes(b"1 Q0 d 1 1 me\n" + b"x" * (1 << 23))
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    refused(outcome, "run:2: a line of more than 1 MB; expected lines of text", 2)


TOO_MUCH = (
    "more than 0 GB of data, too large for memory; "
    "expected the lines of each query together, or a file that is not compressed"
)


def test_refuses_bombs(ragkpi, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "MOST_HELD", 1 << 20)
    (tmp_path / "qrels").write_bytes(gzip.compress(b"1 0 d 1\n" * (1 << 20)))
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    refused(outcome, f"qrels: {TOO_MUCH}", 2)


@pytest.mark.parametrize("queries", [1, 2], ids=["one query", "interleaved"])
def test_refuses_runs_that_are_bombs(ragkpi, tmp_path, monkeypatch, queries):
    monkeypatch.setattr(opening, "MOST_HELD", 1 << 21)  # bytes of ids
    (tmp_path / "qrels").write_bytes(b"1 0 d 1\n")
    text = b"".join(b"%d Q0 d%d 1 1 me\n" % (n % queries, n) for n in range(1 << 19))
    (tmp_path / "run").write_bytes(gzip.compress(text))
    refused(ragkpi("eval", "qrels", "run", folder=tmp_path), f"run: {TOO_MUCH}", 2)


def refused(outcome, message, status):
    """One line on stderr, nothing on stdout, and the status."""
    assert outcome.out == b""
    line = outcome.err.decode()
    assert re.fullmatch(pattern(f"ragkpi: error: {message}\n"), line), line
    assert outcome.status == status


def pattern(message):
    # The limits of memory are made small here.
    return (
        re.escape(message)
        .replace("…", ".*")
        .replace(r"64\ MB", r"\d+\ MB")
        .replace(r"2\ GB", r"\d+\ GB")
    )
