"""What a release says about itself is one thing, wherever it is said."""

import re
from pathlib import Path

import pytest

import ragkpi

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_the_changelog_begins_with_the_version():
    first = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", _text("CHANGELOG.md"), re.M)
    assert first is not None
    assert first[1] == ragkpi.__version__


def test_who_cites_cites_the_version():
    assert f"\nversion: {ragkpi.__version__}\n" in _text("CITATION.cff")


@pytest.mark.skipif(not WORKFLOWS, reason="a source distribution has no workflows")
def test_every_python_that_is_promised_is_tested():
    promised = re.findall(r"Programming Language :: Python :: (3\.\d+)", _text("pyproject.toml"))
    tested = re.search(r"python: \[(.+)\]", (ROOT / ".github/workflows/test.yml").read_text())
    assert tested is not None
    assert re.findall(r"3\.\d+", tested[1]) == promised
    assert f'requires-python = ">={promised[0]}"' in _text("pyproject.toml")


def _text(name):
    return (ROOT / name).read_text("utf-8")
