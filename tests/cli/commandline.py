"""What tests of commands share: the fixtures' files, and how output is read back."""

import json
from importlib.resources import files
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCHEMA = json.loads((files("ragkpi.reports") / "schema.json").read_text())
LINE = {"$schema": SCHEMA["$schema"], "$ref": "#/$defs/line", "$defs": SCHEMA["$defs"]}
BM25, DENSE, FUSION = ("runs/bm25.run", "runs/dense.run", "runs/fusion.run")
MEASURES = ("-m", "map", "-m", "num_ret", "-m", "bor.10", "-N", "5000")


def trec_values(out, query="all"):
    """Values of trec_eval's lines, as texts by name."""
    rows = [line.split("\t") for line in out.decode().splitlines()]
    return {row[0].rstrip(): row[2].strip() for row in rows if row[1] == query}
