"""The package is built from a clean copy: with a compiler, without one, and as a pure wheel.

What was built before (`build/`, an old kernel beside its source) would hide a failure.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CC = shlex.split(os.environ.get("CC") or "cc")[0]

pytestmark = [
    pytest.mark.skipif(
        int(version("setuptools").split(".")[0]) < 77, reason="setuptools is older than 77"
    ),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout to copy"),
]


@pytest.fixture
def copy(tmp_path):
    """A copy of all that is, or will be, in the repository."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/")):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def build(copy, what, **environment):
    """Ask the build backend for a wheel or a source distribution, as pip and build do."""
    wanted = f"import setuptools.build_meta as backend; backend.build_{what}('dist')"
    done = subprocess.run(
        [sys.executable, "-c", wanted],
        cwd=copy,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = (copy / "dist").iterdir()
    return made


def unpacked(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        return set(archive.namelist())


def run(folder, *arguments):
    """Run the command of a package that is in some folder, and nowhere else."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ragkpi", *arguments],
        cwd=ROOT / "fixtures",
        env=os.environ | {"PYTHONPATH": str(folder), "RAGKPI_READER": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_evaluates(site, reader):
    assert run(site, "--version").endswith(f"({reader} reader)\n")
    asked = ("eval", "-m", "official", "qrels.txt", "reranked.run")
    assert run(site, *asked) == run(ROOT, *asked)


@pytest.mark.skipif(sys.platform == "win32", reason="/bin/false is no compiler of Windows")
def test_without_a_compiler_the_plain_reader_serves(copy, tmp_path):
    names = unpacked(build(copy, "wheel", CC="/bin/false"), tmp_path / "site")
    assert "ragkpi/_kernel.pyi" in names
    assert not [name for name in names if name.endswith((".so", ".pyd")) or "golden/" in name]
    assert_evaluates(tmp_path / "site", "plain")


def test_a_pure_wheel(copy, tmp_path):
    wheel = build(copy, "wheel", RAGKPI_PURE="1")
    assert wheel.name.endswith("-py3-none-any.whl")
    names = unpacked(wheel, tmp_path / "site")
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
    assert "ragkpi/plain_kernel.py" in names
    assert_evaluates(tmp_path / "site", "plain")
    assert run(tmp_path / "site", "demo", str(tmp_path / "demo"))
    for name in ("qrels.txt", "runs/fusion.run", "examples/gold.jsonl"):
        assert (tmp_path / "demo" / name).read_bytes() == (ROOT / "fixtures" / name).read_bytes()


@pytest.mark.skipif(shutil.which(CC) is None, reason="no compiler")
def test_one_wheel_for_all_versions_of_python(copy, tmp_path):
    wheel = build(copy, "wheel")
    assert "-cp311-abi3-" in wheel.name
    names = unpacked(wheel, tmp_path / "site")
    suffix = ".pyd" if sys.platform == "win32" else ".abi3.so"
    assert {f"ragkpi/_kernel{suffix}", "ragkpi/_kernel.pyi", "ragkpi/py.typed"} <= names
    assert_evaluates(tmp_path / "site", "compiled")


@pytest.mark.parametrize("pure", ["", "1"])
def test_the_source_distribution_has_the_kernel(copy, pure):
    with tarfile.open(build(copy, "sdist", RAGKPI_PURE=pure)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"ragkpi/_kernel.c", "ragkpi/_kernel.pyi", "ragkpi/plain_kernel.py"} <= names
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
