"""What tests of commands share: the fixtures' files, and how output is read back."""

from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "helpdesk"
BM25, DENSE, FUSION = ("runs/bm25.run", "runs/dense.run", "runs/fusion.run")
MEASURES = ("-m", "map", "-m", "num_ret", "-m", "bor.10", "-N", "5000")


def trec_values(out, query="all"):
    """Values of trec_eval's lines, as texts by name."""
    rows = [line.split("\t") for line in out.decode().splitlines()]
    return {row[0].rstrip(): row[2].strip() for row in rows if row[1] == query}
