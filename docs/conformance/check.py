"""Hold a metric of yours against cases that home-made metrics get wrong.

    python check.py MODULE:FUNCTION [cases.json]

The function takes qrels, {query: {document: level}}, a run, {query: [(document, score), ...]}, and
the name of a measure, such as recall@10 or mrr, and returns the mean over the queries. It may raise
NotImplementedError for a measure that it lacks, and any other exception for input that it refuses.
Only the standard library is needed. The exit status is 1 if any value is wrong.
"""

import importlib
import json
import math
import sys
from pathlib import Path

CASES = Path(__file__).with_name("cases.json")


def main(name, path=CASES):
    """Print a line for each case that fails, and how many passed; return how many failed."""
    sys.path.insert(0, "")
    module, _, function = name.partition(":")
    metric = getattr(importlib.import_module(module), function)
    counts = {"passed": 0, "wrong": 0, "another convention": 0, "lacking": 0}
    for case in json.loads(Path(path).read_text("utf-8"))["cases"]:
        outcome, value = outcome_of(metric, case)
        counts[outcome] += 1
        if outcome in ("wrong", "another convention"):
            expected = case["exact"] or "a refusal"
            print(f"{outcome}: {case['name']}: {case['measure']} is {value}, not {expected}:")
            print(f"  {case['why']} ({case.get('convention', case['mistake'])})")
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count))
    return counts["wrong"]


def outcome_of(metric, case):
    """Return what became of a case, and the value of the metric or the error."""
    try:
        run = {query: [tuple(hit) for hit in hits] for query, hits in case["run"].items()}
        value = float(metric(case["qrels"], run, case["measure"]))
    except NotImplementedError:
        return "lacking", None
    except Exception as problem:
        value = f"{type(problem).__name__}: {problem}"
        return "passed" if case.get("or") == "refused" else "wrong", value
    if case["exact"] is not None and math.isclose(value, case["value"], abs_tol=1e-9):
        return "passed", value
    return "another convention" if "convention" in case else "wrong", value


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]) > 0)
