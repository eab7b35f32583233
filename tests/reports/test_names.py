import random

import pytest

from ragkpi.reports.names import run_names, short_names


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


def test_what_tells_names_apart_is_kept():
    models, depths = ("bge-large-en", "e5-mistral-7b"), ("top50", "top200")
    names = [f"msmarco-{m}-rerank-bge-reranker-v2-m3-{d}" for m in models for d in depths]
    short = short_names([*names, "bm25"], 20)
    assert short[-1] == "bm25"
    for name, words in zip(short, [("large", "top50"), ("large", "top200"), ("e5", "top50"),
                                   ("e5", "top200")], strict=False):  # fmt: skip
        assert all(word in name for word in words)
        assert "msmarco" not in name
        assert len(name) <= 20


@pytest.mark.parametrize("alphabet", ["ab-/", "abcdefgh-_.", "a"])
def test_short_names_are_distinct_and_fit(alphabet):
    draw = random.Random(4)
    for _ in range(300):
        made = {
            "".join(draw.choices(alphabet, k=draw.randrange(1, 40)))
            for _ in range(draw.randrange(1, 30))
        }
        names, width = sorted(made), draw.randrange(6, 24)
        short = short_names(names, width)
        assert len(set(short)) == len(names)
        assert max(map(len, short)) <= width
        assert all(len(name) > width or name in short for name in names)
