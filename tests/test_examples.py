"""The Makefile that users copy does what it says."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HELPDESK = ROOT / "tests" / "helpdesk"  # with gaps
EXAMPLE = ROOT / "fixtures" / "examples"
SYSTEMS = ("bm25", "dense", "fusion")
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@pytest.fixture
def project(tmp_path):
    """A repository with the files of the example, whose runs may be touched."""
    shutil.copytree(HELPDESK / "runs", tmp_path / "runs")
    shutil.copy(HELPDESK / "qrels.txt", tmp_path)
    shutil.copytree(EXAMPLE, tmp_path / "examples")
    return tmp_path / "examples"


def started(project, *arguments):
    return subprocess.Popen(
        ["make", f"RAGKPI={sys.executable} -m ragkpi", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def make(project, *arguments):
    process = started(project, *arguments)
    out, err = process.communicate()
    return process.returncode, out, err


def evaluated(out):
    """The runs that make evaluated."""
    return sorted(re.findall(r"-q -o \S+/(\w+)\.json", out))


def test_runs_become_results_a_comparison_and_a_table(project):
    """And only what changed is made again."""
    status, out, err = make(project, "-j2")
    assert status == 0, err
    assert evaluated(out) == sorted(SYSTEMS)
    results = project / "results"
    for name in ("comparison.md", "table.tex", "experiments.jsonl"):
        assert all(system in (results / name).read_text() for system in SYSTEMS)
    _, history, _ = make(project, "history")
    assert history.index("fusion") < history.index("bm25")
    made = {path.name: path.stat().st_mtime_ns for path in results.iterdir()}
    assert evaluated(make(project, "-j2")[1]) == []
    later = time.time() + 5
    os.utime(project.parent / "runs" / "dense.run", (later, later))
    assert evaluated(make(project, "-j2")[1]) == ["dense"]
    again = {path.name: path.stat().st_mtime_ns for path in results.iterdir()}
    same = {name for name in made if made[name] == again[name]}
    assert same == {"bm25.json", "fusion.json"}
    make(project, "clean")
    assert not results.exists()


def test_an_interrupt_leaves_whole_targets(project):
    process = started(project, "-j2")
    results = project / "results"
    while not list(results.glob("*.json")) and process.poll() is None:
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate()
    assert process.returncode != 0
    left = list(results.glob("*.json"))
    assert all(len(json.loads(path.read_text())["per_query"]) == 12 for path in left)
    assert make(project, "-j2")[0] == 0
    assert len(list(results.glob("*.json"))) == len(SYSTEMS)


def test_the_gate_closes(project):
    status, _, err = make(project, "gate", "LIMITS=--fail-under bor_10=6")
    assert status == 2, "make's own status for a command that failed"
    value, distance = re.search(r"dense: bor_10 is (\S+), below 6 by (\S+)\n", err).groups()
    assert float(value) + float(distance) == pytest.approx(6, abs=1e-5)
    assert "Error 3" in err
