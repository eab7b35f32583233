"""Completion, in the shells that are there: what stands on the line after a tab."""

import os
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragkpi.cli.help_pages import offers

pty = pytest.importorskip("pty")

ROOT = Path(__file__).parents[2]
PATIENCE = 60

LINES = {
    "ragkpi comp": "ragkpi compare",
    "ragkpi help diag": "ragkpi help diagnose",
    "ragkpi eval --fail-under-b": "ragkpi eval --fail-under-baseline",
    "ragkpi depth --format mark": "ragkpi depth --format markdown",
    "ragkpi eval --format=mark": "ragkpi eval --format=markdown",
    "ragkpi eval --grade-map umbrela-s": "ragkpi eval --grade-map umbrela-strict",
    "ragkpi eval -q -m ndcg_loc": "ragkpi eval -q -m ndcg_local",
    "ragkpi eval -m map,ndcg_loc": "ragkpi eval -m map,ndcg_local",
    "ragkpi measures pct_proc_": "ragkpi measures pct_proc_rom",
    "ragkpi convert --to msm": "ragkpi convert --to msmarco",
    "ragkpi formats nam": "ragkpi formats names",
    "ragkpi eval -m map fixtures/qrels.t": "ragkpi eval -m map fixtures/qrels.txt",
}

# What they are started with, and told before the first line.
INTERACTIVE = {
    "bash": (
        ["--norc", "--noprofile", "-i"],
        "PS1=; bind 'set enable-bracketed-paste off'; eval \"$(ragkpi --completion bash)\"",
    ),
    "zsh": (
        ["-f", "-i"],
        "PS1=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D;"
        ' eval "$(ragkpi --completion zsh)"',
    ),
}


@pytest.fixture
def path(tmp_path):
    """The search path of a system on which this tree is installed."""
    program = tmp_path / "ragkpi"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ragkpi "$@"\n')
    program.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_tab(shell, path):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    arguments, setup = INTERACTIVE[shell]
    environment = {**os.environ, "PATH": path, "TERM": "dumb", "PYTHONPATH": str(ROOT)}
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        os.execve(program, [shell, *arguments], environment)
    try:
        os.write(terminal, f"{setup}; echo rea''dy\n".encode())
        _read(terminal, b"ready\r\n")
        completed = {}
        for line in LINES:
            # A tab, and the beginning of the line again: what stands there is printed.
            os.write(terminal, f"{line}\t\x01printf '<%s>' \x05; echo en''d\n".encode())
            text = _read(terminal, b"end\r\n").decode()
            completed[line] = " ".join(re.findall(r"<([^<>%]*)>", text))
        assert completed == LINES
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)


def _read(terminal, until):
    text, end = b"", time.monotonic() + PATIENCE
    while until not in text:
        assert time.monotonic() < end, text
        if select.select([terminal], [], [], 1)[0]:
            text += os.read(terminal, 1 << 16)
    return text


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish(path):
    asked = "; ".join(
        f"echo (complete -C '{line}' | string replace -r '\\t.*' '')" for line in LINES
    )
    done = subprocess.run(
        ["fish", "-N", "-c", f"ragkpi --completion fish | source; {asked}"],
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [line.split()[-1] for line in LINES.values()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ev"], ["eval"]),
        (["nonsense", ""], []),
        (["eval", "-m", "ndcg_c"], ["ndcg_cut"]),
        (["eval", "--measure=ndcg_c"], ["--measure=ndcg_cut"]),
        (["eval", "--format", "=", "mark"], ["markdown"]),  # as bash takes it apart
        (["depth", "--format", "="], None),
        (["depth", "--format", "j"], ["json", "jsonl", "junit"]),
        (["eval", "-q", ""], []),  # files
        (["eval", "--plot", ""], []),
        (["eval", "--complete_"], ["--complete_rel_info_wanted"]),  # trec_eval's spelling
        (["eval", "--complete"], ["--complete"]),
        (["compare", "--test", "w"], ["wilcoxon"]),
        (["--completion", "z"], ["zsh"]),
    ],
)
def test_offers(words, expected):
    offered = [text for text, _ in offers(words)]
    assert offered == expected if expected is not None else "markdown" in offered


def test_what_a_shell_asks(ragkpi, monkeypatch):
    monkeypatch.setenv("_RAGKPI_COMPLETE", "bash")
    assert ragkpi("depth", "--format", "j").out == b"json\njsonl\njunit\n"
    assert ragkpi("eval", "--nonsense", "").out == b""
    monkeypatch.setenv("_RAGKPI_COMPLETE", "fish")
    assert ragkpi("comp").out.startswith(b"compare\tCompare runs")


def test_no_such_shell(ragkpi):
    outcome = ragkpi("--completion", "tcsh")
    assert outcome.status == 1
    assert outcome.err == b"ragkpi: --completion tcsh: no such choice; expected bash, zsh or fish\n"
