"""Random qrels and runs through ragkpi and through pytrec_eval, which wraps trec_eval's own code.

pytrec-eval-terrier 0.5 wraps trec_eval 9.0.8; ragkpi prints what 10.0 prints. Of the differences
between the two these would show:

- 9.0.8 keeps scores in single precision: the scores here are multiples of 1/64 below 2^11.
- 9.0.8 cuts iprec_at_recall and 11pt_avg at trunc(p * R + 0.9) relevant documents, 10.0 at p * R
  rounded: compared where both cut at the same document, which the inputs provide for.
- A ranking without documents makes these two 0/0 in both versions, and 0 in ragkpi.

9.0.8 evaluates the queries that qrels and run share, as ragkpi does without -c. relstring, which
pytrec_eval cannot return, and what 9.0.8 lacks (dcg, ideal_dcg, rbp, rbp_resid, unj) are held
against 10.0's output in tests/golden.
"""

import csv
import math
from random import Random

import pytest

from tests.tries import seeds

pytrec_eval = pytest.importorskip("pytrec_eval")

MEASURES = sorted(pytrec_eval.supported_measures - {"runid", "num_q", "relstring"})
CUT = {"P", "recall", "ndcg_cut", "map_cut", "relative_P", "success"}
POINTS = {"iprec_at_recall", "Rprec_mult"}
COUNTS = {"num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
ELEVENTHS = [point / 10 for point in range(11)]
DOCUMENTS = [f"{prefix}{number}" for number in range(80) for prefix in ("d", "D", "doc/", "é", "")]


@pytest.mark.parametrize("seed", seeds(100))
def test_agrees_with_pytrec_eval(seed, tmp_path, ragkpi):
    agrees_with_pytrec_eval(seed, tmp_path, ragkpi)


@pytest.mark.parametrize("seed", [1000 + seed for seed in seeds(30)])
def test_the_plain_reader_agrees_with_pytrec_eval(seed, tmp_path, ragkpi, plain_reader):
    agrees_with_pytrec_eval(seed, tmp_path, ragkpi)


def agrees_with_pytrec_eval(seed, tmp_path, ragkpi):
    random = Random(seed)
    qrels, run = judgements_and_rankings(random)
    measures = [with_parameters(random, measure) for measure in MEASURES]
    level, judged_only = random.choice([1, 1, 2]), random.random() < 0.2

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures, level, judged_only)
    values = evaluator.evaluate(run)
    write(
        random,
        tmp_path / "qrels",
        [(q, "0", d, g) for q, ds in qrels.items() for d, g in ds.items()],
    )
    write(
        random,
        tmp_path / "run",
        [(q, "Q0", d, "0", repr(s), "tag") for q, ds in run.items() for d, s in ds.items()],
    )
    options = [f"-l{level}", *["-J"] * judged_only, *[f"-m{measure}" for measure in measures]]
    outcome = ragkpi("eval", "-q", *options, tmp_path / "qrels", tmp_path / "run")

    assert outcome.status == 0, outcome.err
    printed = {
        (query, name.rstrip()): text
        for name, query, text in csv.reader(outcome.out.decode().splitlines(), dialect="excel-tab")
    }
    expected = texts(values, relevant={q: at_least(level, qrels[q]) for q in values})
    assert printed.keys() == expected.keys()
    assert printed == {key: text or printed[key] for key, text in expected.items()}


def judgements_and_rankings(random):
    """Draw queries of which some are judged only and some retrieved only, never none in both."""
    qrels, run = {}, {}
    grades = random.choice([[0, 1], [0, 0, 0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [0, 0, 0, 0, 4]])
    scores = random.choice(
        [[0.5, 1.0, 1.5], range(-20, 20), [n / 64 for n in range(-(2**17), 2**17)]]
    )
    for number in range(random.randint(1, 8)):
        query = random.choice(["q{}", "{}", "Q-{}", "日{}"]).format(number)
        documents = random.sample(DOCUMENTS, random.choice([4, 30, 150, len(DOCUMENTS)]))
        judged = random.sample(documents, random.randint(1, len(documents)))
        if number == 0 or random.random() < 0.85:
            qrels[query] = {document: random.choice(grades) for document in judged}
            # trec_eval fails on a query that has negative judgements only.
            qrels[query][judged[0]] = random.choice([0, 1, 2])
            if random.random() < 0.4:
                make_relevant(qrels[query], random.choice([0, 10, 20]))
        if number == 0 or random.random() < 0.85:
            retrieved = random.sample(documents, random.randint(1, len(documents)))
            run[query] = {document: float(random.choice(scores)) for document in retrieved}
    return qrels, run


def make_relevant(judgements, count):
    """Leave `count` relevant documents, where there are so many: all recall points agree then."""
    for place, document in enumerate(judgements):
        judgements[document] = 2 if place < count else 0


def with_parameters(random, measure):
    if measure in CUT and random.random() < 0.7:
        cutoffs = random.sample(range(1, 200), random.randint(1, 4))
        return f"{measure}.{','.join(map(str, sorted(cutoffs)))}"
    if measure in POINTS and random.random() < 0.5:
        points = random.sample(range(1, 25), random.randint(1, 4))
        return f"{measure}.{','.join(f'{point / 20}' for point in sorted(points))}"
    return measure


def write(random, path, rows):
    random.shuffle(rows)
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows), "utf-8")


def at_least(level, judgements):
    return sum(grade >= level for grade in judgements.values())


def texts(values, relevant):
    """What 10.0 prints where 9.0.8 computed `values`; None where the two versions may differ."""
    printed = {}
    for query, of_query in values.items():
        for name, value in of_query.items():
            if not name.startswith("gm_"):
                known = same_recall_points(name, relevant[query])
                printed[query, name] = text(name, value) if known else None
    queries = sorted(values, key=str.encode)
    for name in values[queries[0]]:
        total = 0.0
        for query in queries:
            value = values[query][name]
            total += 0.0 if math.isnan(value) else value
        if name.startswith("gm_"):
            summary = math.exp(total / len(queries))
        else:
            summary = total if name in COUNTS else total / len(queries)
        known = all(same_recall_points(name, relevant[query]) for query in queries)
        printed["all", name] = text(name, summary) if known else None
    return printed


def text(name, value):
    return f"{value:.0f}" if name in COUNTS else f"{0.0 if math.isnan(value) else value:6.4f}"


def same_recall_points(name, relevant):
    if name == "11pt_avg":
        points = ELEVENTHS
    elif name.startswith("iprec_at_recall"):
        points = [float(name.rpartition("_")[2])]
    else:
        return True
    return all(int(p * relevant + 0.9) == math.floor(p * relevant + 0.5) for p in points)
