"""The measures that RAG needs, in printing order, and the nicknames for sets of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ragkpi.measures import bits, chance, evidence, kpi, tradeoff
from ragkpi.measures.aggregates import SUM
from ragkpi.measures.measure import Measure, Need
from ragkpi.measures.parameters import Cutoffs, Option
from ragkpi.measures.reader_warnings import (
    above_ceiling,
    collapse_zone,
    deeper_than_corpus,
    no_top_grade,
    pool_is_the_run,
    shallow_estimate,
)

_CORPUS: frozenset[Need] = frozenset({"corpus_size"})
_GRADES: frozenset[Need] = frozenset({"grade_map"})


def _from_zero(default: float) -> Option:
    return Option(default, accepts=lambda x: 0 <= x < float("inf"), expected="a number from 0")


_THRESHOLD = {"m": Option(1, int, lambda m: 1 <= m <= 1000, "a whole number from 1 to 1000")}
_WEIGHTS = {"alpha": _from_zero(1.0), "cap4": _from_zero(1.0), "cap3": _from_zero(0.25)}
_SHARE = {"alpha": Option(0.5, accepts=lambda x: 0 <= x <= 1, expected="a number from 0 to 1")}

_DEPTHS = (1, 5, 10, 20, 100)
_SLOTS = (10, 30)

_chance = partial(
    Measure,
    parameters=Cutoffs(_DEPTHS, _THRESHOLD),
    needs=_CORPUS,
    cautions=(deeper_than_corpus, collapse_zone),
)
# Recall does not saturate as success does, and p_obs does not speak of chance.
_recall = partial(_chance, cautions=(deeper_than_corpus,))
_between = partial(_chance, parameters=Cutoffs(_DEPTHS, _THRESHOLD, span=2), better="neither")
_evidence = partial(Measure, parameters=Cutoffs(_SLOTS), needs=_GRADES)
_weighted = partial(_evidence, parameters=Cutoffs(_SLOTS, _WEIGHTS), cautions=(no_top_grade,))
_tradeoff = partial(Measure, parameters=Cutoffs((5, 10, 20), _SHARE))
_kpi = partial(Measure, parameters=Cutoffs((10, 25, 50, 100)))

RAG_MEASURES: Sequence[Measure] = (
    _recall("p_obs", chance.p_obs, needs=frozenset(), cautions=()),
    _chance("p_rand", chance.p_rand, style="significant", better="neither"),
    _chance("ef", chance.ef, aggregate=bits.SUMMARY_RATIO, style="significant"),
    _chance("bor", chance.bor, aggregate=bits.BITS),
    _chance("bor_max", chance.bor_max, aggregate=bits.CEILING, better="neither"),
    _chance("bor_max_qmean", chance.bor_max_qmean, aggregate=bits.SUMMARY_MEAN, better="neither"),
    _recall("ef_recall", chance.ef_recall, aggregate=bits.SUMMARY_RATIO, style="significant"),
    _recall("bor_recall", chance.bor_recall, aggregate=bits.LOG2_RATIO),
    _recall("bor_opt", chance.bor_opt, aggregate=bits.LOG2_RATIO_SUMMARY, better="neither"),
    _chance(
        "lambda",
        chance.lambda_,
        aggregate=bits.SUMMARY_MEAN,
        style="significant",
        better="neither",
    ),
    _chance("collapse", chance.collapse, aggregate=bits.SUMMARY_MEAN, better="neither"),
    _between("dbor", chance.dbor, aggregate=bits.BITS_DIFFERENCE),
    _between("dbor_sparse", chance.dbor_sparse, aggregate=bits.SPARSE_DIFFERENCE),
    _weighted("ra_nwg", evidence.ra_nwg),
    _weighted("proc", evidence.proc, cautions=(no_top_grade, pool_is_the_run)),
    _weighted(
        "pct_proc",
        evidence.pct_proc,
        cautions=(no_top_grade, pool_is_the_run, above_ceiling),
    ),
    _weighted(
        "pct_proc_rom",
        evidence.pct_proc_rom,
        aggregate=bits.SUMMARY_RATIO,
        cautions=(no_top_grade, pool_is_the_run, above_ceiling),
    ),
    Measure(
        "pool_miss",
        evidence.pool_miss,
        Cutoffs(_SLOTS),
        needs=frozenset({"outside_pool"}),
        better="lower",
    ),
    _evidence("n_recall4", evidence.n_recall4),
    _evidence("n_recall5", evidence.n_recall5, cautions=(no_top_grade,)),
    _evidence("proc_n_recall4", evidence.proc_n_recall4, cautions=(pool_is_the_run,)),
    _evidence("proc_n_recall5", evidence.proc_n_recall5, cautions=(no_top_grade, pool_is_the_run)),
    _evidence("precision4", evidence.precision4),
    _evidence("harm", evidence.harm, better="lower"),
    _evidence("harm_u", evidence.harm_u, better="lower"),
    _evidence("full_hit", evidence.full_hit),
    Measure(
        "num_q_fallback",
        evidence.num_q_fallback,
        aggregate=SUM,
        style="integer",
        needs=_GRADES,
        better="neither",
    ),
    _tradeoff("t", tradeoff.t),
    _tradeoff("t_code", tradeoff.t_code),
    _tradeoff("F", tradeoff.F),
    _tradeoff("Fe", tradeoff.Fe, cautions=(shallow_estimate,)),
    _kpi("ndcg_exp", kpi.ndcg_exp),
    _kpi("ndcg_local", kpi.ndcg_local),
    _kpi("map_min", kpi.map_min),
    _kpi("accuracy", kpi.accuracy, needs=_CORPUS),
)

RAG_NICKNAMES: Mapping[str, Sequence[str]] = {
    "chance": (
        "success.1,5,10,20,100",
        "p_obs",
        "p_rand",
        "ef",
        "bor",
        "bor_max",
        "lambda",
        "collapse",
    ),
    "rag": (
        "ra_nwg",
        "proc",
        "pct_proc",
        "pct_proc_rom",
        "n_recall4",
        "n_recall5",
        "precision4",
        "harm",
        "harm_u",
        "num_q_fallback",
        "unj.10,30",
    ),
    "kpi": (
        "ndcg_cut.10,25,50,100",
        "map_cut.100",
        "recip_rank.10",
        "recall.25,50,100",
        "success.10",
    ),
}
