"""The range that ties leave a measure, against all orders of them, tried one after the other."""

import itertools
import json
import random

import pytest

from ragkpi.measures.registry import builtin_measures

LEVELS = {"a": 1, "b": 0, "c": 3, "d": -1, "f": 2}  # and e, g are unjudged
MEASURES = {
    *("P.1,3", "recall.2", "relative_P.3", "success.1", "ndcg_cut.3", "err.3", "ndcg", "map"),
    *("map_cut.2", "recip_rank", "Rprec", "set_P", "set_recall"),
}
REQUESTS = [part for measure in sorted(MEASURES) for part in ("-m", measure)]


def orders(scores):
    """Yield every ranking that some order of equal scores makes of documents and scores."""
    groups = [
        [document for document in scores if scores[document] == score]
        for score in sorted(set(scores.values()), reverse=True)
    ]
    for permuted in itertools.product(*map(itertools.permutations, groups)):
        yield [document for group in permuted for document in group]


def tie_ranges(document):
    (found,) = json.loads(document)["findings"]["runs"]
    return found["tie_ranges"]


def write(folder, rankings):
    """Write runs and qrels of {query: [(document, score), …]}; all queries are judged alike."""
    (folder / "run").write_text(
        "".join(
            f"{query} Q0 {document} 1 {score} me\n"
            for query, documents in rankings.items()
            for document, score in documents
        )
    )
    (folder / "qrels").write_text(
        "".join(f"{query} 0 {d} {level}\n" for query in rankings for d, level in LEVELS.items())
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", ["1", "2"])
def test_exact_extremes(seed, level, ragkpi, tmp_path):
    chance = random.Random(seed)
    queries = {
        query: {document: chance.randint(1, 3) for document in chance.sample("abcdefg", 6)}
        for query in "12"
    }
    every_order = {
        f"{query}-{number}": [(document, -rank) for rank, document in enumerate(order)]
        for query, scores in queries.items()
        for number, order in enumerate(orders(scores))
    }
    write(tmp_path, every_order)
    out = ragkpi("eval", "-qn", "-l", level, *REQUESTS, "qrels", "run", folder=tmp_path).out
    seen = {}
    for name, query, value in map(str.split, out.decode().splitlines()):
        seen.setdefault(name, {}).setdefault(query[0], []).append(float(value))

    write(tmp_path, {query: list(scores.items()) for query, scores in queries.items()})
    files = ("qrels", "run", "-l", level, "--format", "json")
    ranges = tie_ranges(ragkpi("check", *files, *REQUESTS, folder=tmp_path).out)
    assert {range_["name"] for range_ in ranges} == set(seen)
    for range_ in ranges:
        of_queries = seen[range_["name"]].values()
        assert range_["lowest"] == pytest.approx(sum(map(min, of_queries)) / 2, abs=1.01e-4)
        assert range_["highest"] == pytest.approx(sum(map(max, of_queries)) / 2, abs=1.01e-4)
    assert any(range_["lowest"] < range_["highest"] for range_ in ranges)


def test_prints_what_eval_prints(ragkpi, tmp_path):
    write(tmp_path, {"1": [("e", 1), ("a", 1), ("c", 1)], "2": [("f", 2), ("a", 2)]})
    out = ragkpi("eval", *REQUESTS, "qrels", "run", folder=tmp_path).out
    printed = {line.split()[0]: float(line.split()[2]) for line in out.decode().splitlines()}
    files = ("qrels", "run", "--format", "json")
    ranges = tie_ranges(ragkpi("check", *files, *REQUESTS, folder=tmp_path).out)
    values = {range_["name"]: range_["value"] for range_ in ranges}
    assert values == pytest.approx(printed, abs=5.01e-5)


def test_all_that_have_a_range_are_tried():
    monotone = {name for name, measure in builtin_measures().items() if measure.ties == "monotone"}
    assert {measure.partition(".")[0] for measure in MEASURES} == monotone


def test_others_are_named(ragkpi, tmp_path):
    write(tmp_path, {"1": [("e", 1), ("a", 1)]})
    out = ragkpi(
        "check", "qrels", "run", "--format", "table", "-m", "bpref", "-m", "P.1", folder=tmp_path
    ).out
    assert b"bpref: the effect of ties is not known" in out


def test_gains_that_turn_the_levels_round_have_no_range(ragkpi, tmp_path):
    write(tmp_path, {"1": [("a", 1), ("c", 1)]})
    out = ragkpi("check", "--format", "table", "-m", "ndcg", "qrels", "run", folder=tmp_path).out
    # (3 + 1 / log2 3) and (1 + 3 / log2 3) of 3 + 2 / log2 3 + 1 / 2
    assert b"ndcg is 0.7625; over all orders of equal scores it is 0.6075 to 0.7625" in out
    out = ragkpi(
        "check", "--format", "table", "-m", "ndcg.1=9,3=1", "qrels", "run", folder=tmp_path
    ).out
    assert b"over all orders" not in out
    assert b"ndcg_1=9,3=1: the effect" in out
