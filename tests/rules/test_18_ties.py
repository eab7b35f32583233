"""A verdict that another order of equal scores would change says so, and no gate stops for it."""

import random

import pytest

import ragkpi
from tests.tries import seeds

LIMIT = "as far as ties are broken by id"


def world(seed, queries=40, levels=2, last=True):
    """Equal runs: one has a score of its own for each document, the other few distinct scores.

    The ids of relevant documents are last, or first: trec_eval's order takes the last one first.
    """
    draw = random.Random(seed)
    relevant = [f"{'z' if last else 'a'}{n}" for n in range(3)]
    others = [f"m{n:02}" for n in range(12)]
    qrels, fine, coarse = {}, {}, {}
    for query in map("q{}".format, range(queries)):
        qrels[query] = {**dict.fromkeys(relevant, 1), **dict.fromkeys(others, 0)}
        ids = [*relevant, *others]
        fine[query] = {id_: draw.random() for id_ in ids}
        coarse[query] = {id_: float(draw.randrange(levels)) for id_ in ids}
    return qrels, {"fine": fine, "coarse": coarse}


@pytest.mark.parametrize("measure", ["ndcg_cut.5", "err.5", "bpref"])
@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("last", [True, False])
def test_equal_runs_are_not_told_apart_by_their_ids(levels, last, measure):
    """Of 20 pairs of equal runs; three standard errors above 5% are four.

    Some measures have no expectation over the orders of equal scores, but a least favourable one.
    """
    claims = unlimited = 0
    for seed in range(20):
        answer = ragkpi.compare(*world(seed, levels=levels, last=last), measure).answer
        claims += "better" in answer or "worse" in answer
        unlimited += ("better" in answer or "worse" in answer) and LIMIT not in answer
    assert claims >= 10  # the ids alone
    assert unlimited <= 4


@pytest.mark.parametrize("pairs", ["baseline", "all"])
def test_without_ties_nothing_is_said_of_them(pairs):
    for seed in range(5):
        qrels, runs = world(seed)
        runs["coarse"] = {
            query: {id_: score + 1e-6 * n for n, (id_, score) in enumerate(of.items())}
            for query, of in runs["coarse"].items()
        }
        assert LIMIT not in ragkpi.compare(qrels, runs, "ndcg_cut.5", pairs=pairs).answer


@pytest.mark.parametrize("gate", ["worse", "noninferior"])
def test_a_gate_that_rests_on_ties_is_in_doubt(gate):
    qrels, runs = world(3)
    ordered = {name: runs[name] for name in ("coarse", "fine")}
    if gate == "worse":
        result = ragkpi.compare(qrels, ordered, "ndcg_cut.5", fail_if=gate, problems="kept")
        (verdict,) = result.verdicts
        assert verdict.outcome == "doubted"
        assert LIMIT in str(verdict)
        assert [problem.exit_status for problem in result.problems] == [5]
        with pytest.raises(ragkpi.GateDoubtedError):
            ragkpi.compare(qrels, ordered, "ndcg_cut.5", fail_if=gate)
        return
    how = {"fail_if": gate, "margin": 0.05, "problems": "kept"}
    (verdict,) = ragkpi.compare(qrels, runs, "ndcg_cut.5", **how).verdicts
    assert verdict.outcome in ("doubted", "missed")


def test_expected_values_are_those_of_the_option():
    qrels, runs = world(3)
    answer = ragkpi.compare(qrels, runs, "ndcg_cut.5").answer
    (row,) = [
        row
        for row in ragkpi.compare(qrels, runs, "ndcg_cut.5", ties="expected").rows
        if row["run"] == "coarse"
    ]
    assert f"differs by {row['difference']:+.4f}" in answer


def test_qrels_from_standard_input_are_read_once(request, tmp_path):
    """Runs with ties are evaluated a second time, by the judgements that were read."""
    qrels, runs = world(3)
    lines = "".join(f"{q} 0 {d} {level}\n" for q, of in qrels.items() for d, level in of.items())
    for name, run in runs.items():
        text = "".join(f"{q} Q0 {d} 1 {x} r\n" for q, of in run.items() for d, x in of.items())
        (tmp_path / name).write_text(text)
    words = ("compare", "-m", "ndcg_cut.5", "--format", "table", "-", "fine", "coarse")
    command = request.getfixturevalue("ragkpi")
    done = command(*words, folder=tmp_path, stdin=lines.encode())
    assert done.status == 0, done.err
    assert LIMIT in " ".join(done.out.decode().split())


def broken(qrels, run, first):
    """The run without ties: of equal scores the relevant documents are first, or last."""
    step = 1e-6 if first == "relevant" else -1e-6
    return {
        query: {id_: score + step * qrels[query].get(id_, 0) for id_, score in of.items()}
        for query, of in run.items()
    }


def depth_of(qrels, run):
    return ragkpi.depth(qrels, run, corpus_size=10_000)


def recommended(answer):
    """The depth that is recommended, or that none is."""
    return answer.split(" (")[0].replace(f" {LIMIT}", "") if "Retrieve" in answer else "none"


@pytest.mark.parametrize("levels", [1, 2, 3, 8, 10**9])
@pytest.mark.parametrize("last", [True, False])
def test_a_depth_that_another_order_would_change_says_so(levels, last):
    for seed in seeds(2):
        qrels, runs = world(seed, levels=levels, last=last)
        answer = depth_of(qrels, runs["coarse"]).answer
        others = [
            recommended(depth_of(qrels, broken(qrels, runs["coarse"], first)).answer)
            for first in ("relevant", "others")
        ]
        assert (LIMIT in answer) == (set(others) != {recommended(answer)})


def test_depths_of_several_runs_name_those_that_ties_made():
    qrels, runs = world(1)
    systems = {"coarse": runs["coarse"], "fine": runs["fine"]}
    first, second = depth_of(qrels, systems).answer.splitlines()
    assert first.startswith("coarse: ")
    assert LIMIT in first
    assert LIMIT not in second


@pytest.mark.parametrize("ties", ["tied", "by score"])
def test_an_order_of_runs_that_ties_made_says_so(ties):
    """Of equal runs, each has more queries than the one before whose order is that of the ids."""
    qrels, _ = world(5, queries=50)
    draw = random.Random(7)
    by_id = {"tied": lambda _: 1.0, "by score": float}[ties]
    runs: dict[str, dict] = {f"run{n}": {} for n in range(6)}
    for n, run in enumerate(runs.values()):
        for place, (query, of) in enumerate(qrels.items()):
            ids = sorted(of, reverse=True)
            drawn = place >= 10 * n
            run[query] = {
                id_: draw.random() if drawn else by_id(-rank) for rank, id_ in enumerate(ids)
            }
    other = {query: {**of, next(iter(of)): 0} for query, of in qrels.items()}
    found = ragkpi.agree(qrels, other, runs, "ndcg_cut.5", resamples=200)
    assert found.answer.startswith("other ranks these 6 runs as qrels does")
    assert (LIMIT in found.answer) == (ties == "tied")
    (order,) = found.findings["orders"]
    assert (order["ranking_over_ties"] == "alike") == (ties == "by score")
