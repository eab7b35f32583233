"""From rows to hits: order, ties, duplicates, scattered queries, filters, names."""

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.asking import (
    Refused,
    column,
    documents,
    found_in,
    ints,
    numbers_of,
    read,
    starts_of,
)

# The scores and ids of one ranking. By hand, equal scores by descending id: d, c, a, e, b.
ROWS = {b"a": b"2", b"b": b"-inf", b"c": b"2.0", b"d": b"1e1", b"e": b"0"}
DESCENDING = [b"d", b"c", b"a", b"e", b"b"]
ASCENDING = [b"d", b"a", b"c", b"e", b"b"]
ORDERS = {
    "as it is": list(ROWS),
    "falling": DESCENDING,
    "falling, ties reversed": ASCENDING,
    "rising": DESCENDING[::-1],
}


def lines(query, rows):
    return b"".join(b"%b Q0 %b 1 %b t\n" % (query, id_, score) for id_, score in rows)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("ascending", [False, True])
def test_order(kernel, order, held, ascending):
    text = lines(b"1", [(id_, ROWS[id_]) for id_ in ORDERS[order]])
    wanted = ASCENDING if ascending else DESCENDING
    options = {"held": held, "ascending": ascending, "depth": 4}
    answer = read(kernel, {b"1": list(ROWS)}, text, **options)
    ties = {b"d": (1, 1), b"a": (2, 3), b"c": (2, 3), b"e": (4, 4), b"b": (5, 5)}
    assert answer["hits"] == {(b"1", id_): rank for rank, id_ in enumerate(wanted, 1)}
    assert answer["ties"] == {(b"1", id_): ties[id_] for id_ in wanted}
    assert answer["names"] == [(b"1", [(id_, float(ROWS[id_])) for id_ in wanted[:4]])]


def test_distances_are_best_when_they_are_small(kernel):
    text = lines(b"1", ROWS.items())
    answer = read(kernel, {b"1": list(ROWS)}, text, distance=True, depth=2)
    wanted = [b"b", b"e", b"c", b"a", b"d"]
    assert answer["hits"] == {(b"1", id_): rank for rank, id_ in enumerate(wanted, 1)}
    assert answer["names"] == [(b"1", [(b"b", float("inf")), (b"e", 0.0)])]


# Ids whose order is that of bytes: a prefix comes before what it begins, and no byte is signed.
SPECIAL = [b"", b"\x01", b"a", b"a\x01", b"aa", b"b", b"\x7f", b"\x80", b"\xff", b"\xff\xff"]


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("few", [1, 3, len(SPECIAL)])
def test_ties_are_ordered_by_bytes(kernel, ascending, few):
    chance = random.Random(few)
    for _ in range(30):
        ids, judged = chance.sample(SPECIAL, len(SPECIAL)), chance.sample(SPECIAL, few)
        run = kernel.Run(documents(kernel, {b"q": judged}), ascending=ascending)
        add(run, [(b"q", ids)])
        order = sorted(SPECIAL, reverse=not ascending)
        wanted = {(b"q", id_): order.index(id_) + 1 for id_ in judged}
        assert found_in(kernel, run, {b"q": judged})["hits"] == wanted


def add(run, groups, score=1.0, line=1):
    ids = [id_ for _, of_query in groups for id_ in of_query]
    run.add(
        column([query for query, _ in groups]),
        starts_of([of_query for _, of_query in groups]),
        column(ids),
        array("d", [score] * len(ids)),
        ints(range(line, line + len(ids))),
    )


@pytest.mark.parametrize("kind", ["falling", "shuffled", "tied", "half tied"])
@pytest.mark.parametrize("judged", [1, 3, 40, 500])
def test_large_rankings_against_a_sort(kernel, kind, judged):
    chance = random.Random(f"{kind} {judged}")
    ids = [b"d%d" % number for number in range(1000)]
    chance.shuffle(ids)
    levels = {"tied": 1, "half tied": 30}.get(kind, 10**9)
    scores = [float(chance.randrange(levels)) for _ in ids]
    if kind == "falling":
        scores.sort(reverse=True)
    wanted = sorted(zip(scores, ids, strict=True), reverse=True)
    rank = {id_: place for place, (_, id_) in enumerate(wanted, 1)}
    some = chance.sample(ids, judged)
    text = lines(b"q", [(i, repr(s).encode()) for i, s in zip(ids, scores, strict=True)])
    answer = read(kernel, {b"q": [*some, b"missing"]}, text, depth=50)
    assert answer["hits"] == {(b"q", id_): rank[id_] for id_ in some}
    of_id = dict(zip(ids, scores, strict=True))
    for (_, id_), ties in answer["ties"].items():
        above = sum(score > of_id[id_] for score in scores)
        assert ties == (above + 1, above + scores.count(of_id[id_]))
    assert answer["names"] == [(b"q", [(id_, score) for score, id_ in wanted[:50]])]


def test_documents_that_come_twice(kernel):
    text = b"# c\n1 Q0 a 1 2 t\n\n1 Q0 b 1 2 t\n1 Q0 a 3 1 t\n1 Q0 b 3 1 t\n"
    assert read(kernel, {}, text) == Refused("again", 5, 2, b"1", b"a")
    for cut in range(len(text)):
        assert read(kernel, {}, text, [cut]) == Refused("again", 5, 2, b"1", b"a")
    assert read(kernel, {}, text, held=True) == Refused("again", 5, 2, b"1", b"a")


def test_documents_that_come_twice_in_a_scattered_query(kernel):
    text = b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n\n1 Q0 b 1 2 t\n#\n1 Q0 a 3 1 t\n"
    assert read(kernel, {}, text) == Refused("again", 6, 1, b"1", b"a")


def test_one_pair_among_many(kernel):
    names = [b"http://site-%d/%d/index.html" % (number % 3, number) for number in range(300)]
    text = lines(b"1", [(name, b"1") for name in names])
    assert read(kernel, {}, text)["num_ret"] == {b"1": 300}
    for place in (0, 150, 299):
        again = lines(b"1", [(names[place], b"0")])
        assert read(kernel, {}, text + again) == Refused(
            "again", 301, place + 1, b"1", names[place]
        )


def test_the_best_score_is_kept(kernel):
    text = lines(b"1", [(b"a", b"1"), (b"b", b"2"), (b"c", b"0"), (b"a", b"3"), (b"b", b"1")])
    judged = {b"1": [b"a", b"b", b"c"]}
    answer = read(kernel, judged, text, keep_best=True, depth=9)
    assert answer["hits"] == {(b"1", b"a"): 1, (b"1", b"b"): 2, (b"1", b"c"): 3}
    assert answer["names"] == [(b"1", [(b"a", 3.0), (b"b", 2.0), (b"c", 0.0)])]
    assert answer["left_out"] == (0, 0, 5, 3)
    worst = read(kernel, judged, text, keep_best=True, distance=True, depth=9)
    assert worst["names"] == [(b"1", [(b"c", 0.0), (b"b", -1.0), (b"a", -1.0)])]


SCATTERED = b"1 Q0 a 1 1 t\n2 Q0 b 1 5 t\n2 Q0 c 1 6 t\n1 Q0 d 1 2 t\n2 Q0 d 1 7 t\n3 Q0 a 1 1 u\n"


def test_a_query_that_comes_back(kernel):
    judged = {b"2": [b"b", b"d"], b"1": [b"a"]}
    assert read(kernel, judged, SCATTERED, held=False) == Refused("scattered", 4, 0, b"1", b"")
    answer = read(kernel, judged, SCATTERED, held=True)
    assert answer["num_ret"] == {b"1": 2, b"2": 3, b"3": 1}
    assert answer["hits"] == {(b"1", b"a"): 2, (b"2", b"b"): 3, (b"2", b"d"): 1}
    assert answer["query"] == [1, 0, -1]
    assert answer["run_id"] == b"u"
    for cut in range(len(SCATTERED)):
        assert read(kernel, judged, SCATTERED, [cut]) == answer


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_lines_change_nothing(kernel, seed):
    chance = random.Random(seed)
    rows = [
        b"%d Q0 d%d 1 %d t\n" % (query, number, chance.randrange(9))
        for query in range(20)
        for number in range(chance.randint(1, 30))
    ]
    judged = {b"%d" % query: [b"d%d" % number for number in range(0, 30, 4)] for query in range(15)}
    sorted_ = read(kernel, judged, b"".join(rows), count_documents=True)
    chance.shuffle(rows)
    shuffled = read(kernel, judged, b"".join(rows), count_documents=True)
    assert shuffled["num_ret"] == sorted_["num_ret"]
    assert shuffled["hits"] == sorted_["hits"]
    assert shuffled["documents"] == sorted_["documents"]


def test_what_is_excluded(kernel):
    text = lines(b"1", [(b"a", b"3"), (b"b", b"2"), (b"1", b"1")]) + lines(b"2", [(b"a", b"1")])
    judged = {b"1": [b"a", b"b", b"1"], b"2": [b"a"]}
    excluded = {b"1": [b"a", b"zz"], b"2": [], b"3": [b"a"]}
    answer = read(kernel, judged, text, excluded=excluded, drop_identical=True)
    assert answer["hits"] == {(b"1", b"b"): 1, (b"2", b"a"): 1}
    assert answer["num_ret"] == {b"1": 1, b"2": 1}
    assert answer["left_out"] == (1, 1, 2, 2)
    assert read(kernel, judged, text, excluded={})["left_out"] == (0, 0, 4, 4)


def test_a_query_with_nothing_left(kernel):
    text = lines(b"1", [(b"a", b"3")]) + lines(b"2", [(b"a", b"1")])
    answer = read(kernel, {b"1": [b"a"]}, text, excluded={b"1": [b"a"]}, depth=3)
    assert answer["num_ret"] == {b"1": 0, b"2": 1}
    assert answer["hits"] == {}
    assert answer["names"] == [(b"1", [])]


def test_what_is_excluded_may_come_twice(kernel):
    text = lines(b"1", [(b"a", b"3"), (b"a", b"3"), (b"b", b"1")])
    assert read(kernel, {}, text, excluded={b"1": [b"a"]})["num_ret"] == {b"1": 1}


def test_passages_are_folded_into_documents(kernel):
    passages = [(b"a#1", b"1"), (b"b#1#2", b"3"), (b"a#2", b"5"), (b"#x", b"2"), (b"c", b"0")]
    judged = {b"1": [b"a", b"b", b"c", b"#x", b"a#1"]}
    text = lines(b"1", passages)
    answer = read(kernel, judged, text, fold=ord("#"), keep_best=True)
    ranks = {b"a": 1, b"b": 2, b"#x": 3, b"c": 4}
    assert answer["hits"] == {(b"1", id_): rank for id_, rank in ranks.items()}
    assert answer["left_out"] == (0, 0, 5, 4)
    assert read(kernel, judged, text, fold=ord("#")) == Refused("again", 3, 1, b"1", b"a")
    # Exclusions name passages, as they are in the file.
    kept = read(kernel, judged, text, fold=ord("#"), excluded={b"1": [b"a#2", b"a"]})
    assert kept["hits"][b"1", b"a"] == 3


def test_names(kernel):
    text = lines(b"9", [(b"a", b"1")]) + lines(b"1", [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")])
    judged = {b"0": [], b"1": [b"x"]}
    assert read(kernel, judged, text, depth=2)["names"] == [(b"1", [(b"c", 3.0), (b"b", 2.0)])]
    everything = read(kernel, judged, text, depth=2, name_all=True)["names"]
    assert everything == [(b"9", [(b"a", 1.0)]), (b"1", [(b"c", 3.0), (b"b", 2.0)])]
    assert read(kernel, judged, text, name_all=True)["names"] == []


def test_names_are_taken_as_they_come(kernel):
    run = kernel.Run(documents(kernel, {b"1": [], b"2": []}), depth=1)
    run.feed(b"1 Q0 a 1 1 t\n2 Q0 b 1 1 t\n")
    first = run.take_names()
    assert (bytes(first["text"]), first["queries"]) == (b"a", [b"1"])
    run.finish()
    second = run.take_names()
    assert (bytes(second["text"]), second["queries"]) == (b"b", [b"2"])
    assert numbers_of(second["ends"], "Q") == [1]
    assert numbers_of(run.take_names()["size"]) == []


def test_documents_are_counted(kernel):
    text = lines(b"1", [(b"a#1", b"1"), (b"b", b"2")]) + lines(b"2", [(b"a#2", b"1"), (b"c", b"2")])
    assert read(kernel, {}, text, count_documents=True)["documents"] == 4
    assert read(kernel, {}, text, count_documents=True, fold=ord("#"))["documents"] == 3


@given(st.lists(st.lists(st.sampled_from(b"abcdefgh")), max_size=4), st.text("abcdxyz"))
def test_documents_of_several_runs_are_counted_once(kernel, runs, more):
    sets, column_ = [], [b"%c" % id_ for id_ in more.encode()]
    for ids in runs:
        run = kernel.Run(documents(kernel, {}), count_documents=True, keep_best=True)
        for query, first in enumerate(range(0, len(ids), 3)):
            run.feed(lines(b"%d" % query, [(b"%c" % id_, b"1") for id_ in ids[first : first + 3]]))
        sets.append(run.finish()["documents"])
    different = {b"%c" % id_ for ids in runs for id_ in ids} | set(column_)
    assert kernel.count_ids(tuple(sets), column(column_)) == len(different)
    assert kernel.count_ids(tuple(sets), column(column_)) == len(different)  # as often as asked


def test_many_documents_are_counted(kernel):
    text = b"".join(b"%d Q0 d%d 1 1 t\n" % (n // 100, n % 3000) for n in range(20_000))
    assert read(kernel, {}, text, count_documents=True)["documents"] == 3000


def test_a_look_at_the_beginning(kernel):
    rising = lines(b"1", [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")])
    falling = lines(b"2", [(b"a", b"3"), (b"b", b"2"), (b"c", b"1")])
    flat = lines(b"3", [(b"a", b"1"), (b"b", b"1"), (b"c", b"1")])
    once = lines(b"4", [(b"a", b"1"), (b"b", b"2")])  # too little to say so
    bent = lines(b"5", [(b"a", b"1"), (b"b", b"2"), (b"c", b"1")])
    answer = read(kernel, {b"1": [], b"3": []}, rising + falling + flat + once + bent)
    assert answer["slopes"] == (1, 3)
    assert answer["sample"] == [(0, b"a"), (0, b"b"), (0, b"c"), (1, b"a"), (1, b"b"), (1, b"c")]


def test_the_look_ends(kernel):
    judged = {b"%d" % query: [] for query in range(100)}
    some = [(b"d%d" % number, b"%d" % number) for number in range(12)]
    text = b"".join(lines(query, some) for query in judged)
    answer = read(kernel, judged, text)
    assert len(answer["sample"]) == 20 * 10
    assert answer["slopes"] == (100, 100)
    text = b"".join(lines(query, [(b"d%d" % n, b"%d" % n) for n in range(900)]) for query in judged)
    assert read(kernel, judged, text)["slopes"] == (2, 2)


def test_rows_without_a_text(kernel):
    """Ids may be anything, a query goes on in the next call, and each row has its line."""
    judged = {b"q \n": [b"", b"a b\0"]}
    run = kernel.Run(documents(kernel, judged))
    add(run, [(b"", [b"x"]), (b"q \n", [b"a b\0"])], line=5)
    add(run, [(b"q \n", [b"", b"c"]), (b"r", []), (b"s", [b"\xff"])], score=2.0)
    found = found_in(kernel, run, judged)
    assert found["num_ret"] == {b"": 1, b"q \n": 3, b"r": 0, b"s": 1}
    assert found["hits"] == {(b"q \n", b""): 2, (b"q \n", b"a b\0"): 3}
    assert found["run_id"] == b""
    run = kernel.Run(documents(kernel, judged))
    add(run, [(b"1", [b"x", b"y"])], line=40)
    with pytest.raises(kernel.RefusedError) as problem:
        add(run, [(b"1", [b"x"]), (b"2", [b"x"])], line=90)
    assert problem.value.args == ("again", 90, 40, b"1", b"x")
    run = kernel.Run(documents(kernel, judged))
    with pytest.raises(kernel.RefusedError) as problem:
        add(run, [(b"1", [b"x"]), (b"2", [b"x"]), (b"1", [b"y"])], line=7)
    assert problem.value.args == ("scattered", 9, 0, b"1", b"")


def test_hits_follow_the_judgements(kernel):
    """One row for each judgement of a retrieved document, queries as they come in the run."""
    judged = {b"2": [b"z", b"a"], b"1": [b"c", b"b", b"a"]}
    run = kernel.Run(documents(kernel, judged))
    run.feed(lines(b"1", [(b"a", b"3"), (b"b", b"2")]) + lines(b"2", [(b"a", b"3"), (b"z", b"4")]))
    found = run.finish()
    hits = numbers_of(found["hits"])
    assert (hits[::4], hits[1::4]) == ([3, 4, 0, 1], [2, 1, 1, 2])
