import os
import signal
import sys
import tempfile
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from hypothesis import settings

from tests.tries import TRIES

# A loaded machine is slow, and slow is not wrong. `make test` draws the same cases every time, so
# that a commit fails for what it changed; `make fuzz` draws new ones.
settings.register_profile("ragkpi", deadline=None, max_examples=30 * TRIES, derandomize=TRIES == 1)
settings.load_profile("ragkpi")

# Under nohup these signals are ignored, which processes that tests start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# They need terminals, signals, shells and symbolic links as Linux and macOS have them.
if sys.platform == "win32":
    collect_ignore_glob = [
        *("test_readme.py", "test_recipes.py", "test_examples.py", "test_interrupts.py"),
        *(
            "test_contributing.py",
            "cli/test_destinations.py",
            "cli/test_help.py",
            "cli/test_completion.py",
            "library/test_commands_through_python.py",
            "faults/*",
        ),
    ]


@pytest.fixture
def command_line():
    """Let messages name options, as the command line does."""
    from ragkpi.cli.program import CommandLine
    from ragkpi.interface import using

    with using(CommandLine()):
        yield


@pytest.fixture(params=["compiled", "plain"])
def reader(request, monkeypatch):
    """Let the compiled kernel read, and its plain twin: here, and in processes begun from here."""
    read_by(request.param, monkeypatch)
    return request.param


@pytest.fixture
def plain_reader(monkeypatch):
    """Let the plain twin read."""
    read_by("plain", monkeypatch)


def read_by(name, monkeypatch):
    from ragkpi import kernel, plain_kernel

    if name != "plain":
        if name != kernel.READER:
            pytest.skip("the kernel is not compiled")
        return
    monkeypatch.setenv("RAGKPI_READER", name)
    monkeypatch.setattr(kernel, "READER", name)
    for function in kernel.__all__:
        monkeypatch.setattr(kernel, function, getattr(plain_kernel, function))


class Outcome(NamedTuple):
    status: int
    out: bytes
    err: bytes

    @property
    def complaints(self):
        """The lines on standard error but notes, which say what was assumed or left out."""
        return [line for line in self.err.splitlines() if not line.startswith(b"ragkpi: note: ")]


@pytest.fixture
def ragkpi(capfdbinary, monkeypatch):
    """Run a command line in this process: fast, and with the bytes that a shell would see."""
    from ragkpi.cli.program import main

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
