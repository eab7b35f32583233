"""The README shows what its commands print, and nothing that does not work."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def examples(page):
    """Yield (command, what it prints) from the console blocks of a page."""
    for block in page.split("```console\n")[1:]:
        for example in block.partition("```")[0].split("$ ")[1:]:
            command, _, output = example.partition("\n")
            yield command, output


SHOWN = [
    example
    for page in ("README.md", "docs/agree.md")
    for example in examples((ROOT / page).read_text("utf-8"))
]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_commands_print_what_the_readme_shows(command, output):
    if "../shared" in command and not (ROOT / "../shared").exists():
        pytest.skip("needs ../shared")
    script = f'ragkpi() {{ {sys.executable} -m ragkpi "$@"; }}; {command}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr + done.stdout == output
