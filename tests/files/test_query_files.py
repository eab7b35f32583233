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


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("q1 good\n", InputError, "quality.tsv:1: score 'good'"),
        ("q1 nan\n", InputError, ":1: score 'nan'"),
        ("q1 1\nq2 a 1\n", InputError, ":2: 3 columns"),
        ("q1 a 1\nq2 1\n", InputError, ":2: 2 columns"),
        ("q1\n", InputError, ":1: 1 columns"),
        ("q1 1\nq1 2\n", DataError, ":2: query 'q1' again"),
        ("q1 a 1\nq1 b 1\nq1 a 1\n", DataError, ":3: query 'q1' again"),
        ("", InputError, "is empty"),
        ("# nothing\n", InputError, "no scores"),
    ],
)
def test_errors_name_the_line(tmp_path, text, error, says):
    with pytest.raises(error, match=re.escape(says)):
        read(tmp_path, text)
