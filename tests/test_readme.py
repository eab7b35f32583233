"""The README and the pages of docs/ show what their commands print, and Python returns.

``python -m tests.test_readme [PAGE...]`` writes what they print now into the pages.

The commands of a page run one after the other, on a terminal, in a folder of its own that holds the
fixtures: what one command writes, the next one reads.
"""

import contextlib
import doctest
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import warnings
from fcntl import ioctl
from glob import glob
from pathlib import Path

import pytest

from tests.processes import all_of, on_a_terminal, outputs

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]
COLUMNS = 100

_EXAMPLE = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_ROW = re.compile(r"^\| [^|]+ \| `(ragkpi [^`]+)` \| [^|]+ \|$", re.MULTILINE)
_SHELL = re.compile(r"[|<>;&$`\n~]|^(?!ragkpi )")
_STATUS = "; echo status $?"


def examples(page):
    """Yield (command, what it prints) from the console blocks of a page."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        yield from _EXAMPLE.findall(block)


def words_of(command, folder):
    """Return the words after `ragkpi` of a command that needs no shell but for ``*``; else None."""
    command = command.replace("\\\n", "")
    if _SHELL.search(command.removesuffix(_STATUS)):
        return None
    _, *words = shlex.split(command.removesuffix(_STATUS))
    named = [sorted(glob(word, root_dir=folder)) if "*" in word else [word] for word in words]
    return [word for some in named for word in some]


def printed(command, folder):
    """Return what a command writes on stderr, and on a terminal without colours."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {"NO_COLOR": "1", "TERM": "xterm", "COLUMNS": str(COLUMNS)}
    if (words := words_of(command, folder)) is not None:
        status, text, errors = on_a_terminal(words, folder, (ours, theirs), **environment)
        told = f"status {status}\n" if command.endswith(_STATUS) else ""
        return errors.decode() + text.decode() + told
    script = f'ragkpi() {{ {shlex.quote(sys.executable)} -m ragkpi "$@"; }}; {command}'
    environment = {**os.environ, **environment, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        ["bash", "-c", script], cwd=folder, stdout=theirs, stderr=subprocess.PIPE, env=environment
    ) as process:
        os.close(theirs)
        text = all_of(ours)
        errors = process.stderr.read()
    return errors.decode() + text.decode()


class _Recorder(doctest.DocTestRunner):
    """Keeps what differs."""

    def __init__(self):
        super().__init__(verbose=False)
        self.wrong = []

    def report_failure(self, out, test, example, got):
        self.wrong.append((example.source, example.want, got))

    def report_unexpected_exception(self, out, test, example, exc_info):
        kind, problem, _ = exc_info
        text = f"{kind.__module__}.{kind.__qualname__}: {problem}"
        shown = f"Traceback (most recent call last):\n    ...\n{text}\n"
        self.wrong.append((example.source, example.want, shown))


def wrong_outputs(page, folder):
    """Run the Python of a page; return (source, output shown, real output) where they differ."""
    recorder, here = _Recorder(), Path.cwd()
    examples = doctest.DocTestParser().get_doctest(page, {}, "page", "page", 0)
    before = sys.modules.pop("pytrec_eval", None)  # a page puts ragkpi in its place
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recorder.run(examples, out=io.StringIO().write)
    finally:
        os.chdir(here)
        sys.modules.pop("pytrec_eval", None)
        if before is not None:
            sys.modules["pytrec_eval"] = before
    return recorder.wrong


@contextlib.contextmanager
def workplace():
    """Make a folder with the fixtures."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "fixtures").symlink_to(ROOT / "fixtures")
        yield folder


def remade(page):
    """Return a page with what its commands print now."""
    with workplace() as folder:
        for command, output in list(examples(page)):
            new = f"$ {command}\n{printed(command, folder)}"
            page = page.replace(f"$ {command}\n{output}", new, 1)
        for source, shown, real in wrong_outputs(page, folder):
            lines = source.rstrip("\n").replace("\n", "\n... ")
            page = page.replace(f">>> {lines}\n{shown}", f">>> {lines}\n{real}", 1)
    return page


def _text(page):
    return (ROOT / page).read_text("utf-8")


QUESTIONS = [row[1] for row in _ROW.finditer(_text("README.md"))]


@pytest.mark.parametrize("page", [page for page in PAGES if "```console\n" in _text(page)])
def test_commands_print_what_the_page_shows(page, tmp_path):
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    for command, output in examples(_text(page)):
        assert printed(command, tmp_path) == output, command


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in _text(page)])
def test_python_returns_what_the_page_shows(page, tmp_path):
    pytest.importorskip("ir_measures")
    pytest.importorskip("polars")
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    assert wrong_outputs(_text(page), tmp_path) == []


@pytest.mark.parametrize("page", PAGES)
def test_all_that_looks_like_an_example_is_one(page):
    text = _text(page)
    assert len(list(examples(text))) == len(re.findall(r"^\$ ", text, re.MULTILINE))
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        assert block.startswith(">>> "), "Python that no test runs"


@pytest.mark.parametrize("command", [one for one in QUESTIONS if " -o " not in one])
def test_a_question_of_the_table_is_answered(command):
    status, out, err = outputs(shlex.split(command)[1:], ROOT / "fixtures")
    assert status == 0, err
    assert out


def test_the_readme_is_read_in_two_minutes():
    assert len(QUESTIONS) == 10
    assert len(_text("README.md").splitlines()) <= 150


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        (ROOT / name).write_text(remade(_text(name)), "utf-8")
