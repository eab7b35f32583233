"""A part of what `python -m tests.faults.harness` tries; see there."""

import subprocess
import sys
from pathlib import Path

import pytest

from ragkpi.cli.app import COMMANDS
from tests.faults import harness
from tests.faults.injection import KINDS

ROOT = Path(__file__).parents[2]
ALL = [*KINDS, "signals"]


def test_every_command_meets_every_fault():
    tried = {line.split()[0] for line in harness.COMMANDS.values()}
    assert tried == set(COMMANDS) - {"demo"}  # which writes a new folder, and reads nothing


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and looks into /proc")
@pytest.mark.parametrize("kinds", [ALL[:3], ALL[3:]], ids=" ".join)
def test_no_fault_breaks_the_contract(kinds):
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.harness", "--bounded", *kinds],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("0 breaches\n", "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and looks into /proc")
def test_the_harness_finds_a_breach():
    """With the guarantee switched off, faults are told: the harness can fail."""
    program = (
        "import ragkpi.reports.output_files as files\n"
        "from contextlib import contextmanager\n"
        "@contextmanager\n"
        "def careless(path, option='-o', styles='spelled'):\n"
        "    with open(path, 'wb') as file: yield file\n"
        "files.replacing = careless\n"
        "from tests.faults import harness\n"
        "for breach in harness.faults(['write'], lambda _: [1], ['eval to a file'], (1,)):\n"
        "    print(breach)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "out is neither the old file nor the new one" in done.stdout
