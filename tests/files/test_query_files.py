import re

import pytest

from ragkpi.errors import DataError, InputError
from ragkpi.files.query_files import read_quality


def read(folder, text):
    path = folder / "quality.tsv"
    path.write_text(text)
    return read_quality(str(path))


def test_two_columns_are_of_one_run(tmp_path):
    assert read(tmp_path, "# judge\nq1\t4\n\nq2 3.5\n") == {None: {b"q1": 4.0, b"q2": 3.5}}


def test_three_columns_name_the_run(tmp_path):
    found = read(tmp_path, "q1 a 1\nq1 b 2\nq2 a -1e-1\n")
    assert found == {b"a": {b"q1": 1.0, b"q2": -0.1}, b"b": {b"q1": 2.0}}


def test_a_spreadsheet_has_commas_and_a_header(tmp_path):
    assert read(tmp_path, "query_id,answer_correctness\nq1,0.5\nq2, 1\n") == {
        None: {b"q1": 0.5, b"q2": 1.0}
    }
    assert read(tmp_path, "q,1 0.5\nq,2 1\n") == {None: {b"q,1": 0.5, b"q,2": 1.0}}


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("q1 good\n", InputError, "quality.tsv:1: 'q1 good'; expected QUERY SCORE"),
        ("q1 1\nquery score\n", InputError, ":2: 'query score'; expected QUERY SCORE"),
        ("q1 1_0\n", InputError, ":1: 'q1 1_0'; expected QUERY SCORE"),
        ("q1 nan\n", InputError, ":1: 'q1 nan'; expected QUERY SCORE"),
        ("q1 1\nq2 a 1\n", InputError, ":2: 'q2 a 1'; expected QUERY SCORE"),
        ("q1 a 1\nq2 1\n", InputError, ":2: 'q2 1'; expected QUERY SCORE"),
        ("q1\n", InputError, ":1: 'q1'; expected QUERY SCORE"),
        ("q1 1\nq1 2\n", DataError, ":2: query 'q1' again"),
        ("q1 a 1\nq1 b 1\nq1 a 1\n", DataError, ":3: query 'q1' again"),
        ("", InputError, "no quality; expected QUERY SCORE"),
        ("# nothing\n", InputError, "no quality; expected QUERY SCORE"),
    ],
)
def test_errors_name_the_line(tmp_path, text, error, says):
    with pytest.raises(error, match=re.escape(says)):
        read(tmp_path, text)
