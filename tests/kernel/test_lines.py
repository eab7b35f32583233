"""Lines of a run: columns, spacing, comments, line ends, blocks, and what is refused."""

import itertools
from array import array

import pytest

from tests.kernel.asking import Refused, blocks_of, documents, numbers_of, read

JUDGED = {b"1": [b"a"], b"2": [b"b"]}
TEXT = (
    b"# made by hand\n1 Q0 a 1 2.5 tag\n1\tQ0  x 2 1 tag\r\n\n 2 Q0 b 3 -1e0 tag more\n"
    b"2 Q0 a 4 -2 t2"
)


def found(kernel, text, cuts=(), **options):
    """Return how many documents each query has and the rank of each hit, or what is refused."""
    answer = read(kernel, JUDGED, text, cuts, **options)
    return answer if isinstance(answer, Refused) else (answer["num_ret"], answer["hits"])


def test_what_a_file_says(kernel):
    assert read(kernel, JUDGED, TEXT) == {
        "queries": [b"1", b"2"],
        "query": [0, 1],
        "num_ret": {b"1": 2, b"2": 2},
        "hits": {(b"1", b"a"): 1, (b"2", b"b"): 1},
        "ties": {(b"1", b"a"): (1, 1), (b"2", b"b"): (1, 1)},
        "run_id": b"t2",
        "documents": 0,
        "sample": [(0, b"a"), (0, b"x"), (1, b"b"), (1, b"a")],
        "slopes": (0, 0),
        "left_out": (0, 0, 4, 4),
        "names": [],
    }


@pytest.mark.parametrize("held", [False, True])
def test_every_cut_of_a_text(kernel, held):
    whole = read(kernel, JUDGED, TEXT, held=held, depth=2)
    for cut in range(len(TEXT) + 1):
        assert read(kernel, JUDGED, TEXT, [cut], held=held, depth=2) == whole
    for first, last in itertools.combinations(range(0, len(TEXT), 5), 2):
        assert read(kernel, JUDGED, TEXT, [first, last], held=held, depth=2) == whole
    assert read(kernel, JUDGED, TEXT, range(len(TEXT)), held=held, depth=2) == whole


def test_blocks_of_nothing(kernel):
    assert found(kernel, TEXT, [0, 0, 20, 20, 20, len(TEXT)]) == found(kernel, TEXT)


@pytest.mark.parametrize("text", [b"", b"\n", b"# nothing\n\n", b" \t\r\n", b"\xef\xbb\xbf"])
def test_no_results(kernel, text):
    assert found(kernel, text) == ({}, {})


GOOD = ({b"1": 1}, {(b"1", b"a"): 1})


@pytest.mark.parametrize(
    "line",
    [
        b"1 Q0 a 1 1 t\n",
        b"1 Q0 a 1 1 t",
        b"1 Q0 a 1 1 t\r\n",
        b"1 Q0 a 1 1 t\r",
        b"  1 Q0 a 1 1 t  \n",
        b"1\tQ0\va\f1\r1\tt\n",
        b"1 \t Q0   a 1 1 t and more\n",
        b"\xef\xbb\xbf1 Q0 a 1 1 t\n",
        b"\xef\xbb\xbf 1 Q0 a 1 1 t\n",
        b"\xef\xbb\xbf# comment\n1 Q0 a 1 1 t\n",
        b"#1 Q0 a\n  # \n1 Q0 a 1 1 t\n#",
        b"1 # a # 1 #\n",
        b"1 Q0 a \x85 1 \xa0\n",
    ],
)
def test_lines_that_are_read(kernel, line):
    assert found(kernel, line) == GOOD
    for cut in range(len(line)):
        assert found(kernel, line, [cut]) == GOOD


# Lines that lack a column: a word less, whatever white space there is.
SHORT = [b"1", b"1 Q0", b"1 Q0 a", b"1 Q0 a 1", b"1 Q0 a 1 1", b"1\x1cQ0\x1ca\x1c1\x1c1\x1ct"]
ENDS = [b"\n", b" \n", b"\r\n", b" \r\n", b"\t\v\f\n", b""]


@pytest.mark.parametrize("before", [b"", b"1 Q0 a 1 1 t\n", b"\n#\n1 Q0 a 1 1 t\r\n"])
@pytest.mark.parametrize("end", ENDS)
def test_too_few_columns(kernel, before, end):
    for line in SHORT:
        text = before + line + end
        number = before.count(b"\n") + 1
        query = b"1" if before else b""
        wanted = Refused("columns", number, int(not before), query, line + end.removesuffix(b"\n"))
        assert found(kernel, text) == wanted
        assert found(kernel, text, [len(text) - 1]) == wanted
        assert found(kernel, text, range(len(text))) == wanted


def test_a_byte_order_mark_elsewhere_belongs_to_the_query(kernel):
    mark = b"\xef\xbb\xbf"
    assert found(kernel, b"\n" + mark + b"1 Q0 a 1 1 t\n") == ({mark + b"1": 1}, {})
    assert found(kernel, mark * 2 + b"1 Q0 a 1 1 t\n") == ({mark + b"1": 1}, {})


@pytest.mark.parametrize("place", range(12))
def test_nul(kernel, place):
    line = b"1 Q0 a 1 1 t"
    text = b"1 Q0 x 1 1 t\n" + line[:place] + b"\0" + line[place:] + b"\n2 Q0\n"
    for cuts in ([], [15], range(len(text))):
        assert found(kernel, text, cuts) == Refused("NUL", 2, 0, b"1", b"")
    assert found(kernel, b"#\0") == Refused("NUL", 1, 0, b"", b"")


@pytest.mark.parametrize("block", [bytes, bytearray, memoryview, lambda text: array("B", text)])
def test_any_buffer_is_a_block(kernel, block):
    run = kernel.Run(documents(kernel, JUDGED))
    run.feed(block(b"1 Q0 a 1 1 t\n"))
    assert numbers_of(run.finish()["hits"]) == [0, 1, 1, 1]
    run = kernel.Run(documents(kernel, JUDGED))
    with pytest.raises(kernel.RefusedError, match="NUL"):
        run.feed(block(b"1 Q0 a\0 1 1 t\n"))


@pytest.mark.parametrize("held", [False, True])
def test_scores_that_are_none(kernel, held):
    text = b"1 Q0 a 1 1 t\n1 Q0 x 1 1_0 t\n2 Q0 x 1 nan t\n2 Q0\n"
    assert found(kernel, text, held=held) == Refused("score", 2, 0, b"1", b"1_0")
    assert found(kernel, text, [40], held=held) == Refused("score", 2, 0, b"1", b"1_0")


FIRST = {
    "score before columns": (b"1 Q0 a 1 x t\n1 Q0\n", ("score", 1, b"x")),
    "score before NUL": (b"1 Q0 a 1 x t\n\0\n", ("score", 1, b"x")),
    "score before score": (b"1 Q0 a 1 x t\n1 Q0 b 1 y t\n", ("score", 1, b"x")),
    "columns before score": (b"1 Q0 a\n1 Q0 a 1 x t\n", ("columns", 1, b"1 Q0 a")),
    "NUL before columns": (b"\0\n1 Q0 a\n", ("NUL", 1, b"")),
    "columns before again": (b"1 Q0 a 1 1 t\n1 Q0 a 1 1 t\n1\n", ("columns", 3, b"1")),
}


@pytest.mark.parametrize("case", FIRST)
@pytest.mark.parametrize("held", [False, True])
def test_of_several_mistakes_the_first_one_is_told(kernel, case, held):
    text, wanted = FIRST[case]
    for cuts in ([], [13], range(len(text))):
        refused = found(kernel, text, cuts, held=held)
        assert (refused.kind, refused.line, refused.text) == wanted


def test_of_a_held_run_the_first_wrong_line_is_told_whatever_its_query(kernel):
    text = b"2 Q0 a 1 1 t\n1 Q0 a 1 x t\n2 Q0 b 1 y t\n"
    assert found(kernel, text, held=True) == Refused("score", 2, 0, b"1", b"x")


@pytest.mark.parametrize("length", [1, 7, 8, 9, 63, 64, 65, 200_000])
def test_ids_of_any_length(kernel, length):
    ids = [b"x" * length, b"x" * (length - 1) + b"y", b"y" + b"x" * (length - 1) + b"z"]
    judged = {ids[0]: ids}
    lines = [b"%b Q0 %b 1 1 %b\n" % (ids[0], id_, ids[1]) for id_ in ids]
    text = b"".join(lines)
    answer = read(kernel, judged, text, [len(text) // 2])
    order = sorted(ids, reverse=True)
    assert answer["hits"] == {(ids[0], id_): order.index(id_) + 1 for id_ in ids}
    assert answer["run_id"] == ids[1]


def test_a_query_that_begins_as_another_one(kernel):
    text = b"1 Q0 a 1 1 t\n12 Q0 a 1 1 t\n12\tQ0 b 1 1 t\n123 Q0 a 1 1 t\n"
    assert found(kernel, text)[0] == {b"1": 1, b"12": 2, b"123": 1}


def test_a_line_without_end(kernel):
    run = kernel.Run(documents(kernel, JUDGED))
    run.feed(b"1 Q0 a 1 1 t\n")
    run.feed(b"x" * (1 << 26))
    with pytest.raises(kernel.RefusedError) as problem:
        run.feed(b"x")
    assert problem.value.args == ("long line", 2, 0, b"1", b"")


def test_no_more_is_held_than_is_allowed(kernel):
    """The ids of a query, or of all queries where the run is held."""
    lines = [b"%d Q0 d%02d 1 1 t\n" % (query, row) for query in (1, 2) for row in range(10)]
    for held, most in ((False, 30), (True, 60)):
        judged = documents(kernel, JUDGED)
        kernel.Run(judged, held=held, most_held=most).feed(b"".join(lines))
        for cuts in ([], [100], range(0, 300, 7)):
            run = kernel.Run(judged, held=held, most_held=most - 1)
            with pytest.raises(kernel.RefusedError) as problem:
                list(map(run.feed, blocks_of(b"".join(lines), cuts)))
            assert problem.value.args[0] == "too much"


def test_a_wrong_line_above_what_is_too_much_is_told(kernel):
    run = kernel.Run(documents(kernel, JUDGED), most_held=5)
    with pytest.raises(kernel.RefusedError) as problem:
        run.feed(b"1 Q0 d1 1 x t\n1 Q0 d2222 1 1 t\n")
    assert problem.value.args[:2] == ("score", 1)


def test_the_length_of_a_line_may_be_limited(kernel):
    run = kernel.Run(documents(kernel, JUDGED), longest_line=20)
    run.feed(b"1 Q0 a 1 1 t\n" + b"x" * 20)
    with pytest.raises(kernel.RefusedError) as problem:
        run.feed(b"x")
    assert problem.value.args == ("long line", 2, 0, b"1", b"")


@pytest.mark.parametrize(
    "limits", [{"most_held": -1}, {"most_held": 2**31 + 1}, {"longest_line": -1}]
)
def test_limits_that_are_none(kernel, limits):
    with pytest.raises(ValueError, match="most_held"):
        kernel.Run(documents(kernel, JUDGED), **limits)


def test_after_a_refusal_and_after_the_end_nothing_is_taken(kernel):
    run = kernel.Run(documents(kernel, JUDGED))
    with pytest.raises(kernel.RefusedError):
        run.feed(b"1 Q0\n")
    with pytest.raises(ValueError, match="refused"):
        run.feed(b"1 Q0 a 1 1 t\n")
    with pytest.raises(ValueError, match="refused"):
        run.finish()
    run = kernel.Run(documents(kernel, JUDGED))
    run.finish()
    with pytest.raises(ValueError, match="finished"):
        run.finish()
    with pytest.raises(ValueError, match="finished"):
        run.mapping({})
