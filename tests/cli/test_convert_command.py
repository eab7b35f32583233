import gzip
import os
import threading

import pytest

from ragkpi.files.registry import FILE_FORMATS

RUN = b"1 Q0 d1 1 2.5 me\n1 Q0 d2 2 1.0 me\n2 Q0 d1 1 -3.0 me\n"
QRELS = b"1 0 d1 2\n1 0 d2 0\n2 0 d1 -1\n"


def test_formats_are_described(ragkpi):
    text = ragkpi("formats").out.decode()
    for formats in FILE_FORMATS.values():
        lines = [f"  {name:18}  {format_.description}" for name, format_ in formats.items()]
        assert all(line in text for line in lines)


def test_two_files_are_needed(ragkpi):
    outcome = ragkpi("convert", "run")
    assert outcome.status == 1
    assert outcome.err.endswith(b"expected ragkpi convert [OPTIONS] {IN} {OUT}\n")


def test_by_suffix_and_by_option(ragkpi, tmp_path):
    (tmp_path / "run").write_bytes(RUN)
    assert ragkpi("convert", "run", "out.csv", folder=tmp_path).status == 0
    assert (tmp_path / "out.csv").read_bytes() == (
        b"query_id,doc_id,rank,score,run_id\n1,d1,1,2.5,me\n1,d2,2,1.0,me\n2,d1,1,-3.0,me\n"
    )
    assert ragkpi("convert", "run", "-", "--to", "msmarco", folder=tmp_path).out == (
        b"1\td1\t1\n1\td2\t2\n2\td1\t1\n"
    )


def test_qrels_are_told_from_runs(ragkpi, tmp_path):
    (tmp_path / "qrels").write_bytes(QRELS)
    assert ragkpi("convert", "qrels", "-", "--to", "beir", folder=tmp_path).out == (
        b"query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n2\td1\t-1\n"
    )


def test_a_format_of_runs_says_that_it_is_a_run(ragkpi, tmp_path):
    (tmp_path / "run").write_bytes(b"1\t0\t1\n1\td2\t2\n")
    outcome = ragkpi("convert", "--from", "msmarco", "run", "-", "--to", "trec", folder=tmp_path)
    assert (outcome.status, outcome.err) == (0, b"")
    assert [line.split()[2] for line in outcome.out.splitlines()] == [b"0", b"d2"]


def test_a_format_of_qrels_says_that_they_are_qrels(ragkpi, tmp_path):
    qrels = b"query_id\tdoc_id\tscore\n1\td1\t2\n"  # which could be a run
    (tmp_path / "qrels").write_bytes(qrels)
    outcome = ragkpi("convert", "--from", "beir", "qrels", "-", "--to", "trec", folder=tmp_path)
    assert (outcome.status, outcome.err, outcome.out) == (0, b"", b"1 0 d1 2\n")


def test_from_a_compressed_pipe(ragkpi, tmp_path):
    outcome = ragkpi("convert", "-", "-", "--to", "trec", folder=tmp_path, stdin=gzip.compress(RUN))
    assert outcome.out == RUN


def test_rankings_are_put_in_order(ragkpi, tmp_path):
    """By score, then by id as trec_eval has it; the lines of a query together."""
    (tmp_path / "run").write_bytes(b"2 Q0 a 1 1 me\n1 Q0 a 1 1 me\n2 Q0 b 2 1 me\n2 Q0 c 3 7 me\n")
    assert ragkpi("convert", "run", "-", "--to", "trec", folder=tmp_path).out == (
        b"2 Q0 c 1 7.0 me\n2 Q0 b 2 1.0 me\n2 Q0 a 3 1.0 me\n1 Q0 a 1 1.0 me\n"
    )


MANY = [b"%d Q0 d%d %d %d.5 me\n" % (q, d, d, 900 - d) for q in range(300) for d in range(400)]


@pytest.mark.parametrize(
    "last",
    [b"0 Q0 late 1 0.25 me\n", b"x Q0 late 1 0.25 other\n"],
    ids=["a query again", "another run id"],
)
@pytest.mark.parametrize("pipe", [False, True])
def test_what_comes_out_late(last, pipe, ragkpi, tmp_path):
    """Blocks are written before the last line; the last run id is the one that counts."""
    text = b"".join([*MANY, last])
    path = tmp_path / "run"
    if pipe:
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=[text]).start()
    else:
        path.write_bytes(text)
    outcome = ragkpi("convert", "run", "-", "--to", "trec", folder=tmp_path)
    lines = outcome.out.splitlines()
    assert len(lines) == len(MANY) + 1
    assert lines[-1].split()[5] == last.split()[5]
    assert lines[400 if last.startswith(b"0") else -1].split()[:3:2] == last.split()[:3:2]


@pytest.mark.parametrize("name", ["run.parquet", "run.arrow"])
def test_tables_hold_text_alone(name, ragkpi, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "run").write_bytes(b"".join(MANY) + b"x Q0 \xff 1 0.25 me\n")
    outcome = ragkpi("convert", "run", name, folder=tmp_path)
    reason = b"ragkpi: error: an id is not UTF-8, as %b requires; "
    assert outcome.status == 4
    assert outcome.err.startswith(reason % name.partition(".")[2].encode())
    assert not (tmp_path / name).exists()


def test_a_mistake_far_down_writes_nothing(ragkpi, tmp_path):
    (tmp_path / "run").write_bytes(b"".join(MANY) + b"x Q0 d\n")
    outcome = ragkpi("convert", "run", "-", "--to", "csv", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"run:120001: 3 columns" in outcome.err


@pytest.mark.parametrize("name", ["run.parquet", "run.arrow"])
def test_tables(name, ragkpi, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "run").write_bytes(RUN)
    assert ragkpi("convert", "run", name, folder=tmp_path).status == 0
    assert ragkpi("convert", name, "-", "--to", "trec", folder=tmp_path).out == RUN


def test_a_run_without_a_name_is_named_by_its_file(ragkpi, tmp_path):
    (tmp_path / "my run.json").write_bytes(b'{"1": {"d1": 1}}')
    out = ragkpi("convert", "my run.json", "-", "--to", "trec", folder=tmp_path).out
    assert out == b"1 Q0 d1 1 1.0 my_run\n"


NAMES = "trec, msmarco, tsv, csv, json, jsonl, parquet, arrow"
NO_FORMAT = f"unknown run format; expected one of {NAMES}"
REFUSALS = {
    "out.xyz": f"OUT out.xyz: no format for run has its suffix; expected --to {NAMES}",
    "- --to xyz": f"--to xyz: {NO_FORMAT}",
    "- --to beir": f"--to beir: {NO_FORMAT}",
    "- --to csv --from xyz": "--from xyz: unknown run format; 'ragkpi formats' lists them",
    "- --to csv --kind pool": "--kind: 'pool' is not one of 'run', 'qrels'",
    "nowhere/out.csv": "OUT nowhere/out.csv: cannot be written: No such file or directory; "
    "give another file",
}


@pytest.mark.parametrize(("arguments", "expected"), REFUSALS.items())
def test_refuses(arguments, expected, ragkpi, tmp_path):
    (tmp_path / "run").write_bytes(RUN)
    outcome = ragkpi("convert", "run", *arguments.split(), folder=tmp_path)
    assert (outcome.status, outcome.err.decode()) == (1, f"ragkpi: error: {expected}\n")
    assert outcome.out == b""


def test_duplicates_leave_the_old_file(ragkpi, tmp_path):
    (tmp_path / "run").write_bytes(RUN + b"1 Q0 d1 9 0 me\n")
    (tmp_path / "out.csv").write_bytes(b"old")
    assert ragkpi("convert", "run", "out.csv", folder=tmp_path).status == 4
    assert (tmp_path / "out.csv").read_bytes() == b"old"


def test_ids_with_white_space_need_another_format(ragkpi, tmp_path):
    (tmp_path / "run.json").write_bytes(b'{"1": {"d 1": 1}}')
    outcome = ragkpi("convert", "run.json", "-", "--to", "trec", folder=tmp_path)
    assert (outcome.status, outcome.out) == (4, b"")
    assert outcome.err.decode() == (
        "ragkpi: error: id 'd 1' is not one word, as TREC and MS MARCO files require; "
        "expected another format, such as JSON Lines (--to jsonl)\n"
    )


def test_forced_formats_of_eval(ragkpi, tmp_path):
    """Three columns in which no rank begins at 1 are not recognised, and can be forced."""
    (tmp_path / "run").write_bytes(b"1 d2 0\n1 d1 1\n")
    (tmp_path / "qrels").write_bytes(b'{"1": {"d1": 1}}')
    files = ("-m", "recip_rank", "qrels", "run")
    assert ragkpi("eval", *files, folder=tmp_path).status == 2
    outcome = ragkpi("eval", "--run-format", "msmarco", *files, folder=tmp_path)
    assert outcome.out == b"recip_rank            \tall\t0.5000\n"
    outcome = ragkpi("eval", "--qrels-format", "msmarco", *files, folder=tmp_path)
    assert outcome.status == 1
    assert b"--qrels-format msmarco: " in outcome.err
    outcome = ragkpi("eval", "--qrels-format", "json", "-R", "prefs", *files, folder=tmp_path)
    assert outcome.status == 1
    assert b"-R prefs is read only from TREC's columns" in outcome.err
