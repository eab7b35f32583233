"""BEIR's and MTEB's own evaluation code gives the same numbers with ragkpi in pytrec_eval's place.

Both are heavy (torch, datasets), so they are no part of the extra `dev`: ``pip install beir mteb``
into an environment with ragkpi, and these tests run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BEGIN = """
import json, random, sys
if sys.argv[1] == "ragkpi":
    import ragkpi.pytrec_eval
    sys.modules["pytrec_eval"] = ragkpi.pytrec_eval
import pytrec_eval
assert pytrec_eval.__name__.startswith(sys.argv[1]), pytrec_eval
chance = random.Random(3)
documents = [f"d{n}" for n in range(300)]
qrels, results = {}, {}
for n in range(30):
    qrels[f"q{n}"] = {d: chance.choice([0, 1, 1, 2]) for d in chance.sample(documents, 12)}
    results[f"q{n}"] = {d: round(chance.random(), 3) for d in chance.sample(documents, 150)}
del results["q7"]
try:
    %s
except ImportError as problem:
    print(problem, file=sys.stderr)
    sys.exit(77)
print(json.dumps(answer, default=float))
"""

BEIR = (
    BEGIN
    % """
    from beir.retrieval.evaluation import EvaluateRetrieval
    answer = EvaluateRetrieval.evaluate(qrels, results, [1, 3, 5, 10, 100])
    for metric in ("mrr", "recall_cap", "hole", "top_k_accuracy"):
        answer += (EvaluateRetrieval.evaluate_custom(qrels, results, [1, 10], metric),)
""".strip()
)
MTEB = (
    BEGIN
    % """
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores
    answer = list(calculate_retrieval_scores(results, qrels, [1, 3, 5, 10, 100]))
""".strip()
)


def answer(script, package):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, package],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
    )
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("script", [BEIR, MTEB], ids=["beir", "mteb"])
def test_scores_are_those_with_pytrec_eval(script):
    pytest.importorskip("pytrec_eval")
    assert answer(script, "ragkpi") == answer(script, "pytrec_eval")
