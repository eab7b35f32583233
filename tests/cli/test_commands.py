"""What is said of a command that there is not."""

import pytest

from tests.cli.commandline import FIXTURES


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("evla", "did you mean eval?"),
        ("qrels.txt", "to evaluate files: ragkpi eval QRELS RUN"),
        ("zzz", "'ragkpi -h' lists them"),
    ],
)
def test_an_unknown_command(ragkpi, name, advice):
    outcome = ragkpi(name, "dense.run", folder=FIXTURES)
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.decode() == f"ragkpi: error: no command is named '{name}'; {advice}\n"
