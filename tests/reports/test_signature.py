import pytest

from ragkpi import __version__
from ragkpi.library.ground import signature_of
from ragkpi.ranking.judged import GRADE_MAPS, Settings
from tests.made_scores import BOR, MAP, metric

V = __version__
BOR_N = metric("bor_10", needs=frozenset({"corpus_size"}))
RA = metric("ra_nwg_10", needs=frozenset({"grade_map"}))
DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("settings", "values", "files", "short", "long"),
    [
        (
            Settings(corpus_size=5),
            [MAP, BOR],
            {},
            f"ragkpi:{V}",
            f"ragkpi:{V}|l:1|missing:zero|unjudged:kept|M:all|ties:id|query:all",
        ),
        (
            Settings(corpus_size=8841823, missing="intersection"),
            [BOR_N, RA],
            {"qrels": DIGEST},
            f"ragkpi:{V}|qrels:01234567|N:8841823|missing:intersection",
            f"ragkpi:{V}|qrels:sha256:{DIGEST}|N:8841823|l:1|missing:intersection|unjudged:kept|M:all"
            "|ties:id|query:all|draws:nominal|grades:umbrela",
        ),
        (
            Settings(
                relevance_level=2,
                unjudged="removed",
                max_retrieved=100,
                only_query=b"a|b",
                draws="ret",
                grade_map=GRADE_MAPS["rag25"],
                pool_depth=50,
            ),
            [BOR_N, RA],
            {"qrels": None, "pool": DIGEST},
            f"ragkpi:{V}|qrels:given|pool:01234567|N:seen|l:2|unjudged:removed|M:100|query:a%7Cb"
            "|draws:ret|grades:rag25|pool_depth:50",
            f"ragkpi:{V}|qrels:given|pool:sha256:{DIGEST}|N:seen|l:2|missing:zero"
            "|unjudged:removed|M:100|ties:id|query:a%7Cb|draws:ret|grades:rag25|pool_depth:50"
            "|pool_union:pool",
        ),
    ],
)
def test_forms(settings, values, files, short, long):
    found = signature_of(settings, values, files)
    assert (found.short(), found.long()) == (short, long)


def test_sizes_per_query_are_told_apart():
    one, same, other = (
        signature_of(Settings(corpus_sizes=sizes), [BOR_N], {}).short()
        for sizes in ({b"a": 1, b"b": 2}, {b"b": 2, b"a": 1}, {b"a": 2, b"b": 1})
    )
    assert one == same != other
    assert one.startswith(f"ragkpi:{V}|N:seen,per query ")
