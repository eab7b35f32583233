"""The evaluation code of other packages gives the same numbers with ragkpi in their place.

They are heavy (torch, datasets, Java), so they are no part of the extra `dev`: `make foreign`
installs them beside ragkpi, and these tests run.
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
def without_ties(results):  # which packages order in other ways
    return {q: {d: s + n / 1e6 for n, (d, s) in enumerate(r.items())} for q, r in results.items()}
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

PYTERRIER = (
    BEGIN
    % """
    import ir_measures, pandas, pyterrier
    from ir_measures import AP, P, R, RR, nDCG
    if sys.argv[1] == "ragkpi":
        import ragkpi.ir_measures
        providers = ir_measures.DefaultPipeline.providers
        providers.sort(key=lambda provider: provider.NAME != "ragkpi")
    rows = lambda ids: [(q, d, n) for q, of in ids.items() for d, n in of.items()]
    run = pandas.DataFrame(rows(without_ties(results)), columns=["qid", "docno", "score"])
    run["rank"] = run.groupby("qid").score.rank(ascending=False, method="first").astype(int) - 1
    answer = pyterrier.Experiment(
        [run],
        pandas.DataFrame({"qid": list(qrels), "query": list(qrels)}),
        pandas.DataFrame(rows(qrels), columns=["qid", "docno", "label"]),
        [nDCG @ 10, AP, AP(rel=2), RR @ 10, P @ 5, R @ 100],
        names=["run"],
    ).to_dict("list")
""".strip()
)
SENTENCE_TRANSFORMERS = (
    BEGIN
    % """
    from sentence_transformers.evaluation import InformationRetrievalEvaluator
    gold = {query: {d: 1 for d, level in of.items() if level} for query, of in qrels.items()}
    results = without_ties(results)
    cutoffs = [1, 3, 5, 10]
    measures = {"accuracy": "success", "precision": "P", "recall": "recall", "mrr": "recip_rank",
                "ndcg": "ndcg_cut", "map": "map_min"}
    if sys.argv[1] == "ragkpi":
        import ragkpi
        requests = [f"{measure}.{k}" for measure in measures.values() for k in cutoffs]
        mean = ragkpi.evaluate(gold, results, requests).mean
        answer = {name: [mean[f"{ours}_{k}"] for k in cutoffs] for name, ours in measures.items()}
    else:
        at = ("mrr", "ndcg", "accuracy", "precision_recall", "map")
        evaluator = InformationRetrievalEvaluator(
            dict.fromkeys(gold, ""), dict.fromkeys(documents, ""), gold,
            **{f"{name}_at_k": cutoffs for name in at})
        listed = [[{"corpus_id": d, "score": s} for d, s in results.get(query, {}).items()]
                  for query in evaluator.queries_ids]
        made = evaluator.compute_metrics(listed)
        answer = {name: [made[f"{name}@k"][k] for k in cutoffs] for name in measures}
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


@pytest.mark.parametrize(
    "script", [PYTERRIER, SENTENCE_TRANSFORMERS], ids=["pyterrier", "sentence-transformers"]
)
def test_values_are_the_same(script):
    theirs, ours = (answer(script, name) for name in ("pytrec_eval", "ragkpi"))
    assert theirs.pop("name", ["run"]) == ours.pop("name", ["run"])
    assert ours == {name: pytest.approx(values, rel=1e-12) for name, values in theirs.items()}
