"""The action for GitHub, the hook for pre-commit, and the page that walks through both.

The steps of `action.yml` are run as they stand, in a repository made by the page. The cache, pip
and `gh` are stand-ins: what GitHub itself does is not tested.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="scripts for bash"),
    pytest.mark.skipif(shutil.which("jq") is None, reason="gh has jq inside"),
]

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/start/pull-requests.md").read_text("utf-8")
SCRIPT, SEARCH, WORKFLOW, HOOKS = re.findall(r"^```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"]}
ON_MAIN = "github.event_name == 'push' && github.ref == format('refs/heads/{0}', "
ELSEWHERE = "github.event_name != 'push' || github.ref != format('refs/heads/{0}', "

# It keeps what it is told, and lists the comments: one of a person who copied ours, and ours.
GH = f"""#!{sys.executable}
import json, os, subprocess, sys
words = sys.argv[1:]
print(*words, file=open("gh.log", "a"))
if "--paginate" in words:
    bodies = [("User", os.environ["MARK"], 6)]
    if os.path.exists("comment.sent"):
        bodies.append(("Bot", open("comment.sent").read(), 7))
    comments = [
        dict(user=dict(type=kind), body=body, url=f"https://api/comments/{{number}}")
        for kind, body, number in bodies
    ]
    query = words[words.index("--jq") + 1]
    subprocess.run(["jq", "-r", query], input=json.dumps(comments), text=True, check=True)
else:
    (path,) = (word[6:] for word in words if word.startswith("body=@"))
    open("comment.sent", "w").write(open(path).read())
"""


@pytest.fixture
def repository(tmp_path):
    """What the page makes of an empty folder."""
    subprocess.run(["bash", "-e", "-c", SCRIPT], cwd=tmp_path, check=True)
    (tmp_path / "search.py").write_text(SEARCH)
    (tmp_path / "bin").mkdir()
    for name, script in {
        "ragkpi": f'#!/bin/sh\nexec {sys.executable} -m ragkpi "$@"\n',
        "python": f'#!/bin/sh\ncase "$*" in *pip*) ;; *) exec {sys.executable} "$@";; esac\n',
        "gh": GH,
    }.items():
        (tmp_path / "bin" / name).write_text(script)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


class Job:
    """A job of the page's workflow, on the default branch or for a pull request."""

    def __init__(self, repository, event):
        self.repository, self.on_main = repository, event == "push"
        (job,) = yaml.safe_load(WORKFLOW)["jobs"].values()
        *self.before, use = job["steps"]
        defaults = {name: one.get("default") for name, one in ACTION["inputs"].items()}
        assert set(use["with"]) <= set(defaults)
        self.inputs = defaults | use["with"]
        self.log, self.outputs = "", {}

    def value(self, text):
        """Fill in the expressions that the action has; another one is a mistake here."""
        known = {
            **{f"inputs.{name}": value for name, value in self.inputs.items()},
            "github.repository": "me/mine",
            "github.event.number": "5",
            "github.token": "secret",
            "steps.evaluate.outputs.status": self.outputs.get("status"),
        }
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known[match[1]], text)

    def is_due(self, step):
        condition = step.get("if", "")
        if "inputs.comment" in condition:
            return not self.on_main and self.inputs["comment"] == "true"
        assert not condition or ON_MAIN in condition or ELSEWHERE in condition
        return self.on_main if ON_MAIN in condition else not (condition and self.on_main)

    def shell(self, script, environment=()):
        (self.repository / "output").write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.repository,
            env={
                **os.environ,
                "PATH": f"{self.repository / 'bin'}:{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(self.repository / "output"),
                "GITHUB_STEP_SUMMARY": str(self.repository / "summary.md"),
                **{name: self.value(text) for name, text in dict(environment).items()},
            },
            capture_output=True,
            text=True,
        )
        lines = (self.repository / "output").read_text().splitlines()
        self.outputs |= dict(line.split("=", 1) for line in lines)
        self.log += done.stdout + done.stderr
        return done.returncode

    def run(self):
        """Run the workflow; return the exit status of the step at which it ended."""
        for step in self.before:
            assert "run" not in step or self.shell(step["run"]) == 0, self.log
        return self.act()

    def act(self):
        for step in filter(self.is_due, STEPS.values()):
            if "run" in step and (status := self.shell(step["run"], step.get("env", {}))):
                assert step["id"] == "pass", self.log
                return status
        return 0


def test_a_run_is_stored_then_compared_and_the_comment_is_updated(repository):
    first = Job(repository, "pull_request")
    assert first.run() == 0  # no baseline yet
    (repository / "comment.sent").unlink()
    main = Job(repository, "push")
    assert main.run() == 0
    assert (repository / ".ragkpi/ragkpi/baseline.json").exists()
    assert not (repository / "comment.sent").exists()

    (repository / "gh.log").unlink()
    same = Job(repository, "pull_request")
    assert same.run() == 0
    comment = (repository / "comment.sent").read_text()
    assert comment.startswith("<!-- ragkpi: ragkpi -->\n")
    assert "gate passed: words: ndcg" in comment.replace("\\", "")
    assert "::error" not in same.log

    (repository / "search.py").write_text(SEARCH.replace(", reverse=True", ""))
    worse = Job(repository, "pull_request")
    assert worse.run() == 3
    assert re.search(r"(?m)^::error title=ragkpi%3A ndcg_cut_3 of words against \S.*::", worse.log)
    for page in ("comment.sent", "summary.md"):
        assert "ndcg_cut_3 of words against" in (repository / page).read_text()
    calls = (repository / "gh.log").read_text().splitlines()
    assert [call.split(" -F")[0] for call in calls if "--paginate" not in call] == [
        "api repos/me/mine/issues/5/comments",
        "api -X PATCH https://api/comments/7",
    ]


def test_a_run_that_cannot_be_evaluated_is_an_error_with_its_line(repository):
    job = Job(repository, "pull_request")
    (repository / "words.run").write_text("q1 Q0 d1 1 100%##[add-mask] words\n")
    assert job.act() == 2
    (error,) = re.findall("(?m)^::error title=ragkpi::(.*)$", job.log)
    assert error.startswith("words.run:1: score '100%25")
    assert "##[" not in job.log
    assert "could not evaluate" in (repository / "comment.sent").read_text()


def test_other_judgements_are_no_ground_for_a_comparison(repository):
    assert Job(repository, "push").run() == 0
    with (repository / "data/qrels.txt").open("a") as qrels:
        qrels.write("q1 0 d2 1\n")
    job = Job(repository, "pull_request")
    assert job.run() == 4
    assert "qrels" in re.search("(?m)^::error title=ragkpi::(.*)$", job.log)[1]


def test_words_of_options_are_not_run(repository):
    job = Job(repository, "pull_request")
    job.inputs["options"] = "-m ndcg_cut.3\n-N 8 $(touch stolen) *"
    assert job.run() != 0
    assert not (repository / "stolen").exists()
    assert not any("${{" in step.get("run", "") for step in STEPS.values())


def test_every_step_knows_when_it_is_due():
    due = {
        event: [id for id, step in STEPS.items() if Job(Path(), event).is_due(step)]
        for event in ("push", "pull_request")
    }
    assert due["push"] == ["install", "evaluate", "pass", "store", "save"]
    assert due["pull_request"] == ["install", "restore", "evaluate", "comment", "pass"]


def test_the_hook_checks_runs_before_a_commit(repository):
    (shown,) = yaml.safe_load(HOOKS)["repos"]
    (hook,) = shown["hooks"]
    (offered,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert hook["id"] == offered["id"]
    assert re.search(offered["files"], "words.run")
    job = Job(repository, "pull_request")
    assert job.run() == 0
    words = [*shlex.split(offered["entry"]), *hook["args"], "words.run"]  # as pre-commit calls it
    assert job.shell(shlex.join(words)) == 0, job.log
    text = (repository / "words.run").read_text()
    (repository / "words.run").write_text(text[: len(text) // 2])
    assert job.shell(shlex.join(words)) == 3
