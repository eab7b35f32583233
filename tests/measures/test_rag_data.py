"""Published numbers on real judgements, which are not part of the repository."""

from pathlib import Path

import pytest

from ragkpi.ranking.judged import GRADE_MAPS, Settings
from tests.measures.by_hand import judge, lines, summary

DATA = Path("/work/shared/data")
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data")


def qrels(collection):
    rows = {}
    for line in (DATA / collection / "qrels.txt").read_text().splitlines():
        query, _, doc, level = line.split()
        rows.setdefault(query, {})[doc] = int(level)
    return rows


def test_scifact_ceilings():
    judgements = qrels("scifact")
    judged = judge(judgements, judgements, Settings(corpus_size=5183))
    found = [summary(judged, f"bor_max.{K}") for K in (1, 10, 100)]
    assert found == pytest.approx([12.163249, 8.841794, 5.524550], abs=5e-7)


@pytest.mark.parametrize(
    ("collection", "grade_map", "topics", "without"),
    [("rag24", "umbrela", 89, 24), ("rag25", "rag25", 22, 12)],
)
def test_topics_without_a_top_grade(collection, grade_map, topics, without):
    judgements = qrels(collection)
    judged = judge(judgements, judgements, Settings(grade_map=GRADE_MAPS[grade_map]))
    found = lines(judged, "num_q_fallback", "num_q_n_recall5.10")
    assert found["num_q_fallback"]["all"] == without
    assert found["num_q_n_recall5_10"]["all"] == topics - without


def test_a_stricter_map_leaves_fewer_topics():
    judgements = qrels("rag24")
    for grade_map, valid in (("umbrela", 86), ("umbrela-strict", 83)):
        judged = judge(judgements, judgements, Settings(grade_map=GRADE_MAPS[grade_map]))
        assert summary(judged, "num_q_ra_nwg.10") == valid


def test_best_grades_first_is_not_quite_the_best_evidence():
    """One topic of rag24 has a grade 3 that is rarer, and worth more, than its grade 4."""
    judgements = qrels("rag24")
    (values,) = lines(judge(judgements, judgements), "ra_nwg.10").values()
    values.pop("all")
    assert sum(value < 1 - 1e-9 for value in values.values()) == 1
