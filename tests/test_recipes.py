"""The recipes for Make and CI do what they say: their blocks are run as they stand."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HELPDESK = ROOT / "tests" / "helpdesk"  # with gaps
PAGE = (ROOT / "docs/recipes.md").read_text("utf-8")
RUNS = {"better": "fusion", "worse": "bm25"}


def block(heading, language):
    """The code of a section."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return re.search(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def project(tmp_path):
    """A project with judgements, the main branch's run, and programs that CI machines have."""
    (tmp_path / "data").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(HELPDESK / "qrels.txt", tmp_path / "data/qrels.txt")
    main = (HELPDESK / "runs/dense.run").read_text().splitlines(keepends=True)
    for folder in ("data", "runs"):
        (tmp_path / folder / "main.run").write_text("".join(main))
    for name, script in {"ragkpi": f'exec {sys.executable} -m ragkpi "$@"', "pip": "true"}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def candidate(project, which):
    """Let the search find what a retriever finds; a worse one misses the first of each query."""
    lines = (HELPDESK / "runs" / f"{RUNS[which]}.run").read_text().splitlines(keepends=True)
    if which == "worse":
        lines = [line for line in lines if int(line.split()[3]) > 3]
    (project / "search.py").write_text(f"print({''.join(lines)!r}, end='')\n")
    (project / "runs/candidate.run").write_text("".join(lines))


def run(project, script):
    environment = {
        **os.environ,
        "PATH": f"{project / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "CI_COMMIT_SHORT_SHA": "1a2b3c4d",
    }
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=project, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(("which", "status"), [("better", 0), ("worse", 2)])
def test_makefile(project, which, status):
    candidate(project, which)
    (project / "Makefile").write_text(block("Makefile", "make"))
    made = run(project, "make scores.json gate")
    assert made.returncode == status, made.stderr  # 2 is make's own for a command that failed
    assert ("Error 3" in made.stderr) == (which == "worse")
    assert (project / "scores.json").exists()


@pytest.mark.parametrize(("which", "status"), [("better", 0), ("worse", 3)])
def test_github(project, which, status):
    yaml = pytest.importorskip("yaml")
    candidate(project, which)
    steps = yaml.safe_load(block("GitHub Actions", "yaml"))["jobs"]["retrieval"]["steps"]
    for step in steps:
        if step.get("name") == "Gate":
            assert run(project, step["run"]).returncode == status
        elif "run" in step:
            done = run(project, step["run"])
            assert done.returncode == 0, (step, done.stderr)
    summary = (project / "summary.md").read_text()
    assert "| run |" in summary
    assert "candidate" in summary


@pytest.mark.parametrize(("which", "status"), [("better", 0), ("worse", 3)])
def test_gitlab(project, which, status):
    yaml = pytest.importorskip("yaml")
    candidate(project, which)
    job = yaml.safe_load(block("GitLab", "yaml"))["retrieval"]
    done = run(project, "\n".join(job["script"]))
    assert done.returncode == status, done.stderr
    assert all((project / path).exists() for path in job["artifacts"]["paths"])


def test_pre_commit(project):
    yaml = pytest.importorskip("yaml")
    candidate(project, "better")
    (hook,) = yaml.safe_load(block("pre-commit", "yaml"))["repos"][0]["hooks"]
    assert re.search(hook["files"], "runs/main.run")
    shutil.copy(HELPDESK / "runs/bm25.run", project / "runs/bm25.run")
    staged = "runs/bm25.run runs/candidate.run"
    assert run(project, f"{hook['entry']} {staged}").returncode == 0
    assert run(project, f"{hook['entry']} runs/main.run").returncode == 3  # it lacks a query
    with (project / "runs/bm25.run").open("a") as file:
        file.write("hd-01 Q0 kb_0003#3 99 none main\n")
    assert run(project, f"{hook['entry']} {staged}").returncode == 3


def test_record(project):
    candidate(project, "better")
    (project / "candidate.run").write_text((project / "runs/candidate.run").read_text())
    script = block("A log of experiments", "sh")
    done = run(project, f"git() {{ echo 1a2b3c; }}; {script}")
    assert done.returncode == 0, done.stderr
    assert "1a2b3c" in done.stdout


@pytest.mark.parametrize(("which", "status"), [("better", 0), ("worse", 1), ("none", 2)])
def test_a_script_that_tells_worse_from_broken(project, which, status):
    page = (ROOT / "docs/exit-statuses.md").read_text("utf-8")
    script = re.search(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    shutil.copy(HELPDESK / "qrels.txt", project / "qrels.txt")
    if which != "none":
        candidate(project, which)
        shutil.copy(project / "runs/candidate.run", project / "candidate.run")
    assert run(project, f"set +e; {script}").returncode == status
