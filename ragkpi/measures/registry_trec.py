"""trec_eval's measures over qrels and its nicknames: the registry lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ragkpi.measures import (
    counts,
    gain,
    incomplete,
    precision,
    rank_biased,
    recall_points,
    sets,
    tied,
)
from ragkpi.measures import hole_bounds as bounds
from ragkpi.measures.aggregates import COUNT, GEOMETRIC_MEAN, LABEL, PER_QUERY_TEXT, SUM
from ragkpi.measures.gain_lists import gains_from_zero
from ragkpi.measures.measure import Measure
from ragkpi.measures.parameters import Cutoffs
from ragkpi.measures.real_parameters import RECALL_POINTS, Gains, RealCutoffs, RealList

MULTIPLES_OF_R = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)

# What most lines of a group share. `better`, `bounds`, `ties` and `question` stand on every line.
_higher = partial(Measure, better="higher")
_lower = partial(Measure, better="lower", ties="unproven")
_property = partial(Measure, better="neither", ties="unproven", question="counts")
_count = partial(_property, aggregate=SUM, style="integer")
_early = partial(_higher, bounds=bounds.STAIRCASE, question="early")
_cut = partial(
    _higher,
    parameters=Cutoffs(),
    bounds=bounds.CORNERS,
    ties="monotone",
    question="found",
)
_set = partial(_higher, bounds=bounds.CORNERS, ties="unproven", question="found")
_gain = partial(
    _higher,
    parameters=Gains(),
    bounds=bounds.UNPROVEN,
    ties="unproven",
    question="gain",
    worth="gain",
)

# trec_eval prints its preference measures between these two lists.
CLASSIC = [
    _property(
        "runid",
        counts.runid,
        aggregate=LABEL,
        style="text",
        reads="any",
        bounds=bounds.UNCHANGED,
        expected="unchanged",
        worth="judged",
    ),
    _property(
        "num_q",
        counts.num_q,
        known_as=("NumQ",),
        aggregate=COUNT,
        style="integer",
        reads="any",
        bounds=bounds.UNCHANGED,
        expected="unchanged",
        worth="judged",
    ),
    _count(
        "num_ret",
        counts.num_ret,
        bounds=bounds.UNCHANGED,
        expected="unchanged",
        worth="judged",
        known_as=("NumRet",),
    ),
    _count(
        "num_rel",
        counts.num_rel,
        bounds=bounds.CORNERS,
        expected="unchanged",
        known_as=("NumRel",),
    ),
    _count(
        "num_rel_ret",
        counts.num_rel_ret,
        better="higher",
        bounds=bounds.CORNERS,
        known_as=("NumRelRet",),
    ),
    _early(
        "map",
        precision.average_precision,
        ties="monotone",
        expected=tied.average_precision,
        known_as=("AP", "MAP", "average_precision"),
    ),
    _early("gm_map", precision.gm_map, aggregate=GEOMETRIC_MEAN, ties="unproven"),
    _early(
        "Rprec",
        precision.Rprec,
        bounds=bounds.STAIRCASE_ALONE,
        ties="monotone",
        expected=tied.Rprec,
        known_as=("Rprec", "R-precision", "r_precision"),
    ),
    _higher(
        "bpref",
        incomplete.bpref,
        bounds=bounds.SKIPS_HOLES,
        ties="unproven",
        question="incomplete",
        known_as=("Bpref",),
    ),
    _early(
        "recip_rank",
        precision.recip_rank,
        Cutoffs(default=()),
        bounds=bounds.CORNERS,
        ties="monotone",
        expected=tied.recip_rank,
        known_as=("RR", "MRR", "reciprocal_rank"),
    ),
    _early(
        "iprec_at_recall",
        recall_points.iprec_at_recall,
        RealCutoffs(RECALL_POINTS),
        bounds=bounds.STAIRCASE._replace(tallied=recall_points.tallied_iprec_at_recall),
        ties="unproven",
        known_as=("IPrec",),
    ),
    _cut("P", precision.P, expected=tied.P, known_as=("P", "Prec", "precision")),
    _property(
        "relstring",
        counts.relstring,
        RealList((10.0,), "length", used=1),
        aggregate=PER_QUERY_TEXT,
        style="quoted",
        bounds=bounds.UNPROVEN,
    ),
    _cut("recall", precision.recall, expected=tied.recall, known_as=("R", "Rec", "recall")),
    _higher(
        "infAP",
        incomplete.infAP,
        bounds=bounds.SKIPS_HOLES,
        ties="unproven",
        question="incomplete",
        known_as=("infAP",),
    ),
    _higher(
        "gm_bpref",
        incomplete.gm_bpref,
        aggregate=GEOMETRIC_MEAN,
        bounds=bounds.SKIPS_HOLES,
        ties="unproven",
        question="incomplete",
    ),
    _early(
        "Rprec_mult",
        recall_points.Rprec_mult,
        RealCutoffs(MULTIPLES_OF_R),
        bounds=bounds.STAIRCASE_ALONE,
        ties="unproven",
    ),
    _set("utility", sets.utility, RealList((1.0, -1.0, 0.0, 0.0), "coefficients", length=4)),
    _early(
        "11pt_avg",
        recall_points.interpolated_average,
        RealList(RECALL_POINTS, "points"),
        bounds=bounds.UNPROVEN,
        ties="unproven",
    ),
    _early(
        "binG",
        gain.binG,
        bounds=bounds.STAIRCASE._replace(tallied=gain.tallied_binG),
        ties="unproven",
    ),
    _gain("G", gain.G),
    _gain(
        "dcg",
        gain.dcg,
        bounds=bounds.Bounds("corners", accepts=gains_from_zero, ratio=gain.dcg_ratio),
        expected=tied.dcg,
    ),
    _gain(
        "ideal_dcg",
        gain.ideal_dcg,
        better="neither",
        bounds=bounds.CORNERS_OF_COUNTS._replace(accepts=gains_from_zero),
        expected="unchanged",
    ),
    _gain(
        "ndcg",
        gain.ndcg,
        bounds=bounds.Bounds("staircase", "all", accepts=gains_from_zero, ratio=gain.ndcg_ratio),
        ties="monotone",
        expected=tied.ndcg,
        known_as=("nDCG", "normalized_dcg"),
    ),
    _gain("ndcg_rel", gain.ndcg_rel),
    _gain("Rndcg", gain.Rndcg),
    _gain(
        "ndcg_cut",
        gain.ndcg_cut,
        parameters=Cutoffs(),
        bounds=bounds.Bounds("staircase", "all", ratio=gain.ndcg_cut_ratio),
        ties="monotone",
        expected=tied.ndcg_cut,
        known_as=("nDCG", "normalized_dcg"),
    ),
    _cut(
        "map_cut",
        precision.map_cut,
        bounds=bounds.STAIRCASE,
        expected=tied.map_cut,
        question="early",
        known_as=("AP", "MAP", "average_precision"),
    ),
    _cut("relative_P", precision.relative_P, expected=tied.relative_P),
    _cut(
        "success",
        precision.success,
        expected=tied.success,
        parameters=Cutoffs((1, 5, 10)),
        known_as=("Success", "hit", "hits", "hit_rate", "hitrate"),
    ),
    _set("set_P", sets.set_P, ties="monotone", known_as=("SetP", "P", "Prec", "precision")),
    _set("set_relative_P", sets.set_relative_P, known_as=("SetRelP",)),
    _set("set_recall", sets.set_recall, ties="monotone", known_as=("SetR", "R", "Rec", "recall")),
    _set("set_map", sets.set_map, known_as=("SetAP",)),
    _set(
        "set_F",
        sets.set_F,
        RealList((1.0,), "weight", used=1),
        bounds=bounds.CORNERS._replace(accepts=sets.weighs_from_zero),
        question="tradeoff",
        known_as=("SetF", "F1", "f_score", "f1_score"),
    ),
    _count(
        "num_nonrel_judged_ret",
        counts.num_nonrel_judged_ret,
        better="lower",
        bounds=bounds.COUNTS_HOLES,
    ),
]

LATER = [
    _early("yaap", precision.yaap, ties="unproven"),
    _gain(
        "rbp",
        rank_biased.rbp,
        parameters=Gains(probability=0.9),
        bounds=bounds.Bounds(
            "staircase", "all", accepts=rank_biased.is_plain, ratio=rank_biased.rbp_ratio
        ),
        expected=tied.rbp,
        known_as=("RBP",),
    ),
    _lower(
        "rbp_resid",
        rank_biased.rbp_resid,
        Gains(probability=0.9, gains=False),
        worth="judged",
        bounds=bounds.COUNTS_HOLES,
        question="incomplete",
    ),
    _lower(
        "unj",
        incomplete.unj,
        Cutoffs((5, 10, 20)),
        worth="judged",
        bounds=bounds.COUNTS_HOLES,
        question="incomplete",
    ),
]

_COUNTS = ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret"]
_NOT_IN_ALL = ("dcg", "ideal_dcg", "yaap")

NICKNAMES: Mapping[str, Sequence[str]] = {
    "official": [
        *_COUNTS,
        *("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    ],
    "set": [
        *_COUNTS,
        *("utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    ],
    "all_trec": [measure.name for measure in [*CLASSIC, *LATER] if measure.name not in _NOT_IN_ALL],
}
