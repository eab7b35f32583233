import re

import pytest

from ragkpi.errors import UsageError
from ragkpi.measures.registry import cautions, find_metrics
from ragkpi.ranking.judged import Settings
from tests.measures.by_hand import judge, population, summary

pytestmark = pytest.mark.usefixtures("command_line")

GRADED = {"a": {"top": 3, "good": 2, "poor": 0}}
UNGRADED = {"a": {"good": 2, "fair": 1, "poor": 0}}
BINARY = {"a": {"good": 1, "poor": 0}}
RUN = {"a": {"top": 3, "good": 2, "poor": 1}}
DEEP = {"a": {**RUN["a"], **{f"x{i}": -i for i in range(40)}}}

CASES = {
    "lambda": (population(10000, [1] * 9 + [5000], [[]] * 10), "bor.100", "K = 59 or less leaves"),
    "one of two": (population(11314, [572], [[1]]), "bor.10,100", "K = 100 .*K = 51 or less"),
    "ceiling": (population(100, [1], [[1]]), "bor.95", "K = 95 .*K = 93 or less leaves"),
    "three of many": (population(1000, [300], [[1]]), "ef.20,m=3", "m = 3.*K = 17 or less"),
    "no way out": (population(100, [95], [[1]]), "bor_max.1", "no K leaves it"),
    "both depths": (population(11314, [572], [[1]]), "dbor.10,100", "K = 100 "),
    "whole corpus": (population(58, [1], [[1]]), "bor_opt.100", "bor_opt_100: .* 58 documents"),
    "outside the pool": (
        judge(GRADED, RUN, pool={"a": {"good": 1}}),
        "pct_proc.2",
        "pct_proc_2: above 1 for 1 of 1 query, .*--pool-union",
    ),
    "its own pool": (
        judge(GRADED, RUN),
        "proc.10",
        "proc_10: without --pool the run itself, 3 documents deep",
    ),
    "no pool": (judge(GRADED, DEEP), "proc.10", "proc_10: without --pool the run .* 43 documents"),
    "exactly 3": (
        population(300, [8, 12, 2, 9, 14], [[]] * 5),
        "bor.100",
        "lambda = 3.*K = 99 or less leaves",
    ),
    "no top grade": (judge(UNGRADED, DEEP), "ra_nwg.10", "ra_nwg_10: .*'umbrela'.*--grade-map"),
    "too shallow": (judge(GRADED, RUN), "Fe.2", "Fe_2: 1 of 1 query .* than 4 documents"),
}

UNAFFECTED = {
    "recall in the collapse zone": (population(11314, [572], [[1]]), "bor_recall.100"),
    "lambda speaks about one hit": (population(1000, [300], [[1]]), "bor.11,m=6"),
    "small lambda": (population(11314, [572], [[1]]), "bor.10"),
    "K = N": (population(100, [1], [[1]]), "bor_recall.100"),
    "inside the pool": (judge(GRADED, RUN, pool=DEEP), "pct_proc.2"),
    "has a pool": (judge(GRADED, RUN, pool=DEEP), "proc.10"),
    "top grade": (judge(GRADED, DEEP), "ra_nwg.10"),
    "one weight cancels": (judge(BINARY, DEEP), "ra_nwg.10"),
    "harm has no weights": (judge(UNGRADED, DEEP), "harm.10"),
    "deep enough": (judge(GRADED, DEEP), "Fe.20"),
    "no estimate": (judge(GRADED, RUN), "F.20"),
    "nothing relevant": (population(100, [0], [[]]), "bor.10"),
}


def said(judged, request):
    return cautions(judged, find_metrics([request]))


@pytest.mark.parametrize(("judged", "request_", "expected"), CASES.values(), ids=CASES)
def test_says_it_once_in_one_line(judged, request_, expected):
    (line,) = said(judged, request_)
    assert re.search(expected, line), line
    assert "\n" not in line


@pytest.mark.parametrize(("judged", "request_"), UNAFFECTED.values(), ids=UNAFFECTED)
def test_stays_silent(judged, request_):
    assert said(judged, request_) == []


def test_advised_depth_is_the_last_outside_the_collapse_zone():
    judged = population(11314, [572], [[1]])
    assert summary(judged, "bor_max.51") >= 0.1 > summary(judged, "bor_max.52")
    assert said(judged, "bor.51") == []
    assert said(judged, "bor.52") != []


def test_measures_of_one_kind_share_a_line():
    judged = population(11314, [572], [[1]])
    values = find_metrics(["bor.50,100", "bor_max.100", "ef.60"])
    (line,) = cautions(judged, values)
    assert "K = 60, 100 " in line


def test_unknown_corpus_size_is_refused():
    with pytest.raises(UsageError, match=r"-N.*--corpus-sizes.*RAGKPI_CORPUS_SIZE"):
        summary(judge(GRADED, RUN), "bor.10")


@pytest.mark.parametrize("name", ["bor.10", "accuracy.10", "bor_opt.1"])
def test_corpus_smaller_than_what_is_seen_of_it_is_refused(name):
    qrels = {"a": {"d": 1}, "b": {"d": 1, "e": 0, "f": -1}}
    run = {"a": {"d": 1}, "b": {"d": 9, "f": 8, "x": 7, "y": 6}}
    assert judge(qrels, run, Settings(corpus_size=5)).corpus_size.tolist() == [5, 5]
    summary(judge(qrels, run, Settings(corpus_size=5)), name)
    with pytest.raises(UsageError, match=r"query b: 5 documents .* 4; .*-N"):
        summary(judge(qrels, run, Settings(corpus_size=4)), name)
    sizes = Settings(corpus_size=5, corpus_sizes={b"b": 3})
    with pytest.raises(UsageError, match=r"query b: .*--corpus-sizes"):
        summary(judge(qrels, run, sizes), name)
