"""What each format says, worked out by hand; and the place that its errors name."""

import csv
import io
import json
import re
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkpi.errors import InputError, RagkpiError, RagkpiWarning
from ragkpi.files import delimited
from ragkpi.files import json_files as json_documents
from ragkpi.files.formats import read_any_qrels, reader_of
from ragkpi.files.lines import blocks
from ragkpi.files.opening import Source
from ragkpi.files.registry import FILE_FORMATS
from tests.tries import TRIES

stream_csv = FILE_FORMATS["run"]["csv"].readers["run"]
RANKED = [(b"1", b"d1", 2.5), (b"1", b"d2", 1.0), (b"2", b"d1", -3.0)]
POSITIONS = [(b"1", b"d1", -1.0), (b"1", b"d2", -2.0), (b"2", b"d1", -1.0)]

RUNS = {
    "TREC": (b"1 Q0 d1 1 2.5 me\n1 Q0 d2 2 1 me\n2 Q0 d1 1 -3 me\n", RANKED),
    "MS MARCO": (b"1\td1\t1\n1\td2\t2\n2\td1\t1\n", POSITIONS),
    "TSV": (b"score\tqid\tx\tdocno\n2.5\t1\t\td1\n1\t1\t\td2\n-3\t2\t\td1\n", RANKED),
    "CSV": (
        b'qid,query,docid,docno,score\r\n1,"a, ""b""",7,d1,2.5\r\n1,,8,d2,1\r\n2,,7,d1,-3',
        RANKED,
    ),
    "CSV of ranks": (b"query-id,corpus-id,rank\n1,d1,1\n1,d2,2\n2,d1,1\n", POSITIONS),
    "JSON": (b'{"1": {"d1": 2.5, "d2": 1},\n "2": {"d1": -3e0}}\n', RANKED),
    "JSON array": (
        b'[{"query": "what", "hits": [{"qid": 1, "docid": "d1", "score": 2.5},'
        b' {"qid": 1, "docid": "d2", "score": 1}]},\n'
        b'{"query": "who", "hits": [{"qid": 2, "docid": "d1", "score": -3}]}]',
        RANKED,
    ),
    "candidates": (
        b'{"query": {"text": "what", "qid": "1"}, "candidates": ['
        b'{"doc": {"id": "x"}, "docid": "d1", "score": 2.5}, {"docid": "d2", "score": "1.0"}]}\n'
        b'{"query": {"text": "who", "qid": 2}, "candidates": [{"docid": "d1", "score": -3}]}\n',
        RANKED,
    ),
    "references": (
        b'{"topic_id": "1", "references": ["d1", "d2"], "answer": []}\n'
        b'{"topic_id": "2", "references": ["d1"], "answer": []}\n',
        POSITIONS,
    ),
    "flat": (
        b'{"query_id": "1", "doc_id": "d1", "score": 2.5}\n'
        b'{"query_id": "1", "doc_id": "d2", "score": 1}\n\n'
        b'{"query_id": "2", "doc_id": "d1", "score": -3}\n',
        RANKED,
    ),
}

QRELS = {
    "TREC": b"1 0 d1 2\n1 0 d2 0\n2 0 d1 -1\n",
    "BEIR": b"query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n2\td1\t-1\n",
    "CSV": b"doc_id,query_id,relevance\nd1,1,2\nd2,1,0\nd1,2,-1\n",
    "JSON": b'{"1": {"d1": 2, "d2": 0}, "2": {"d1": -1}}',
    "flat": b'{"query_id": "1", "doc_id": "d1", "relevance": 2}\n'
    b'{"query_id": 1, "doc_id": "d2", "relevance": 0}\n'
    b'{"query_id": "2", "doc_id": "d1", "relevance": -1}\n',
}


def rows(path):
    with Source(str(path)) as source:
        return [
            (block.query[group], document, score)
            for block in reader_of("run", source).stream_run(source)
            for group, document, score in zip(
                block.group(), block.document, block.score.tolist(), strict=True
            )
        ]


def put(folder, text):
    path = folder / "file"
    path.write_bytes(text)
    return path


@pytest.mark.parametrize(("text", "expected"), RUNS.values(), ids=RUNS)
def test_reads_runs(text, expected, tmp_path):
    assert rows(put(tmp_path, text)) == expected


@pytest.mark.parametrize("text", QRELS.values(), ids=QRELS)
def test_reads_qrels(text, tmp_path):
    qrels = read_any_qrels(str(put(tmp_path, text)))
    assert list(zip(qrels.query, qrels.document, qrels.level.tolist(), strict=True)) == [
        (b"1", b"d1", 2),
        (b"1", b"d2", 0),
        (b"2", b"d1", -1),
    ]


def test_lines_are_physical_in_json_documents(tmp_path):
    path = put(tmp_path, b'\n{"1": {"d1": 2.5,\n"d\\"\\n2": 1,\n\n"d3": 0},\n\n "2": {"d1": -3}}')
    with Source(str(path)) as source:
        blocks = list(reader_of("run", source).stream_run(source))
    assert [line for block in blocks for line in block.line.tolist()] == [2, 2, 2, 7]


def test_quoted_newlines_count_as_lines(tmp_path):
    path = put(tmp_path, b'qid,query,docid,score\n1,"a\nb",d1,1\n\n1,c,d2,1\n')
    with Source(str(path)) as source:
        (block,) = reader_of("run", source).stream_run(source)
    assert block.line.tolist() == [2, 5]


@pytest.mark.parametrize(("kind", "values"), [("csv", b"1,d1,x"), ("parquet", b"")])
def test_a_forced_format_is_not_recognised(kind, values, tmp_path):
    with Source(str(put(tmp_path, b"1 0 d1 1\n"))) as source, pytest.raises(RagkpiError):
        FILE_FORMATS["qrels"][kind].readers["qrels"](source)


@pytest.mark.parametrize("text", [b'{"1":[%s1]}', b'{"qid":"1","hits":[%s1]}\n{"qid":"2"}\n'])
def test_a_bomb_is_refused_before_it_is_decoded(text, tmp_path, monkeypatch):
    """A megabyte of nothing, in the place of gigabytes."""
    monkeypatch.setattr(json_documents, "SMALLEST_BOMB", 1 << 20)
    monkeypatch.setattr(json_documents, "MOST_HELD", 1 << 25)
    with pytest.raises(InputError, match="values in 1 MB, too many for memory"):
        rows(put(tmp_path, text % (b"[]," * 500_000)))


@pytest.mark.parametrize(
    "text",
    [
        b'{"q": {"d": 1}, 2: {"d": 1}}',
        b'{"q": {"d": 1}} 1\n{"r": {"d": 1}}\n',
        b'{"q": {"d": 1}}\n{"r": {"d": 1}}{"s": {"d": 1}}\n',
        b'{"q": {"d": 1}}\n{2: {"d": 1}}\n',
    ],
)
def test_keys_are_strings_and_a_line_is_one_value(text, tmp_path):
    with pytest.raises(InputError, match="invalid JSON"):
        rows(put(tmp_path, text))


def test_a_query_in_two_lines_is_one_query(ragkpi, tmp_path):
    (tmp_path / "qrels").write_bytes(b"1 0 d1 1\n1 0 d2 1\n2 0 d1 1\n")
    (tmp_path / "run").write_bytes(
        b'{"qid": "1", "docid": "d1", "score": 1}\n{"qid": "2", "docid": "d1", "score": 1}\n'
        b'{"qid": "1", "docid": "d2", "score": 2}\n'
    )
    outcome = ragkpi("eval", "-m", "num_rel_ret", "-m", "map", "qrels", "run", folder=tmp_path)
    assert outcome.out == b"num_rel_ret           \tall\t3\nmap                   \tall\t1.0000\n"


@pytest.mark.parametrize("name", ["csv", "jsonl", "json", "parquet", "arrow"])
def test_rows_without_scores_and_ranks_count_in_their_order(name, tmp_path):
    """One rule for all formats."""
    made = [{"qid": "1", "docid": "b"}, {"qid": "1", "docid": "a"}, {"qid": "2", "docid": "a"}]
    path = tmp_path / f"run.{name}"
    if name in ("parquet", "arrow"):
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.Table.from_pylist(made)
        if name == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            with pytest.importorskip("pyarrow.ipc").new_file(str(path), table.schema) as writer:
                writer.write_table(table)
    elif name == "csv":
        path.write_text("qid,docid\n1,b\n1,a\n2,a\n")
    else:
        path.write_text(json.dumps(made) if name == "json" else "\n".join(map(json.dumps, made)))
    with pytest.warns(RagkpiWarning, match="neither scores nor ranks .*; ranked by the order"):
        found = rows(path)
    assert [row[:2] for row in found] == [(b"1", b"b"), (b"1", b"a"), (b"2", b"a")]
    assert found[0][2] > found[1][2]


ODD = {
    "null": None,
    "missing": ...,
    "true": True,
    "text": "x",
    "object": {"a": 1},
    "nan": float("nan"),
    "empty": "",
}


FORMATS = ["csv", "quoted.csv", "tsv", "jsonl", "json"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("number", ["score", "rank"])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("odd", ODD)
def test_one_row_without_a_number_is_refused_with_its_line(
    odd, place, number, name, tmp_path, ragkpi
):
    """Among rows that have one; neither the place in the file nor anything else is in its stead."""
    made = [{"qid": "1", "docid": id_, number: 3 + at} for at, id_ in enumerate("bac")]
    del made[place][number]
    if ODD[odd] is not ...:
        made[place][number] = ODD[odd]
    # In JSON it is the second record that is unlike the first one.
    # In JSON it is the second record that is unlike the first one.
    line = place + (odd in ("missing", "null") and place == 0 and name.startswith("json"))
    assert_refused(ragkpi, tmp_path, name, made, number, line)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("odd", ["1.5", "-1", "inf", "9007199254740992", "1e300", "", None])
def test_ranks_are_whole_numbers(odd, name, tmp_path, ragkpi):
    """Whatever is quoted; beside scores they only have to agree with these."""
    made = [{"qid": "1", "docid": id_, "rank": rank} for id_, rank in ("b1", "a2", "c3")]
    made[1]["rank"] = odd
    assert_refused(ragkpi, tmp_path, name, made, "rank", 1)


def assert_refused(ragkpi, folder, name, made, number, row):
    """Write rows as a file, and see that it is refused at a row, from 0, for its number."""
    write_rows(folder / f"run.{name}", made)
    (folder / "qrels").write_text("1 0 a 1\n")
    outcome = ragkpi("eval", "qrels", f"run.{name}", folder=folder)
    assert (outcome.status, outcome.out) == (2, b"")
    line = row + (1 if name.startswith("json") else 2)
    found = rb"ragkpi: error: run\.%b:%d: [^\n]*\b%b\b[^\n]*; expected [^\n]*\n"
    last = outcome.err.splitlines(keepends=True)[-1]  # above it may be a warning
    assert re.fullmatch(found % (name.encode(), line, number.encode()), last), outcome.err


def write_rows(path, made):
    """Write rows as their suffix says; in ``quoted.csv`` stands a comma in an id."""
    kind = path.suffix
    with open(path, "w", newline="") as file:
        if kind == ".json":
            file.write("[" + ",\n".join(map(json.dumps, made)) + "]\n")
        elif kind == ".jsonl":
            file.write("".join(json.dumps(row) + "\n" for row in made))
        else:
            names = list(dict.fromkeys(name for row in made for name in row))
            writer = csv.writer(file, delimiter="," if kind == ".csv" else "\t")
            writer.writerow(names)
            for row in made:
                row = {**row, "docid": f"{row['docid']},"} if "quoted" in path.name else row
                writer.writerow([row.get(name) for name in names])


@pytest.mark.parametrize("name", ["parquet", "arrow"])
@pytest.mark.parametrize("number", ["score", "rank"])
def test_truth_values_are_no_scores(name, number, tmp_path, ragkpi):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"qid": ["1", "1"], "docid": ["b", "a"], number: [False, True]})
    if name == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "run")
    else:
        with pytest.importorskip("pyarrow.ipc").new_file(
            str(tmp_path / "run"), table.schema
        ) as writer:
            writer.write_table(table)
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"column %b is true" % number.encode() in outcome.err


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_scores_under_two_keys_are_not_mixed(kind, tmp_path, ragkpi):
    """A similarity of 0.9 beside scores of BM25 would rank last."""
    for made in (
        [{"qid": "1", "docid": "b", "score": 7}, {"qid": "1", "docid": "a", "similarity": 0.9}],
        [
            {"qid": "1", "docid": "b", "score": 7, "similarity": 0.1},
            {"qid": "1", "docid": "a", "score": None, "similarity": 0.9},
        ],
    ):
        assert_refused(ragkpi, tmp_path, kind, made, "score", 1)
    hits = [{"docid": "b", "score": 7}, {"docid": "a", "similarity": 0.9}]
    assert_refused(ragkpi, tmp_path, kind, [{"qid": "1", "hits": hits}] * 2, "score", 0)


def test_lists_without_scores_may_say_so(tmp_path, ragkpi):
    """Elasticsearch's hits have the score null when they are sorted by a field."""
    hits = [{"_id": "b", "_score": None}, {"_id": "a", "_score": None}]
    (tmp_path / "run").write_text(json.dumps({"query_id": "1", "hits": {"hits": hits}}) + "\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    outcome = ragkpi("eval", "-m", "recip_rank", "qrels", "run", folder=tmp_path)
    assert outcome.out.split() == [b"recip_rank", b"all", b"0.5000"]


@settings(max_examples=100 * TRIES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("pq"), st.text('ab",\n', max_size=3), st.integers(0, 9)),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[:2],
    ),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    end=st.sampled_from(["\n", "\r\n"]),
    size=st.sampled_from([40, 1 << 20]),
)
def test_quoted_values_are_those_of_the_csv_module(rows, quoting, end, size, tmp_path):
    out = io.StringIO()
    writer = csv.writer(out, quoting=quoting, lineterminator=end)
    writer.writerow(["qid", "docid", "score"])
    writer.writerows((query, f"d{document}", score) for query, document, score in rows)
    text = out.getvalue().encode()
    expected = [
        (query.encode(), document.encode(), float(score))
        for query, document, score in list(csv.reader(io.StringIO(out.getvalue(), newline="")))[1:]
    ]
    with pytest.MonkeyPatch.context() as patch, Source(str(put(tmp_path, text))) as source:
        patch.setattr(delimited, "blocks", partial(blocks, size=size))
        found = [
            (block.query[group], document, score)
            for block in stream_csv(source)
            for group, document, score in zip(
                block.group().tolist(), block.document.tolist(), block.score.tolist(), strict=True
            )
        ]
    assert found == expected


def test_a_run_given_as_qrels_lacks_a_level_first_of_all(tmp_path):
    (tmp_path / "run.csv").write_text("query_id,id,text,_distance\nq,a,words,0.5\n")
    with pytest.raises(InputError, match='query=query_id, doc=\\?, level=\\?"'):
        read_any_qrels(str(tmp_path / "run.csv"))


def test_ids_behind_a_comma_and_a_space_are_refused(tmp_path):
    padded = put(tmp_path, b"query_id, doc_id, score\nq, d, 2\n")
    with Source(str(padded)) as source, pytest.raises(InputError, match=r":1: a space after ','"):
        list(stream_csv(source))
    (tmp_path / "gold.csv").write_text("query_id, doc_id, relevance\nq, d, 2\n")
    with pytest.raises(InputError, match=r"gold.csv:1: a space after ','; expected no space"):
        read_any_qrels(str(tmp_path / "gold.csv"))
    plain = put(tmp_path, b"query_id, doc_id, score\nq,d,2\n")  # no id has a space
    with Source(str(plain)) as source:
        assert [list(block.document) for block in stream_csv(source)] == [[b"d"]]
