"""Judgment groups: each is to see what it would see if its lines were the whole qrels."""

import random

import pytest

from ragkpi.errors import InputError
from ragkpi.measures.counts import num_ret
from ragkpi.measures.incomplete import unj
from ragkpi.measures.precision import P, Rprec_mult, average_precision
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.reading import read_run
from ragkpi.ranking.relevance import read_relevance

MEASURES = [
    num_ret,
    average_precision,
    lambda judged: P(judged, 3),
    lambda judged: unj(judged, 5),
    lambda judged: Rprec_mult(judged, 1.5),
]


@pytest.fixture
def judge(tmp_path):
    """Judge (query, group, document, level) lines and {query: {document: score}}."""

    def judge(lines, run, settings, rel_info):
        qrels, results = tmp_path / "qrels", tmp_path / "run"
        qrels.write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
        results.write_text(
            "".join(
                f"{query} Q0 {document} 0 {score} made\n"
                for query, scores in run.items()
                for document, score in scores.items()
            )
        )
        relevance = read_relevance(str(qrels), rel_info)
        return relevance.judge(read_run(str(results), relevance.judgements), settings)[0]

    return judge


def random_case(seed):
    draw = random.Random(seed)
    documents = [f"d{n}" for n in range(10)]
    lines = [
        (query, group, document, draw.choice([-1, 0, 0, 1, 2]))
        for query in ("1", "10", "9")
        for group in draw.sample(["a", "b", "a!", "~"], draw.randint(1, 3))
        for document in draw.sample(documents, draw.randint(1, 8))
    ]
    draw.shuffle(lines)
    run = {
        query: {
            document: draw.randint(1, 3) for document in draw.sample(documents, draw.randint(1, 9))
        }
        for query in draw.sample(["1", "10", "9", "x"], 3)
    }
    return lines, run


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(missing="zero", relevance_level=2),
        Settings(max_retrieved=2),
        Settings(max_retrieved=5, unjudged="removed", missing="zero"),
        Settings(only_query=b"10", missing="zero"),
    ],
    ids=["plain", "-c -l 2", "-M 2", "-M 5 -J -c", "-D -c"],
)
def test_each_group_sees_its_own_qrels(judge, settings):
    for seed in range(15):
        lines, run = random_case(seed)
        judged = judge(lines, run, settings, "qrels_jg")
        evaluated = {query for query, *_ in lines if settings.missing == "zero" or query in run}
        if settings.only_query:
            evaluated &= {settings.only_query.decode()}
        assert judged.queries == sorted(query.encode() for query in evaluated)
        groups = sorted({(query, group) for query, group, *_ in lines if query in evaluated})
        assert [judged.queries[q].decode() for q in judged.group_query] == [q for q, _ in groups]
        for number, place in enumerate(groups):
            own_lines = [line for line in lines if line[:2] == place]
            alone = judge(own_lines, run, settings, "qrels")
            for measure in MEASURES:
                assert measure(judged.judged)[number] == measure(alone)[0]


def test_the_mean_is_over_the_groups_of_each_query(judge):
    lines = [("1", "a", "x", 1), ("1", "b", "y", 1), ("1", "c", "z", 1), ("2", "a", "x", 1)]
    run = {"1": {"x": 2, "y": 1}, "2": {"x": 1}}
    judged = judge(lines, run, Settings(), "qrels_jg")
    assert judged.mean(average_precision(judged.judged)).tolist() == [(1 + 1 / 2 + 0) / 3, 1]


def test_a_group_judges_a_document_once(judge):
    lines = [("1", "b", "x", 1), ("1", "a", "x", 1), ("2", "a", "x", 1), ("1", "a", "x", 1)]
    with pytest.raises(InputError) as problem:
        judge(lines, {}, Settings(), "qrels_jg")
    assert "qrels:4: document x of query 1, judgment group a again" in str(problem.value)
    assert "line 2" in str(problem.value)
