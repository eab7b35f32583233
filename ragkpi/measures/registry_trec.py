"""trec_eval's measures over qrels and its nicknames: the registry lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ragkpi.measures import (
    average_precision,
    counts,
    gain,
    incomplete,
    precision,
    rank_biased,
    recall_points,
    sets,
)
from ragkpi.measures import relevance_string as text
from ragkpi.measures.aggregates import COUNT, GEOMETRIC_MEAN, LABEL, PER_QUERY_TEXT, SUM
from ragkpi.measures.measure import Measure
from ragkpi.measures.parameters import (
    RECALL_POINTS,
    Cutoffs,
    Gains,
    RealCutoffs,
    RealList,
)

MULTIPLES_OF_R = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)

_number = partial(Measure, aggregate=SUM, style="integer")
_property = partial(Measure, better="neither")

# trec_eval prints its preference measures between these two lists.
CLASSIC = [
    _property("runid", counts.runid, aggregate=LABEL, style="text", reads="any"),
    _property("num_q", counts.num_q, aggregate=COUNT, style="integer", reads="any"),
    _number("num_ret", counts.num_ret, better="neither"),
    _number("num_rel", counts.num_rel, better="neither"),
    _number("num_rel_ret", counts.num_rel_ret),
    Measure("map", average_precision.average_precision),
    Measure("gm_map", average_precision.gm_map, aggregate=GEOMETRIC_MEAN),
    Measure("Rprec", precision.Rprec),
    Measure("bpref", incomplete.bpref),
    Measure("recip_rank", precision.recip_rank, Cutoffs(default=())),
    Measure("iprec_at_recall", recall_points.iprec_at_recall, RealCutoffs(RECALL_POINTS)),
    Measure("P", precision.P, Cutoffs()),
    _property(
        "relstring",
        text.relstring,
        RealList((10.0,), "length", used=1),
        aggregate=PER_QUERY_TEXT,
        style="quoted",
    ),
    Measure("recall", precision.recall, Cutoffs()),
    Measure("infAP", incomplete.infAP),
    Measure("gm_bpref", incomplete.gm_bpref, aggregate=GEOMETRIC_MEAN),
    Measure("Rprec_mult", recall_points.Rprec_mult, RealCutoffs(MULTIPLES_OF_R)),
    Measure("utility", sets.utility, RealList((1.0, -1.0, 0.0, 0.0), "coefficients", length=4)),
    Measure("11pt_avg", recall_points.interpolated_average, RealList(RECALL_POINTS, "points")),
    Measure("binG", gain.binG),
    Measure("G", gain.G, Gains()),
    Measure("dcg", gain.dcg, Gains()),
    _property("ideal_dcg", gain.ideal_dcg, Gains()),
    Measure("ndcg", gain.ndcg, Gains()),
    Measure("ndcg_rel", gain.ndcg_rel, Gains()),
    Measure("Rndcg", gain.Rndcg, Gains()),
    Measure("ndcg_cut", gain.ndcg_cut, Cutoffs()),
    Measure("map_cut", average_precision.map_cut, Cutoffs()),
    Measure("relative_P", precision.relative_P, Cutoffs()),
    Measure("success", precision.success, Cutoffs((1, 5, 10))),
    Measure("set_P", sets.set_P),
    Measure("set_relative_P", sets.set_relative_P),
    Measure("set_recall", sets.set_recall),
    Measure("set_map", sets.set_map),
    Measure("set_F", sets.set_F, RealList((1.0,), "weight", used=1)),
    _number("num_nonrel_judged_ret", counts.num_nonrel_judged_ret, better="lower"),
]

LATER = [
    Measure("yaap", average_precision.yaap),
    Measure("rbp", rank_biased.rbp, Gains(probability=0.9)),
    Measure(
        "rbp_resid", rank_biased.rbp_resid, Gains(probability=0.9, gains=False), better="lower"
    ),
    Measure("unj", precision.unj, Cutoffs((5, 10, 20)), better="lower"),
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
