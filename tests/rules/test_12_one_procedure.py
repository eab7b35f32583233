"""A p-value and its interval are one procedure, for compare, gates and Python alike.

0 is outside the interval exactly where p, before the correction, is below 0.05; and a gate stops a
run exactly where compare says that it is worse.
"""

import json

import numpy as np
import pytest

from tests.simulation.worlds import by_query, levels, ranked

MEASURES = ("ndcg_cut.5", "success.1", "P.3", "recip_rank", "bor.3")
ASKED = [word for name in MEASURES for word in ("-m", name)]


def write(folder, seed, queries, strengths):
    """Write qrels and runs of these strengths; return the names of the runs' files."""
    rng = np.random.default_rng(seed)
    level = levels(rng, queries)
    rows = by_query(level).items()
    lines = (f"{query} 0 {d} {one}\n" for query, row in rows for d, one in row.items())
    (folder / "qrels").write_text("".join(lines))
    runs = ranked(rng, level, strengths)
    for name, run in runs.items():
        rows = ((query, d, score) for query, row in run.items() for d, score in row.items())
        (folder / name).write_text("".join(f"{q} Q0 {d} 0 {score} t\n" for q, d, score in rows))
    return list(runs)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("queries", [6, 12, 40])
def test_an_interval_excludes_nothing_exactly_where_p_is_small(
    ragkpi, tmp_path, queries, clustered
):
    (tmp_path / "clusters").write_text(
        "query\tcluster\n" + "".join(f"q{row:03d}\tc{row // 2}\n" for row in range(queries))
    )
    options = ["--cluster", "clusters"] if clustered else []
    outside = set()
    for seed in range(4):
        runs = write(tmp_path, seed, queries, [1.0, 1.4, 0.4, 1.0])
        words = ("compare", "-c", "-N", "500", *ASKED, *options, "--format", "json", "qrels", *runs)
        found = ragkpi(*words, folder=tmp_path)
        for one in json.loads(found.out)["comparison"]["differences"]:
            low, high = one["interval"]
            if low is None or one["p"] is None:
                assert one["decision"] not in ("better", "worse")
                continue
            outside.add(not low <= 0 <= high)
            assert (not low <= 0 <= high) == (one["p"] < 0.05), one
    assert outside == {True, False}


@pytest.mark.parametrize("seed", range(3))
def test_a_gate_stops_what_compare_calls_worse(ragkpi, tmp_path, seed):
    runs = write(tmp_path, seed, 30, [1.4, 0.4, 1.3])
    for run in runs[1:]:
        words = ("-c", "-m", "ndcg_cut.5", "qrels")
        answer = ragkpi("compare", "--format", "json", *words, runs[0], run, folder=tmp_path).out
        (one,) = json.loads(answer)["comparison"]["differences"]
        gate = ("--fail-under-baseline", runs[0])
        stopped = ragkpi("eval", *gate, *words, run, folder=tmp_path).status == 3
        assert stopped == (one["decision"] == "worse"), one
