"""The README and the pages of examples show what their commands print on a terminal.

``python -m tests.test_readme`` writes what they print now into the pages.
"""

import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *(f"docs/{name}.md" for name in ("agree", "files", "questions", "tables"))]
COLUMNS = 100

_ROW = re.compile(r"^\| [^|]+ \| `(ragkpi [^`]+)` \| ([^|]+) \|$", re.MULTILINE)
_NO_SENTENCE = ("a table", "a page")


def examples(page):
    """Yield (command, what it prints) from the console blocks of a page."""
    for block in page.split("```console\n")[1:]:
        for example in block.partition("```")[0].split("$ ")[1:]:
            command, _, output = example.partition("\n")
            yield command, output


def printed(command):
    """Return what a command writes on stderr, and on a terminal without colours."""
    script = f'ragkpi() {{ {shlex.quote(sys.executable)} -m ragkpi "$@"; }}; {command}'
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm", "COLUMNS": str(COLUMNS)}
    with subprocess.Popen(
        ["bash", "-c", script], cwd=ROOT, stdout=theirs, stderr=subprocess.PIPE, env=environment
    ) as process:
        os.close(theirs)
        text = b""
        while piece := _read(ours):
            text += piece
        errors = process.stderr.read()
    os.close(ours)
    return errors.decode() + text.decode().replace("\r\n", "\n")


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux: nobody writes any more
        return b""


def answer(command):
    """Return the sentences of a command of the README's table."""
    done = subprocess.run(
        [sys.executable, "-m", "ragkpi", *shlex.split(command)[1:], "--format", "json"],
        cwd=ROOT / "fixtures",
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)["answer"]


def remade(page):
    """Return a page with what its commands print now."""
    for command, output in list(examples(page)):
        page = page.replace(f"$ {command}\n{output}", f"$ {command}\n{printed(command)}", 1)
    for row in list(_ROW.finditer(page)):
        if not row[2].startswith(_NO_SENTENCE):
            page = page.replace(row[0], row[0].replace(row[2], answer(row[1])[-1]))
    return page


SHOWN = [example for page in PAGES for example in examples((ROOT / page).read_text("utf-8"))]
ROWS = [row.groups() for row in _ROW.finditer((ROOT / "README.md").read_text("utf-8"))]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_commands_print_what_the_pages_show(command, output):
    assert printed(command) == output


@pytest.mark.parametrize(
    ("command", "sentence"), [row for row in ROWS if not row[1].startswith(_NO_SENTENCE)]
)
def test_answers_end_as_the_table_says(command, sentence):
    assert answer(command)[-1] == sentence


def test_the_readme_is_read_in_two_minutes():
    assert len(ROWS) == 9
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 200


if __name__ == "__main__":
    for name in PAGES:
        (ROOT / name).write_text(remade((ROOT / name).read_text("utf-8")), "utf-8")
