"""Completion, as shells call it, and in those that are there: what is on the line after a tab."""

import os
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

ROOT = Path(__file__).parents[2]
PATIENCE = 60

# A command, an option, a value behind a comma and a file: each a new process, or two.
LINES = {
    "ragkpi comp": "ragkpi compare",
    "ragkpi eval --fail-under-b": "ragkpi eval --fail-under-baseline",
    "ragkpi eval -m map,ndcg_loc": "ragkpi eval -m map,ndcg_local",
    "ragkpi eval -m map fixtures/qrels.t": "ragkpi eval -m map fixtures/qrels.txt",
}

# What they are started with, and told before the first line.
INTERACTIVE = {
    "bash": (
        ["--norc", "--noprofile", "-i"],
        "PS1=; bind 'set enable-bracketed-paste off'; "
        'eval "$(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1 ragkpi --show-completion bash)"',
    ),
    "zsh": (
        ["-f", "-i"],
        "PS1=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D;"
        ' eval "$(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1 ragkpi --show-completion zsh)"',
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
    script = "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1 ragkpi --show-completion fish"
    done = subprocess.run(
        ["fish", "-N", "-c", f"{script} | source; {asked}"],
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [line.split()[-1] for line in LINES.values()]


def offers(ragkpi, monkeypatch, line):
    """What a bash is offered for the last word of a line."""
    words = line.split(" ")
    monkeypatch.setenv("_RAGKPI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    return ragkpi().out.decode().split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ragkpi ev", ["eval"]),
        ("ragkpi eval -m ndcg_c", ["ndcg_cut"]),
        ("ragkpi depth --format j", ["json", "jsonl", "junit"]),
        ("ragkpi depth --format mark", ["markdown"]),
        ("ragkpi eval --grade-map umbrela-s", ["umbrela-strict"]),
        ("ragkpi eval -q -m ndcg_loc", ["ndcg_local"]),
        ("ragkpi measures pct_proc_", ["pct_proc_rom"]),
        ("ragkpi convert --to msm", ["msmarco"]),
        ("ragkpi formats nam", ["names"]),
        ("ragkpi eval -q ", []),  # files
        ("ragkpi eval --plot ", []),
        ("ragkpi compare --test w", ["wilcoxon"]),
        ("ragkpi eval --names ", ["file", "runid"]),
        ("ragkpi eval --run-format trec", ["trec"]),
    ],
)
def test_offers(ragkpi, monkeypatch, line, expected):
    assert offers(ragkpi, monkeypatch, line)[: len(expected) or None] == expected
