"""Some queries of an evaluation, against an evaluation of qrels with these queries alone."""

import numpy as np
import pytest

from ragkpi.library.session import Session
from ragkpi.measures.measure import score
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judge import part_of
from ragkpi.ranking.judged import Settings
from tests.cli.commandline import FIXTURES

REQUESTS = ("all_trec", "bor.10", "ra_nwg.10", "pct_proc.10", "pool_miss.10")


def evaluation(qrels):
    settings = Settings(corpus_size=5000, missing="zero")
    pool = str(FIXTURES / "first_stage.run")
    session = Session(str(qrels), settings, pool=pool)
    return session.evaluate_one(str(FIXTURES / "dense.run"), find_metrics(REQUESTS))


@pytest.mark.parametrize("places", [[0], [1, 4, 8], [11], list(range(12))])
def test_a_part_has_the_values_of_qrels_with_its_queries(tmp_path, places):
    whole = evaluation(FIXTURES / "qrels.txt")
    names = {whole.judged.queries[place] for place in places}
    lines = (FIXTURES / "qrels.txt").read_bytes().splitlines(keepends=True)
    (tmp_path / "qrels").write_bytes(b"".join(x for x in lines if x.split()[0] in names))
    expected = evaluation(tmp_path / "qrels").scores
    found = score(part_of(whole.plain, np.array(places)), whole.scores.metrics)
    assert found.queries == expected.queries
    for ours, theirs in zip(found.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(ours.statistics, theirs.statistics)
