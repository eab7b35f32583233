"""What is no id of a document, or no list of one query, is neither read nor guessed."""

import json
import shlex

import pytest

import ragkpi as library
from ragkpi.files.dumps import map_text, recognise
from tests.hostile_files import WHICH_KEY, WHICH_NUMBER


def nuggets(query):
    of = [("n1", "vital", "support"), ("n2", "okay", "support"), ("n3", "okay", "none")]
    names = ("text", "importance", "assignment")
    return {"qid": query, "nuggets": [dict(zip(names, one, strict=True)) for one in of]}


SPANS = [
    {"span": "s1", "position": 0, "input": "why?"},
    {"span": "s1", "position": 1, "input": "why?"},
]


@pytest.mark.parametrize(
    ("records", "kind"),
    [
        ([{"id": "q1", "query": "why?", "gold_ids": ["d1"]}, {"id": "q2", "query": "how?"}], "run"),
        ([{"id": "q1", "question": "why?"}, {"id": "q2", "question": "how?"}], "qrels"),
        ([nuggets("a"), nuggets("b")], "run"),
        (SPANS, "run"),
        ([{"qid": "a", "usage": {"aa": 3, "bb": 4}}, {"qid": "b", "usage": {"aa": 1}}], "run"),
        (
            [
                {"qid": of, "span_id": "ab", "trace_id": "cd", "place": n}
                for of in "ab"
                for n in "xx"
            ],
            "run",
        ),
        ([{"qid": "a", "citations": {"d1": 1}}, {"qid": "b", "citations": {"d2": 1}}], "qrels"),
    ],
    ids=[
        "examples",
        "queries",
        "nuggets",
        "spans",
        "counts",
        "traces",
        "cited",
    ],
)
def test_no_reading(records, kind):
    found = recognise(records, kind, root="$")
    assert found.fault
    assert "?" in {value for map_ in found.maps for value in map_.values()}


@pytest.mark.parametrize("list_", ["citations", "responses[].citations"])
def test_citations_with_scores(list_):
    cited = {"citations": {"d1": 0.9, "d2": 0.4}}
    records = [{"qid": "a", **({"responses": [cited]} if "[]" in list_ else cited)}]
    assert (
        map_text(recognise(records, "run").map)
        == f"query=qid, list={list_}, doc=@key, score=@value"
    )


def test_lists_without_a_query_ask_for_it():
    found = recognise([{"ids": [["d1", "d2"], ["d2", "d3"]]}], "run", root="$")
    assert found.map["query"] == "?"
    assert found.fault.startswith(f"{WHICH_KEY} query")


def test_two_keys_of_one_name_are_refused(tmp_path):
    for keys in ({"score": 1, "Score": 2}, {"DocId": "e", "score": 1}):
        records = [{"qid": "q", "hits": [{"doc_id": "d", **keys}]}]
        (tmp_path / "run.json").write_text(json.dumps(records))
        with pytest.raises(library.RagkpiError, match=r"(each name|which number).*=(\?|doc_id)"):
            library.read_run(tmp_path / "run.json")


def test_a_first_record_unlike_the_others(ragkpi, tmp_path):
    records = [{"title": "x"}, *({"qid": of, "hits": [{"docid": "d", "score": 1}]} for of in "ab")]
    (tmp_path / "run").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "gold").write_text("a 0 d 1\n")
    outcome = ragkpi("eval", "gold", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err.startswith(b"ragkpi: error: run:1: ")
    assert b"no list of documents (keys: 'title')" in outcome.err


@pytest.mark.parametrize("id_", ["[x]", "(a)", "[1]", "['a']"])
def test_an_id_in_brackets_is_one_id(ragkpi, tmp_path, id_):
    (tmp_path / "qrels").write_text(f"{id_} 0 {id_} 1\n")
    flat = [
        {"query_id": id_, "doc_id": id_, "score": 2},
        {"query_id": id_, "doc_id": "b", "score": 1},
    ]
    nested = {"query_id": id_, "results": [{"doc_id": id_, "score": 2}]}
    for name, text in (("flat.json", flat), ("nested.json", [nested])):
        (tmp_path / name).write_text(json.dumps(text))
        outcome = ragkpi("eval", "-m", "recip_rank", "qrels", name, folder=tmp_path)
        assert outcome.out.split() == [b"recip_rank", b"all", b"1.0000"], outcome.err


@pytest.mark.parametrize(
    "documents",
    [
        '{"d1": "inf", "d2": 0.5, "d3": 0.25, "d4": 0.125}',
        '{"d1": 2.5, "d2": 1.5, "d3": 0.5, "d4": "-inf"}',
    ],
)
def test_an_infinite_score_is_a_score_as_convert_writes_it(ragkpi, tmp_path, documents):
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run.json").write_text(f'{{"q1": {documents}}}')
    outcome = ragkpi("eval", "-m", "recip_rank", "qrels", "run.json", folder=tmp_path)
    assert outcome.out.split() == [b"recip_rank", b"all", b"1.0000"], outcome.err


@pytest.mark.parametrize(
    "run",
    [
        {"t.0": {"a.1": 0.9, "a.0": 0.8}, "t.1": {"b.1": 0.9, "a": 0.3}},
        {"t.0": {"b.0": "inf", "a.0": 2.5}, "t.1": {"b.1": 0.9}},
    ],
)
def test_ids_that_end_in_a_number_are_no_attributes_of_spans(ragkpi, tmp_path, run):
    (tmp_path / "qrels").write_text("t.0 0 a.0 1\nt.1 0 b.1 1\n")
    (tmp_path / "gold.json").write_text('{"t.0": {"a.0": 1}, "t.1": {"b.1": 1}}')
    (tmp_path / "run.json").write_text(json.dumps(run))
    for qrels in ("qrels", "gold.json"):
        outcome = ragkpi("eval", "-m", "recip_rank", qrels, "run.json", folder=tmp_path)
        assert outcome.out.split() == [b"recip_rank", b"all", b"0.7500"], outcome.err


PASSAGES = [
    {"query_id": query, "doc_id": f"{query}.md", "chunk_id": f"{query}-{part}", "score": 0.9 - part}
    for query in ("a", "b")
    for part in range(3)
]


def as_lists(rows):
    lists = {row["query_id"]: [] for row in rows}
    for row in rows:
        lists[row["query_id"]].append({key: row[key] for key in row if key != "query_id"})
    return "".join(json.dumps({"query_id": of, "hits": hits}) + "\n" for of, hits in lists.items())


def as_csv(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in ([*rows[0]], *map(dict.values, rows)))


RIVALS = {
    "lists.jsonl": as_lists,
    "rows.jsonl": lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
    "rows.json": json.dumps,
    "rows.csv": as_csv,
    "rows.tsv": lambda rows: as_csv(rows).replace(",", "\t"),
}


@pytest.mark.parametrize("form", RIVALS)
def test_a_document_beside_its_passage_is_refused_with_a_command_for_each(ragkpi, tmp_path, form):
    (tmp_path / "gold").write_text("a 0 a.md 1\na 0 a-1 1\nb 0 b.md 1\nb 0 b-1 1\n")
    (tmp_path / form).write_text(RIVALS[form](PASSAGES))
    outcome = ragkpi("eval", "-m", "recip_rank", "-m", "num_ret", "gold", form, folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    first, *commands = outcome.err.decode().splitlines()
    assert first.startswith(f"ragkpi: error: {form}: doc_id and chunk_id each name the document")
    values = {}
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        *_, name = words[2].partition("doc=")
        values[name.partition(",")[0]] = ragkpi(*words, folder=tmp_path)
    assert values["chunk_id"].out.split()[2::3] == [b"6", b"0.5000"]
    assert b"document a.md of query a again" in values["doc_id"].err
    words = shlex.split(commands[0])[1:]
    folded = ragkpi(*words, "--max-passage", "#", folder=tmp_path)
    # A document counts by its best passage: the first of three.
    assert folded.out.split()[2::3] == [b"2", b"1.0000"]


def test_rows_in_memory_are_refused_as_in_a_file():
    qrels = {"a": {"a-1": 1}}
    for rows in (PASSAGES, [tuple(row.values()) for row in PASSAGES]):
        if isinstance(rows[0], tuple):
            rows = pytest.importorskip("pandas").DataFrame(rows, columns=[*PASSAGES[0]])
        with pytest.raises(library.InputError, match="doc_id and chunk_id each name") as refused:
            library.evaluate(qrels, rows, "recip_rank")
        assert 'map_run="query=query_id, doc=doc_id"' in str(refused.value)
        mapped = library.evaluate(qrels, rows, "recip_rank", map_run="query=query_id, doc=chunk_id")
        assert mapped.mean == {"recip_rank": 0.5}


def test_parquet_is_refused_as_rows_in_memory(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = str(tmp_path / "run.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(PASSAGES), path)
    with pytest.raises(library.InputError, match="doc_id and chunk_id each name"):
        library.evaluate({"a": {"a-1": 1}}, path, "recip_rank")


@pytest.mark.parametrize("form", RIVALS)
def test_what_names_the_same_is_read(ragkpi, tmp_path, form):
    """PyTerrier's `docid` beside `docno`, and the number of a row."""
    (tmp_path / "gold").write_text("a 0 a-1 1\n")
    for names in (("docno", "docid"), ("chunk_id", "id")):
        rows = [
            {"query_id": row["query_id"], names[0]: row["chunk_id"], "score": row["score"]}
            | {names[1]: place}
            for place, row in enumerate(PASSAGES)
        ]
        (tmp_path / form).write_text(RIVALS[form](rows))
        outcome = ragkpi("eval", "-m", "recip_rank", "gold", form, folder=tmp_path)
        assert outcome.out.split() == [b"recip_rank", b"all", b"0.5000"], outcome.err


def test_two_ids_of_a_query_are_refused_with_a_command_for_each(ragkpi, tmp_path):
    (tmp_path / "gold").write_text("a 0 a-1 1\n7 0 a-0 1\n")
    numbers = {"a": "7", "b": "8"}
    rows = [
        {"topic_id": numbers[row["query_id"]], "query_id": row["query_id"]}
        | {"chunk_id": row["chunk_id"], "score": row["score"]}
        for row in PASSAGES
    ]
    for form in ("rows.jsonl", "rows.csv"):
        (tmp_path / form).write_text(RIVALS[form](rows))
        outcome = ragkpi("eval", "-m", "recip_rank", "gold", form, folder=tmp_path)
        assert (outcome.status, outcome.out) == (2, b"")
        first, *commands = outcome.err.decode().splitlines()
        assert "query_id and topic_id each name the query" in first
        values = []
        for command in commands:
            words = shlex.split(command, comments=True)[1:]
            values.append(ragkpi(*words, folder=tmp_path).out.split()[2])
        assert values == [b"0.2500", b"0.5000"]  # of two queries; one is found


def test_a_choice_of_ids_does_not_settle_the_scores(ragkpi, tmp_path):
    rows = [{**row, "rerank_score": place} for place, row in enumerate(PASSAGES)]
    (tmp_path / "run").write_text(RIVALS["lists.jsonl"](rows))
    (tmp_path / "gold").write_text("a 0 a-1 1\n")
    first = ragkpi("eval", "gold", "run", folder=tmp_path).err.decode().splitlines()[1]
    words = shlex.split(first, comments=True)[1:]
    outcome = ragkpi(*words, "--max-passage", "#", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"score and rerank_score order query a differently" in outcome.err


def test_a_run_whose_score_has_a_name_that_no_map_can_have_is_no_qrels(tmp_path):
    (tmp_path / "run.csv").write_text('query_id,doc_id,"round(sim, 4)"\nq,a,0.9\nq,b,0.4\n')
    with pytest.raises(library.InputError, match=WHICH_NUMBER):
        library.read_qrels(tmp_path / "run.csv")


def test_values_of_measures_are_asked_about_and_not_read_as_scores(ragkpi, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    values = {query: {"ndcg@10": 0.3, "recall_5": 0.5} for query in ("q1", "q2")}
    (tmp_path / "values.json").write_text(json.dumps(values))
    outcome = ragkpi("eval", "-m", "map", "qrels", "values.json", folder=tmp_path)
    assert outcome.status == 2
    assert outcome.out == b""
    assert b"'ndcg@10' 0.3" in outcome.err or b"q1.ndcg@10 0.3" in outcome.err
    assert b"doc=?, score=?" in outcome.err


def test_pairs_of_a_document_and_a_level_are_no_two_documents(ragkpi, tmp_path):
    gold = [{"query_id": "q", "relevant_ids": [["a", 2], ["b", 1]]}]
    (tmp_path / "gold").write_text(json.dumps([*gold, {**gold[0], "query_id": "r"}]))
    (tmp_path / "run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n")
    outcome = ragkpi("eval", "gold", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"doc=?, level=?" in outcome.err


ROWS = [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 1)]


@pytest.mark.parametrize("name", ["queries", "data"])
@pytest.mark.parametrize("query", ["question", "topic", "user_input", "q"])
def test_the_only_key_of_an_object_is_no_query_of_other_queries(name, query, tmp_path):
    rows = [{query: of, "doc_id": doc, "relevance": level} for of, doc, level in ROWS]
    (tmp_path / "gold.json").write_text(json.dumps({name: rows}))
    try:
        found = library.read_qrels(tmp_path / "gold.json")
    except library.RagkpiError:
        return
    assert found == {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}}


def test_a_word_for_all_queries_is_no_query(ragkpi, tmp_path):
    of = {"q1": [{"pid": "a", "relevance": 2}], "q2": [{"pid": "b", "relevance": 1}]}
    (tmp_path / "gold.json").write_text(json.dumps({"data": of}))
    (tmp_path / "run").write_text("q1 Q0 a 1 2 t\nq2 Q0 b 1 2 t\n")
    outcome = ragkpi("eval", "gold.json", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"query=?" in outcome.err


@pytest.mark.parametrize("gold", [[["17", 2], ["18", 0]], [[17, 2], [18, 0]], [["17", 2], [18, 0]]])
def test_pairs_of_numbers_are_no_list_of_ids(gold, tmp_path):
    (tmp_path / "gold.jsonl").write_text(json.dumps({"query_id": "q", "relevant": gold}) + "\n")
    with pytest.raises(library.RagkpiError):
        library.read_qrels(tmp_path / "gold.jsonl")


@pytest.mark.parametrize("scores", [(75, 80), (7, 8), (75.5, 80.5), ("75", "80")])
def test_scores_next_to_numeric_ids_are_no_ids(scores, tmp_path):
    hits = [*zip((12, 13), scores, strict=True)]
    (tmp_path / "run.jsonl").write_text(json.dumps({"query_id": "q", "hits": hits}) + "\n")
    with pytest.raises(library.RagkpiError, match="list=hits, doc=\\?, score=\\?"):
        library.read_run(tmp_path / "run.jsonl")


def test_two_numeric_ids_of_a_query_are_ids(tmp_path):
    found = {"query_id": "q", "ids": [["12", "7"]], "distances": [[0.5, 0.75]]}  # as Chroma writes
    (tmp_path / "run.jsonl").write_text(json.dumps(found) + "\n")
    assert library.read_run(tmp_path / "run.jsonl") == {"q": {"12": -0.5, "7": -0.75}}


@pytest.mark.parametrize("citations", [[], [3, 4]])
def test_citations_are_no_traceback(citations, tmp_path):
    (tmp_path / "dump.json").write_text(json.dumps([{"question": "why?", "citations": citations}]))
    with pytest.raises(library.RagkpiError):
        library.read_run(tmp_path / "dump.json")


@pytest.mark.parametrize("read", [library.read_qrels, library.read_run])
def test_lists_of_several_records_are_not_one_query(read, tmp_path):
    name = "expected_ids" if read is library.read_qrels else "retrieved_ids"
    records = [{"q": query, name: ids} for query, ids in (("a", ["d1", "d2"]), ("b", ["d3"]))]
    (tmp_path / "dump.json").write_text(json.dumps({"runs": records}))
    try:
        found = read(tmp_path / "dump.json")
    except library.RagkpiError:
        return
    assert [*map(len, found.values())] == [2, 1]


def test_a_list_of_other_things_has_no_scores(tmp_path):
    record = {"qid": "q", "ids": ["31.0", "17.0"], "scores": [0.4, 0.3], "groups": ["x", "y"]}
    (tmp_path / "dump.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(library.RagkpiError):
        library.read_run(tmp_path / "dump.jsonl")


@pytest.mark.parametrize(
    "cells", ["['a:1']|['b:1', 'b:2']", "['a:1', 'b:2']|['c:3']", "['a']|['b']"]
)
@pytest.mark.parametrize("read", [library.read_qrels, library.read_run])
def test_a_list_in_a_cell_is_no_id(read, cells, tmp_path):
    first, second = cells.split("|")
    text = f'query_id,doc_id\nq1,"{first}"\nq2,"{second}"\n'
    (tmp_path / "dump.csv").write_text(text)
    try:
        found = read(tmp_path / "dump.csv")
    except library.RagkpiError:
        return
    assert sorted(found["q1"]) == first.strip("[]").replace("'", "").split(", ")


def test_levels_in_a_cell_beside_ids_are_not_passed_over(ragkpi, tmp_path):
    rows = [["d1", "d2", "d3"], ["1", "3", "0"]], [["d4", "d5"], ["0", "2"]]
    lines = (f"q{place},{'|'.join(ids)},{'|'.join(of)}" for place, (ids, of) in enumerate(rows))
    (tmp_path / "gold.csv").write_text("\n".join(["qid,expected_doc_ids,relevance", *lines, ""]))
    (tmp_path / "run").write_text("q0 Q0 d2 1 2 t\nq1 Q0 d4 1 2 t\n")
    outcome = ragkpi("eval", "-m", "num_rel", "-m", "P.1", "gold.csv", "run", folder=tmp_path)
    assert outcome.out.split()[2::3] == [b"3", b"0.5000"], outcome.err


def test_scores_in_a_cell_beside_ids_are_not_passed_over(tmp_path):
    text = 'topic,doc_ids,rerank_scores\nq1,"[""a"", ""b""]","[0.2, 0.6]"\n'
    (tmp_path / "run.csv").write_text(text)
    assert library.read_run(tmp_path / "run.csv") == {"q1": {"a": 0.2, "b": 0.6}}


@pytest.mark.parametrize("cells", [('"[7, 8]"', "[9]"), ("7|8", "9"), ('"[[7], [8]]"', "[[9]]")])
def test_one_number_in_a_column_of_lists_is_one_id(cells, tmp_path):
    text = "".join(f"q{place},{cell}\n" for place, cell in enumerate(cells))
    (tmp_path / "gold.csv").write_text(f"query_id,relevant_ids\n{text}")
    assert library.read_qrels(tmp_path / "gold.csv") == {"q0": {"7": 1, "8": 1}, "q1": {"9": 1}}
