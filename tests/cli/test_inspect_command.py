"""`ragkpi inspect`: what files are, as counted by hand."""

import json

import pytest

from tests.cli.commandline import FIXTURES
from tests.published_schema import valid_document

GOLD = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"


def inspected(ragkpi, folder, *files):
    outcome = ragkpi("inspect", "--format", "json", *files, folder=folder)
    assert outcome.status == 0, outcome
    return valid_document(outcome.out)["findings"]


def test_a_run_and_qrels(ragkpi, tmp_path):
    (tmp_path / "gold").write_bytes(GOLD)
    (tmp_path / "run").write_bytes(b"q1 Q0 x 1 2 me\nq1 Q0 d2 2 3.5 me\nq3 Q0 d1 1 1 me\n")
    found = inspected(ragkpi, tmp_path, "gold", "run")
    gold, run = found["files"]
    assert (gold["kind"], gold["queries"], gold["documents"]) == ("qrels", 2, [1, 2])
    assert gold["numbers"] == "level 0: 1, level 1: 1, level 2: 1"
    assert gold["records"] == ["q1 d1 1", "q1 d2 0"]
    assert (run["kind"], run["queries"], run["documents"]) == ("run", 2, [1, 2])
    assert run["records"] == ["q1 d2 3.5", "q1 x 2"]
    (shared,) = found["shared"]
    assert (shared["queries"], shared["documents"], shared["retrieved"]) == (1, 1, 2)
    assert shared["advice"] == ""


@pytest.mark.parametrize(
    ("record", "numbers"),
    [
        (
            {"qid": "q", "hits": [{"id": "a", "score": 2}, {"id": "b", "score": 1}]},
            "score, large",
        ),
        (
            {"qid": "q", "hits": [{"id": "a", "distance": 1}, {"id": "b", "distance": 2}]},
            "distance, small",
        ),
        ({"qid": "q", "hits": [{"id": "a"}, {"id": "b"}]}, "the order of the list"),
    ],
)
def test_the_direction_of_scores(ragkpi, tmp_path, record, numbers):
    (tmp_path / "run.jsonl").write_text(json.dumps(record) + "\n")
    (file,) = inspected(ragkpi, tmp_path, "run.jsonl")["files"]
    assert file["numbers"].startswith(numbers)
    assert [line.split()[1] for line in file["records"]] == ["a", "b"]


def test_a_file_that_may_be_both_is_shown_as_both(ragkpi, tmp_path):
    """Lists of ids may be gold or rankings; beside a run they are gold, also if they come last."""
    (tmp_path / "run.json").write_text('{"q": {"a": 0.5, "b": 0.25}}')
    (tmp_path / "gold.json").write_text('{"q": ["a"]}')
    found = inspected(ragkpi, tmp_path, "run.json", "gold.json")
    kinds = [(file["file"], file["kind"]) for file in found["files"]]
    assert kinds == [("run.json", "run"), ("gold.json", "run"), ("gold.json", "qrels")]
    (shared,) = found["shared"]
    assert (shared["run"], shared["qrels"], shared["documents"]) == ("run.json", "gold.json", 1)


def test_one_file_is_compared_with_itself(ragkpi, tmp_path):
    record = {"qid": "q", "retrieved_ids": ["a", "b"], "expected_ids": ["b", "c"]}
    (tmp_path / "both.jsonl").write_text(json.dumps(record) + "\n")
    (shared,) = inspected(ragkpi, tmp_path, "both.jsonl")["shared"]
    assert (shared["documents"], shared["retrieved"]) == (1, 2)


def test_how_a_file_was_recognised_is_said(ragkpi, tmp_path):
    hits = [{"metadata": {"source": "a.pdf"}, "score": 0.5}]
    (tmp_path / "run.jsonl").write_text(json.dumps({"question": "q", "docs": hits}) + "\n")
    (file,) = inspected(ragkpi, tmp_path, "run.jsonl")["files"]
    (note,) = [note for note in file["notes"] if note.startswith("read as: ")]
    assert "doc=metadata.source" in note


@pytest.mark.parametrize(
    ("ids", "value"),
    [
        (("d1#0", "d2#7"), "#"),
        (("d1/0", "d2/1"), "/"),
        (("id:ns:doc::d1", "id:ns:doc::d2"), "/^.*::(.*)$/"),
        (("d1_0", "d2_12"), "/^(.*)[-_:.][0-9]+$/"),
    ],
)
def test_the_option_that_mends_ids(ragkpi, tmp_path, ids, value):
    """Given to eval, it finds the two judged documents."""
    (tmp_path / "gold").write_bytes(GOLD)
    (tmp_path / "run").write_text("".join(f"q1 Q0 {id_} 1 {-n} me\n" for n, id_ in enumerate(ids)))
    (shared,) = inspected(ragkpi, tmp_path, "gold", "run")["shared"]
    assert shared["documents"] == 0
    assert shared["advice"].endswith(" judges 2")
    assert value in shared["advice"]
    done = ragkpi(
        "eval", "--max-passage", value, "-m", "recip_rank", "gold", "run", folder=tmp_path
    )
    assert done.out.split() == [b"recip_rank", b"all", b"1.0000"]


def test_ids_of_another_case(ragkpi, tmp_path):
    (tmp_path / "gold").write_bytes(GOLD)
    (tmp_path / "run").write_bytes(b"q1 Q0 D1 1 2 me\n")
    (tmp_path / "other").write_bytes(b"Q1 Q0 d1 1 2 me\n")
    documents, queries = inspected(ragkpi, tmp_path, "gold", "run", "other")["shared"]
    assert documents["advice"].startswith("document ids differ only by case")
    assert queries["advice"].startswith("1 query id differs only by case")


def test_a_folder_is_a_table_and_what_cannot_be_read_is_in_it(ragkpi, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "good").write_bytes(b"q1 Q0 d1 1 2 me\n")
    (tmp_path / "runs" / "bad\x1b[31m").write_bytes(b"what is this\n")
    (tmp_path / "runs" / "empty").write_bytes(b"")
    (tmp_path / "runs" / "head").write_bytes(b"query_id,doc_id,relevance\n")
    found = inspected(ragkpi, tmp_path, "runs")
    kinds = {file["file"].rpartition("/")[2]: file["kind"] for file in found["files"]}
    assert kinds == {
        "good": "run",
        "bad\x1b[31m": None,
        "empty": None,
        "head": None,
    }
    assert all(len(file["notes"]) == 1 for file in found["files"] if file["kind"] is None)
    screen = ragkpi("inspect", "--format", "table", "runs", folder=tmp_path).out
    assert b"\x1b" not in screen


def test_a_folder_of_parts_is_one_file_of_its_folder(ragkpi, tmp_path):
    """As Spark writes a run: a folder of its name."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "all" / "spark.parquet").mkdir(parents=True)
    for part, query in enumerate(("q1", "q2")):
        columns = {"query_id": [query], "doc_id": ["d"], "score": [0.5], "run_id": ["a"]}
        path = tmp_path / "all" / "spark.parquet" / f"part-{part}.parquet"
        parquet.write_table(pyarrow.table(columns), path)
    (file,) = inspected(ragkpi, tmp_path, "all")["files"]
    assert (file["file"], file["kind"], file["queries"]) == ("all/spark.parquet", "run", 2)


def test_nothing_to_inspect(ragkpi, tmp_path):
    for arguments in ((), (".",)):
        outcome = ragkpi("inspect", *arguments, folder=tmp_path)
        assert (outcome.status, outcome.out) == (1, b"")


def test_the_fixtures(ragkpi):
    found = inspected(ragkpi, FIXTURES, "qrels.txt", "first_stage.run")
    assert [file["documents"] for file in found["files"]] == [[36, 43], [50, 50]]
    assert found["shared"][0]["queries"] == 12


def test_a_file_that_cannot_be_opened_is_an_error(ragkpi, tmp_path):
    outcome = ragkpi("inspect", "nosuch", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err.count(b"\n") == 1
    assert b"nosuch" in outcome.err


def test_without_a_common_query_no_document_is_counted(ragkpi, tmp_path):
    (tmp_path / "gold").write_bytes(b"q1 0 d1 1\n")
    (tmp_path / "run").write_bytes(b"x1 Q0 d1 1 2 me\n")
    found = json.loads(ragkpi("inspect", "--format", "json", "gold", "run", folder=tmp_path).out)
    assert found["answer"] == ["run and gold share no query."]


def test_a_note_names_its_file_once(ragkpi, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "text").write_bytes(b"what is this\n")
    screen = ragkpi("inspect", "--format", "table", "folder", folder=tmp_path)
    notes = (screen.out + screen.err).decode().split("first records")[1]
    assert notes.count("folder/text:1:") == 1
    assert "folder/text: folder/text" not in notes
