import pytest

from ragkpi.cli.program import main

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq2 0 b 1\n"
# map: q1 1/2 and 1, q2 1 and 1/2; num_ret: 2 and 2, 2 and 1.
FIRST = "q1 Q0 b 1 2 first\nq1 Q0 a 2 1 first\nq2 Q0 a 1 2 first\nq2 Q0 b 2 1 first\n"
SECOND = "q1 Q0 a 1 2 second\nq1 Q0 b 2 1 second\nq2 Q0 b 1 2 second\n"


@pytest.fixture
def ragkpi(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "first").write_text(FIRST)
    (tmp_path / "second").write_text(SECOND)

    def run(*arguments):
        status = main(list(arguments))
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


def test_two_runs_are_a_deviation_over_root_two_from_their_mean(ragkpi, tmp_path):
    requests = ["-m", "map", "-m", "num_ret", "-m", "num_q", "-m", "gm_map"]
    status, written, _ = ragkpi("zscores", *requests, "qrels", "first", "second")
    assert status == 0
    assert [line.split()[:2] for line in written.splitlines()] == [
        [query, name] for query in ("q1", "q2") for name in ("map", "num_ret")
    ]
    (tmp_path / "zscores").write_text(written)
    status, out, _ = ragkpi("eval", "-q", "-Z", "zscores", *requests[:4], "qrels", "second")
    assert status == 0
    assert [line.split() for line in out.splitlines()] == [
        ["Znum_ret", "q1", "0.0000"],
        ["Zmap", "q1", "0.7071"],
        ["Znum_ret", "q2", "-0.7071"],
        ["Zmap", "q2", "-0.7071"],
        ["Znum_ret", "all", "-0.7071"],
        ["Zmap", "all", "0.0000"],
    ]


def test_one_run_is_refused(ragkpi):
    status, out, err = ragkpi("zscores", "qrels", "first")
    assert (status, out) == (1, "")
    assert "at least two runs" in err


@pytest.mark.parametrize(("command", "files"), [("eval", 2), ("zscores", 3)])
def test_measure_of_another_format_is_refused_before_reading(ragkpi, command, files):
    missing = ["nosuch"] * files
    status, out, err = ragkpi(command, "-R", "prefs", "-m", "map", *missing)
    assert (status, out) == (1, "")
    assert "map needs -R qrels" in err


def test_there_is_one_format_of_runs(ragkpi):
    assert ragkpi("eval", "-T", "trec_results", "-m", "map", "qrels", "first")[0] == 0
    status, out, err = ragkpi("eval", "-T", "other", "qrels", "first")
    assert (status, out) == (1, "")
    assert "-T: 'other'" in err
