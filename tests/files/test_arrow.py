"""Tables read piece by piece: the same rows, whatever the pieces; few bytes may hold many rows."""

import subprocess
import sys

import numpy as np
import pytest

from ragkpi.errors import InputError
from ragkpi.files.formats import reader_of
from ragkpi.files.opening import Source

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def rows(path):
    with Source(str(path)) as source:
        return [
            (block.query[group], document, score, line)
            for block in reader_of("run", source).stream_run(source)
            for group, document, score, line in zip(
                block.group().tolist(),
                block.document,
                block.score.tolist(),
                block.line,
                strict=True,
            )
        ]


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("lengths", [[100, 1, 60], [150_000, 1, 90_000, 5], [1] * 140_000])
def test_pieces(lengths, folder, tmp_path):
    """Rankings shorter and longer than what is read at a time, over the ends of parts."""
    queries = np.repeat([f"q{number}" for number in range(len(lengths))], lengths).tolist()
    expected = [
        (query.encode(), b"d%d" % row, -row / 4, row + 1) for row, query in enumerate(queries)
    ]
    table = pyarrow.table(
        {
            "qid": queries,
            "docid": [row[1].decode() for row in expected],
            "score": [row[2] for row in expected],
        }
    )
    path = tmp_path / "run"
    if folder:
        path.mkdir()
        half = len(table) // 3
        parquet.write_table(table.slice(0, half), path / "part-0.parquet", row_group_size=20_000)
        later = table.slice(half).select(["score", "docid", "qid"])
        parquet.write_table(later, path / "part-1.parquet")
    else:
        parquet.write_table(table, path, row_group_size=33_000)
    assert rows(path) == expected


def test_a_part_without_a_column(tmp_path):
    table = pyarrow.table({"qid": ["a"], "docid": ["d"], "score": [1.0]})
    parquet.write_table(table, tmp_path / "0.parquet")
    parquet.write_table(table.drop_columns(["score"]), tmp_path / "1.parquet")
    with pytest.raises(InputError, match="score is null"):
        rows(tmp_path)


def test_lists_of_very_many_elements_are_refused(tmp_path):
    """A few kilobytes say that a row has eleven million of them."""
    count = 11_000_000
    same = pyarrow.DictionaryArray.from_arrays(pyarrow.array(bytes(count), "int8"), ["d"])
    lists = pyarrow.ListArray.from_arrays([0, count], same)
    parquet.write_table(pyarrow.table({"qid": ["a"], "hits": lists}), tmp_path / "run")
    assert (tmp_path / "run").stat().st_size < 20_000
    with pytest.raises(InputError, match="more than 2 GB "):
        rows(tmp_path / "run")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_what_takes_long_to_import_is_not_imported(kind, tmp_path):
    """Some calls of pyarrow import pandas, which takes longer than all the rest."""
    (tmp_path / "run").write_text("a Q0 b 1 2.5 me\na Q0 c 2 1.5 me\n", "utf-8")
    code = (
        "import sys; from ragkpi.cli.program import main; main(sys.argv[1:]); "
        "print(*{'pandas'} & set(sys.modules) if 'eval' in sys.argv else ())"
    )

    def run(*words):
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout

    run("convert", "run", f"run.{kind}")
    (tmp_path / "qrels").write_text("a 0 c 1\n", "utf-8")
    evaluated = run("eval", "-m", "recip_rank", "qrels", f"run.{kind}")
    assert evaluated.split() == [b"recip_rank", b"all", b"0.5000"]


@pytest.mark.parametrize("rank", [2**53, -(2**53), 2**53 + 1, -(2**63)])
def test_ranks_are_exact_or_refused(rank, tmp_path):
    table = pyarrow.table({"qid": ["a", "a"], "docid": ["b", "c"], "score": [1, rank]})
    parquet.write_table(table, tmp_path / "run")
    if abs(rank) > 2**53:
        with pytest.raises(InputError, match="column score"):
            rows(tmp_path / "run")
    else:
        assert [row[2] for row in rows(tmp_path / "run")] == [1, rank]
