"""Ids, numbers and keys of JSON that a decoder changes or drops in silence."""

import csv
import json

import pytest

FIRST = '{"qid": "0", "hits": [{"docid": "d", "score": 1.5}]}\n'
ITEMS = '{"docid": "a", "score": 0.5}, {"docid": "b", "score": 0.25}'


@pytest.fixture
def rows(ragkpi, tmp_path):
    """Convert JSON to query, document and score of every row; or return what is refused."""

    def read(text):
        (tmp_path / "run").write_text(text)
        outcome = ragkpi("convert", "run", "-", "--to", "trec", folder=tmp_path)
        if outcome.status:
            assert outcome.out == b""
            return outcome.err.decode()
        words = [line.split() for line in outcome.out.decode().splitlines()]
        return [(query, document, score) for query, _, document, _, score, _ in words]

    return read


@pytest.mark.parametrize("id_", ["{}", "[]", '{"a": 1}', "('a', 'b')"])
def test_keys_that_look_like_json_are_ids(id_, ragkpi, tmp_path):
    (tmp_path / "gold").write_text(json.dumps({"q": {id_: 1, "d": 0}}))
    outcome = ragkpi("convert", "--kind", "qrels", "gold", "-", "--to", "csv", folder=tmp_path)
    rows = list(csv.reader(outcome.out.decode().splitlines()))[1:]
    assert [row[1:] for row in rows] == [[id_, "1"], ["d", "0"]]


@pytest.mark.parametrize("id_", ["1.50", "-0", "1e5", "12345678901234567890", "0.10"])
def test_ids_that_are_numbers_keep_their_text(id_, rows):
    text = f'{{"qid": {id_}, "hits": [{{"docid": {id_}, "score": 2.50}}]}}\n'
    assert rows(FIRST + text) == [("0", "d", "1.5"), (id_, id_, "2.5")]
    flat = '{"qid": "0", "docid": "d", "score": 1.5}\n'
    text = f'{{"qid": {id_}, "docid": {id_}, "score": 2.50}}\n'
    assert rows(flat + flat.replace("0", "1") + text)[2:] == [(id_, id_, "2.5")]
    array = f'[{FIRST}, {{"qid": {id_}, "hits": [{{"docid": {id_}, "score": 2.50}}]}}]'
    assert rows(array) == [("0", "d", "1.5"), (id_, id_, "2.5")]


@pytest.mark.parametrize(
    ("number", "score"),
    [
        ("1e999", "inf"),
        ("-Infinity", "-inf"),
        ("9007199254740993", "9007199254740992.0"),
        ("1" + "0" * 400, "inf"),
        ("-0.0", "0.0"),
        ('"2.50"', "2.5"),
    ],
)
def test_numbers_at_the_edge(number, score, rows):
    lists = FIRST + f'{{"qid": "1", "hits": [{{"docid": "a", "score": {number}}}]}}\n'
    for text in (lists, f'{{"0": {{"d": 1.5}}, "1": {{"a": {number}}}}}'):
        assert rows(text)[1][2].replace("-0.0", "0.0") == score


@pytest.mark.parametrize("number", ["NaN", '"x"', "null", "true", "[1]"])
def test_what_is_no_number_is_refused_with_its_line(number, rows):
    text = FIRST + f'{{"qid": "1", "hits": [{{"docid": "a", "score": {number}}}, {ITEMS}]}}\n'
    assert rows(text).startswith("ragkpi: error: run:2: ")
    if number == "null":  # a pivot has it where a query did not retrieve a document
        return
    of_object = rows(f'{{"0": {{"d": 1.5}},\n"1": {{"a": {number}}}}}')
    assert of_object.startswith("ragkpi: error: run:2: ")


@pytest.mark.parametrize(
    "record",
    [
        f'{{"qid": "1", "qid": "2", "hits": [{ITEMS}]}}',
        f'{{"qid": "1", "hits": [], "hits": [{ITEMS}]}}',
        f'{{"qid": "1", "hits": [{ITEMS}, {{"docid": "c", "docid": "e", "score": 0.5}}]}}',
        f'{{"qid": "1", "hits": [{ITEMS}, {{"docid": "c", "score" : 1.0, "score":0.5}}]}}',
        f'{{"qid": "a:b", "hits": [{ITEMS}, {{"docid": "http://c", "docid": "c", "score": 1.0}}]}}',
    ],
)
def test_a_key_twice_is_refused_with_its_line(record, rows):
    for text in (FIRST + record + "\n", f"[{FIRST}, {record}]"):
        assert rows(text).startswith("ragkpi: error: run:2: repeated key ")
    flat = '{"qid": "0", "docid": "d", "score": 1.5}\n'
    last = flat[:-2] + ', "qid": 1}\n'
    assert "run:3: repeated key " in rows(flat + flat.replace('"d"', '"e"') + last)


def test_colons_in_texts_are_no_keys(rows):
    item = '{"docid": "http://a", "score": 0.5, "text": "so: \\":x\\" : y"}'
    text = f'{{"qid": "a:1", "hits": [{item}]}}\n{{"qid": "b:1", "hits": [{item}]}}\n'
    assert rows(text) == [("a:1", "http://a", "0.5"), ("b:1", "http://a", "0.5")]
