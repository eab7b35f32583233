"""Whatever is asked about whatever files: an answer, or one clear refusal."""

import json
from random import Random

import pytest

from tests.fuzz.command_lines import command_line_of, files_of
from tests.tries import TRIES

STATUSES = {0, 1, 2, 3, 4, 7}  # as 'ragkpi -h' has them
EACH = 25


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize("first", range(0, 150 * TRIES, EACH))
def test_any_command_line(ragkpi, tmp_path, first, monkeypatch):
    monkeypatch.setenv("RAGKPI_WORKERS", "1")
    for number in range(first, first + EACH):
        random = Random(number)
        for name, text in files_of(random).items():
            (tmp_path / name).write_text(text)
        arguments = command_line_of(random)
        outcome = ragkpi(*arguments, folder=tmp_path)
        said = f"{number}: {arguments} {outcome}"
        assert outcome.status in STATUSES, said
        assert b"Traceback" not in outcome.err, said
        assert b"internal" not in outcome.err, said
        if "-h" not in arguments:
            assert not {b"nan", b"-nan", b"None"} & set(outcome.out.split()), said
        if outcome.status and arguments[0] != "check":  # whose findings are its output
            assert outcome.err, said
        # eval and compare show the runs that are not to blame.
        if outcome.status in (1, 2, 4, 7) and arguments[0] not in ("check", "compare", "eval"):
            assert outcome.out == b"", said
        if outcome.status == 0 and outcome.out.startswith(b"{") and "jsonl" not in arguments:
            json.loads(outcome.out, parse_constant=refuse)
