"""Every file that is read goes through one door: once, whatever its form, and never replaced."""

import bz2
import fcntl
import gzip
import json
import lzma
import os
import threading

import pytest

import ragkpi
from ragkpi.questions.evaluate import log
from tests.rules.made import write_files

GATE = ("-m", "recip_rank", "--fail-under-baseline")


@pytest.fixture
def evaluate(ragkpi, tmp_path):
    write_files(tmp_path)

    def run(*arguments, **how):
        return ragkpi("eval", *arguments, folder=tmp_path, **how)

    assert run("-q", "-m", "recip_rank", "-o", "base.json", "qrels", "good.run").status == 0
    assert run("-q", "-m", "recip_rank", "-o", "base.jsonl", "qrels", "good.run").status == 0
    return run


def reordered(text):
    document = json.loads(text)
    run = dict(sorted(document["runs"][0].items(), reverse=True))
    return json.dumps({"runs": [run], "ragkpi": document["ragkpi"]}, indent=3).encode()


FORMS = {
    "as it is": lambda text: text,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "white space": lambda text: b"\n \t" + text,
    "other order": reordered,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pipe", ["file", "pipe", "standard input"])
def test_a_stored_result_in_every_form(evaluate, tmp_path, form, pipe):
    octets = FORMS[form]((tmp_path / "base.json").read_bytes())
    found = read_through(evaluate, tmp_path, octets, pipe, "like.run")
    assert found.status == 0, found.err
    assert b"recip_rank 0.7500" in found.err
    assert b"good of" in found.err
    assert read_through(evaluate, tmp_path, octets, pipe, "bad.run").status == 3


@pytest.mark.parametrize("pipe", ["file", "pipe", "standard input"])
@pytest.mark.parametrize("form", ["as it is", "gz"])
def test_lines_and_runs_in_every_form(evaluate, tmp_path, pipe, form):
    rows = [line.split() for line in (tmp_path / "good.run").read_text().splitlines()]
    run = {}
    for query, _, document, _, score, _ in rows:
        run.setdefault(query, {})[document] = float(score)
    (tmp_path / "run.json").write_text(json.dumps(run))
    for name in ("base.jsonl", "good.run", "run.json"):
        octets = FORMS[form]((tmp_path / name).read_bytes())
        found = read_through(evaluate, tmp_path, octets, pipe, "bad.run")
        assert found.status == 3, (name, found.err)
        assert b"recip_rank" in found.err


def read_through(evaluate, tmp_path, octets, pipe, run):
    if pipe == "standard input":
        return evaluate(*GATE, "-", "qrels", run, stdin=octets)
    path = tmp_path / "fed"
    path.unlink(missing_ok=True)
    if pipe == "file":
        path.write_bytes(octets)
        return evaluate(*GATE, "fed", "qrels", run)
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(octets,), daemon=True)
    writer.start()
    return evaluate(*GATE, "fed", "qrels", run)


@pytest.mark.parametrize("name", ["base.json", "./base.json", "link.json", "hard.json"])
@pytest.mark.parametrize("run", ["like.run", "bad.run"])
def test_a_baseline_is_not_replaced(evaluate, tmp_path, name, run):
    (tmp_path / "link.json").symlink_to("base.json")
    (tmp_path / "hard.json").hardlink_to(tmp_path / "base.json")
    before = (tmp_path / "base.json").read_bytes()
    found = evaluate("-q", *GATE, "base.json", "-o", name, "qrels", run)
    assert (found.status, found.out) == (1, b"")
    assert b"would replace base.json, which is read" in found.err
    assert (tmp_path / "base.json").read_bytes() == before


def test_a_log_is_not_its_own_next_baseline(evaluate, tmp_path):
    keep = ("-q", "--log", "rec.jsonl", "-m", "recip_rank")
    assert evaluate(*keep, "qrels", "good.run").status == 0
    before = (tmp_path / "rec.jsonl").read_bytes()
    gate = (*keep, "--gate-by", "value", "--fail-under-baseline", "rec.jsonl")
    found = evaluate(*gate, "-o", "out.md", "qrels", "bad.run")
    assert found.status == 1
    assert b"--log rec.jsonl: would replace rec.jsonl, which is read" in found.err
    assert (tmp_path / "rec.jsonl").read_bytes() == before
    assert not (tmp_path / "out.md").exists()


def test_a_log_is_not_its_own_next_baseline_in_python(evaluate, tmp_path):
    path = str(tmp_path / "base.jsonl")
    qrels, run = str(tmp_path / "qrels"), str(tmp_path / "like.run")
    found = ragkpi.evaluate(qrels, run, "recip_rank", fail_under_baseline=path)
    with pytest.raises(ragkpi.UsageError, match=r"would replace .*base\.jsonl, which is read"):
        found.log(path)


def test_a_damaged_baseline_is_refused(evaluate, tmp_path):
    octets = gzip.compress((tmp_path / "base.json").read_bytes())
    (tmp_path / "cut.gz").write_bytes(octets[:-20])
    found = evaluate(*GATE, "cut.gz", "qrels", "bad.run")
    assert found.status == 2
    assert b"cut.gz: broken gzip data" in found.err
    (tmp_path / "cut.json").write_bytes((tmp_path / "base.json").read_bytes()[:-20])
    found = evaluate(*GATE, "cut.json", "qrels", "bad.run")
    assert found.status == 2
    assert b"cut.json: not a ragkpi result file" in found.err


@pytest.mark.parametrize("form", ["gz", "byte order mark"])
def test_a_log_is_read_in_every_form(ragkpi, evaluate, tmp_path, form):
    evaluate("-cm", "recip_rank", "--log", "log", "qrels", "good.run")
    plain = ragkpi("log", "log", "--format", "csv", folder=tmp_path)
    (tmp_path / "other").write_bytes(FORMS[form]((tmp_path / "log").read_bytes()))
    assert ragkpi("log", "other", "--format", "csv", folder=tmp_path) == plain
    assert ragkpi("log", "-", "--format", "csv", stdin=(tmp_path / "log").read_bytes()) == plain


def test_a_lock_is_waited_for_and_not_for_ever(evaluate, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "_LONGEST_WAIT", 0.02)
    monkeypatch.setattr(log, "_RETRY", 0.01)
    path = tmp_path / "log"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found = evaluate("-cm", "recip_rank", "--log", "log", "qrels", "good.run")
    assert found.status == 1
    assert b"note: log: waiting for another process that has locked it" in found.err
    assert b"--log log: locked by another process for 0.02 s; end it, or give" in found.err
    assert path.read_bytes() == b""
    assert evaluate("-cm", "recip_rank", "--log", "log", "qrels", "good.run").status == 0
