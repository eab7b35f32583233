"""RA-nWG and relatives, T, F and Fe against the worked cases that are formulas."""

import re
from collections import Counter

import numpy as np
import pytest

from ragkpi.measures import evidence as grade_counts
from ragkpi.measures.measure import RATIO_OF_MEANS
from ragkpi.ranking.judged import GRADE_MAPS, Settings
from tests.measures.by_hand import judge, lines, population, summary
from tests.measures.rag_oracle import WEIGHING, agree, cases, number

RUBRIC = Settings(grade_map=GRADE_MAPS["rubric"])


def grades(text):
    """[5, 4, 4] or "20x5, 5x4" to a list of grades."""
    if isinstance(text, list):
        return text
    return [int(g) for n, g in re.findall(r"(\d+)x(\d)", text) for _ in range(int(n))]


def named(some):
    """Name documents by grade and number, so that lists of grades are subsets of each other."""
    seen = Counter()
    names = []
    for grade in some:
        seen[grade] += 1
        names.append(f"g{grade}-{seen[grade]}")
    return names


def evidence(inputs, settings=RUBRIC):
    if "counts" in inputs:
        labels = [int(g) for g, n in inputs["counts"].items() for _ in range(n)]
    else:
        labels = grades(inputs["labels"])
    qrels = {"q": dict(zip(named(labels), labels, strict=True))}
    run = {"q": {doc: -rank for rank, doc in enumerate(named(grades(inputs["topk_grades"])))}}
    pool = None
    if "pool_grades" in inputs:
        pool = {"q": {doc: -rank for rank, doc in enumerate(named(inputs["pool_grades"]))}}
    return judge(qrels, run, settings, pool)


def weights(counts, **changed):
    row = np.array([[0, *(counts.get(str(grade), 0) for grade in range(1, 6))]])
    weighing = WEIGHING | {name: number(text) for name, text in changed.items()}
    return grade_counts.weights(row, **weighing)[0]


def set_measures(inputs):
    judged = evidence(inputs)
    K = inputs["K"]
    names = "ra_nwg proc pct_proc pool_miss n_recall4 n_recall5 proc_n_recall4 proc_n_recall5"
    found = {
        name: summary(judged, f"{name}.{K}") for name in [*names.split(), "precision4", "harm"]
    }
    counts = grade_counts.labelled(judged)
    worth = grade_counts.weights(counts, **WEIGHING)
    found |= {f"w{grade}": worth[0, grade] for grade in (3, 4, 5)}
    found["G_obs"] = grade_counts.sum_weights(grade_counts.in_top(judged, K), worth)[0]
    found["G_oracle"] = grade_counts.best_sum(counts, worth, K)[0]
    found["oracle_12"] = grade_counts.best_sum(counts, worth, 12)[0]
    union = Settings(grade_map=GRADE_MAPS["rubric"], pool_union="union")
    found["proc_union"] = summary(evidence(inputs, union), f"proc.{K}")
    return found


def all_weights(inputs):
    """Keys such as "alpha=1,cap3=.33"."""
    options = "alpha=0 alpha=1 alpha=2 alpha=1/2 alpha=1,cap4=.75,cap3=.20 alpha=1,cap3=.33"
    return {
        key: weights(
            {grade: n for grade, n in inputs["counts"].items() if grade in "345"},
            **dict(pair.split("=") for pair in key.split(",")),
        )[[5, 4, 3]].tolist()
        for key in options.split()
    }


def ratio(pair):
    return float(RATIO_OF_MEANS.summary(np.array(pair), 1))


def efficiency(inputs):
    names = [name for name in inputs if "@" in name]
    mean = sum(inputs[name] for name in names) / len(names)
    return {"avg": mean, "efficiency": ratio([mean, inputs["latency_s"]])}


PAPER = {
    "ra_paper_table4": lambda inputs: {"pct": [ratio(row[1:]) for row in inputs["rows"]]},
    "ra_paper_tables5_6": lambda inputs: {
        f"pct{n}": [ratio(pair) for pair in inputs[f"table{n}"]] for n in (5, 6)
    },
    "ra_paper_efficiency": efficiency,
}


@pytest.mark.parametrize("case", cases("formula", "ra_nwg"))
def test_evidence(case):
    weighing = all_weights if case["id"].startswith("ra_weights") else set_measures
    agree(PAPER.get(case["id"], weighing)(case["inputs"]), case["expected"], case)


def tradeoff(found, num_rel, alpha, K, deeper=0, num_ret=None):
    """t, t_code, F and Fe of a query with this many relevant documents in the top K and 2K."""
    ranks = [*range(1, found + 1), *range(K + 1, K + deeper + 1)]
    judged = population(10**6, [num_rel], [ranks], num_ret=num_ret or 2 * K)
    names = ("t", "t_code", "F", "Fe")
    return {name: summary(judged, f"{name}.{K},alpha={alpha!r}") for name in names}


def full_list(inputs):
    alpha, K = number(inputs["alpha"]), inputs["K"]
    deeper = inputs["np_top2K"] - inputs["np"]
    found = tradeoff(inputs["np"], inputs["Np"], alpha, K, deeper)
    P = inputs["np"] / K
    return found | {"P": P, "recall": inputs["np"] / inputs["Np"], "P_minus_alpha": found["t"]}


def short_list(inputs):
    return tradeoff(inputs["np"], 9, number(inputs["alpha"]), inputs["K"], 0, inputs["n_ret"])


def bounds(inputs):
    alpha, K = number(inputs["alpha"]), inputs["K"]
    return {
        "t_all_positive": tradeoff(K, K, alpha, K)["t"],
        "t_all_negative": tradeoff(0, K, alpha, K)["t"],
    }


def no_positives(inputs):
    return {"Fe": [tradeoff(0, 3, number(a), inputs["K"])["Fe"] for a in inputs["alpha"]]}


def ndcg_variants(inputs):
    graded = inputs["grades_run"]
    docs = {f"d{i}": grade for i, grade in enumerate(graded)}
    missed = {f"m{i}": 1 for i in range(4)}
    run = {"q": {doc: -i for i, doc in enumerate(docs)}}
    K = len(graded)
    local = summary(judge({"q": docs}, run), f"ndcg_local.{K}")
    exponential = summary(judge({"q": docs | missed}, run), f"ndcg_exp.{K}")
    return {"ndcg_retrieved_only": local, "ndcg@5_exp": exponential}


def average_precision(inputs):
    R = [query["R"] for query in inputs["lists"]]
    judged = population(10**6, R, [query["ranks"] for query in inputs["lists"]])
    (values,) = lines(judged, "map_min.100").values()
    return {"AP": list(values.values())[:3], "MAP": values["all"]}


def f1(inputs):
    # Precision and recall of .9 and .1, .5 and .5, .40 and .33, as counts.
    found = [tradeoff(9, 90, 0.5, 10)["F"], tradeoff(1, 2, 0.5, 2)["F"]]
    return {"F1": found, "F1_of_rounded_.40_.33": tradeoff(132, 400, 0.5, 330)["F"]}


COMPUTED = {
    "t_short_list": short_list,
    "t_bounds": bounds,
    "fe_no_positives": no_positives,
    "refund_ndcg": ndcg_variants,
    "refund_mrr_map": average_precision,
    "harmonic": f1,
}
# Steps of a sum, and what tests of trec_eval's own measures check.
NOT_HERE = {"gain_rank2", "gain_rank4", "DCG", "IDCG_retrieved_only", "ndcg@5_trec_eval"}
NOT_HERE |= {"IDCG@5_if_4_missed_are_grade_1", "MRR", "speed"}


@pytest.mark.parametrize("case", cases("formula", "t", "classic"))
def test_tradeoff_and_variants(case):
    expected = {k: v for k, v in case["expected"].items() if k not in NOT_HERE}
    agree(COMPUTED.get(case["id"], full_list)(case["inputs"]), expected, case)
