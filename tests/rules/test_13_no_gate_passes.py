"""Ways in which a gate could pass and must not: the run is as good as its baseline in all of them.

`base.json`, `base.jsonl` and `cand.json` hold good.run, so that without what a case does, the gate
passes; only where the run itself is at fault is it another one.
"""

import gzip
import os

import pytest

from tests.rules.made import edit, write_files

ASKED = "-N 1000 -m recip_rank,bor.1"
EVAL = f"eval {ASKED} --fail-under-baseline base.json qrels good.run"
LINES = EVAL.replace("base.json", "base.jsonl")
LIMIT = f"eval {ASKED} --fail-under recip_rank=0.5 qrels good.run"
COMPARE = "compare --fail-if worse base.json cand.json"
MIXED = f"compare {ASKED} --fail-if worse qrels base.json good.run"
RUNS = f"compare {ASKED} --fail-if worse qrels base.run good.run"


@pytest.fixture
def folder(ragkpi, tmp_path):
    write_files(tmp_path)
    (tmp_path / "base.run").write_text((tmp_path / "good.run").read_text())
    for name in ("base.json", "base.jsonl", "cand.json"):
        command = f"eval -q {ASKED} -o {name} qrels good.run"
        assert ragkpi(*command.split(), folder=tmp_path).status == 0
    return tmp_path


def stored(name, change):
    """Edit the run of a stored result by hand."""
    return lambda folder, _: edit(folder / name, lambda run, _: change(run))


def text(name, before, after):
    def change(folder, _):
        old = (folder / name).read_text()
        assert before in old
        (folder / name).write_text(old.replace(before, after, 1))

    return change


def octets(name, change):
    return lambda folder, _: (folder / name).write_bytes(change((folder / name).read_bytes()))


def again(name, options, qrels="qrels", run="good.run"):
    """Store the result anew, evaluated otherwise."""

    def store(folder, ragkpi):
        (folder / name).unlink(missing_ok=True)
        words = f"eval {options} -o {name} {qrels} {run}".split()
        assert ragkpi(*words, folder=folder).status == 0

    return store


def missed_log(folder, ragkpi):
    words = f"eval -q {ASKED} --fail-under recip_rank=0.9 --log base.json qrels good.run".split()
    (folder / "base.json").unlink()
    assert ragkpi(*words, folder=folder).status == 3


def compared(folder, ragkpi):
    words = f"compare {ASKED} -o new.json qrels base.run good.run".split()
    assert ragkpi(*words, folder=folder).status == 0
    os.replace(folder / "new.json", folder / "base.json")


def renamed(run):
    run["per_query"] = {query.replace("q", "z"): of for query, of in run["per_query"].items()}


def of_query(value):
    return lambda run: run["per_query"]["q00"].update(recip_rank=value)


def nothing(folder, ragkpi):
    pass


def rows(keep):
    """Keep some of the lines of the run."""
    return octets("good.run", lambda old: b"".join(filter(keep, old.splitlines(keepends=True))))


# The name of each way, what it does beforehand, and the command line.
WAYS = {
    # A baseline that was stored, and that something happened to.
    "baseline missing": (lambda folder, _: (folder / "base.json").unlink(), EVAL),
    "baseline empty": (octets("base.json", lambda old: b""), EVAL),
    "baseline of white space": (octets("base.json", lambda old: b"\n \n"), EVAL),
    "baseline cut": (octets("base.json", lambda old: old[: len(old) // 2]), EVAL),
    "baseline cut at a line": (octets("base.jsonl", lambda old: old[: old.rindex(b"\n{")]), LINES),
    "baseline cut in a line": (octets("base.jsonl", lambda old: old[:-20]), LINES),
    "baseline compressed and cut": (octets("base.json", lambda o: gzip.compress(o)[:-9]), EVAL),
    "baseline twice": (octets("base.jsonl", lambda old: old + old), LINES),
    "baseline renamed queries": (stored("base.json", renamed), EVAL),
    "baseline without a query": (stored("base.json", lambda r: r["per_query"].pop("q03")), EVAL),
    "baseline with a query more": (
        stored("base.json", lambda r: r["per_query"].update(z={})),
        EVAL,
    ),
    "baseline without queries": (stored("base.json", lambda r: r.pop("per_query")), EVAL),
    "baseline without statistics": (stored("base.json", lambda r: r.pop("statistics")), EVAL),
    "baseline of odd statistics": (
        stored("base.json", lambda r: r["statistics"]["q00"].update({"bor_1": [1]})),
        EVAL,
    ),
    "baseline without a signature": (stored("base.json", lambda r: r.pop("signature")), EVAL),
    "baseline without a hash": (stored("base.json", lambda r: r.pop("queries_sha256")), EVAL),
    "baseline without values": (stored("base.json", lambda r: r["values"].clear()), EVAL),
    "baseline of a number less": (stored("base.json", lambda r: r["values"].pop("bor_1")), EVAL),
    "baseline of NaN": (text("base.json", "0.75", "NaN"), EVAL),
    "baseline of null": (stored("base.json", of_query(None)), EVAL),
    "baseline of infinity": (stored("base.json", of_query("-inf")), EVAL),
    "baseline of text": (stored("base.json", of_query("good")), EVAL),
    "baseline of true": (stored("base.json", of_query(True)), EVAL),
    "baseline lowered": (stored("base.json", lambda r: r["values"].update(recip_rank=0.1)), EVAL),
    "baseline lowered in a query": (stored("base.json", of_query(0.1)), EVAL),
    "baseline rounded": (again("base.json", f"-q --digits 1 {ASKED}", run="bad.run"), EVAL),
    "baseline of other qrels": (again("base.json", f"-q {ASKED}", "more.qrels"), EVAL),
    "baseline of other queries": (again("base.json", f"-q {ASKED}", "five.qrels"), EVAL),
    "baseline of other settings": (again("base.json", f"-q -M 1 {ASKED}"), EVAL),
    "baseline of another size": (again("base.json", "-q -N 9 -m recip_rank,bor.1"), EVAL),
    "baseline of other measures": (again("base.json", "-q -N 1000 -m recip_rank,map"), EVAL),
    "baseline of the worst queries": (again("base.json", f"--worst 9 {ASKED}"), EVAL),
    "baseline of several runs": (again("base.json", f"-q {ASKED}", run="good.run bad.run"), EVAL),
    "baseline of another version": (text("base.json", "ragkpi:0.1", "ragkpi:0.0"), EVAL),
    "baseline that missed its gates": (missed_log, EVAL),
    "baseline of a comparison": (compared, EVAL),
    "baseline of a folder": (nothing, EVAL.replace("base.json", ".")),
    "baseline of qrels": (nothing, EVAL.replace("base.json", "more.qrels")),
    "baseline of the run": (nothing, EVAL.replace("base.json", "good.run")),
    "baselines": (nothing, EVAL.replace("qrels", "--fail-under-baseline base.run qrels")),
    "baseline of no success": (nothing, EVAL.replace("base.json", "none.run")),
    "baseline run of other queries": (nothing, EVAL.replace("base.json", "other.run")),
    "baseline not shown to be reached": (
        nothing,
        EVAL.replace("base.json", "like.run --gate-by noninferior"),
    ),
    # A run, or qrels, that are not those that were meant.
    "run missing": (lambda folder, _: (folder / "good.run").unlink(), EVAL),
    "run empty": (octets("good.run", lambda old: b""), EVAL),
    "run of other queries": (octets("good.run", lambda old: old.replace(b"q", b"z")), EVAL),
    "run that lost its first documents": (rows(lambda line: b" rel " not in line), EVAL),
    "run that lost half of its queries": (rows(lambda line: line < b"q06"), EVAL),
    "run that finds nothing": (nothing, EVAL.replace("good.run", "none.run")),
    "run worse": (nothing, EVAL.replace("good.run", "bad.run")),
    "one of two runs worse": (nothing, EVAL.replace("good.run", "good.run bad.run")),
    "one of two runs missing": (nothing, EVAL.replace("good.run", "good.run nosuch.run")),
    "qrels and run swapped": (nothing, EVAL.replace("qrels good.run", "good.run qrels")),
    "qrels other": (nothing, EVAL.replace("qrels", "more.qrels")),
    "too few queries": (nothing, EVAL.replace("base.json", "like.run -D 0.q00")),
    "measure that is a count": (nothing, EVAL.replace("recip_rank,bor.1", "num_ret")),
    "measure that is not known": (nothing, EVAL.replace("recip_rank,bor.1", "recip_rnak")),
    "margin that allows all": (nothing, EVAL.replace("qrels", "--margin 1 qrels")),
    # Limits.
    "limit on another measure": (nothing, LIMIT.replace("rank=", "rnak=")),
    "limit without a number": (nothing, LIMIT.replace("0.5", "")),
    "limit of NaN": (nothing, LIMIT.replace("0.5", "nan")),
    "limit that all reach": (nothing, LIMIT.replace("0.5", "0")),
    "limit on no slice": (nothing, LIMIT.replace("recip_rank=", "lang=de:recip_rank=")),
    "limit on NA": (nothing, LIMIT.replace("recip_rank=0.5", "bor_1=1").replace("good", "none")),
    # Comparisons, of results and of runs.
    "result missing": (lambda folder, _: (folder / "cand.json").unlink(), COMPARE),
    "result empty": (octets("cand.json", lambda old: b""), COMPARE),
    "result cut": (octets("cand.json", lambda old: old[: len(old) // 2]), COMPARE),
    "result without queries": (again("cand.json", ASKED), COMPARE),
    "result lowered": (stored("base.json", lambda r: r["values"].update(recip_rank=0.1)), COMPARE),
    "result raised": (stored("cand.json", of_query(0.99)), COMPARE),
    "result of null": (stored("cand.json", of_query(None)), COMPARE),
    "result of another run": (again("cand.json", f"-q {ASKED}", run="bad.run"), COMPARE),
    "result of overlapping queries": (again("cand.json", f"-q {ASKED}", "five.qrels"), COMPARE),
    "result of queries in common": (
        again("cand.json", f"-q --common {ASKED}", run="five.run"),
        COMPARE,
    ),
    "result of other qrels": (again("cand.json", f"-q {ASKED}", "more.qrels"), COMPARE),
    "result of other settings": (again("cand.json", f"-q -J {ASKED}"), COMPARE),
    "result of another version": (text("cand.json", '"0.1', '"0.7'), COMPARE),
    "results of no shared measure": (again("cand.json", "-q -m map"), COMPARE),
    "result and run of other qrels": (nothing, MIXED.replace("qrels", "more.qrels")),
    "result and run of other settings": (nothing, MIXED.replace("1000", "999")),
    "result and run missing": (nothing, MIXED.replace("good.run", "nosuch.run")),
    "result and run without qrels": (nothing, MIXED.replace("qrels ", "")),
    "runs over too few queries": (nothing, RUNS.replace("qrels base", "-D 0.q00 qrels like")),
    "runs of which one is missing": (nothing, f"{RUNS} nosuch.run"),
    "runs of which one is worse": (nothing, f"{RUNS} bad.run"),
    "runs that are not compared": (nothing, RUNS.replace("--fail-if", "--all-pairs --fail-if")),
    "runs not shown to be as good": (
        nothing,
        RUNS.replace("worse", "noninferior").replace("good.run", "like.run"),
    ),
    "runs by a count": (nothing, RUNS.replace("recip_rank,bor.1", "num_ret")),
    "a margin without a gate": (nothing, RUNS.replace("--fail-if worse", "--margin 0.1")),
}


@pytest.mark.parametrize("command", [EVAL, LINES, LIMIT, COMPARE, MIXED, RUNS])
def test_what_is_as_good_passes(ragkpi, folder, command):
    found = ragkpi(*command.split(), folder=folder)
    assert found.status == 0, found.err


@pytest.mark.parametrize("way", WAYS)
def test_no_gate_passes(ragkpi, folder, way):
    prepare, command = WAYS[way]
    prepare(folder, ragkpi)
    found = ragkpi(*command.split(), folder=folder)
    assert found.status in (1, 2, 3, 4, 7), (found.status, found.err)
    assert b"Traceback" not in found.err
    assert found.err.startswith((b"ragkpi: ", b"0 of ", b"1 of ", b"2 of ", b"3 of "))
