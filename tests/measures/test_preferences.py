"""Preference measures on one small ranking, worked out by hand."""

import pytest

from ragkpi.measures import preferences
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.reading import read_run
from ragkpi.ranking.relevance import read_relevance

# Ranked a, b, c; x and y are not retrieved.
RUN = "".join(f"1 Q0 {document} 0 {-rank} made\n" for rank, document in enumerate("abc"))

# First assessor: b over a, b over c, b over x, a over x, c over x. Fulfilled are b over c and the
# three over x, which is not retrieved.
FIRST = "1 u 0 b 2\n1 u 0 a 1\n1 u 0 c 1\n1 u 0 x 0\n"
# Second assessor: a over c and y over c; the first is fulfilled.
SECOND = "1 v 0 a 1\n1 v 0 c 0\n1 v 1 y 1\n1 v 1 c 0\n"
BY_HAND = {
    "prefs_num_prefs_poss": 7,
    "prefs_num_prefs_ful": 5,
    "prefs_num_prefs_ful_ret": 2,
    "prefs_simp": 5 / 7,
    "prefs_simp_ret": 2 / 3,
    "prefs_simp_imp": 5 / 7,
    "prefs_avgjg": (4 / 5 + 1 / 2) / 2,
    "prefs_avgjg_ret": (1 / 2 + 1) / 2,
    "prefs_avgjg_imp": (4 / 5 + 1 / 2) / 2,
    # Seven pairs of documents, none of them in both groups.
    "prefs_pair": 5 / 7,
    "prefs_pair_ret": 2 / 3,
    "prefs_pair_imp": 5 / 7,
    # u has 3 relevant, all retrieved, and 1 nonrelevant: (4 + 3·2) / (5 + 3·2); v has a, y
    # relevant, a retrieved, and c nonrelevant: (1 + 1·1) / (2 + 2·1).
    "prefs_avgjg_Rnonrel": (10 / 11 + 2 / 4) / 2,
    # Retrieved: u 3 and 0: (1 + 3·3) / (2 + 3·3); v 1 and 1: 1 / 1.
    "prefs_avgjg_Rnonrel_ret": (10 / 11 + 1) / 2,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(tmp_path, name):
    (tmp_path / "prefs").write_text(FIRST + SECOND)
    (tmp_path / "run").write_text(RUN)
    judgements = read_relevance(str(tmp_path / "prefs"), "prefs")
    hits = read_run(str(tmp_path / "run"), judgements.judgements)
    judged, _ = judgements.judge(hits, Settings())
    (function,) = (m.function for m in preferences.MEASURES if m.name == name)
    assert function(judged).tolist() == pytest.approx([BY_HAND[name]])
