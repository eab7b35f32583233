"""Evaluate as pytrec_eval's own example does: parse both files, evaluate, print the means."""

import sys

import pytrec_eval

qrels_file, run_file, *measures = sys.argv[1:]
with open(qrels_file) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(run_file) as file:
    run = pytrec_eval.parse_run(file)
results = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
for name in sorted(results[min(results)]):
    values = [of_query[name] for of_query in results.values()]
    print(f"{name:<22}\tall\t{pytrec_eval.compute_aggregated_measure(name, values):6.4f}")
