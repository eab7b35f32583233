"""JSON documents of queries read by their quotes, against the decoder."""

import json
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragkpi.formats import json_files, json_objects
from ragkpi.formats.json_text import text_of
from tests.formats.test_json_scanner import read

ids = st.text("ab1:,{}[] é#", min_size=1, max_size=4)
numbers = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(10**25), 10**25),
    st.sampled_from([0, -0.0, 1e-7, 5e22, 1.5]),
)
HOSTILE = [
    *(b'"', b"\\", b"0", b".", b"e5", b"-", b"\t", b"}", b"{", b"\xff", b"\n", b",", b" ", b""),
    *(b'"x": {}, ', b'"x": "1", ', b'"x": NaN, ', b'"x": null, ', b'"x": {"y": 1}, ', b"}}\n{"),
]


@st.composite
def documents(draw):
    """A document that some program could write, and then perhaps bytes that are not like it."""
    count = draw(st.sampled_from([1, 2, 3, 39, 40, 45, 80]))
    names = draw(st.lists(ids, min_size=count, max_size=count, unique=draw(st.booleans())))
    chance = random.Random(draw(st.integers(0, 99)))
    some = draw(st.lists(st.tuples(ids, numbers), min_size=1, max_size=6))
    inner = "{%s}" if draw(st.booleans()) else "{\n%s}"
    before, colon, comma, behind = draw(
        st.sampled_from(
            [
                ("", ": ", ", ", ""),
                ("", ":", ",", ""),
                ("\n  ", ": ", ",", ""),
                ("\r\n\t", " :", ", ", "\n"),
                ("", ":\n", " ,", " "),
            ]
        )
    )
    texts = []
    for name in names:
        listed = chance.choices(some, k=chance.randint(draw(st.sampled_from([0, 1, 1, 1])), 4))
        rows = [f"{before}{json.dumps(d, ensure_ascii=False)}{colon}{s!r}" for d, s in listed]
        texts.append(
            f"{before}{json.dumps(name, ensure_ascii=False)}{colon}{inner % comma.join(rows)}"
        )
    text = bytearray(("{" + comma.join(texts) + behind + "}" + behind).encode())
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 2))] = draw(st.sampled_from(HOSTILE))
    return bytes(text)


def both_ways(text, hold):
    """Return what the fast way makes of a text and what the decoder does."""
    fast = read(text, hold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_objects, "_BEGIN", json_objects.re.compile(rb"(?!)"))
        return fast, read(text, hold)


@settings(max_examples=300)
@given(documents(), st.booleans(), st.sampled_from([10, 300, 1 << 20]))
@example(b'{"a": {"b": 01}}', False, 10)
@example(b'{"a": {"b": 1,\x0c"c": 2}, "b": {"c": 1}}', False, 10)
@example(b'{"a": {"b": 1}, "a": {"c": 2}, "b": {"c": 1}}', False, 10)
@example(b'\xef\xbb\xbf{"a": {"b": 1}, "b": {"c": x}}', False, 10)
@example(b'{"a": {": 1}, ": 1}, ": {": {"b": 1}}', False, 10)
@example(b'{"a"%b: {"b": 1}, "c"%b: {"d": 1}}' % (b" " * 99, b" " * 99), False, 10)
def test_as_the_decoder(text, hold, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_objects, "PIECE_SIZE", size)
        fast, slow = both_ways(text, hold)
    assert repr(fast) == repr(slow)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("text", "is_odd"),
    [
        ("", False),
        ("\udcff", False),
        ("\\u0041", True),
        ('": {  }, "b', True),
        ('": 5, "b', True),
    ],
)
def test_many_pieces(indent, text, is_odd, monkeypatch):
    """What is odd goes to the decoder with all that follows, on the lines where it stands."""
    chance = random.Random(1)
    queries = {
        f"é{number}": {f"d{place}": chance.random() for place in range(9)} for number in range(400)
    }
    queries |= {"é0": {}, "é150": {}, "é399": {}}
    document = json.dumps(queries, indent=indent, ensure_ascii=False)
    document = document.replace("é300", "é300" + text).encode("utf-8", "surrogateescape")
    monkeypatch.setattr(json_objects, "PIECE_SIZE", 2000)
    decoded = []
    decoder = json_files.document_text

    def watched(file, octets, used=0, queries=()):
        decoded.append(used)
        return decoder(file, octets, used, queries)

    monkeypatch.setattr(json_files, "document_text", watched)
    fast, slow = both_ways(document, False)
    assert fast == slow
    # The first is the beginning, to recognise it, and the last is the slow way.
    rest = decoded[1:-1]
    assert [used > len(document) / 2 for used in rest] == [True] * is_odd


def test_a_document_of_the_rest_is_where_it_was():
    text = text_of(b'\n{ "\xc3\xa9": {"d": 1},\n "b": {"d": 2}, "c": x}')
    start = len(text[: text.index('"c"')].encode())
    rest = json_files.document_text("run", text.encode(), start).text
    assert rest.index('"c": x}') == text.index('"c": x}')
    assert rest.count("\n") == 2
    assert rest.split() == ["{", '"c":', "x}"]
