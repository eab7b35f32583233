"""Lines of JSON that look alike, read by their commas, against the decoder."""

import json
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragkpi.errors import InputError
from ragkpi.formats import json_files
from tests.fuzz.targets import MemorySource

ids = st.text("ab1:,{}[] é#", max_size=4)
texts = st.text('a",: \\\n\u00e9\ud800', max_size=9)
numbers = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(10**25), 10**25),
    st.sampled_from([0, -1, 1e-7, 5e22]),
)


@st.composite
def files(draw):
    """Lines that are alike, and then perhaps a byte that is not."""
    element = draw(
        st.sampled_from(
            [
                ("docid", "score"),
                ("score", "docid", "rank"),
                ("rank", "docid"),
                ("docid", "title", "score"),
                ("docid", "score", "n"),
                ("id", "score"),
            ]
        )
    )
    query = draw(st.sampled_from(["qid", "qid", "id"]))
    outer = draw(st.permutations([query, "LIST", *draw(st.sampled_from([[], ["run_id"], ["n"]]))]))
    flat = draw(st.booleans())
    quoted = draw(st.integers(0, 3)) == 0
    separators = draw(st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")]))

    def value(key):
        if key == "score" and quoted:
            return draw(st.sampled_from(["1", " 1", "2.50", "-3e5", "+4", ".5", "x"]))
        if key in ("score", "n"):
            return draw(numbers)
        if key == "title":
            return draw(texts)
        return draw(st.integers(1, 9)) if key == "rank" else draw(ids)

    lines = []
    ascii_only = draw(st.booleans())
    for _ in range(draw(st.integers(1, 5))):
        record = {}
        for key in outer:
            if key != "LIST":
                record[key] = value(key)
            elif flat:
                record |= {name: value(name) for name in element}
            else:
                count = draw(st.integers(0 if draw(st.booleans()) else 2, 4))
                record["hits"] = [{name: value(name) for name in element} for _ in range(count)]
        lines.append(json.dumps(record, ensure_ascii=ascii_only, separators=separators))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = bytearray(
        newline.join(lines).encode("utf-8", "surrogatepass") + b"\n" * draw(st.integers(0, 2))
    )
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, max(0, len(text) - 1)))
        new = draw(
            st.sampled_from(
                [b"", b'"', b"\\", b"\\u00e", b'\\"', b"0", b".", b"e5", b"-", b"\t", b"}", b"\xff"]
            )
        )
        text[place : place + draw(st.integers(0, 1))] = new
    return bytes(text)


def read(text, hold):
    """Return all rows, or the error."""
    try:
        return [
            (
                block.query[group],
                block.document[row],
                block.score[row],
                None if block.rank is None else block.rank[row],
                int(block.line[row]),
                block.run_id,
            )
            for block in json_files.stream_run(MemorySource(text), hold=hold)
            for row, group in enumerate(block.group().tolist())
        ]
    except InputError as problem:
        return str(problem)


@settings(max_examples=400)
@given(files(), st.booleans())
@example(b'{"qid":"1","docid":"a","score":1}\n{"qid":"1","docid":"b","score":01}\n', False)
@example(b'{"qid":"1","docid":"a","score":1}\n{"qid":"1","docid":"b","score":inf}\n', False)
@example(b'{"qid":"1","docid":"a","score":1}\n{"qid":"1","docid":"b","score":1.e5}\n', False)
@example(b'{"qid":"1","docid":"a","score":1}\n{"qid":"1","docid":"b","score":+1}\n', False)
@example(b'{"qid":"1","docid":"a","score":1,"score":2}\n', False)
@example(b'{"qid":1,"docid":-0,"score":1}\n{"qid":1,"docid":1.50,"score":1e999}\n', True)
@example(b'{"id":"1","hits":[{"id":"a","score":2},{"id":"b","score":1}],"score":7}\n' * 2, False)
@example(b'{"t":"\\",","qid":"1","docid":"a"}\n{"t":",\\\\","qid":"1","docid":"a"}\n', False)
@example(b'{"qid":"1","t":"\\x","docid":"a","rank":1}\n' * 2, False)
@example(b'{"qid":"1","t":"\\u12g4","docid":"a","rank":1}\n' * 2, False)
@example(b'{"qid":"1","t":"\\u12","docid":"a","rank":1}\n' * 2, False)
@example(b'{"qid":"1","docid":"\\u0061","rank":1}\n{"qid":"1","docid":"a","rank":2}\n', False)
@example(b'{"qid":"1","docid":"a","rank":1}\n{"qid":"1","docid":"\\u0061","rank":2}\n', False)
@example(
    b'{"rank":1,"docid":"a","t":"b","qid":"1"}\n{"rank":2,"docid":"c","t":"\\","qid":"1"}\n', False
)
@example(b'{"qid":"1","docid":"a","score":" 1"}\n{"qid":"1","docid":"b","score":"2"}\n', False)
def test_as_the_decoder(text, hold):
    rows = read(text, hold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "pattern_of", lambda *_: None)
        assert rows == read(text, hold)


@pytest.mark.parametrize("lists", [False, True])
def test_many_blocks(lists, monkeypatch):
    """Lines are found by their commas, whatever the blocks; an odd one goes to the decoder."""
    chance = random.Random(1)
    queries = [f"q{number}" for number in range(60)]
    rows = [(query, f"d{place}", chance.random()) for query in queries for place in range(20)]
    if lists:
        records = [
            {"qid": query, "hits": [{"docid": d, "score": s} for q, d, s in rows if q == query]}
            for query in queries
        ]
    else:
        records = [{"qid": query, "docid": d, "score": s} for query, d, s in rows]
    texts = [json.dumps(record).encode() for record in records]
    monkeypatch.setattr(json_files, "BLOCK_SIZE", 3000)
    expected = [(query.encode(), d.encode(), s) for query, d, s in rows]
    decoded = []
    decode = json_files._line_values
    monkeypatch.setattr(
        json_files, "_line_values", lambda lines, file: decoded.append(file) or decode(lines, file)
    )
    for odd in (b"", b" "):
        texts[-1] += odd
        for hold in (False, True):
            decoded.clear()
            found = read(b"\n".join(texts), hold)
            assert [row[:3] for row in found] == expected
            assert bool(decoded) == bool(odd)


@pytest.mark.parametrize("odd", ["{}", '{"score": null}', '{"score": true}', '{"rank": 1}'])
def test_a_record_without_score_is_refused_wherever_the_decoder_takes_over(odd, monkeypatch):
    lines = [b'{"qid": "%d", "docid": "a", "score": 2}' % number for number in range(9)]
    record = {"qid": "b", "docid": "a", **json.loads(odd)}
    monkeypatch.setattr(json_files, "BLOCK_SIZE", 100)
    for hold in (False, True):
        found = read(b"\n".join([*lines, json.dumps(record).encode()]), hold)
        assert found.startswith(("run:10: no score", "run:10: score is"))


@st.composite
def judged_lines(draw):
    """Judgements that are alike, and then perhaps a byte that is not."""
    kind = draw(st.sampled_from(["whole", "fractions", "texts", "mixed"]))
    some = {
        "whole": st.integers(-2, 2**64),
        "fractions": st.sampled_from([0.5, 1.0, 2, 1e3]),
        "texts": st.sampled_from(["1", "0", "true", " 1", "+1", "x"]),
        "mixed": st.sampled_from([1, True, None, "1", 0.5]),
    }[kind]
    keys = draw(st.permutations(["query_id", "doc_id", "relevance"]))
    rows = draw(st.lists(st.tuples(ids, ids, some), min_size=1, max_size=6))
    records = [dict(zip(("query_id", "doc_id", "relevance"), row, strict=True)) for row in rows]
    lines = [json.dumps({key: record[key] for key in keys}) for record in records]
    text = bytearray("\n".join([*lines, ""]).encode())
    for _ in range(draw(st.integers(0, 1))):
        place = draw(st.integers(0, len(text) - 1))
        text[place : place + 1] = draw(st.sampled_from([b'"', b"0", b".", b"-", b"+", b"}", b" "]))
    return bytes(text)


def judged(text):
    try:
        qrels = json_files.read_qrels(MemorySource(text, "qrels"))
    except InputError as problem:
        return str(problem)
    gain = None if qrels.gain is None else qrels.gain.tolist()
    ids_of = [column.tolist() for column in (qrels.query, qrels.document, qrels.iteration)]
    return ids_of, qrels.level.tolist(), qrels.line.tolist(), gain


@settings(max_examples=300)
@given(judged_lines())
@example(b'{"query_id":"1","doc_id":"a","relevance":1}\n' * 2)
@example(
    b'{"query_id":"1","doc_id":"a","relevance":1}\n{"query_id":"1","doc_id":"b","relevance":01}\n'
)
def test_judgements_as_the_decoder(text):
    fast = judged(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "pattern_of", lambda *_: None)
        assert fast == judged(text)
