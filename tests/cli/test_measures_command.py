"""`ragkpi measures`: the registry, listed or explained."""

import csv
import io

import pytest

from ragkpi.measures.measure import QUESTIONS
from ragkpi.measures.registry import NICKNAMES, builtin_measures
from tests.published_schema import valid_document


def test_every_measure_stands_under_its_question_and_nicknames_follow(ragkpi):
    outcome = ragkpi("measures")
    assert outcome.status == 0
    *blocks, nicknames = outcome.out.decode().split("\n\n")
    for (question, text), block in zip(QUESTIONS.items(), blocks, strict=True):
        head, *lines = block.splitlines()
        assert head == text
        expected = [
            name for name, measure in builtin_measures().items() if measure.question == question
        ]
        assert [line.split()[0] for line in lines] == expected
    assert [line.split()[0] for line in nicknames.splitlines()] == ["Nicknames", *NICKNAMES]


@pytest.mark.parametrize(
    ("words", "found", "absent"),
    [
        (["precision"], "Rprec", "ndcg"),
        (["MRR"], "recip_rank", "map"),
        (["average", "geom"], "gm_map", "map"),
    ],
)
def test_search(ragkpi, words, found, absent):
    outcome = ragkpi("measures", *words)
    names = [line.split()[0] for line in outcome.out.decode().splitlines() if line]
    assert outcome.status == 0
    assert found in names
    assert absent not in names


def test_the_registry_as_rows(ragkpi):
    rows = list(csv.DictReader(io.StringIO(ragkpi("measures", "--format", "csv").out.decode())))
    assert [row["measure"] for row in rows] == list(builtin_measures())
    assert {row["question"] for row in rows} == set(QUESTIONS)
    assert valid_document(ragkpi("measures", "map", "--format", "json").out)


def test_every_measure_is_explained(ragkpi):
    text = ragkpi("measures", *builtin_measures()).out.decode()
    for measure in builtin_measures().values():
        assert f"{measure.name}\n{measure.help}\nParameters:" in text


def test_a_nickname_is_explained_by_its_members(ragkpi):
    text = ragkpi("measures", "kpi").out.decode()
    explained = [block.splitlines()[0] for block in text.split("\n\n") if "Over queries:" in block]
    assert len(explained) == 5


def test_an_unknown_name_is_refused(ragkpi):
    outcome = ragkpi("measures", "mpa")
    assert (outcome.status, outcome.out) == (1, b"")
    assert b"did you mean map" in outcome.err
