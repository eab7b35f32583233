"""What a release says about itself is one thing, wherever it is said."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

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
    assert promised == re.findall(r"3\.\d+", tested[1])[: len(promised)]  # it may test a newer one
    assert f'requires-python = ">={promised[0]}"' in _text("pyproject.toml")


def test_wheels_are_built_for_the_oldest_python_and_serve_all():
    settings = tomllib.loads(_text("pyproject.toml"))
    oldest = settings["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert settings["tool"]["cibuildwheel"]["build"] == f"cp{oldest}-*"
    assert f'"py_limited_api": "cp{oldest}"' in _text("setup.py")
    version = f"0x{int(oldest[0]):02X}{int(oldest[1:]):02X}0000"
    assert f"#define Py_LIMITED_API {version}\n" in _text("ragkpi/_kernel.c")


@pytest.mark.skipif(not WORKFLOWS, reason="a source distribution has no workflows")
def test_a_release_has_compiled_wheels_and_a_pure_one():
    publish, test = (_workflow(name)["jobs"] for name in ("publish", "test"))
    built_on = publish["wheels"]["strategy"]["matrix"]["os"]
    assert {name.split("-")[0] for name in built_on} == {"ubuntu", "macos", "windows"}
    assert sum("arm" in name for name in built_on) == 2  # macos-latest is the third
    assert {"test", "wheels"} <= set(publish["publish"]["needs"])
    uploads = [_with(step) for job in (publish["wheels"], test["package"]) for step in job["steps"]]
    names = [upload["name"] for upload in uploads if "name" in upload]
    assert len(names) == 2
    assert all(name.startswith("dist") for name in names)
    # Wheels of the machine that tests are for machines like it: PyPI refuses them.
    kept = [upload["path"] for upload in uploads if upload.get("name") == "dist"]
    assert kept[0].split() == ["dist/*.tar.gz", "dist/*-none-any.whl"]
    taken = [_with(step) for step in publish["publish"]["steps"]]
    assert {"pattern": "dist*", "path": "dist", "merge-multiple": True} in taken


def _workflow(name):
    return yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())


def _with(step):
    return step.get("with", {})


def _text(name):
    return (ROOT / name).read_text("utf-8")
