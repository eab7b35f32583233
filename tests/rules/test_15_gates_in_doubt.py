"""What a gate would claim because one run is judged less than the other is no pass and no miss."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import ragkpi as library
from tests.published_schema import valid_document

SHOWN, QUERIES = 10, 60


def write_world(folder, judged, relevant, seed):
    """Two runs, old and new, of ten documents; a share is judged, and a share of those relevant.

    The judged and the relevant documents are drawn, so that shares differ by chance within a world.
    """
    random, qrels, lines = np.random.default_rng(seed), [], {"old": [], "new": []}
    for number in range(QUERIES):
        qrels.append(f"q{number:02} 0 unseen 1\n")
        for run, share, good in zip(lines, judged, relevant, strict=True):
            for rank in range(SHOWN):
                document = f"{run}{rank}"
                lines[run].append(f"q{number:02} Q0 {document} {rank + 1} {-rank} {run}\n")
                if random.random() < share:
                    qrels.append(f"q{number:02} 0 {document} {int(random.random() < good)}\n")
    (folder / "qrels").write_text("".join(qrels))
    for run, text in lines.items():
        (folder / f"{run}.run").write_text("".join(text))


EQUAL, LOSS = (0.5, 0.5), (0.6, 0.35)
# The judged shares and the relevant ones of old and new, the gate, and the status.
WORLDS = [
    ((1.0, 0.8), EQUAL, "worse", 5),
    ((1.0, 0.5), EQUAL, "worse", 5),
    ((0.9, 0.4), LOSS, "worse", 5),
    ((0.8, 1.0), EQUAL, "worse", 0),  # nothing is claimed
    ((1.0, 1.0), EQUAL, "worse", 0),
    ((1.0, 1.0), LOSS, "worse", 3),
    ((0.8, 1.0), EQUAL, "noninferior", 5),
    ((0.5, 1.0), LOSS, "noninferior", 5),
    ((1.0, 0.5), EQUAL, "noninferior", 3),  # not shown, and nothing is claimed
    ((1.0, 1.0), EQUAL, "noninferior", 0),
    ((1.0, 1.0), LOSS, "noninferior", 3),
]


@pytest.mark.parametrize("measure", ["P.10", "ndcg_cut.5"])
@pytest.mark.parametrize(("judged", "relevant", "by", "status"), WORLDS)
def test_a_claim_that_rests_on_unequal_judging_has_a_status(
    ragkpi, tmp_path, judged, relevant, by, status, measure
):
    write_world(tmp_path, judged, relevant, 5)
    margin = ("--margin", "0.15") if by == "noninferior" else ()
    gate = ("--fail-under-baseline", "old.run", "--gate-by", by)
    for call in (
        ("eval", "-m", measure, *gate, *margin, "qrels", "new.run"),
        ("compare", "-m", measure, "--fail-if", by, *margin, "qrels", "old.run", "new.run"),
    ):
        found = ragkpi(*call, folder=tmp_path)
        assert found.status == status, found.err.decode()
        assert ("; in doubt: judged in the top " in found.err.decode()) == (status == 5)


@pytest.fixture
def doubted(ragkpi, tmp_path):
    write_world(tmp_path, (1.0, 0.5), EQUAL, 5)

    def run(*options):
        gate = ("--fail-under-baseline", "old.run", *options)
        return ragkpi("eval", "-m", "P.10", *gate, "qrels", "new.run", folder=tmp_path)

    return run


def test_every_format_says_the_doubt(doubted):
    found = doubted("--format", "json")
    (gate,) = valid_document(found.out)["runs"][0]["gates"]
    assert (found.status, gate["passed"], gate["outcome"]) == (5, False, "doubted")
    assert "significantly worse than old.run's" in gate["says"]
    assert " as far as judged" in gate["says"]
    found = doubted("--format", "junit")
    (failure,) = ET.fromstring(found.out.decode()).iter("failure")
    assert found.status == 5
    assert failure.attrib["message"].startswith("gate in doubt: new: P_10 ")
    found = doubted("--format", "github")
    assert found.status == 5
    assert "gate in doubt: new: P_10 " in found.out.decode()
    found = doubted("--format", "table", "--fail-under", "P.10=0.1")
    assert found.status == 5
    assert "in doubt" in (found.err + found.out).decode()
    assert "1 of 2 gates passed" in (found.err + found.out).decode()


def test_a_miss_goes_before_a_doubt(doubted):
    found = doubted("--fail-under", "P.10=0.9")
    lines = [
        line
        for line in found.err.decode().splitlines()
        if line.startswith("ragkpi: error: new: P_10")
    ]
    assert found.status == 3
    assert "in doubt" in lines[1]
    assert "below 0.9" in lines[0]


def test_a_log_takes_no_run_in_doubt_for_a_baseline(doubted, ragkpi, tmp_path):
    assert doubted("-q", "--log", "log.jsonl").status == 5
    assert json.loads((tmp_path / "log.jsonl").read_text())["gates"][0]["outcome"] == "doubted"
    call = ("eval", "-m", "P.10", "--fail-under-baseline", "log.jsonl", "qrels", "old.run")
    assert "it holds no run that passed" in ragkpi(*call, folder=tmp_path).err.decode()


def test_a_doubt_is_an_error_of_its_own(doubted, tmp_path):
    doubted()
    qrels, new, old = (str(tmp_path / name) for name in ("qrels", "new.run", "old.run"))
    with pytest.raises(library.GateDoubtedError, match="in doubt: judged in the top 10: "):
        library.evaluate(qrels, new, "P.10", fail_under_baseline=old)
    with pytest.raises(library.GateFailedError, match=r"below 0\.9 .*; new: P_10 .* in doubt: "):
        library.evaluate(qrels, new, "P.10", fail_under_baseline=old, fail_under={"P.10": 0.9})
