"""What must hold for every collection and every run."""

import math
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragkpi
from ragkpi.ranking.judged import Settings
from tests.measures.by_hand import judge, lines, population, scores, summary
from tests.measures.rag_oracle import WEIGHING

K = 4
DOCS = [f"d{i}" for i in range(9)]
SET_MEASURES = (
    *(
        "p_obs.4",
        "p_rand.4",
        "bor.4",
        "bor.4,m=2",
        "bor_recall.4",
        "ef.4",
        "lambda.4",
        "collapse.4",
    ),
    *("ra_nwg.4", "proc.4", "pct_proc.4", "n_recall4.4", "n_recall5.4", "precision4.4", "harm.4"),
    *("harm_u.4", "full_hit.4", "pool_miss.4", "t.4", "t_code.4", "F.4", "accuracy.4"),
)
# Not here: harm (a good document can be pushed out by an unjudged one), and Fe and ndcg_local,
# which are relative to what the run itself retrieved.
REWARDS = (
    *("p_obs.4", "bor.4", "bor_recall.4", "ef.4", "ef_recall.4", "ra_nwg.4"),
    *("n_recall4.4", "n_recall5.4", "precision4.4", "full_hit.4", "t.4", "t_code.4", "F.4"),
    *("ndcg_exp.4", "map_min.4", "accuracy.4", "pct_proc.4"),
)
SETTINGS = st.builds(
    Settings,
    missing=st.just("zero"),
    corpus_size=st.integers(20, 60),
    draws=st.sampled_from(["nominal", "ret"]),
    relevance_level=st.integers(1, 3),
)
QUERIES = ("a", "b", "c")
JUDGEMENTS = st.fixed_dictionaries(
    {q: st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), min_size=1) for q in QUERIES}
)
RUNS = st.fixed_dictionaries(
    {q: st.lists(st.sampled_from([*DOCS, "x", "y", "z"]), unique=True) for q in QUERIES}
)


def scored(ranking):
    """Give {query: [documents]} descending scores."""
    return {q: {doc: -rank for rank, doc in enumerate(docs)} for q, docs in ranking.items()}


def close(found, wanted):
    return found == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True)


@given(JUDGEMENTS, RUNS, SETTINGS, st.randoms())
def test_set_measures_ignore_the_order_of_the_top_k(qrels, run, settings, random):
    permuted = {q: random.sample(docs[:K], len(docs[:K])) + docs[K:] for q, docs in run.items()}
    before = lines(judge(qrels, scored(run), settings), *SET_MEASURES)
    after = lines(judge(qrels, scored(permuted), settings), *SET_MEASURES)
    for name, values in before.items():
        assert close(list(after[name].values()), list(values.values())), name


@given(JUDGEMENTS, RUNS, SETTINGS, st.integers(1, 3))
def test_no_system_beats_the_ceilings(qrels, run, settings, m):
    judged = judge(qrels, scored(run), settings)
    ceiling = summary(judged, f"bor_max.4,m={m}")
    assert not summary(judged, f"bor.4,m={m}") > ceiling + 1e-12
    assert not summary(judged, "bor_recall.4") > summary(judged, "bor_opt.4") + 1e-12
    if settings.draws == "nominal":  # else chance may draw nothing, which has no ceiling
        assert not ceiling > summary(judged, f"bor_max_qmean.4,m={m}") + 1e-12


@given(JUDGEMENTS, RUNS, RUNS, st.floats(0, 3), st.floats(0, 2), st.floats(0, 2))
def test_a_selection_never_beats_its_pool(qrels, run, more, alpha, cap4, cap3):
    pool = {q: [*docs, *(doc for doc in more[q] if doc not in docs)] for q, docs in run.items()}
    options = f"4,alpha={alpha!r},cap4={cap4!r},cap3={cap3!r}"
    judged = judge(qrels, scored(run), pool=scored(pool))
    chosen, best = lines(judged, f"ra_nwg.{options}", f"proc.{options}").values()
    for q in chosen:
        assert not chosen[q] > best[q] + 1e-12
    assert summary(judged, "pool_miss.4") == 0


WEIGHINGS = st.fixed_dictionaries(
    {},
    optional={
        "alpha": st.sampled_from([0.0, 0.5, 2.0]),
        **{name: st.sampled_from([0.0, 0.3, 1.5]) for name in ("cap4", "cap3")},
        "u5": st.sampled_from([0.5, 2.0]),
        **{name: st.sampled_from([0.0, 0.7, 3.0]) for name in ("u4", "u3")},
        **{name: st.sampled_from([0.0, 0.4, 1.0]) for name in ("fallback4", "fallback3")},
    },
)


def by_definition(labels, shown, pool, given):
    """Weigh document by document, and try every choice of K: RA-nWG and PROC; NaN for NA."""
    w = WEIGHING | given
    number = {grade: list(labels.values()).count(grade) for grade in (3, 4, 5)}

    def worth(grade):
        if grade in (1, 2):
            return 0.0
        if grade == 5:
            return 1.0
        if not number[5]:
            return w[f"fallback{grade}"]
        scarce = (number[5] / number[grade]) ** w["alpha"]
        return min(w[f"u{grade}"] / w["u5"] * scarce, w[f"cap{grade}"])

    def best(documents):
        known = [worth(labels[doc]) for doc in documents if doc in labels]
        return max(sum(chosen) for chosen in combinations(known, min(K, len(known))))

    ideal = best(labels)
    got = sum(worth(labels[doc]) for doc in shown[:K] if doc in labels)
    return (got / ideal, best(pool) / ideal) if ideal else (math.nan, math.nan)


@given(JUDGEMENTS, RUNS, RUNS, WEIGHINGS)
def test_weights_are_parameters_of_the_measures(qrels, run, pool, given_):
    options = ",".join(["4", *(f"{name}={value!r}" for name, value in given_.items())])
    names = ("ra_nwg", "proc", "pct_proc", "pct_proc_rom")
    judged = judge(qrels, scored(run), pool=scored(pool))
    found = lines(judged, *(f"{name}.{options}" for name in names)).values()
    ra_nwg, proc, pct, rom = found
    rubric = {0: 1, 1: 3, 2: 4, 3: 5}  # umbrela
    pairs = []
    for q in QUERIES:
        labels = {doc: rubric[level] for doc, level in qrels[q].items() if level >= 0}
        got, ceiling = by_definition(labels, run[q], pool[q], given_)
        assert close([ra_nwg[q], proc[q]], [got, ceiling])
        assert close(pct[q], got / ceiling if ceiling else math.nan)
        if ceiling > 0:
            pairs.append((got, ceiling))
    got, ceiling = (sum(values) for values in zip(*pairs, strict=True)) if pairs else (0, 0)
    assert close(rom["all"], got / ceiling if pairs else math.nan)


@given(JUDGEMENTS, RUNS, RUNS)
def test_the_union_with_the_run_is_a_pool_without_misses(qrels, run, first_stage):
    settings = Settings(pool_union="union")
    judged = judge(qrels, scored(run), settings, pool=scored(first_stage))
    united = {q: dict.fromkeys([*run[q][:K], *first_stage[q]], 0) for q in QUERIES}
    given_as_pool = judge(qrels, scored(run), pool=united)
    for name in ("proc.4", "pct_proc.4", "proc_n_recall4.4"):
        assert close(summary(judged, name), summary(given_as_pool, name))
    misses = sum(len(set(run[q][:K]) - set(first_stage[q])) for q in QUERIES)
    assert summary(judged, "pool_miss.4") * len(QUERIES) == pytest.approx(misses)


@given(JUDGEMENTS, RUNS, SETTINGS, st.sampled_from(QUERIES), st.integers(0, 9))
def test_an_unjudged_document_never_helps(qrels, run, settings, query, place):
    longer = {**run, query: [*run[query][:place], "new", *run[query][place:]]}
    before = lines(judge(qrels, scored(run), settings), *REWARDS)
    after = lines(judge(qrels, scored(longer), settings), *REWARDS)
    for name, values in before.items():
        for q in values:
            assert not after[name][q] > values[q] + 1e-12, (name, q)


@pytest.mark.parametrize("m", [1, 3, 50, 100])
def test_statistics_of_blocks_of_queries_add_up(m):
    """Also where the chance of success is smaller than any double, or only for one block."""
    N, R = 120000000, [100, 143, 5000]
    whole, *blocks = (
        scores(population(N, each, [range(1, m + 1)] * len(each)), f"bor.1000,m={m}").columns[0]
        for each in (R, *([r] for r in R))
    )
    assert np.array_equal(whole.statistics, np.concatenate([b.statistics for b in blocks]))
    ways = sum(comb(r, x) * comb(N - r, 1000 - x) for r in R for x in range(m, min(r, m + 40) + 1))
    exact = math.log2(3 * comb(N, 1000)) - math.log2(ways)
    assert whole.summary == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", ["bor.3", "bor_max.3", "bor_recall.3", "ef.3", "dbor.1,3"])
def test_replicates_are_summed_at_once(name):
    judged = population(50, [1, 2, 3, 0, 40], [[1], [], [2, 3], [], [1, 2, 3]])
    (column,) = scores(judged, name).columns
    statistics = column.statistics[column.has_value]
    chosen = np.random.default_rng(7).integers(0, len(statistics), size=(20, len(statistics)))
    sums = statistics[chosen].sum(axis=1)
    summarize = column.metric.measure.aggregate.summary
    one_by_one = [float(summarize(row, len(statistics))) for row in sums]
    assert close(summarize(sums, len(statistics)).tolist(), one_by_one)


def test_measures_of_chance_are_na_where_nothing_is_drawn():
    """As many documents as were retrieved are none for the only query that counts."""
    qrels = {"1": {"a": 0}, "2": {"b": 1}}
    names = [f"{name}.2" for name in ("bor", "bor_max", "bor_recall", "bor_opt", "ef", "ef_recall")]
    result = ragkpi.evaluate(qrels, {"1": {"a": 1.0}}, names, corpus_size=100, draws="ret")
    assert all(math.isnan(value) for value in result.mean.values()), result.mean
