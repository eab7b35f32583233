"""Bits-over-Random against the worked cases that are formulas: counts in, numbers out."""

from fractions import Fraction

import numpy as np
import pytest

from ragkpi.errors import UsageError
from ragkpi.measures.chance import BITS, CEILING
from ragkpi.measures.tied import tail
from tests.measures.by_hand import population, scores, summary
from tests.measures.rag_oracle import agree, cases, number

pytestmark = pytest.mark.usefixtures("command_line")

# What the cases compare with or derive, and ragkpi does not print.
NOT_MEASURES = {
    "p_rand_poisson",
    "bor_max_poisson",
    "poisson",
    "falling_factorial_rule",
    "bits_error_of_lgamma_formula",
    "mean_hit_times_ceiling",
    "gap_to_ceiling",
    "simlm_minus_bm25",
}


def value(name, K, N, R, success="1", m=1):
    """One measure over queries with these R, of which a fraction finds m relevant documents."""
    share = Fraction(str(success))
    hit, miss = [*range(1, m + 1)], []
    outcomes = [hit] * share.numerator + [miss] * (share.denominator - share.numerator)
    R = [r for r in (R if isinstance(R, list) else [R]) for _ in outcomes]
    judged = population(N, R, outcomes * (len(R) // len(outcomes)))
    return summary(judged, f"{name}.{K},m={m}")


def one_cell(inputs):
    """p_rand, ef, bor, bor_max, bor_opt and lambda of one (N, R, K, m)."""
    cell = {key: inputs[key] for key in ("K", "N", "R")}
    cell |= {"m": inputs.get("m", 1), "success": inputs.get("P_obs", 1)}
    names = ("p_obs", "p_rand", "ef", "bor", "bor_max", "bor_opt", "lambda")
    found = {name: value(name, **cell) for name in names}
    p_obs, p_rand = found["p_obs"], found["p_rand"]
    return found | {"kappa": (p_obs - p_rand) / (1 - p_rand) if p_rand < 1 else None}


def grid(inputs):
    """p_rand and bor_max for lists of R and K: one row per R if there are several."""
    R = inputs["R"] if isinstance(inputs["R"], list) else [inputs["R"]]
    tables = {
        name: [[value(name, K, inputs["N"], r) for K in inputs["K"]] for r in R]
        for name in ("p_rand", "bor_max")
    }
    return tables if isinstance(inputs["R"], list) else {k: row for k, (row,) in tables.items()}


def tails(column, rows):
    N, R, K, m = zip(*rows, strict=True)
    columns = (
        tail(*map(np.array, ([n], [r], [k])), m_) for n, r, k, m_ in zip(N, R, K, m, strict=True)
    )
    return [float(getattr(found, column)[0]) for found in columns]


def recall(inputs):
    """Queries with one relevant document each, of which a fraction is found in the top K."""
    N, K = inputs["N"], inputs["K"]
    found = [value("bor_recall", K, N, 1, share) for share in inputs["recall"]]
    return {"bor_opt": value("bor_opt", K, N, 1), "bor_recall": found}


def recall_of_one_query(inputs):
    judged = population(inputs["N"], [inputs["R"]], [range(1, inputs["hits"] + 1)])
    names = ("bor_recall", "ef_recall", "ef", "bor_opt", "p_rand")
    found = {name: summary(judged, f"{name}.{inputs['K']}") for name in names}
    return found | {
        "recall": inputs["hits"] / inputs["R"],
        "e_recall": inputs["K"] / inputs["N"],
        "ef_classic_(hits/K)/(R/N)": found["ef_recall"],
        "ef_max": 2 ** found["bor_opt"],
        "ef_success": found["ef"],
    }


def newsgroups(inputs):
    sizes, N = inputs.get("R_by_class", [inputs.get("R")]), inputs["N"]
    R = np.repeat(sizes, inputs.get("queries_by_class", [1])).tolist()
    judged = population(N, R, [[1]] * len(R))
    return {
        "R_mean": summary(judged, "lambda.10") * N / 10,
        "lambda_100": summary(judged, "lambda.100"),
        "p_rand": [summary(judged, f"p_rand.{K}") for K in inputs["K"]],
        "bor_max": [summary(judged, f"bor_max.{K}") for K in inputs["K"]],
        "bor_10": [of_share(judged, "bor.10", share) for share in (0.94, 0.95)],
        "bor_100_at_1": of_share(judged, "bor.100", 1.0),
        "dbor_exact_at_.95_1": of_share(judged, "dbor.10,100", 0.95),
        "dbor_sparse_at_.95_1": of_share(judged, "dbor_sparse.10,100", 0.95),
    }


def of_share(judged, request, share):
    """A measure whose first statistic is success, if this share of the queries succeeded."""
    (column,) = scores(judged, request).columns
    sums = column.statistics.sum(axis=0)
    sums[0] *= share
    return float(column.metric.measure.aggregate.summary(sums, len(judged.queries)))


def scifact(inputs):
    R = [int(r) for r, times in inputs["R_hist"].items() for _ in range(times)]
    hits = inputs["hits_of_300"]
    found = {}
    for system in ("BM25", "SPLADE"):
        early, late = hits[f"{system}@10"], hits[f"{system}@100"] - hits[f"{system}@10"]
        ranks = [[1]] * early + [[11]] * late + [[]] * (300 - early - late)
        judged = population(inputs["N"], R, ranks)
        found[f"{system}@10"] = summary(judged, "bor.10")
        found[f"{system}@100"] = summary(judged, "bor.100")
        found[f"dBoR_{system}"] = summary(judged, "dbor.10,100")
        found[f"dBoR_{system}_sparse"] = summary(judged, "dbor_sparse.10,100")
    return found


def difference(inputs, deep):
    judged = population(inputs["N"], [inputs["R"]], [range(1, inputs.get("m", 1) + 1)])
    return lambda name: summary(judged, f"{name}.{deep[0]},{deep[1]},m={inputs.get('m', 1)}")


def doubling(inputs):
    return {
        "dbor_10_20": difference(inputs, (10, 20))("dbor"),
        "dbor_10_100": difference(inputs, (10, 100))("dbor"),
    }


def m_rule(inputs):
    change = difference(inputs, (10, 20))
    return {"dbor_plateau_exact": change("dbor"), "rule_-m_log2(K2/K1)": change("dbor_sparse")}


def ceilings(inputs):
    chances = map(number, inputs["p_rand"])
    return {"bor_max": [float(CEILING.summary(np.array([1 - p, p]), 1)) for p in chances]}


def jensen(inputs):
    judged = population(inputs["N"], inputs["R_q"], [[], []])
    names = {"bor_max": "bor_max", "mean_of_query_ceilings": "bor_max_qmean"}
    names["lambda_mean"] = "lambda"
    return {key: summary(judged, f"{name}.{inputs['K']}") for key, name in names.items()}


def hit_fractions(inputs):
    pairs = zip(inputs["K"], inputs["hit_fraction"], strict=True)
    return {"bor": [value("bor", K, inputs["N"], 1, share) for K, share in pairs]}


def lgamma_trap(inputs):
    return {"p_rand": tails("probability", [(*row, 1) for row in inputs["rows"]])}


def m_tail(inputs):
    rows = [(inputs["N"], inputs["R"], inputs["K"], m) for m in inputs["m"]]
    return {"p_rand": tails("probability", rows), "log2": tails("log2", rows)}


def underflow(inputs):
    rows = [(inputs["N"], R, inputs["K"], m) for R, m in inputs["Rm"]]
    ceilings = [value("bor_max", K, N, R, m=m) for N, R, K, m in rows]
    assert ceilings == pytest.approx([-bits for bits in tails("log2", rows)], rel=1e-15)
    return {"log2_p_rand": [-bits for bits in ceilings]}


COMPUTED = {
    "bor_tools58_R3_R5": grid,
    "bor_ceiling_95_99": ceilings,
    "bor_recall_example": recall_of_one_query,
    "bor_msmarco_8840000": recall,
    "bor_msmarco_8841823": recall,
    "bor_20ng_R572": newsgroups,
    "bor_20ng_classes_train_queries": newsgroups,
    "bor_20ng_classes_test_queries": newsgroups,
    "bor_scifact_table": scifact,
    "bor_doubling_R1": doubling,
    "bor_m_rule": m_rule,
    "bor_stability_N120000000": grid,
    "bor_lgamma_trap": lgamma_trap,
    "bor_m_tail_large_N": m_tail,
    "bor_m_underflow": underflow,
    "bor_edges": lambda inputs: {"p_rand": tails("probability", inputs["rows"])},
    "bor_repo_m2": lambda inputs: {
        "p_rand": [value("p_rand", inputs["K"], inputs["N"], inputs["R"], m=m) for m in (1, 2)]
    },
    "bor_reward_is_not_bor": hit_fractions,
    "bor_ceiling_jensen": jensen,
    "ef_virtual_screening": recall_of_one_query,
}
CHANCE = cases("formula", "bor", "numerics", "aggregate")
CELLS = [case for case in CHANCE if case.id != "bor_degenerate"]


@pytest.mark.parametrize("case", cases("formula", "bootstrap"))
def test_population_of_the_bootstrap(case):
    """The intervals around it are tested in tests/statistics."""
    rows, K = case["inputs"]["rows_R_hit"], case["inputs"]["K"]
    judged = population(case["inputs"]["N"], [R for R, _ in rows], [[1] * hit for _, hit in rows])
    found = {name: summary(judged, f"{name}.{K}") for name in ("bor", "bor_max")}
    agree(found, {name: case["expected"][name] for name in found}, case)


@pytest.mark.parametrize("case", CELLS)
def test_worked_case(case):
    expected = {k: v for k, v in case["expected"].items() if k not in NOT_MEASURES}
    assert expected
    agree(COMPUTED.get(case["id"], one_cell)(case["inputs"]), expected, case)


@pytest.mark.parametrize("case", [case for case in CHANCE if case.id == "bor_degenerate"])
def test_degenerate_values(case):
    never, undefined, clamped, refused = case["expected"]["result"]
    miss, no_chance = np.array([0, 0.9, 0.1]), np.array([0, 1.0, 0.0])
    agree([float(BITS.summary(sums, 1)) for sums in (miss, no_chance)], [never, undefined], case)
    assert clamped == "as K=100"
    assert value("p_rand", 150, 100, 3) == value("p_rand", 100, 100, 3)
    assert refused == "error"
    with pytest.raises(UsageError, match=r"101 documents .* -N"):
        value("p_rand", 10, 100, 101)
