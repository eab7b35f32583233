"""The manual page: all commands and options, and nothing that troff complains about."""

import re
import shutil
import subprocess

import pytest

from ragkpi.cli.commands import COMMANDS, function_of
from ragkpi.cli.man_page import man_page
from ragkpi.cli.option_groups import parameters_of


def shown():
    """The page as a reader sees it."""
    if shutil.which("man") is None or shutil.which("groff") is None:
        pytest.skip("there is no man, or no groff")
    done = subprocess.run(
        ["man", "--warnings", "-l", "-"],
        input=man_page(),
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"},
    )
    assert done.stderr == ""
    return re.sub(r".\x08", "", done.stdout)


def test_every_command_and_option_is_there():
    text = shown()
    for name in COMMANDS:
        assert f"\nRAGKPI {name.upper()}\n" in text
        for line in COMMANDS[name].examples:
            assert line in " ".join(text.split())
        for parameter in parameters_of(function_of(name)):
            for option in parameter.declared.names[:1]:
                assert re.search(rf"^ +(-\S+, )?{re.escape(option)}\b", text, re.MULTILINE), option


def test_texts_are_no_requests():
    """A line that begins with a dot is one of roff's requests that the page uses, or escaped."""
    requests = set(re.findall(r"^[.']\w*", man_page(), re.MULTILINE))
    assert requests == {".TH", ".SH", ".SS", ".PP", ".TP", ".nf", ".fi", ".nh", ".ad"}
