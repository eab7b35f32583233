"""Mappings, and arguments that do not fit: words, never a crash."""

import os
import sys
from array import array

import pytest

from ragkpi import plain_kernel
from tests.kernel.asking import column, documents, found_in, ints

NO_IDS = column([])


def taken(kernel, mapping, **options):
    judged = {b"1": [b"a"]}
    run = kernel.Run(documents(kernel, judged), **options)
    return found_in(kernel, run, judged) if run.mapping(mapping) else None


class Text(str):
    """Another type of text."""


class Ranking(dict):
    """Another type of mapping."""


class Score(float):
    """Another type of number, as numpy has them."""


def test_a_mapping(kernel):
    mapping = {
        "2": {},
        "1": {"b": 2, "a": 1.5, "é": Score(3.0), "": -(10**30)},
        "é": {"a": float("-inf")},
    }
    found = taken(kernel, mapping, depth=9)
    assert found["num_ret"] == {b"1": 4, "é".encode(): 1}
    assert found["hits"] == {(b"1", b"a"): 3}
    best = [("é".encode(), 3.0), (b"b", 2.0), (b"a", 1.5), (b"", -1e30)]
    assert found["names"] == [(b"1", best)]
    assert taken(kernel, {})["num_ret"] == {}


@pytest.mark.parametrize(
    "other",
    [
        None,
        [],
        Ranking(),
        {1: {"a": 1.0}},
        {b"1": {"a": 1.0}},
        {Text("1"): {"a": 1.0}},
        {"1": [("a", 1.0)]},
        {"1": Ranking(a=1.0)},
        {"1": {b"a": 1.0}},
        {"1": {Text("a"): 1.0}},
        {"1": {"a": "1"}},
        {"1": {"a": None}},
        {"1": {"a": True}},
        {"1": {"a": 1j}},
        {"1": {"a": float("nan")}},
        {"1": {"a": Score("nan")}},
        {"1": {"a": 10**400}},
        {"1": {"\udc80": 1.0}},
        {"\udc80": {"a": 1.0}},
        {"1": {"a": 1.0}, "2": None},
        {"1": {"a": 1.0, "b": object()}},
    ],
)
def test_other_mappings_are_left_to_the_caller(kernel, other):
    assert taken(kernel, other) is None


def test_a_mapping_with_holes(kernel):
    """A dictionary that lost entries counts its rows, not its places."""
    ranking = {f"d{number}": 1.0 for number in range(9)} | {"a#1": 1.0, "a#2": 2.0}
    for number in range(9):
        del ranking[f"d{number}"]
    run = kernel.Run(documents(kernel, {}), fold=ord("#"))
    run.mapping({"q": ranking})
    with pytest.raises(kernel.RefusedError) as problem:
        run.finish()
    assert problem.value.args == ("again", 2, 1, b"q", b"a")


PLACES = {
    "before the text": (ints([-1]), ints([1])),
    "behind the text": (ints([0]), ints([3])),
    "far behind the text": (ints([2**62]), ints([2**63 - 1])),
    "end before start": (ints([2]), ints([1])),
    "different numbers": (ints([0, 0]), ints([1])),
    "no whole numbers": (b"\0" * 9, b"\0" * 9),
    "no ends": (ints([0]), ints([])),
}


@pytest.mark.parametrize("case", PLACES)
def test_places_outside_of_the_text(kernel, case):
    wrong = (b"ab", *PLACES[case])
    run = kernel.Run(documents(kernel, {}))
    for ask in (
        lambda: kernel.Documents([b"q"], ints([0, 1]), wrong),
        lambda: kernel.numbers(wrong),
        lambda: kernel.count_ids((), wrong),
        lambda: kernel.first_rows(wrong, ints([0])),
        lambda: run.add(wrong, ints([0, 0]), NO_IDS, b"", b""),
        lambda: run.add(column([b"q"]), ints([0, 1]), wrong, array("d", [1]), ints([1])),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            ask()


def test_numbers_at_odd_places_of_memory(kernel):
    """The kernel refuses them, as not every machine can read them; the twin copies them."""
    odd = memoryview(bytearray(b"\0" * 33))[1:]
    if kernel is plain_kernel:
        assert kernel.count_ids((), (b"", odd, odd)) == 1
    else:
        with pytest.raises(ValueError, match="places"):
            kernel.count_ids((), (b"", odd, odd))


@pytest.mark.parametrize(
    "starts", [[], [0], [0, 2], [1, 1], [0, 1, 1], [-1, 1], [2, 1], [0, 2**62]]
)
def test_starts_that_do_not_cut_the_documents(kernel, starts):
    with pytest.raises(ValueError, match="starts"):
        kernel.Documents([b"q"], ints(starts), column([b"a"]))
    run = kernel.Run(documents(kernel, {}))
    with pytest.raises(ValueError, match="starts"):
        run.add(column([b"q"]), ints(starts), column([b"a"]), array("d", [1]), ints([1]))


def test_starts_that_go_back(kernel):
    with pytest.raises(ValueError, match="starts"):
        kernel.Documents([b"q", b"r", b"s"], ints([0, 2, 1, 2]), column([b"a", b"b"]))


def test_scores_and_lines_for_each_document(kernel):
    ids, starts = column([b"a", b"b"]), ints([0, 2])
    for score, line in (([1], [1, 2]), ([1, 2], [1]), ([1, 2, 3], [1, 2, 3]), ([], [])):
        run = kernel.Run(documents(kernel, {}))
        with pytest.raises(ValueError, match="lines"):
            run.add(column([b"q"]), starts, ids, array("d", score), ints(line))
    with pytest.raises(ValueError, match=r"\w"):
        kernel.first_rows(ids, ints([1]))


def test_queries_of_documents(kernel):
    with pytest.raises(ValueError, match="query twice"):
        kernel.Documents([b"q", b"q"], ints([0, 0, 0]), NO_IDS)


@pytest.mark.parametrize("options", [{"fold": 256}, {"fold": -2}, {"depth": -1}])
def test_options_that_do_not_fit(kernel, options):
    with pytest.raises(ValueError, match="fold"):
        kernel.Run(documents(kernel, {}), **options)


def test_other_types(kernel):
    run = kernel.Run(documents(kernel, {}))
    for block in ("1 Q0 a 1 1 t\n", 5, None):
        with pytest.raises(TypeError):
            run.feed(block)
    with pytest.raises(TypeError):
        kernel.Run()
    with pytest.raises(TypeError):
        kernel.Run(documents(kernel, {}), unknown=True)
    run.feed(b"")


@pytest.mark.skipif(sys.platform == "win32", reason="memory is measured as Unix does")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="ASan keeps what is freed")
def test_nothing_is_left_in_memory(kernel):
    """Whatever a run held when it went, at its end or after a mistake."""
    import resource

    long = b"x" * 200_000
    judged, before = documents(kernel, {b"1": [long]}), 0
    for number in range(400):
        run = kernel.Run(judged, excluded=judged, held=number % 2 == 0, depth=3)
        run.feed(b"1 Q0 %b 1 1 t\n2 Q0 %b 1 1 t\n%b Q0" % (long, long, long))
        if number % 3 == 0:
            with pytest.raises(kernel.RefusedError):
                run.finish()
        if number == 40:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 40 << (20 if sys.platform == "darwin" else 10)  # leaks would be 140 MB
