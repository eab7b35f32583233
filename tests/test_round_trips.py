"""Any id, byte for byte, through any format that can hold it; scores as the same doubles."""

import io
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkpi.errors import DataError, InputError
from ragkpi.files.formats import reading_for
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import Source
from ragkpi.files.registry import FILE_FORMATS
from ragkpi.files.trec import Ranking, RunColumns
from ragkpi.questions.convert.command import Conversion
from tests.slow_reference import writing
from tests.tries import TRIES

OBJECT = "records=$, query=@key, list=@value, doc=@key, score=@value"
TEXT_FORMATS = ["trec", "tsv", "csv", "json", "jsonl"]
# What the first bytes of a file may not be, as an id.
MAGIC = (b"#", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")
octets = st.one_of(
    st.binary(min_size=1, max_size=12),
    st.text(min_size=1, max_size=8).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from([b'"', b"a,b", b"a|b", b"#x", b"\\u0041", b"\xff\xfe", b"\xed\xb3\xbf"]),
    st.sampled_from([b"{", b"{}", b'{"a": 1}', b"[]", b'["a"]', b"('a', 'b')", b"null", b"1"]),
    st.sampled_from([b"PAR1", b"BZh9"]),
)
words = octets.filter(lambda text: text.split() == [text] and b"\0" not in text)
scores = st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, 10.0])


def converted(folder, text, kind, from_, to):
    path = folder / "in"
    path.write_bytes(text)
    out = io.BytesIO()
    formats = FILE_FORMATS[kind]
    with Source(str(path)) as source:
        Conversion(source, kind, from_).write(formats[to], out)
    return out.getvalue()


def trec_run(rankings):
    return b"".join(
        b"%b Q0 %b %d %b me\n" % (query, document, rank, repr(score).encode())
        for query, documents in rankings.items()
        for rank, (document, score) in enumerate(
            sorted(documents.items(), key=lambda item: (item[1], item[0]), reverse=True), start=1
        )
    )


@settings(max_examples=40 * TRIES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rankings=st.dictionaries(
        words.filter(lambda text: not text.startswith(MAGIC)),
        st.dictionaries(words, scores, min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    ),
    data=st.data(),
)
def test_runs_keep_their_bytes(rankings, data, tmp_path):
    """From TREC through some other formats and back.

    Where names say nothing, scores like levels are refused until a map says what they are.
    """
    text = trec_run(rankings)
    path = data.draw(st.lists(st.sampled_from([*TEXT_FORMATS, "arrow", "parquet"]), max_size=3))
    if {"arrow", "parquet"} & set(path):
        pytest.importorskip("pyarrow")
    there, before = text, "trec"
    for name in [*path, "trec"]:
        if before == "json" and like_levels(rankings):
            with pytest.raises(InputError, match="contains judgements of level"):
                converted(tmp_path, there, "run", before, name)
            before = reading_for("run", map_=OBJECT)
        if name in ("arrow", "parquet") and not is_utf8(text):
            with pytest.raises(DataError, match=f"not UTF-8, as {name} requires"):
                converted(tmp_path, there, "run", before, name)
            continue
        there, before = converted(tmp_path, there, "run", before, name), name
    if path and set(path) & {"json"}:  # which has no run id
        there = b"".join(line.rsplit(b" ", 1)[0] + b" me\n" for line in there.splitlines(True))
    # Signed zeros are one number, and tie.
    assert there.replace(b"-0.0 me", b"0.0 me") == text.replace(b"-0.0 me", b"0.0 me")


def is_utf8(octets):
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True


def like_levels(rankings):
    """Small whole numbers that documents of a query share, or 0 and 1 for several queries."""
    lists = [list(documents.values()) for documents in rankings.values()]
    numbers = {number for scores in lists for number in scores}
    shared = any(len(set(scores)) < len(scores) for scores in lists)
    binary = len(lists) > 1 and numbers <= {0, 1}
    return numbers <= set(range(-2, 11)) and (shared or binary)


@settings(max_examples=40 * TRIES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rankings=st.dictionaries(
        octets.filter(lambda text: text.strip() and not text.startswith(MAGIC)),
        st.dictionaries(octets, scores, min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    ),
    to=st.sampled_from([*TEXT_FORMATS, "msmarco", "arrow"]),
)
def test_any_id_survives_or_is_refused(rankings, to, tmp_path):
    """From JSON Lines, which can hold all ids, to a format and back."""
    if to == "arrow":
        pytest.importorskip("pyarrow")
    lines = converted(tmp_path, json_lines(rankings), "run", "jsonl", "jsonl")
    try:
        there = converted(tmp_path, lines, "run", "jsonl", to)
    except DataError:
        assert to not in ("json", "jsonl")  # they can hold everything
        ids = [*rankings, *(id_ for of in rankings.values() for id_ in of)]
        assert to != "arrow" or not all(map(is_utf8, ids))
        return
    back = read(tmp_path, there, to)
    expected = read(tmp_path, lines, "jsonl")
    if to == "msmarco":
        back, expected = ([row[:2] for row in rows] for rows in (back, expected))
    assert back == expected


def json_lines(rankings):
    import json

    return b"".join(
        json.dumps(
            {
                "qid": query.decode("utf-8", "surrogateescape"),
                "candidates": [
                    {"docid": document.decode("utf-8", "surrogateescape"), "score": score}
                    for document, score in documents.items()
                ],
            }
        ).encode()
        + b"\n"
        for query, documents in rankings.items()
    )


def read(folder, text, name):
    path = folder / "back"
    path.write_bytes(text)
    with Source(str(path)) as source:
        return [
            (block.query[group], document, score)
            for block in FILE_FORMATS["run"][name].readers["run"](source)
            for group, document, score in zip(
                block.group(), block.document, block.score.tolist(), strict=True
            )
        ]


@settings(max_examples=40 * TRIES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    qrels=st.dictionaries(
        words.filter(lambda text: not text.startswith(MAGIC)),
        st.dictionaries(words, st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    ),
    path=st.lists(st.sampled_from([*TEXT_FORMATS, "beir"]), min_size=1, max_size=3),
)
def test_qrels_keep_their_bytes(qrels, path, tmp_path):
    text = b"".join(
        b"%b 0 %b %d\n" % (query, document, level)
        for query, levels in qrels.items()
        for document, level in levels.items()
    )
    there, before = text, "trec"
    for name in [*path, "trec"]:
        there, before = converted(tmp_path, there, "qrels", before, name), name
    assert there == text


@settings(max_examples=50 * TRIES)
@given(
    rankings=st.lists(
        st.tuples(
            octets, st.lists(st.tuples(octets, scores), max_size=5, unique_by=lambda row: row[0])
        ),
        min_size=1,
        max_size=3,
    ),
    run_id=octets,
    name=st.sampled_from(["trec", "csv", "json", "jsonl"]),
)
def test_rankings_are_written_as_their_rows(rankings, run_id, name):
    """Whole rankings at once, against the obvious writer of rows."""
    slowly = {
        "trec": writing.trec,
        "csv": writing.csv,
        "json": writing.json_document,
        "jsonl": writing.json_lines,
    }[name]
    made = [
        Ranking(query, [row[0] for row in rows], [row[1] for row in rows])
        for query, rows in rankings
    ]
    out = io.BytesIO()
    try:
        FILE_FORMATS["run"][name].writers["run"]([columns_of(made, run_id)], out)
    except DataError:
        ids = [run_id, *(id_ for ranking in made for id_ in (ranking.query, *ranking.documents))]
        assert name in ("trec", "csv")
        assert any(b"\0" in id_ or (name == "trec" and no_word(id_)) for id_ in ids)
        return
    assert out.getvalue() == slowly(made, run_id)


def columns_of(rankings, run_id):
    documents = [id_ for ranking in rankings for id_ in ranking.documents]
    return RunColumns.of_rankings(
        Tokens.from_strings([ranking.query for ranking in rankings]),
        np.cumsum([0, *(len(ranking.documents) for ranking in rankings)]),
        Tokens.from_strings(documents),
        np.array([score for ranking in rankings for score in ranking.scores], dtype=np.float64),
        run_id,
    )


def no_word(id_):
    return id_.split() != [id_] or id_.startswith(MAGIC)


def test_infinity_survives_json(tmp_path):
    text = b"1 Q0 d1 1 inf me\n1 Q0 d2 2 -inf me\n"
    there = converted(tmp_path, text, "run", "trec", "json")
    assert [score for _, _, score in read(tmp_path, there, "json")] == [math.inf, -math.inf]
    assert b'"inf"' in there


def test_surrogates_that_are_no_bytes_are_refused(ragkpi, tmp_path):
    (tmp_path / "run.jsonl").write_bytes(b'{"qid": "1", "references": ["\\ud800"]}\n')
    outcome = ragkpi("convert", "run.jsonl", "-", "--to", "trec", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"run.jsonl:1: document id" in outcome.err
