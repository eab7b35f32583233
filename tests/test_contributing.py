"""CONTRIBUTING.md's recipes, done: a copy of the package is changed as they say, and tried."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

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
    parts = re.split(r"^## (Recipe: .+)$", TEXT, flags=re.MULTILINE)[1:]
    for heading, body in zip(parts[0::2], parts[1::2], strict=True):
        body = re.split(r"^## ", body, flags=re.MULTILINE)[0]
        blocks = [Block(language, action, text) for language, action, text in FENCE.findall(body)]
        yield pytest.param(body, blocks, id=heading)


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


def try_out(folder, block):
    """Run the commands of a console block; what they print must stand under them."""
    for command, wanted in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block.body, re.MULTILINE):
        words = command.replace("ragkpi ", f"{sys.executable} -m ragkpi ", 1)
        words = words.replace("python -m pytest", f"{sys.executable} -m pytest -p no:cacheprovider")
        done = subprocess.run(
            words, shell=True, cwd=folder, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stdout + done.stderr
        if wanted.strip():
            assert done.stdout == wanted


@pytest.mark.parametrize(("body", "blocks"), list(recipes()))
def test_a_recipe_works_as_written(body, blocks, tmp_path, monkeypatch):
    for part in ("ragkpi", "fixtures", "tests", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part)  # with what is compiled of it
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    touched = [apply(tmp_path, block) for block in blocks if block.action]
    lint = [sys.executable, "-m", "ruff", "check", "-q", "--ignore=I", "."]  # which it mends itself
    done = subprocess.run(lint, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for block in blocks:
        if block.language == "console":
            try_out(tmp_path, block)
    listed = re.findall(r"^\| `([^`]+)` \|", FENCE.sub("", body), re.MULTILINE)
    assert sorted(set(touched)) == sorted(listed), "the table of files to touch is not true"


def test_there_are_all_recipes():
    assert [re.sub(r"^Recipe: ", "", recipe.id) for recipe in recipes()] == [
        "add a measure",
        "add an output format",
        "add a command",
        "add a file format",
        "add a dump's shape",
        "add a finding",
        "add a test of significance",
        "add an option",
    ]
