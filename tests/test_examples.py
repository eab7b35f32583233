"""The Makefile that users copy does what it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def make(out, *arguments):
    return subprocess.run(
        ["make", f"RAGKPI={sys.executable} -m ragkpi", f"OUT={out}", *arguments],
        cwd=ROOT / "fixtures" / "examples",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_evaluates_compares_and_passes_the_gate(tmp_path):
    out = tmp_path / "results"
    assert make(out).returncode == 0
    made = {path.name: path.read_text() for path in out.iterdir()}
    assert set(made) == {"table.md", "results.json", "comparison.md", "experiments.jsonl"}
    for name in ("bm25", "dense", "fusion"):
        assert all(name in text for text in made.values())
    history = make(out, "history")
    assert history.stdout.index("fusion") < history.stdout.index("bm25")
    make(out, "clean")
    assert not out.exists()


def test_the_gate_closes(tmp_path):
    closed = make(tmp_path, "gate", "LIMITS=--fail-under bor_10=6")
    assert closed.returncode == 2, "make's own status for a command that failed"
    found, by = re.search(r"dense: bor_10 is (\S+), below 6 by (\S+)\n", closed.stderr).groups()
    assert float(found) + float(by) == pytest.approx(6, abs=1e-5)
    assert "Error 3" in closed.stderr
