"""The measures that RAG needs, in printing order, and the nicknames for sets of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ragkpi.measures import bits, chance, evidence, gain, incomplete, kpi, tied, tradeoff
from ragkpi.measures import hole_bounds as bounds
from ragkpi.measures.aggregates import SUM
from ragkpi.measures.measure import Measure, Need
from ragkpi.measures.parameters import Cutoffs, NoParameters, Option
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
    return Option(default, least=0, expected="a number from 0")


_THRESHOLD = {"m": Option(1, int, 1, 1000, "a whole number from 1 to 1000")}
_WEIGHTS = {"alpha": _from_zero(1.0), "cap4": _from_zero(1.0), "cap3": _from_zero(0.25)}
_SHARE = {"alpha": Option(0.5, least=0, most=1, expected="a number from 0 to 1")}

_HIGHEST = {"highest": Option(4, int, 1, 60, "a level from 1 to 60")}

_DEPTHS = (1, 5, 10, 20, 100)
_SLOTS = (10, 30)

# What most lines of a group share. `better`, `bounds`, `ties` and `question` stand on every line.
_chance = partial(
    Measure,
    parameters=Cutoffs(_DEPTHS, _THRESHOLD),
    needs=_CORPUS,
    cautions=(deeper_than_corpus, collapse_zone),
    better="neither",
    bounds=bounds.CHANCE_ALONE,
    ties="unproven",
    question="chance",
    expected="unchanged",
)
_over_chance = partial(_chance, better="higher", bounds=bounds.STAIRCASE, expected=None)
# Recall does not saturate as success does.
_recall = partial(_over_chance, cautions=(deeper_than_corpus,))
_between = partial(
    _chance, parameters=Cutoffs(_DEPTHS, _THRESHOLD, span=2), bounds=bounds.UNPROVEN, expected=None
)
_evidence = partial(
    Measure,
    parameters=Cutoffs(_SLOTS),
    needs=_GRADES,
    better="higher",
    bounds=bounds.CORNERS_OF_COUNTS,
    ties="unproven",
    question="evidence",
)
_weighted = partial(_evidence, parameters=Cutoffs(_SLOTS, _WEIGHTS), cautions=(no_top_grade,))
_ceiling = partial(_weighted, bounds=bounds.OTHER_HOLES)
_tradeoff = partial(
    Measure,
    parameters=Cutoffs((5, 10, 20), _SHARE),
    better="higher",
    bounds=bounds.CORNERS,
    ties="unproven",
    question="tradeoff",
)
_kpi = partial(Measure, parameters=Cutoffs((10, 25, 50, 100)), better="higher", ties="unproven")

RAG_MEASURES: Sequence[Measure] = (
    _over_chance("p_obs", chance.p_obs, needs=frozenset(), cautions=(), expected=tied.p_obs),
    _chance("p_rand", chance.p_rand, style="significant"),
    _over_chance(
        "ef", chance.ef, aggregate=bits.SUMMARY_RATIO, style="significant", expected=tied.ef
    ),
    _over_chance("bor", chance.bor, aggregate=bits.BITS, known_as=("BoR",), expected=tied.bor),
    _chance("bor_max", chance.bor_max, aggregate=bits.CEILING),
    _chance("bor_max_qmean", chance.bor_max_qmean, aggregate=bits.SUMMARY_MEAN),
    _recall(
        "ef_recall",
        chance.ef_recall,
        aggregate=bits.SUMMARY_RATIO,
        style="significant",
        expected=tied.ef_recall,
    ),
    _recall("bor_recall", chance.bor_recall, aggregate=bits.LOG2_RATIO, expected=tied.ef_recall),
    _chance(
        "bor_opt",
        chance.bor_opt,
        aggregate=bits.LOG2_RATIO_SUMMARY,
        cautions=(deeper_than_corpus,),
    ),
    _chance("lambda", chance.lambda_, aggregate=bits.SUMMARY_MEAN, style="significant"),
    _chance("collapse", chance.collapse, aggregate=bits.SUMMARY_MEAN),
    _between("dbor", chance.dbor, aggregate=bits.BITS_DIFFERENCE),
    _between("dbor_sparse", chance.dbor_sparse, aggregate=bits.SPARSE_DIFFERENCE),
    _weighted(
        "ra_nwg",
        evidence.ra_nwg,
        bounds=bounds.Bounds("counts", outer=evidence.ra_nwg_range, order="ignored"),
        known_as=("RA-nWG", "RA_nWG"),
    ),
    _ceiling("proc", evidence.proc, cautions=(no_top_grade, pool_is_the_run)),
    _ceiling(
        "pct_proc",
        evidence.pct_proc,
        cautions=(no_top_grade, pool_is_the_run, above_ceiling),
    ),
    _ceiling(
        "pct_proc_rom",
        evidence.pct_proc_rom,
        aggregate=bits.SUMMARY_RATIO,
        cautions=(no_top_grade, pool_is_the_run, above_ceiling),
    ),
    _evidence(
        "pool_miss",
        evidence.pool_miss,
        needs=frozenset({"outside_pool"}),
        better="lower",
        bounds=bounds.UNCHANGED,
    ),
    _evidence("n_recall4", evidence.n_recall4),
    _evidence("n_recall5", evidence.n_recall5, cautions=(no_top_grade,)),
    _evidence(
        "proc_n_recall4",
        evidence.proc_n_recall4,
        cautions=(pool_is_the_run,),
        bounds=bounds.OTHER_HOLES,
    ),
    _evidence(
        "proc_n_recall5",
        evidence.proc_n_recall5,
        cautions=(no_top_grade, pool_is_the_run),
        bounds=bounds.OTHER_HOLES,
    ),
    _evidence("precision4", evidence.precision4),
    _evidence("harm", evidence.harm, better="lower"),
    _evidence("harm_u", evidence.harm_u, better="lower"),
    _evidence("full_hit", evidence.full_hit),
    _evidence(
        "num_q_fallback",
        evidence.num_q_fallback,
        parameters=NoParameters(),
        aggregate=SUM,
        style="integer",
        better="neither",
    ),
    _tradeoff("t", tradeoff.t),
    _tradeoff("t_code", tradeoff.t_code),
    _tradeoff("F", tradeoff.F, known_as=("F1", "f_score", "f1_score")),
    _tradeoff(
        "Fe",
        tradeoff.Fe,
        cautions=(shallow_estimate,),
        bounds=bounds.STAIRCASE_TWICE_AS_DEEP,
    ),
    _kpi(
        "ndcg_exp",
        kpi.ndcg_exp,
        bounds=bounds.Bounds("staircase", "all", ratio=kpi.ndcg_exp_ratio),
        question="gain",
        worth="gain",
    ),
    _kpi(
        "ndcg_local",
        kpi.ndcg_local,
        bounds=bounds.Bounds("staircase", "all", ratio=kpi.ndcg_local_ratio),
        question="gain",
        worth="gain",
    ),
    _kpi(
        "err",
        gain.err,
        parameters=Cutoffs((10, 20), _HIGHEST),
        bounds=bounds.UNPROVEN,
        ties="monotone",
        question="gain",
        known_as=("ERR", "expected_reciprocal_rank"),
    ),
    _kpi(
        "judged",
        incomplete.judged_share,
        parameters=Cutoffs((5, 10, 20)),
        bounds=bounds.COUNTS_HOLES,
        question="incomplete",
        known_as=("Judged",),
        worth="judged",
    ),
    _kpi("map_min", kpi.map_min, bounds=bounds.STAIRCASE, question="early"),
    _kpi("accuracy", kpi.accuracy, needs=_CORPUS, bounds=bounds.CORNERS, question="tradeoff"),
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
