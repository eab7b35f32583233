"""A result follows from the files that it names, or what differs is said."""

import json

import pytest

import ragkpi
from tests.rules.made import edit, write_files

ASKED = ("-m", "recip_rank,bor.1,num_ret,runid", "-N", "1000", "-M", "3", "-l", "1")


@pytest.fixture
def folder(ragkpi, tmp_path):
    write_files(tmp_path)
    words = ("eval", "-q", *ASKED, "-o", "main.json", "qrels", "good.run")
    assert ragkpi(*words, folder=tmp_path).status == 0
    return tmp_path


def verify(ragkpi, folder, name="main.json"):
    return ragkpi("verify", "--format", "json", name, folder=folder)


@pytest.mark.parametrize(
    "store", [("-o", "r.json"), ("-q", "-o", "r.jsonl"), ("--log", "r.log"), ("-J", "-o", "r.json")]
)
@pytest.mark.parametrize("runs", [("good.run",), ("good.run", "bad.run")])
def test_what_was_stored_is_verified(ragkpi, folder, store, runs):
    assert ragkpi("eval", *ASKED, *store, "qrels", *runs, folder=folder).status == 0
    found = verify(ragkpi, folder, store[-1])
    assert found.status == 0, found.err
    number = len(runs)
    findings = {"runs": number, "files": 2 * number, "values": 4 * number, "differences": 0}
    assert json.loads(found.out)["findings"] == findings


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda run: run["values"].update(recip_rank=0.76), [("recip_rank", 0.76, 0.75)]),
        # As a gate cannot know: a query and the mean that follows from it.
        (
            lambda run: (
                run["values"].update(recip_rank=0.7083333333333333),
                run["per_query"]["q00"].update(recip_rank=0.5),
            ),
            [("recip_rank", 0.7083333333333333, 0.75), ("recip_rank of q00", 0.5, 1.0)],
        ),
        (lambda run: run["per_query"]["q00"].pop("recip_rank"), [("recip_rank of q00", None, 1.0)]),
        (
            lambda run: run["per_query"].pop("q00"),
            [(f"{name} of q00", None) for name in ("recip_rank", "bor_1", "num_ret")],
        ),
        # Comparisons and gates take them in place of the values of bits, which are no means.
        (
            lambda run: run["statistics"]["q00"]["bor_1"].__setitem__(0, 0.5),
            [("statistics of bor_1 of q00", None)],
        ),
        (lambda run: run["statistics"].pop("q00"), [("statistics of bor_1 of q00", None)]),
        (lambda run: run.update(queries=3), [("queries", 3, 12)]),
        # Comparisons and gates go by the hash in the signature.
        (
            lambda run: run.update(signature=run["signature"].replace("sha256:", "sha256:0000000")),
            [("qrels in the signature", None, None)],
        ),
        (lambda run: run["values"].update(runid="other"), [("runid", "other", "t")]),
        (lambda run: run["values"].update(bor_1=None), [("bor_1", None, None)]),
    ],
)
def test_what_was_edited_is_said(ragkpi, folder, change, what):
    edit(folder / "main.json", lambda run, _: change(run))
    found = verify(ragkpi, folder)
    assert found.status == 4
    rows = json.loads(found.out)["rows"]
    assert [row["what"] for row in rows] == [name for name, *_ in what]
    if what[0][1] is not None:
        assert [(row["stored"], row["now"]) for row in rows] == [(a, b) for _, a, b in what]


@pytest.mark.parametrize("name", ["qrels", "good.run"])
@pytest.mark.parametrize("gone", [False, True])
def test_files_come_first(ragkpi, folder, name, gone):
    """Values are not computed from other files."""
    if gone:
        (folder / name).unlink()
    else:
        (folder / name).write_text((folder / name).read_text().replace("rel", "lost"))
    found = verify(ragkpi, folder)
    assert found.status == 4
    (row,) = json.loads(found.out)["rows"]
    assert name in row["what"]
    assert ("now" in row) == (not gone)


@pytest.mark.parametrize(
    ("change", "status", "says"),
    [
        (lambda run: run.pop("files"), 1, "does not name its qrels and run"),
        (lambda run: run["files"].pop("run"), 1, "does not name its run"),
        (lambda run: run["files"]["qrels"].pop("sha256"), 1, "does not name its qrels"),
        (lambda run: run["values"].update(mine=1), 1, "lacks part of mine"),
        (
            lambda run: run.update(signature=run["signature"] + "|sieve:max_passage"),
            1,
            "lacks part of sieve",
        ),
        (lambda run: run.update(values=3), 2, "not a ragkpi result file"),
    ],
)
def test_what_cannot_be_verified(ragkpi, folder, change, status, says):
    edit(folder / "main.json", lambda run, _: change(run))
    found = verify(ragkpi, folder)
    assert (found.status, found.out) == (status, b"")
    assert says in found.err.decode()


def test_means_over_seeds_name_no_run_to_verify(ragkpi, folder):
    words = ("eval", "-q", "-m", "map", "-o", "s.json", "qrels", "dense=good.run,bad.run")
    assert ragkpi(*words, folder=folder).status == 0
    found = verify(ragkpi, folder, "s.json")
    assert (found.status, b"verify a result of each run" in found.err) == (1, True)


def test_runs_and_missing_files_are_no_results(ragkpi, folder):
    assert verify(ragkpi, folder, "good.run").status == 1
    assert verify(ragkpi, folder, "nosuch").status in (1, 2)


def test_python_says_the_same(ragkpi, folder, monkeypatch):
    """Files are looked for beside the result, too."""
    monkeypatch.chdir(folder.parent)
    found = ragkpi_verify(folder / "main.json")
    assert found.rows == []
    assert not found.problems


ragkpi_verify = ragkpi.verify


@pytest.mark.parametrize(
    "arguments",
    [
        ("--max-passage", "#"),
        ("--gains", "gains"),
        ("--corpus-sizes", "sizes"),
        ("--exclude", "excluded"),
        ("--run-format", "trec"),
    ],
    ids=lambda words: words[0],
)
def test_what_files_were_read_with_is_read_with_again(ragkpi, folder, arguments):
    (folder / "gains").write_text("".join(f"q{n:02} rel 0.5\n" for n in range(12)))
    (folder / "sizes").write_text("q00 50\n")
    (folder / "excluded").write_text("q00 x1\n")
    words = ("-m", "ndcg_cut.3,bor.1", "-N", "1000", *arguments, "-o", "again.json")
    assert ragkpi("eval", "-q", *words, "qrels", "bad.run", folder=folder).status == 0
    assert verify(ragkpi, folder, "again.json").status == 0
    for name, text in (("gains", "q00 rel 2.5\n"), ("sizes", "q00 60\n"), ("excluded", "q01 x1\n")):
        if name in arguments:
            (folder / name).write_text(text)
            changed = verify(ragkpi, folder, "again.json")
            assert changed.status in (1, 4)
            assert changed.err


def test_a_map_is_kept(ragkpi, folder):
    rows = [
        {"qqq": f"q{n:02}", "hits": [{"a": "x", "b": 2}, {"a": "rel", "b": 1}]} for n in range(12)
    ]
    (folder / "run.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    how = ("--map-run", "query=qqq, list=hits, doc=a, score=b", "-m", "recip_rank")
    stored = ragkpi("eval", *how, "-o", "again.json", "qrels", "run.jsonl", folder=folder)
    assert stored.status == 0
    found = verify(ragkpi, folder, "again.json")
    assert json.loads(found.out)["findings"]["differences"] == 0
    for fields, status in (
        ({"reading": {"map_run": 3}}, 2),
        ({"notes": [3]}, 2),
        ({"notes": "text"}, 2),
        ({"reading": {"nosuch": "x"}, "notes": []}, 1),
        ({"reading": {"score_order": "x"}}, 1),
    ):
        edit(folder / "again.json", lambda run, _, fields=fields: run.update(fields))
        refused = verify(ragkpi, folder, "again.json")
        assert (refused.status, refused.out) == (status, b"")
