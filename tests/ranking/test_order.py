"""Ranks of some rows against a sort of all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.formats.tokens import Tokens
from ragkpi.ranking.order import ranks_of, sort_rows
from tests.ranking.cases import ranking, retrieved, run_of


@pytest.mark.parametrize("ties", ["descending", "ascending"])
@given(retrieved, st.sampled_from(["sorted", "as it is", "ties reversed"]), st.randoms())
def test_ranks_of(ties, run, order, draw):
    if order != "as it is":
        opposite = {"ascending": "descending", "descending": "ascending"}[ties]
        run = {
            query: {
                d: of_query[d] for d in ranking(of_query, opposite if "ties" in order else ties)
            }
            for query, of_query in run.items()
        }
    expected = [
        ranking(of_query, ties).index(document) + 1
        for of_query in run.values()
        for document in of_query
    ]
    rows = [row for row in range(len(expected)) if draw.random() < 0.6]
    draw.shuffle(rows)
    found = ranks_of(run_of(run), np.array(rows, dtype=np.int64), ties)
    assert found.tolist() == [expected[row] for row in rows]


def test_more_queries_than_sixteen_bits_can_count():
    run = {b"%d" % query: {b"a": query % 2, b"b": 1, b"c": query % 3} for query in range(70_000)}
    expected = [ranking(of_query).index(d) + 1 for of_query in run.values() for d in of_query]
    assert ranks_of(run_of(run), np.arange(210_000), "descending").tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([2.0, 0.0, -0.0, -1.5]), st.binary())),
    st.booleans(),
)
def test_rows_are_sorted_whether_they_are_already_or_not(rows, before):
    if before:
        rows = sorted(rows, key=lambda row: (row[0], -row[1]))
    query, score, document = zip(*rows, strict=True) if rows else ((), (), ())
    order = sort_rows(
        np.array(query, dtype=np.int64), np.array(score), Tokens.from_strings(document)
    )
    by_id = sorted(range(len(rows)), key=lambda row: document[row], reverse=True)
    assert order.tolist() == sorted(by_id, key=lambda row: (query[row], -score[row]))
