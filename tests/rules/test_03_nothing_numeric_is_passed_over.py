"""A number of the documents agrees with their order, or the file is refused with the commands.

The relevant document is the best by the number that a file holds and stands third in the file: a
reader that passes over the number finds a reciprocal rank of 1/3, the right one is 1.
"""

import csv
import io
import json
import re
import shlex

import pytest

import ragkpi as library
from ragkpi.errors import InputError, RagkpiWarning

SIMILARITIES = str.split("""
    score scores similarity similarity_score cosine_similarity cosine relevance_score relevance
    rerank_score reranker_score reranking_score @search.score @search.rerankerScore _score $score
    rrf_score rrf hybrid_score fusion_score certainty confidence probability prob logit logprob
    bm25 bm25_score vector_score dense_score sparse_score ts_rank rank_score weight match_score
    final_score sim Score rerankScore relevanceScore my_model_score
""")
DISTANCES = str.split("""
    distance _distance cosine_distance dist l2_distance l2 euclidean_distance vectorDistance
""")
BEST = "third"
IDS = ("first", "second", BEST, "fourth")
QRELS = {"q": {BEST: 1}}


def hits(name, numbers=(0.2, 0.1, 0.9, 0.4)):
    return [{"doc_id": id_, name: number} for id_, number in zip(IDS, numbers, strict=True)]


def rows(some):
    return [{"query_id": "q", **hit} for hit in some]


def as_csv(some):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows(some)[0]))
    writer.writeheader()
    writer.writerows(rows(some))
    return file.getvalue()


FORMS = {
    "lists.json": lambda some: json.dumps([{"query_id": "q", "hits": some}]),
    "lists.jsonl": lambda some: json.dumps({"query_id": "q", "results": some}) + "\n",
    "hits.jsonl": lambda some: "".join(json.dumps(row) + "\n" for row in rows(some)),
    "table.csv": as_csv,
}


@pytest.fixture
def evaluated(ragkpi, tmp_path):
    """Evaluate a text as a run, in a folder with qrels."""
    (tmp_path / "qrels").write_text(f"q 0 {BEST} 1\n")

    def evaluate(text, *options, name="run"):
        (tmp_path / name).write_text(text)
        return ragkpi("eval", *options, "-m", "recip_rank", "qrels", name, folder=tmp_path)

    return evaluate


def value(outcome):
    assert outcome.status == 0, outcome.err
    return float(outcome.out.split()[-1])


def commands(outcome):
    """Return the options that a refusal offers, as a shell would pass them."""
    assert (outcome.status, outcome.out) == (2, b"")
    lines = outcome.err.decode().splitlines()
    if len(lines) == 1 or "expected a run" in lines[-1]:  # perhaps judgements
        advice = lines[-1].rpartition(" one of ")[2]
        return [shlex.split(option) for option in advice.split(" or ")]
    words = [shlex.split(line, comments=True) for line in lines if line.startswith("  ragkpi ")]
    return [command[2 : command.index("-m")] for command in words]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [*SIMILARITIES, *DISTANCES])
def test_no_score_is_passed_over(name, form, evaluated):
    sign = -1 if name in DISTANCES else 1
    numbers = [sign * number for number in (0.2, 0.1, 0.9, 0.4)]
    text = FORMS[form](hits(name, numbers))
    outcome = evaluated(text)
    if outcome.status == 0:
        assert value(outcome) == 1
        return
    values = {tuple(options): value(evaluated(text, *options)) for options in commands(outcome)}
    assert values[("--map-run", f"score={name}")] == 1
    assert values[("--map-run", "rank=@number")] == 0.3333


@pytest.mark.parametrize("name", [*SIMILARITIES, *DISTANCES])
def test_no_score_of_rows_in_memory_is_passed_over(name):
    sign = -1 if name in DISTANCES else 1
    some = rows(hits(name, [sign * number for number in (0.2, 0.1, 0.9, 0.4)]))
    for how in ({}, {"map_run": f"score={name}"}):
        try:
            mean = library.evaluate(QRELS, some, "recip_rank", **how).mean
        except library.InputError:
            assert not how  # as in a file: no column has a score's usual name
        else:
            assert mean == {"recip_rank": 1}


# A field that is read, one that is not, and whether both say the same.
BESIDE = [
    ("score", (4, 3, 2, 1), "rerank_score", (0.2, 0.1, 0.9, 0.4)),
    ("score", (4, 3, 2, 1), "distance", (0.9, 0.8, 0.1, 0.5)),
    ("_score", (0.2, 0.1, 0.9, 0.4), "score", (4, 3, 2, 1)),
    ("@search.score", (4, 3, 2, 1), "@search.rerankerScore", (2, 1, 9, 4)),
    ("bm25_score", (4, 3, 2, 1), "dense_score", (0.2, 0.1, 0.9, 0.4)),
    ("rank", (1, 2, 3, 4), "score", (0.2, 0.1, 0.9, 0.4)),
    ("rank", (1, 2, 3, 4), "my_confidence", (0.2, 0.1, 0.9, 0.4)),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("one", "ones", "other", "others"), BESIDE)
def test_two_orders_are_refused_with_a_command_for_each(one, ones, other, others, form, evaluated):
    some = [{**a, **b} for a, b in zip(hits(one, ones), hits(other, others), strict=True)]
    text = FORMS[form](some)
    offered = commands(evaluated(text))
    values = {
        options[-1].partition("=")[2]: value(evaluated(text, *options)) for options in offered
    }
    assert set(values) == {one, other}
    ranked = {name: 1 for name, numbers in ((one, ones), (other, others)) if 0.9 in numbers}
    assert values[one] == (1 if one == "_score" else 0.3333)
    assert values[other] == (1 if one != "_score" else 0.3333), ranked


@pytest.mark.parametrize("form", FORMS)
def test_numbers_that_agree_are_not_spoken_of(form, evaluated):
    some = [
        {"doc_id": id_, "score": score, "rerank_score": score / 2, "distance": 1 - score, "rank": n}
        for n, (id_, score) in enumerate(zip(IDS, (0.9, 0.4, 0.4, 0.1), strict=True))
    ]
    outcome = evaluated(FORMS[form](some))
    # "third" ties with "second", and the later id is first.
    assert (value(outcome), outcome.err) == (0.5, b"")


NO_SCORES = {
    "page": (7, 3, 9, 3),
    "chunk_index": (17, 2, 0, 5),
    "start": (100, 0, 7000, 20),
    "end_offset": (200, 100, 8000, 90),
    "token_count": (512, 388, 402, 512),
    "created_at": (1.7e9, 1.6e9, 1.65e9, 1.71e9),
    "timestamp": (1700000000.25, 1600000000.5, 1650000000.1, 1710000000.0),
    "version": (3, 1, 8, 2),
    "size": (10, 30, 20, 5),
    "internal_id": (5, 99, 12, 3),
    "year": (1999, 2013, 2004, 2021),
    "price": (9.99, 5.5, 10.25, 3.0),
    "title": ("1984", "2001", "11/22/63", "4.50"),
}


@pytest.mark.parametrize("form", ["lists.json", "lists.jsonl"])
@pytest.mark.parametrize("name", NO_SCORES)
def test_numbers_that_are_no_scores_stop_nothing(name, form, evaluated):
    outcome = evaluated(FORMS[form](hits(name, NO_SCORES[name])))
    assert (value(outcome), outcome.err) == (0.3333, b"")


def test_numbers_of_unknown_names(evaluated):
    """Fractions may be scores; of whole numbers that order nothing there is a warning."""
    whole = evaluated(FORMS["lists.json"](hits("stock", (4, 2, 9, 1))))
    assert value(whole) == 0.3333
    assert whole.err == (
        b"ragkpi: warning: run:1: the order of the file and stock order query q differently; "
        b"the order of the file counts\n"
    )
    falling = evaluated(FORMS["lists.json"](hits("relevanz", (0.9, 0.4, 0.4, 0.1))))
    assert (value(falling), falling.err) == (0.3333, b"")
    text = FORMS["lists.json"](hits("relevanz", (0.4, 0.2, 0.1, 0.9)))
    offered = commands(evaluated(text))
    assert [value(evaluated(text, *options)) for options in offered] == [0.3333, 0.25, 1]


def test_levels_beside_scores_are_warned_of(evaluated):
    some = [{**hit, "relevance": int(hit["doc_id"] == BEST)} for hit in hits("score", (4, 3, 2, 1))]
    outcome = evaluated(FORMS["lists.json"](some))
    assert value(outcome) == 0.3333
    assert b"score and relevance order" in outcome.err


NESTED = {
    "metadata.relevance_score": lambda id_, x: {"id": id_, "metadata": {"relevance_score": x}},
    "scores.dense": lambda id_, x: {"id": id_, "scores": {"dense": x}},
    "_additional.distance": lambda id_, x: {"doc_id": id_, "_additional": {"distance": -x}},
    "kwargs.metadata.relevance_score": lambda id_, x: {
        "lc": 1,
        "kwargs": {"id": id_, "metadata": {"relevance_score": x, "page": 1}},
    },
    "node.metadata.score": lambda id_, x: {"node": {"id_": id_, "metadata": {"score": x}}},
    **{
        f"metadata.{name}": lambda id_, x, name=name: {"id": id_, "metadata": {name: x}}
        for name in ("dot_product", "inner_product", "tfidf", "certainty")
    },
}


@pytest.mark.parametrize("path", NESTED)
def test_scores_further_inside(path, evaluated):
    made = [NESTED[path](id_, x) for id_, x in zip(IDS, (0.2, 0.1, 0.9, 0.4), strict=True)]
    key = "source_nodes" if path.startswith("node") else "documents"
    text = json.dumps({"query_id": "q", key: made}) + "\n"
    outcome = evaluated(text)
    if path == "scores.dense":  # no known name
        asked = [["--map-run", "rank=@number"], ["--map-run", f"score={path}"]]
        assert commands(outcome)[:2] == asked
    else:  # its name settles it, and a note says so
        assert f"read as: query=query_id, list={key}, doc=".encode() in outcome.err
        assert f"score={path}\n".encode() in outcome.err
        assert value(outcome) == 1
    assert value(evaluated(text, "--map-run", f"score={path}")) == 1
    assert value(evaluated(text, "--map-run", "rank=@number")) == 0.3333


@pytest.mark.parametrize("inside", ["metadata", "payload"])
def test_numbers_inside_do_not_concern_scored_documents(inside, evaluated):
    some = [{**hit, inside: {"confidence": n % 2}} for n, hit in enumerate(hits("score"))]
    outcome = evaluated(FORMS["lists.json"](some))
    assert (value(outcome), outcome.err) == (1, b"")


@pytest.mark.parametrize("key", ["scores", "retrieve_scores", "similarities", "my_scores"])
def test_a_list_of_scores_beside_the_documents(key, evaluated):
    text = json.dumps([{"query_id": "q", "documents": IDS, key: [0.2, 0.1, 0.9, 0.4]}])
    outcome = evaluated(text)
    if outcome.status:
        assert ["--map-run", f"scores={key}"] in commands(outcome)
        outcome = evaluated(text, "--map-run", f"scores={key}")
    assert value(outcome) == 1


@pytest.mark.parametrize("form", FORMS)
def test_a_map_wins(form, evaluated):
    """`ts_rank(…) AS rank` is a score, whatever its name says."""
    text = FORMS[form](hits("rank", (0.02, 0.01, 0.09, 0.04)))
    outcome = evaluated(text)
    assert outcome.status == 2
    assert any(words in outcome.err for words in (b"--map-run score=rank", b"--map-run 'score="))
    assert value(evaluated(text, "--map-run", "score=rank")) == 1


@pytest.mark.parametrize("form", FORMS)
def test_a_distance_is_reversed_once(form, evaluated):
    text = FORMS[form](hits("distance", (0.8, 0.9, 0.1, 0.6)))
    assert value(evaluated(text)) == 1
    assert value(evaluated(text, "--score-order", "distance")) == 1
    for options in (["score=distance", "--score-order", "distance"], ["distance=distance"]):
        assert value(evaluated(text, "--map-run", *options)) == 1


@pytest.mark.parametrize("form", FORMS)
def test_a_map_says_that_small_numbers_are_better(form, evaluated):
    text = FORMS[form](hits("score", (0.8, 0.9, 0.1, 0.6)))
    assert value(evaluated(text)) == 0.25
    assert value(evaluated(text, "--map-run", "distance=score")) == 1


def test_a_shape_says_that_small_numbers_are_better():
    from ragkpi.files.shape_reader import Record, ShapeReader, stream_documents
    from ragkpi.files.shapes import Shape
    from ragkpi.files.trec import best_first

    shape = Shape("made", "run", query="q", list="l", doc="id", score="s", better="lower")
    record = {"q": "1", "l": [{"id": "a", "s": "0.25"}, {"id": "b", "s": "4"}]}
    listed = ShapeReader(shape, "file").read([Record(1, record)])
    (block,) = best_first(stream_documents("file", listed), "similarity")
    assert block.score.tolist() == [-0.25, -4]


@pytest.mark.parametrize("form", FORMS)
def test_distances_do_not_reverse_ranks(form, evaluated):
    text = FORMS[form](hits("rank", (3, 2, 1, 4)))
    assert value(evaluated(text)) == 1
    assert value(evaluated(text, "--score-order", "distance")) == 1


def test_one_direction_in_all_queries(evaluated):
    """Lists of two documents are always in some order; a score has one in all lists."""
    records = [
        {"query_id": query, "hits": [{"doc_id": "a", "foo": first}, {"doc_id": "b", "foo": 0.5}]}
        for query, first in (("q", 0.7), ("r", 0.2))
    ]
    outcome = evaluated("".join(json.dumps(record) + "\n" for record in records))
    assert outcome.err.startswith(b"ragkpi: error: run:2: ")
    assert commands(outcome)[1] == ["--map-run", "score=foo"]


def test_frames_and_tables(tmp_path):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    some = hits("score", (4.0, 3.0, 2.0, 1.0))
    both = rows([{**a, **b} for a, b in zip(some, hits("rerank_score"), strict=True)])
    table = pyarrow.Table.from_pylist(both)
    parquet.write_table(table, tmp_path / "run.parquet")
    nested = pyarrow.Table.from_pylist([{"query_id": "q", "hits": hits("rerank_score")}])
    parquet.write_table(nested, tmp_path / "nested.parquet")
    for run in (both, pandas.DataFrame(both), table, tmp_path / "run.parquet"):
        with pytest.raises(InputError, match="score and rerank_score order query q differently"):
            library.evaluate(QRELS, run, "recip_rank")
        for name, right in (("score", 1 / 3), ("rerank_score", 1)):
            result = library.evaluate(QRELS, run, "recip_rank", map_run=f"score={name}")
            assert result.mean == {"recip_rank": right}
    result = library.evaluate(QRELS, tmp_path / "nested.parquet", "recip_rank")
    assert result.mean == {"recip_rank": 1}


def test_nulls_and_texts_in_tables_are_no_numbers(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"text": list("abcd"), "foo": [None, 0.1, 0.2, None], "true": [True] * 4}
    made = {"query_id": ["q"] * 4, "doc_id": IDS, **columns}
    parquet.write_table(pyarrow.table(made), tmp_path / "run.parquet")
    with (
        pytest.warns(RagkpiWarning, match="neither scores nor ranks"),
        pytest.raises(InputError, match=r"run.parquet:3: .* foo order"),
    ):
        library.evaluate(QRELS, tmp_path / "run.parquet", "recip_rank")


@pytest.mark.parametrize("form", FORMS)
def test_check_finds_the_same(form, evaluated, ragkpi, tmp_path):
    some = hits("score", (4, 3, 2, 1))
    text = FORMS[form]([{**a, **b} for a, b in zip(some, hits("rerank_score"), strict=True)])
    refused = evaluated(text)
    outcome = ragkpi("check", "qrels", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err == refused.err.replace(b"eval", b"check").replace(b" -m recip_rank", b"")


@pytest.mark.parametrize("value", [None, True])
def test_an_expected_key_that_is_there_is_not_asked_for(value, evaluated):
    text = json.dumps([{"query_id": "q", "hits": [{"score": 1, "body": "x", "doc_id": value}]}])
    err = evaluated(text).err.decode()
    assert re.match(r"ragkpi: error: run:1: 'doc_id' is (null|true or false); ", err)
    assert "expected one of" not in err


@pytest.mark.parametrize("size", [60, 1 << 20])
@pytest.mark.parametrize("form", ["hits.jsonl", "table.csv"])
def test_a_query_of_several_blocks_is_one_list(form, size, evaluated, monkeypatch):
    """Within each half the two numbers agree."""
    from ragkpi.files import lines, shape_reader

    monkeypatch.setattr(lines.blocks, "__defaults__", (size,))
    monkeypatch.setattr(shape_reader, "_RECORDS_AT_ONCE", 2)
    pairs = zip(hits("score", (4, 3, 2, 1)), hits("rerank_score", (2, 1, 4, 3)), strict=True)
    outcome = evaluated(FORMS[form]([{**a, **b} for a, b in pairs]))
    assert b"score and rerank_score order" in outcome.err
    assert len(commands(outcome)) == 2


@pytest.mark.parametrize("form", ["hits.jsonl", "table.csv"])
def test_a_query_in_scattered_rows_is_one_list(form, evaluated):
    """Rows of two queries by turns, as a frame sorted by score has them."""
    both = [
        {"query_id": query, "doc_id": id_, "score": score, "rank": rank}
        for id_, score, rank in (("first", 4, 2), ("second", 3, 1), (BEST, 2, 3))
        for query in "qr"
    ]
    if form == "table.csv":
        text = "".join(",".join(map(str, row)) + "\n" for row in [both[0], *map(dict.values, both)])
    else:
        text = "".join(json.dumps(row) + "\n" for row in both)
    outcome = evaluated(text)
    assert b"score and rank order" in outcome.err
    assert len(commands(outcome)) == 2
