"""How many documents of each level the evaluated queries have."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.ranking.judge import judge
from ragkpi.ranking.judged import Settings
from tests.ranking.cases import hits_of, ids, judgements_of, queries

FEW = st.integers(-1, 3)
ANY = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 1, 2**62, 2**63 - 1])


@pytest.mark.parametrize("levels", [FEW, ANY], ids=["few", "any"])
@given(data=st.data())
def test_levels_are_counted_per_query(levels, data):
    of_query = st.dictionaries(ids, levels, min_size=1)
    qrels = data.draw(st.dictionaries(queries, of_query, min_size=1))
    judgements = judgements_of(qrels)
    run = {
        query: {b"d": 1.0}
        for query in data.draw(st.sets(st.sampled_from(sorted(qrels)), min_size=1))
    }
    judged, _ = judge(judgements, hits_of(run, judgements), Settings(missing="intersection"))
    assert judged.queries == sorted(run)
    for number, query in enumerate(judged.queries):
        own = slice(*judged.level_starts[number : number + 2].tolist())
        counted = zip(judged.levels[own].tolist(), judged.level_counts[own].tolist(), strict=True)
        expected = Counter(level for level in qrels[query].values() if level >= 0)
        assert list(counted) == sorted(expected.items())
