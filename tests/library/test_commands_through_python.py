"""Every command line of the README and the pages is a call of a public function, with its numbers.

The commands of a page run in this process; what they call is noted, and called again from Python.
"""

import inspect
import os
import re
import sys
import warnings

import pytest

import ragkpi
from ragkpi.cli.app import COMMANDS, command_of
from tests.test_readme import PAGES, QUESTIONS, ROOT, examples, printed, words_of

# What the command line answers by itself.
_ALONE = re.compile(r"ragkpi (-|help\b|\w+ (.* )?(-h|--help|--list|-v|--version)\b)")
TEXTS = {page: (ROOT / page).read_text("utf-8") for page in PAGES}


MODULES = [sys.modules[command_of(name).__module__] for name in COMMANDS]


class Calls:
    """What public functions were called with, and what they returned."""

    def __init__(self, monkeypatch):
        self.made = []
        for name in ragkpi.__all__:
            function = getattr(ragkpi, name)
            if inspect.isfunction(function):
                noted = self._noted(name, function)
                for module in MODULES:
                    if vars(module).get(name) is function:
                        monkeypatch.setattr(module, name, noted)

    def _noted(self, name, function):
        def call(*given, **named):
            try:
                returned = function(*given, **named)
            except ragkpi.RagkpiError as problem:
                self.made.append((name, function, given, named, type(problem)))
                raise
            self.made.append((name, function, given, named, _numbers(returned)))
            return returned

        return call


def _again(function, given, named):
    try:
        return _numbers(function(*given, **named))
    except ragkpi.RagkpiError as problem:
        return type(problem)


def _numbers(returned):
    """Return what a function returned as data, without what a command does not compute."""
    if hasattr(returned, "to_dict"):
        return _unsigned({**returned.to_dict(), "text": str(returned)})
    if hasattr(returned, "data"):
        return {name: value for name, value in returned.data.items() if name != "time"}
    return returned


def _unsigned(value):
    if isinstance(value, dict):
        return {
            name: _unsigned(held)
            for name, held in value.items()
            if name not in ("signature", "queries_sha256")
        }
    return [_unsigned(held) for held in value] if isinstance(value, list) else value


@pytest.fixture
def run_commands(ragkpi, monkeypatch, tmp_path):
    """Run command lines one after the other, and hold what they call against Python."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")

    def run(commands, folder=tmp_path):
        checked = 0
        for command in commands:
            words = words_of(command, folder)
            if words is None:
                if ">" in command or "ragkpi" not in command:  # others only read
                    printed(command, folder)
                continue
            with monkeypatch.context() as patch:
                calls = Calls(patch)
                ragkpi(*words, folder=folder)
            if not _ALONE.match(command):
                assert calls.made, f"{command} calls no public function"
            before = os.getcwd()
            os.chdir(folder)
            try:
                for name, function, given, named, numbers in calls.made:
                    if name != "convert":  # its answer is a file
                        assert _again(function, given, named) == numbers, (command, name)
                        checked += 1
            finally:
                os.chdir(before)
        return checked

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield run


@pytest.mark.parametrize("page", [page for page in PAGES if "```console\n" in TEXTS[page]])
def test_commands_of_a_page(page, run_commands):
    run_commands([command for command, _ in examples(TEXTS[page])])


def test_commands_of_the_table(run_commands):
    commands = [f"{command} -o out" if "report" in command else command for command in QUESTIONS]
    assert run_commands([c for c in commands if " -o out" not in c], ROOT / "fixtures")
