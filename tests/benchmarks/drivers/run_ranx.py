"""Evaluate as ranx's documentation does: read both files, evaluate, print the means."""

import sys

import ranx

qrels_file, run_file, *measures = sys.argv[1:]
qrels = ranx.Qrels.from_file(qrels_file, kind="trec")
run = ranx.Run.from_file(run_file, kind="trec")
values = ranx.evaluate(qrels, run, measures, make_comparable=True)
for name, value in values.items():
    print(f"{name:<22}\tall\t{value:6.4f}")
