import pytest

from ragkpi.reports.layout import run_names


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["runs/bm25.txt", "runs/dense.run.gz"], ["bm25", "dense"]),
        (["a/run.bm25.v1", "-"], ["run.bm25.v1", "-"]),
        (["a/run.txt", "b/run.txt", "c.txt"], ["a/run.txt", "b/run.txt", "c"]),
        (["run.txt", "run.txt"], ["run.txt#1", "run.txt#2"]),
        ([".txt", "x/.gz"], [".txt", ".gz"]),
        (["rag25.TXT"], ["rag25"]),
    ],
)
def test_names_from_files(paths, names):
    assert run_names(paths) == names


def test_names_from_run_ids():
    assert run_names(["a", "b", "c"], ["x", "y", "x"]) == ["a", "y", "c"]
