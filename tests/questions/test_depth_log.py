"""Logs of retrieval events, against chance by the formula of the hypergeometric distribution."""

import json
import math

import pytest

import ragkpi
from ragkpi.errors import InputError, UsageError

pytestmark = pytest.mark.usefixtures("command_line")


def chance(N, R, K):
    return 1 - math.comb(N - R, K) / math.comb(N, K)


EVENTS = [
    {"pool_size": 600, "top_k": 40, "num_relevant": 5, "found": True},
    {"pool_size": 600, "top_k": 40, "num_relevant": 8, "found": True},
    {"pool_size": 500, "top_k": 40, "num_relevant": 1, "found": False},
    {"pool_size": 600, "top_k": 10, "num_relevant": 5, "found": True},
] * 5


def written(path, events):
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return str(path)


def test_every_depth_of_a_log_is_set_against_chance(tmp_path):
    answer = ragkpi.depth(log=written(tmp_path / "log.jsonl", EVENTS))
    ten, forty = answer.rows
    p = [chance(600, 5, 40), chance(600, 8, 40), chance(500, 1, 40)]
    assert (ten["K"], forty["K"]) == (10, 40)
    assert forty["p_obs"] == pytest.approx(2 / 3)
    assert forty["p_rand"] == pytest.approx(sum(p) / 3)
    assert forty["bor"] == pytest.approx(math.log2(2 / sum(p)))
    assert forty["bor_low"] < forty["bor"] < forty["bor_high"]
    assert forty["bor_max"] == pytest.approx(-math.log2(sum(p) / 3))
    assert forty["bor_max_qmean"] == pytest.approx(-sum(map(math.log2, p)) / 3)
    assert forty["lambda"] == pytest.approx(40 * (5 / 600 + 8 / 600 + 1 / 500) / 3)
    assert forty["collapse"] == 0
    assert ten["bor"] == ten["bor_max"] == pytest.approx(-math.log2(chance(600, 5, 10)))
    assert "At K = 10, 100% of 5 events succeed, " in answer.answer
    assert "At K = 40, 67% of 15 events succeed, 2.5 times " in answer.answer
    assert " (1.32 [" in answer.answer
    assert ragkpi.depth(log=EVENTS).rows == answer.rows


def test_a_table_gives_the_same(tmp_path):
    table = tmp_path / "log.csv"
    lines = [",".join(map(str, event.values())) for event in EVENTS]
    table.write_text("\n".join([",".join(EVENTS[0]), "", *lines]))
    assert ragkpi.depth(log=str(table)).rows == ragkpi.depth(log=EVENTS).rows


def test_a_line_break_in_quotes_is_counted(tmp_path):
    """The second event is on line 4, behind a question of two lines."""
    (tmp_path / "log.csv").write_text('id,N,K,R,hit\n"why\nso?",50,3,2,1\nq,50,3,x,1\n')
    with pytest.raises(InputError, match=r"log.csv:4: R 'x'"):
        ragkpi.depth(log=str(tmp_path / "log.csv"))


def test_other_names_and_ids_and_gold():
    plain = [{"N": 50, "K": 3, "R": 2, "hit": 1}, {"N": 50, "K": 3, "R": 1, "hit": 0}] * 6
    renamed = [{"corpus": e["N"], "shown": e["K"], "rel": e["R"], "ok": e["hit"]} for e in plain]
    ids = [
        {"N": 50, "retrieved": ["a", "b", "c"], "relevant": ["c", "z"]},
        {"N": 50, "retrieved": ["a", "b", "c"], "gold": ["z"], "K": 3},
    ] * 6
    rows = ragkpi.depth(log=plain).rows
    assert ragkpi.depth(log=renamed, map_log="N=corpus,K=shown,R=rel,hit=ok").rows == rows
    assert ragkpi.depth(log=ids).rows == rows


def test_relevant_documents_that_are_not_logged():
    events = [{"N": 1000, "K": 10, "hit": number % 3 > 0} for number in range(60)]
    (row,) = ragkpi.depth(log=events, relevant="5%").rows
    assert row["p_rand"] == pytest.approx(chance(1000, 50, 10))
    (same,) = ragkpi.depth(log=events, relevant=[50]).rows
    assert same == row
    fewer = [{name: e[name] for name in ("K", "hit")} for e in events]
    assert ragkpi.depth(log=fewer, relevant=[50], corpus_size=1000).rows == [row]


def test_whatever_a_logger_writes():
    """pandas writes 40.0 where a column has gaps, and people write yes and Top_K."""
    rows = ragkpi.depth(log=[{"N": 50, "K": 3, "R": 2, "hit": 1}] * 12).rows
    for event in (
        {"N": 50.0, "K": 3.0, "R": 2.0, "hit": 1.0},
        {"N": "50", "K": "3", "R": "2", "hit": "Yes"},
        {"Pool Size": 50, "topK": 3, "Num_Relevant": "2.0", "Found": "TRUE"},
        {"N": 50, "retrieved": [1, 2, 3], "gold": [3, 7]},
    ):
        assert ragkpi.depth(log=[event] * 12).rows == rows
    with pytest.raises(InputError, match="no event; expected a retrieval a line"):
        ragkpi.depth(log=[])


def test_one_event_has_no_interval():
    said = ragkpi.depth(log=[{"N": 100, "K": 10, "R": 3, "hit": True}]).answer
    assert "100% of 1 event succeeds" in said
    assert "(1.87 bits over random)." in said


def test_the_first_source():
    """Source 000: 60% at 20 of 10,000 are 4.92 bits, 70% at 100 are 2.87; 20NG 1.22 and 0.01."""
    log = [{"N": 10_000, "K": 20, "R": 10, "hit": n < 60} for n in range(100)]
    log += [{"N": 10_000, "K": 100, "R": 10, "hit": n < 70} for n in range(100)]
    log += [{"N": 11_314, "K": 1000 + n, "R": 572, "hit": True} for n in range(2)]
    rows = {row["K"]: row for row in ragkpi.depth(log=log).rows}
    assert [round(rows[K]["bor"], 2) for K in (20, 100)] == [4.92, 2.87]
    assert [rows[K]["ef"] for K in (20, 100)] == pytest.approx([30.257, 7.318], abs=0.001)
    assert (rows[1000]["collapse"], rows[20]["collapse"]) == (1, 0)
    assert rows[1000]["lambda"] == pytest.approx(1000 * 572 / 11_314)


def test_verdicts():
    def said(hits, R, K=10, N=100):
        events = [{"N": N, "K": K, "R": R, "hit": n < hits} for n in range(100)]
        return ragkpi.depth(log=events).answer

    by_chance = f"{100 * chance(100, 30, 10):.0f}% of random draws"
    assert said(99, 30).endswith(f"{by_chance}: uninformative; retrieve fewer.")
    assert "not significantly more than the 10% of random draws (0." in said(12, 1)
    selective = said(80, 1)
    assert (
        "At K = 10, 80% of 100 events succeed, 8 times as often as random draws (3.00 ["
        in selective
    )
    assert selective.endswith("bits over random; a perfect system has 3.32).")


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (
            '{"K": 3, "R": 1, "hit": 1}',
            "no N; expected -N, or --map-log N=KEY with one of its keys, 'K R hit'",
        ),
        ('{"corpus": 9, "K": 3, "R": 1, "hit": 1}', "no N; expected -N, or --map-log N=KEY"),
        ('{"N": "1,000", "K": 3, "R": 1, "hit": 1}', "N '1,000'; expected a whole number from 1"),
        ('{"N": 9, "K": "top 3", "R": 1, "hit": 1}', "K 'top 3'; expected a whole number from 1"),
        ('{"N": 9, "K": 3, "R": 0.05, "hit": 1}', "R '0.05'; expected a whole number (for a share"),
        ('{"N": 9, "K": 3, "R": 1, "hit": 2}', "hit '2'; expected yes or no"),
        ('{"N": 9, "ids": "a,b", "gold": ["a"]}', "ids 'a,b'; expected a list of ids"),
        ('{"N": 9, "ids": [{"id": "a"}], "gold": ["a"]}', "ids \"[{'id': 'a'}]\"; expected a list"),
        ('{"N": 9, "ids": ["a"], "gold": "a"}', "gold 'a'; expected a list of ids"),
        ('{"N": 9, "ids": [], "gold": ["a"]}', "K '0'"),
        ('{"N": 9, "K": 0, "R": 1, "hit": 1}', "K '0'"),
        ('{"N": 9, "K": 2.5, "R": 1, "hit": 1}', "K '2.5'"),
        ('{"N": 9, "K": true, "R": 1, "hit": 1}', "K 'True'"),
        ('{"N": 9, "K": 3, "hit": 1}', "no R"),
        ('{"N": 9, "K": 3, "R": 1}', "no hit"),
        ('{"N": 9, "K": 3, "R": 1, "hit": "perhaps"}', "hit 'perhaps'"),
        ('{"N": 9, "K": 3, "R": 10, "hit": 0}', "R = 10 of N = 9"),
        ('{"N": 9, "K": 3, "R": 0, "hit": 1}', "R = 0 of N = 9 and a hit"),
        ("[1]", "not a JSON object"),
        ("{", "invalid JSON"),
    ],
)
def test_bad_events_are_refused_with_their_line(tmp_path, event, what):
    good = {"N": 9, "K": 3, "R": 1, "hit": 1}
    path = tmp_path / "log.jsonl"
    path.write_text(f"{json.dumps(good)}\n\n{event}\n")
    with pytest.raises(InputError) as refusal:
        ragkpi.depth(log=str(path))
    assert str(refusal.value).startswith(f"{path}:3: {what}")


def test_events_without_a_possible_success_are_counted():
    events = [{"N": 9, "K": 3, "R": 0, "hit": 0}, {"N": 9, "K": 3, "R": 1, "hit": 1}]
    answer = ragkpi.depth(log=events)
    assert "1 event left out, which cannot succeed" in answer.notes
    with pytest.raises(UsageError, match="no event can succeed"):
        ragkpi.depth(log=events[:1])


def test_bits_near_zero_have_no_sign():
    """333 of 1,000 where chance has a third: log2(0.999) = -0.0014."""
    events = [{"N": 300, "K": 100, "R": 1, "hit": place < 333} for place in range(1000)]
    assert "(0.00 [-0." in ragkpi.depth(log=events).answer


@pytest.mark.parametrize("others", [{"runs": {}}, {"at": [5]}, {"max_loss": 1.0}])
def test_a_log_stands_alone(others):
    with pytest.raises(UsageError, match=r"--log (with|replaces)"):
        ragkpi.depth(log=EVENTS, **others)
    with pytest.raises(UsageError, match="--map-log size=corpus: expected NAME=KEY"):
        ragkpi.depth(log=EVENTS, map_log="size=corpus")
    with pytest.raises(UsageError, match="--relevant with --map-log: that is for --log"):
        ragkpi.depth(relevant=[4], corpus_size=58, map_log="N=corpus")
