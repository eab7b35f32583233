"""A taste of the fuzzing of small files, in every run of the tests."""

import pytest

from tests.fuzz.small_files import FAMILIES, family_of, run_case

CASES = 150  # of a family


@pytest.mark.parametrize("family", FAMILIES)
def test_small_files(family, tmp_path):
    for number in range(CASES * len(FAMILIES)):
        if family_of(number) == family:
            run_case(number, tmp_path)


def test_cuts_of_an_arrow_stream_are_refused(tmp_path, ragkpi):
    """From the command line: status 2, and not one number.

    Every message is a cut, which pyarrow takes for an end; `tests.fuzz.small_files` and
    tests/files/test_damaged_tables.py cut at the bytes between.
    """
    pyarrow = pytest.importorskip("pyarrow")
    ipc = pytest.importorskip("pyarrow.ipc")
    table = pyarrow.table({"qid": ["1"] * 4, "docid": list("bacd"), "score": [4.0, 3, 2, 1]})
    with ipc.new_stream(str(tmp_path / "whole"), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    line = ("eval", "-m", "num_ret", "qrels")
    assert ragkpi(*line, "whole", folder=tmp_path).out.split()[-1] == b"4"
    whole = (tmp_path / "whole").read_bytes()
    messages = [at for at in range(len(whole)) if whole.startswith(b"\xff\xff\xff\xff", at)]
    assert len(messages) > 3
    for length in [*messages[1:], len(whole) - 1]:
        (tmp_path / "cut").write_bytes(whole[:length])
        outcome = ragkpi(*line, "cut", folder=tmp_path)
        assert (outcome.status, outcome.out) == (2, b""), length
