import os
import sys
import tempfile
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from hypothesis import settings

# A loaded machine is slow, and slow is not wrong.
settings.register_profile("ragkpi", deadline=None)
settings.load_profile("ragkpi")

# They need terminals, signals, shells and symbolic links as Linux and macOS have them.
if sys.platform == "win32":
    collect_ignore_glob = [
        *("test_readme.py", "test_recipes.py", "test_examples.py", "test_interrupts.py"),
        *(
            "test_contributing.py",
            "cli/test_destinations.py",
            "cli/test_help.py",
            "cli/test_completion.py",
            "cli/test_man_page.py",
            "faults/*",
        ),
    ]


class Outcome(NamedTuple):
    status: int
    out: bytes
    err: bytes


@pytest.fixture
def ragkpi(capfdbinary, monkeypatch):
    """Run a command line in this process: fast, and with the bytes that a shell would see."""
    from ragkpi.cli import main

    def run(*arguments, folder=".", stdin=b""):
        with monkeypatch.context() as patch, standard_input(stdin) as replacement:
            patch.chdir(folder)
            patch.setattr(sys, "stdin", replacement)
            capfdbinary.readouterr()
            status = main([str(argument) for argument in arguments])
            sys.stdout.flush()
            sys.stderr.flush()
            return Outcome(status, *capfdbinary.readouterr())

    return run


@contextmanager
def standard_input(text):
    """Put `text` behind file descriptor 0, for readers that do not go through sys.stdin."""
    saved = os.dup(0)
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.seek(0)
        os.dup2(file.fileno(), 0)
        try:
            with open(0, closefd=False) as replacement:
                yield replacement
        finally:
            os.dup2(saved, 0)
            os.close(saved)
