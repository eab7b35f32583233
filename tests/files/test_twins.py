"""Dumps that real packages wrote are read as their twins, or refused with a map."""

from pathlib import Path

import pytest

TWINS = Path(__file__).parents[2] / "../shared/data/stacks/twins"
if not TWINS.exists():
    TWINS = Path("/work/shared/data/stacks/twins")
pytestmark = pytest.mark.skipif(not TWINS.exists(), reason="needs ../shared/data/stacks/twins")

# What each dump has to do: "read", or H: read, or refused with a map.
LINES = (TWINS / "README.txt").read_text().splitlines() if TWINS.exists() else []
DUMPS = [line.split()[:2] for line in LINES if not line.startswith("#")]
MEASURES = ["-q", "-m", "map", "-m", "P.1,3,5", "-m", "ndcg", "-m", "num_ret"]


@pytest.mark.parametrize(("name", "must"), DUMPS, ids=[name for name, _ in DUMPS])
def test_as_the_twin_per_query_and_measure(name, must, ragkpi):
    twin = ragkpi("eval", *MEASURES, "QRELS.txt", f"{name}.trec", folder=TWINS)
    outcome = ragkpi("eval", *MEASURES, "QRELS.txt", name, folder=TWINS)
    if must == "N":
        assert (outcome.status, outcome.out) == (7, b"")
        return
    if outcome.status == 0:
        assert outcome.out == twin.out
        return
    assert must == "H"
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err.startswith(f"ragkpi: error: {name}: ".encode())
    assert b"--map-run" in outcome.err or b"expected ids" in outcome.err
