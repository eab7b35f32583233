import hashlib
import json
import multiprocessing
from datetime import datetime, timedelta, timezone

import pytest

from ragkpi.errors import InputError, UsageError
from ragkpi.files.inputs import Inputs
from ragkpi.library.evaluation_report import EvaluationReport
from ragkpi.library.ground import Provenance, Signature
from ragkpi.questions.evaluate.log import History, append, read_records, record
from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import rendered
from tests.made_scores import MAP, RUNID, metric, scores

pytestmark = pytest.mark.usefixtures("command_line")

MOMENT = datetime(2026, 11, 21, 3, 0, tzinfo=timezone(timedelta(hours=1)))
UNKNOWN = metric("unknown_10")


def recorded(name, map_, other=0.5, meta=(), level="1"):
    made = scores([(RUNID, [b"7"]), (MAP, [map_]), (UNKNOWN, [other])])
    signature = Signature({"ragkpi": "9", "qrels": "q", "l": level}, {})
    files = {"qrels": {"path": "qrels.txt", "sha256": "0" * 64}}
    of_run = Provenance(files, "-", Inputs(hashed=False))
    report = EvaluationReport({name: made}, signature, provenance={name: of_run})
    return record(report, name, dict(meta), time=MOMENT)


def test_what_a_record_holds():
    found = recorded("bm25", 0.25, float("-inf"), {"index": "v3"})
    assert found.pop("ragkpi")
    assert found == {
        "kind": "run",
        "time": "2026-11-21T02:00:00Z",
        "name": "bm25",
        "run_id": "made",
        "signature": "ragkpi:9|qrels:q|l:1",
        "queries": 1,
        "queries_sha256": hashlib.sha256(b"q000").hexdigest(),
        "values": {"runid": "7", "map": 0.25, "unknown_10": "-inf"},
        "known": {"map": 1, "unknown_10": 1},
        "files": {"qrels": {"path": "qrels.txt", "sha256": "0" * 64}, "run": {"path": "-"}},
        "meta": {"index": "v3"},
    }


def test_appended_records_come_back(tmp_path):
    path = str(tmp_path / "log.jsonl")
    append(path, [recorded("one\udcff", 0.1)])
    append(path, [recorded("two", 0.2), recorded("three", 0.3)])
    assert [one["name"] for one in read_records(path)] == ["one\\xff", "two", "three"]


def test_a_line_without_an_end_is_ended(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(recorded("cut", 0.1)))
    append(str(path), [recorded("next", 0.2)])
    assert [one["name"] for one in read_records(str(path))] == ["cut", "next"]


def write_many(path, name):
    for _ in range(40):
        append(path, [recorded(name, 0.5, meta={"long": name * 20_000})])


def test_several_processes_may_append_at_once(tmp_path):
    path = str(tmp_path / "log.jsonl")
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=write_many, args=(path, name)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    names = [one["name"] for one in read_records(path)]
    assert sorted(names) == ["a"] * 40 + ["b"] * 40 + ["c"] * 40 + ["d"] * 40


@pytest.mark.parametrize("line", ["{", "[]", '{"values": 3}', "nonsense", "{}"])
def test_bad_lines_are_named(tmp_path, line):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(recorded("good", 0.1)) + "\n\n" + line + "\n")
    with pytest.raises(InputError, match=r"log\.jsonl:3: .*; expected the JSON object of a run"):
        read_records(str(path))


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_records(str(tmp_path / "missing"))
    with pytest.raises(UsageError, match=r"missing/log: .*No such file"):
        append(str(tmp_path / "missing" / "log"), [])


def logged(ragkpi, folder, texts):
    metas = [word for text in texts for word in ("--meta", text)]
    (folder / "qrels").write_text("q 0 d 1\n")
    (folder / "run").write_text("q Q0 d 1 2.5 me\n")
    return ragkpi("eval", "-m", "map", "--log", "log", *metas, "qrels", "run", folder=folder)


def test_meta(ragkpi, tmp_path):
    assert logged(ragkpi, tmp_path, ["index=v3", "note=a=b", "empty="]).status == 0
    (line,) = read_records(str(tmp_path / "log"))
    assert line["meta"] == {"index": "v3", "note": "a=b", "empty": ""}


@pytest.mark.parametrize("texts", [["index"], ["=v"], ["a=1", "a=2"]])
def test_bad_meta(ragkpi, tmp_path, texts):
    outcome = logged(ragkpi, tmp_path, texts)
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.startswith(b"ragkpi: error: --meta ")
    assert not (tmp_path / "log").exists()


HISTORY = History(
    [
        recorded("bm25", 0.25, 3.0, {"index": "v1", "k1": "0.9"}),
        recorded("dense", 0.5, float("nan"), {"index": "v2"}),
        recorded("none", 0.125, float("-inf"), {"index": "v10"}),
        {"name": "old", "values": {"map": None}},
    ]
)


def names(history):
    return [one["name"] for one in history.records]


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("map", ["dense", "bm25", "none", "old"]),
        ("unknown_10", ["bm25", "none", "dense", "old"]),
        ("runid", ["bm25", "dense", "none", "old"]),
    ],
)
def test_sorted_by(name, order):
    assert names(HISTORY.sorted_by(name)) == order


def test_sorting_by_what_is_not_there():
    with pytest.raises(UsageError, match=r"--sort recall: no record has 'recall'; .* runid, map"):
        HISTORY.sorted_by("recall")


def test_history_as_a_table():
    written = rendered(History(HISTORY.records[:3]), "csv", Layout())
    assert (
        written
        == """\
time,run,index,k1,runid,map,unknown_10
2026-11-21T02:00:00Z,bm25,v1,0.9,7,0.25,3.0
2026-11-21T02:00:00Z,dense,v2,,7,0.5,NA
2026-11-21T02:00:00Z,none,v10,,7,0.125,-inf
"""
    )


def test_what_differs_between_signatures_is_shown():
    mixed = History([recorded("a", 0.1), recorded("b", 0.2, level="2")])
    rows = rendered(mixed, "csv", Layout()).splitlines()
    assert [row.split(",")[-1] for row in rows] == ["signature", "l:1", "l:2"]
    assert "*" not in rendered(mixed, "table", Layout())


def test_an_empty_history():
    assert rendered(History([]).sorted_by("map"), "csv", Layout()) == ("time,run\n")
