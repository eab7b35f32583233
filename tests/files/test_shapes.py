"""Shapes and maps on small samples of our own; what they mean is worked out by hand."""

import json

import pytest

import ragkpi as library
from ragkpi.errors import InputError, RagkpiWarning, UsageError
from ragkpi.files.formats import read_any_qrels, reader_of, reading_for
from ragkpi.files.opening import Source
from ragkpi.files.shapes import parse_map

SCORED = [(b"1", b"a", 0.9), (b"1", b"b", 0.5), (b"2", b"c", 0.4)]
LISTED = [(b"1", b"a", -1.0), (b"1", b"b", -2.0), (b"2", b"c", -1.0)]
JUDGED = [(b"1", b"a", 1), (b"1", b"b", 1), (b"2", b"c", 1)]


def documents(ids, scores=(0.9, 0.5, 0.4), key="id", **more):
    return [{key: id_, "score": score, **more} for id_, score in zip(ids, scores, strict=False)]


RUNS = {
    "elasticsearch": [
        {"qid": "1", "hits": {"hits": [{"_id": "a", "_score": 0.9}, {"_id": "b", "_score": 0.5}]}},
        {"qid": "2", "hits": {"hits": [{"_id": "c", "_score": 0.4}]}},
    ],
    "flashrag": [
        {"id": "1", "output": {"retrieval_result": documents("ab")}},
        {"id": "2", "output": {"retrieval_result": documents("c", [0.4])}},
    ],
    "llamaindex": [
        {"query_id": "1", "source_nodes": [
            {"node": {"id_": "a"}, "score": 0.9}, {"node": {"id_": "b"}, "score": 0.5}]},
        {"query_id": "2", "source_nodes": [{"node": {"id_": "c"}, "score": 0.4}]},
    ],
    "lists": [
        {"queryId": "1", "documents": documents("ab")},
        {"queryId": "2", "documents": documents("c", [0.4])},
    ],
    "lists, the record's id is the query": [
        {"id": "1", "query": "what is it?", "results": documents("ab", key="chunkId")},
        {"id": "2", "query": "who?", "results": documents("c", [0.4], key="chunkId")},
    ],
    "two lists": [
        {"qid": "1", "retrieved_ids": ["a", "b"], "retrieve_scores": [0.9, 0.5]},
        {"qid": "2", "retrieved_ids": ["c"], "retrieve_scores": [0.4]},
    ],
    "flat": [
        {"Query-ID": "1", "Doc ID": "a", "similarity": 0.9},
        {"Query-ID": "1", "Doc ID": "b", "similarity": 0.5},
        {"Query-ID": "2", "Doc ID": "c", "similarity": 0.4},
    ],
}  # fmt: skip
RANKS = {
    "flat, ranked": [
        {"qid": "1", "docid": "b", "rank": 2},
        {"qid": "1", "docid": "a", "rank": 1},
        {"qid": "2", "docid": "c", "rank": 1},
    ],
    "lists, ranked out of order": [
        {"qid": "1", "hits": [{"docid": "b", "rank": 2}, {"docid": "a", "rank": 1}]},
        {"qid": "2", "hits": [{"docid": "c", "rank": 1}]},
    ],
    "ragas": [{"retrieved_context_ids": ["a", "b"]}, {"retrieved_context_ids": ["c"]}],
    "kilt, a page twice": [
        {"id": "1", "output": [
            {"provenance": [{"wikipedia_id": "a"}, {"wikipedia_id": "b"}]},
            {"answer": "x"},
            {"provenance": [{"wikipedia_id": "a"}]}]},
        {"id": "2", "output": [{"provenance": [{"wikipedia_id": "c"}]}]},
    ],
}  # fmt: skip
QRELS = {
    "ids": [{"id": "1", "gold_ids": ["a", "b"]}, {"id": "2", "gold_ids": ["c", "c"]}],
    "levels of all kinds": [
        {"qid": "1", "docid": "a", "rating": True},
        {"qid": "1", "docid": "b", "rating": 1.0},
        {"qid": "2", "docid": "c", "rating": "1"},
    ],
    "judgments": [
        {"qid": "1", "judgments": [{"doc_id": "a", "level": 1}, {"doc_id": "b", "level": 1}]},
        {"qid": "2", "judgments": [{"doc_id": "c", "level": 1}]},
    ],
    "lists of lists": [
        {"qid": "1", "retrieval_gt": [["a"], ["b"]]}, {"qid": "2", "retrieval_gt": [["c"]]},
    ],
}  # fmt: skip


def put(folder, value):
    path = folder / "file"
    path.write_text(value if isinstance(value, str) else lines(value))
    return str(path)


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def rows(path, how=None):
    with Source(path) as source:
        return [
            (block.query[group], document, score)
            for block in reader_of("run", source, how).stream_run(source)
            for group, document, score in zip(
                block.group(), block.document, block.score.tolist(), strict=True
            )
        ]


def judged(path, how=None):
    return sorted(read_any_qrels(path, how).judgements())


@pytest.mark.parametrize("layout", [lines, json.dumps, lambda value: json.dumps(value, indent=1)])
@pytest.mark.parametrize("name", RUNS)
def test_runs(name, layout, tmp_path):
    assert rows(put(tmp_path, layout(RUNS[name]))) == SCORED


@pytest.mark.parametrize("name", RANKS)
def test_ranks_and_orders(name, tmp_path):
    assert sorted(rows(put(tmp_path, RANKS[name]))) == LISTED


@pytest.mark.parametrize("layout", [lines, json.dumps, lambda value: json.dumps(value, indent=1)])
@pytest.mark.parametrize("name", QRELS)
def test_qrels(name, layout, tmp_path):
    assert judged(put(tmp_path, layout(QRELS[name]))) == JUDGED


MAPS = {
    "records under a key": (
        {"took": 1, "data": {"all": [{"q": "1", "d": [{"x": {"y": "a"}, "s": 0.9},
                                                      {"x": {"y": "b"}, "s": 0.5}]},
                                     {"q": "2", "d": [{"x": {"y": "c"}, "s": 0.4}]}]}},
        "records=$.data.all, query=q, list=d, doc=x.y, score=s",
    ),
    "keys of objects": (
        {"runs": {"1": {"a": 0.9, "b": 0.5}, "2": {"c": 0.4}}},
        "records=$.runs, query=@key, list=@value, doc=@key, score=@value",
    ),
    "columns by name": ("frage,dok,wert\n1,a,0.9\n1,b,0.5\n2,c,0.4\n",
                        "query=frage, doc=dok, score=wert"),
    "columns by number": ("1\ta\tx\t0.9\n1\tb\tx\t0.5\n2\tc\ty\t0.4\n",
                          "query=1, doc=2, score=4"),
    "an alternative": (
        '{"q": "1", "docs": [{"id": "a", "score": 0.9}, {"uri": "b", "score": 0.5}]}\n'
        '{"q": "2", "docs": [{"uri": "c", "score": 0.4}]}\n',
        "query=q, list=docs, doc=uri|id",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("value", "text"), MAPS.values(), ids=MAPS)
def test_maps(value, text, tmp_path):
    path = put(tmp_path, value if isinstance(value, str) else json.dumps(value))
    assert rows(path, reading_for("run", map_=text)) == SCORED
    parts = dict(part.split("=") for part in text.replace(" ", "").split(","))
    assert rows(path, reading_for("run", map_=parts)) == SCORED


def test_a_map_of_qrels(tmp_path):
    path = put(tmp_path, '{"f": "1", "gold": [{"k": "a", "n": 1}, {"k": "b", "n": true}]}\n')
    how = reading_for("qrels", map_="query=f, list=gold, doc=k, level=n")
    assert judged(path, how) == JUDGED[:2]
    with pytest.raises(InputError, match=r"no level \(keys: 'k n'"):
        judged(path, reading_for("qrels", map_="query=f, list=gold, doc=k, level=m"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query", "not PART=PATH"),
        ("query=", "not PART"),
        ("frage=q", "not PART"),
        ("query=a, query=b", "query twice"),
    ],
)
def test_maps_that_are_none(text, message):
    with pytest.raises(UsageError, match=message):
        parse_map(text, "run", "--map-run")


@pytest.mark.usefixtures("command_line")
def test_a_wrong_path_says_which_keys_there_are(tmp_path):
    path = put(tmp_path, '{"q": "1", "docs": [{"uri": "a"}]}\n')
    for text, keys in [("query=x", "'q docs'"), ("query=q, list=docs, doc=id", "'uri'")]:
        with pytest.raises(InputError, match=rf"keys: {keys}.*--map-run"):
            rows(path, reading_for("run", map_=text))


NOT_THERE = {
    "list=docs, score=no": "no score (keys: 'id score x.y')",
    "list=docs, rank=no": "no rank (keys: 'id score x.y')",
    "list=docs, score=score, rank=no": "no rank (keys: 'id score x.y')",
    "list=docs, scores=no": "no scores (keys: 'q docs')",
    "list=docs, score=x.z": "no score (keys: 'id score x.y')",
    "list=docs, doc=@index": "a document without an id (keys: 'id score x.y')",
    "list=docs, query=@index": "no query id (keys: 'q docs')",
    "list=no": "no list of documents (keys: 'q docs')",
}
TABLE_LACKS = {
    "query=q, doc=d, score=no": "has no no ('q d s')",
    "query=q, doc=d, rank=no": "has no no ('q d s')",
    "query=@index, doc=d": "has no @index ('q d s')",
}


@pytest.mark.parametrize(("text", "message"), NOT_THERE.items(), ids=NOT_THERE)
@pytest.mark.parametrize("layout", [lines, json.dumps])
def test_what_a_map_names_has_to_be_there(text, message, layout, ragkpi, tmp_path):
    found = [{"id": "b", "score": 1, "x.y": 4}, {"id": "a", "score": 2, "x.y": 9}]
    put(tmp_path, layout([{"q": query, "docs": found} for query in "qrs"]))
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    how = text if "query=" in text else f"query=q, {text}"
    outcome = ragkpi("eval", "--map-run", how, "qrels", "file", folder=tmp_path)
    assert outcome.err.decode().startswith(f"ragkpi: error: file:1: {message}; expected one of ")
    assert (outcome.status, outcome.out, outcome.err.count(b"\n")) == (2, b"", 1)


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        *(("csv", *lack) for lack in TABLE_LACKS.items()),
        ("parquet", *next(iter(TABLE_LACKS.items()))),  # read alike, in a process of its own
    ],
)
def test_what_a_map_names_has_to_be_in_a_table(text, message, form, ragkpi, tmp_path):
    put(tmp_path, "q,d,s\nq,a,1\n")
    if form == "parquet":
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table({"q": ["q"], "d": ["a"], "s": [1.0]})
        pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "file")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    outcome = ragkpi("eval", "--map-run", text, "qrels", "file", folder=tmp_path)
    place = "file:1" if form == "csv" else "file"
    assert outcome.err.decode().startswith(f"ragkpi: error: {place}: {message}; expected one of ")
    assert (outcome.status, outcome.out, outcome.err.count(b"\n")) == (2, b"", 1)


DOTTED = {
    "score=x.y": {"q": "1", "docs": [{"id": "b", "x.y": 4}, {"id": "a", "x.y": 9}]},
    "score=x.y.z": {"q": "1", "docs": [{"id": "b", "x": {"y.z": 4}},
                                       {"id": "a", "x": {"y.z": 9}}]},
    "doc=node.id, score=s": {"q": "1", "docs": [{"node.id": "b", "s": 1},
                                                {"node.id": "a", "s": 2}]},
    "list=a.b, score=s": {"q": "1", "a.b": [{"id": "a", "s": 2}, {"id": "b", "s": 1}]},
    "list=a.b[].c, score=s": {"q": "1", "a.b": [{"c": [{"id": "b", "s": 1}, {"id": "a", "s": 2}]}]},
    "records=$.all.v1, score=s": {"all.v1": [{"q": "1", "docs": [{"id": "a", "s": 2},
                                                                {"id": "b", "s": 1}]}]},
    "query=@number, score=s": {"docs": [{"id": "b", "s": 1}, {"id": "a", "s": 2}]},
    "query=@id, score=s": {"@id": "1", "docs": [{"id": "b", "s": 1}, {"id": "a", "s": 2}]},
}  # fmt: skip


@pytest.mark.parametrize(("text", "record"), DOTTED.items(), ids=DOTTED)
@pytest.mark.parametrize("layout", [json.dumps, lambda value: json.dumps(value, indent=1)])
def test_keys_with_dots_are_named_as_they_are(text, record, layout, ragkpi, tmp_path):
    put(tmp_path, layout(record) + "\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    rest = [f"{part}={part[0] if part == 'query' else 'docs'}" for part in ("query", "list")]
    how = ", ".join([text, *(part for part in rest if part.split("=")[0] + "=" not in text)])
    outcome = ragkpi("eval", "--map-run", how, "-m", "recip_rank", "qrels", "file", folder=tmp_path)
    assert (outcome.err, outcome.out.split()[-1:]) == (b"", [b"1.0000"])


@pytest.mark.parametrize("key", ["x.y", "uri"])
def test_what_is_null_in_one_record_counts_in_the_next(key, ragkpi, tmp_path):
    found = [("1", {key: None, "id": "1", "s": 1}), ("2", {key: "a", "id": "2", "s": 1})]
    put(tmp_path, [{"q": query, "docs": [document]} for query, document in found])
    (tmp_path / "qrels").write_text("2 0 a 1\n1 0 1 1\n")
    how = f"query=q, list=docs, doc={key}|id, score=s"
    outcome = ragkpi("eval", "--map-run", how, "-m", "P.1", "qrels", "file", folder=tmp_path)
    assert outcome.out.split()[-1] == b"1.0000"


def test_ranks_that_a_map_names_in_rows_rank_upwards():
    qrels = {"q": {"a": 1}}
    rows_ = [{"q": "q", "d": "a", "place": 1}, {"q": "q", "d": "b", "place": 2}]
    how = {"map_run": "query=q, doc=d, rank=place"}
    assert library.evaluate(qrels, rows_, ["recip_rank"], **how).mean == {"recip_rank": 1.0}
    rows_[1]["place"] = 1
    with pytest.raises(InputError, match="rank 1 of query q again"):
        library.evaluate(qrels, rows_, ["recip_rank"], **how)


CONTRADICTING = {
    "judgments": '{"qid": "q", "judgments": [{"id": "a", "level": 0}, {"id": "a", "level": 2}]}',
    "apart": '{"qid": "q", "judgments": [{"id": "a", "level": 0}, {"id": "b", "level": 0},'
    ' {"id": "a", "level": 2}]}',
    "truth": '{"qid": "q", "relevant": [{"id": "a", "label": true}, {"id": "a", "label": false}]}',
}


@pytest.mark.parametrize("text", CONTRADICTING.values(), ids=CONTRADICTING)
def test_levels_that_contradict_each_other_in_a_list_are_refused(text, ragkpi, tmp_path):
    put(tmp_path, text + "\n")
    (tmp_path / "run").write_text("q Q0 a 1 1 t\n")
    outcome = ragkpi("eval", "file", "run", folder=tmp_path)
    assert outcome.err.startswith(b"ragkpi: error: file:1: document a of query q again, ")
    assert (outcome.status, outcome.out) == (4, b"")


def test_a_judgement_that_a_list_repeats_counts_once(ragkpi, tmp_path):
    put(tmp_path, CONTRADICTING["judgments"].replace('"level": 0', '"level": 2') + "\n")
    (tmp_path / "run").write_text("q Q0 a 1 1 t\n")
    outcome = ragkpi("eval", "-m", "num_rel", "file", "run", folder=tmp_path)
    assert outcome.out.split()[-1] == b"1"


def test_a_map_of_levels_that_are_not_there(ragkpi, tmp_path):
    put(tmp_path, '{"q": "q", "gold": ["a"]}\n')
    (tmp_path / "run").write_text("q Q0 a 1 1 t\n")
    how = "query=q, list=gold, level=grade"
    outcome = ragkpi("eval", "--map-qrels", how, "file", "run", folder=tmp_path)
    assert outcome.err.startswith(
        b"ragkpi: error: file:1: no level (keys: no keys); expected one of grade"
    )
    assert (outcome.status, outcome.out) == (2, b"")


def test_distances_are_turned(tmp_path):
    path = put(tmp_path, "qid,docid,score\n1,a,0.1\n1,b,0.2\n2,c,0.1\n2,d,0.7\n")
    turned = rows(path, reading_for("run", scores="distance"))
    assert [score for _, _, score in turned] == [-0.1, -0.2, -0.1, -0.7]


@pytest.mark.parametrize(
    "text",
    [
        "qid,docid,rank,score\n1,a,1,0.1\n1,b,2,0.9\n",
        lines([{"qid": 1, "hits": [{"docid": "a", "rank": 1, "score": 0.1},
                                   {"docid": "b", "rank": 2, "score": 0.9}]}]),
        lines([{"qid": 1, "docid": "a", "rank": 1, "score": 0.1},
               {"qid": 1, "docid": "b", "rank": 2, "score": 0.9}]),
    ],
)  # fmt: skip
def test_scores_that_contradict_ranks_are_refused_until_a_map_says_which_counts(text, tmp_path):
    path = put(tmp_path, text)
    with pytest.raises(InputError, match="score and rank order query 1 differently"):
        rows(path)
    by_score, by_rank = (
        rows(path, reading_for("run", map_=map_)) for map_ in ("score=score", "rank=rank")
    )
    assert by_score == [(b"1", b"a", 0.1), (b"1", b"b", 0.9)]
    assert by_rank == [(b"1", b"a", -1), (b"1", b"b", -2)]


def test_a_table_without_scores_is_in_order_and_says_so(tmp_path):
    with pytest.warns(RagkpiWarning, match="neither scores nor ranks"):
        found = rows(put(tmp_path, "qid,docid,page\n1,a,3\n1,b,7\n"))
    assert [document for _, document, score in sorted(found, key=lambda row: -row[2])] == [
        b"a",
        b"b",
    ]


def test_every_part_of_csv_may_be_quoted(tmp_path):
    text = '"query_id","doc_id","score"\r\n"1","a","0.9"\r\n"1","b","0.5"\r\n"2","c","0.4"\r\n'
    assert rows(put(tmp_path, text)) == SCORED


def test_tables_with_lists_and_folders_of_parts(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"qid": ["1", "2"], "retrieval_gt": [[["a"], ["b"]], [["c"]]]})
    parquet.write_table(table, tmp_path / "nested.parquet")
    assert judged(str(tmp_path / "nested.parquet")) == JUDGED
    folder = tmp_path / "run.parquet"
    folder.mkdir()
    flat = arrow.table({"qid": [1, 1, 2], "docno": ["a", "b", "c"], "score": [0.9, 0.5, 0.4]})
    parquet.write_table(flat.slice(0, 1), folder / "part-0.parquet")
    parquet.write_table(flat.slice(1, 2), folder / "part-1.parquet")
    (folder / "_SUCCESS").write_text("")
    assert rows(str(folder)) == SCORED
    named = flat.rename_columns(["frage", "dok", "wert"])
    parquet.write_table(named, tmp_path / "named.parquet")
    how = reading_for("run", map_="query=frage, doc=dok, score=wert")
    assert rows(str(tmp_path / "named.parquet"), how) == SCORED


def test_a_file_may_be_run_and_qrels(ragkpi, tmp_path):
    records = [
        {"user_input": "why?", "retrieved_context_ids": ["a", "b"], "reference_context_ids": ["b"]},
        {"user_input": "how?", "retrieved_context_ids": ["c"], "reference_context_ids": ["d"]},
    ]
    path = put(tmp_path, records)
    outcome = ragkpi("eval", "-m", "recip_rank", "-m", "recall.5", path, path)
    assert [line.split()[-1] for line in outcome.out.splitlines()] == [
        b"0.2500",
        b"0.5000",
    ]  # recip_rank first


def test_formats_are_listed_and_explained(ragkpi):
    text = ragkpi("formats").out.decode()
    assert all(name in text for name in ("trec", "parquet", ".jsonl", "{query: [document, …]}"))
    assert all(
        name in ragkpi("formats", "names").out.decode() for name in ("docno", " gold", "_ids")
    )
    assert "--map-run" in ragkpi("formats", "map").out.decode()
    assert ragkpi("formats", "nothing").status == 1
