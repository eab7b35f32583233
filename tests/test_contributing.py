"""CONTRIBUTING.md's recipes, done: a copy of the package is changed as they say, and tried."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """What stands between fences, and what the line above says should be done with it."""

    language: str
    action: str
    body: str


def recipes():
    """Split the page into its recipes: heading and blocks."""
    parts = re.split(r"^## Recipe: (.+)$", TEXT, flags=re.MULTILINE)[1:]
    for heading, body in zip(parts[0::2], parts[1::2], strict=True):
        body = re.split(r"^## ", body, flags=re.MULTILINE)[0]
        blocks = [Block(language, action, text) for language, action, text in FENCE.findall(body)]
        yield heading, body, blocks


def apply(folder, block):
    """Write a new file, or insert lines into one: ``new PATH``, ``in PATH below "LINE"``."""
    if block.action.startswith("new "):
        path = folder / block.action[4:]
        assert not path.exists(), path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.body)
        return block.action[4:]
    name, line = re.fullmatch(r'in (\S+) below "(.+)"', block.action).groups()
    path = folder / name
    text = path.read_text()
    assert text.count(f"\n{line}\n") == 1, f"{name} has no line, or several, {line!r}"
    path.write_text(text.replace(f"\n{line}\n", f"\n{line}\n{block.body}"))
    return name


def commands(blocks):
    """Yield (command, what it prints) from the console blocks."""
    for block in blocks:
        if block.language == "console":
            yield from re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.body, re.MULTILINE)


def try_out(folder, command):
    """Run a command with this Python; return what it prints."""
    done = subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def at_once(lines):
    """Merge command lines of pytest: those with the same -k, and no file twice."""
    paths = {}
    for line in lines:
        files, _, chosen = line.removeprefix("python -m pytest -q ").partition(" -k ")
        paths.setdefault(chosen, []).extend(files.split())
    for chosen, files in paths.items():
        fresh = [path for path in dict.fromkeys(files) if not chosen or path not in paths[""]]
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *fresh]
        yield shlex.join(words) + (f" -k {chosen}" if chosen else "")


def test_the_recipes_work_as_written(tmp_path, monkeypatch):
    """One after the other in one copy, where each has to get on with the others."""
    for part in ("ragkpi", "fixtures", "tests", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part)  # with what is compiled of it
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    tests = []
    for heading, body, blocks in recipes():
        touched = [apply(tmp_path, block) for block in blocks if block.action]
        listed = re.findall(r"^\| `([^`]+)` \|", FENCE.sub("", body), re.MULTILINE)
        assert sorted(set(touched)) == sorted(listed), f"{heading}: not all files that are touched"
        for command, wanted in commands(blocks):
            if command.startswith("python -m pytest"):
                tests.append(command)
                continue
            printed = try_out(
                tmp_path, command.replace("ragkpi ", f"{sys.executable} -m ragkpi ", 1)
            )
            assert printed == wanted or not wanted.strip(), command
    # Imports are sorted by ruff itself.
    try_out(tmp_path, f"{sys.executable} -m ruff check -q --ignore=I .")
    for command in at_once(tests):
        try_out(tmp_path, command)


def test_there_are_all_recipes():
    assert [heading for heading, _, _ in recipes()] == [
        "add a measure",
        "add an output format",
        "add a command",
        "add a file format",
        "add a stack",
        "add a finding",
        "add a test of significance",
        "add an option",
    ]
