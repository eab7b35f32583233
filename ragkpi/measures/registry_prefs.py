"""trec_eval's measures over preferences and judgment groups: the registry lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ragkpi.measures import assessors
from ragkpi.measures.aggregates import SUM
from ragkpi.measures.hole_bounds import UNPROVEN
from ragkpi.measures.measure import Better, Measure
from ragkpi.measures.parameters import Cutoffs
from ragkpi.measures.real_parameters import RealCutoffs
from ragkpi.measures.registry_trec import MULTIPLES_OF_R

_BETTER: Mapping[Callable[..., Any], Better] = {
    assessors.prefs_num_prefs_poss: "neither",
    assessors.prefs_num_prefs_ful: "higher",
    assessors.prefs_num_prefs_ful_ret: "higher",
}
_assessors = partial(
    Measure, better="higher", bounds=UNPROVEN, ties="unproven", question="assessors"
)
_COUNTS = [
    _assessors(
        function.__name__, function, aggregate=SUM, style="integer", reads="prefs", better=better
    )
    for function, better in _BETTER.items()
]
_SHARES = [
    _assessors(function.__name__, function, reads="prefs")
    for function in (
        assessors.prefs_simp,
        assessors.prefs_pair,
        assessors.prefs_avgjg,
        assessors.prefs_avgjg_Rnonrel,
        assessors.prefs_simp_ret,
        assessors.prefs_pair_ret,
        assessors.prefs_avgjg_ret,
        assessors.prefs_avgjg_Rnonrel_ret,
        assessors.prefs_simp_imp,
        assessors.prefs_pair_imp,
        assessors.prefs_avgjg_imp,
    )
]
_GROUPS = [
    _assessors("map_avgjg", assessors.map_avgjg, reads="qrels_jg"),
    _assessors("P_avgjg", assessors.P_avgjg, Cutoffs(), reads="qrels_jg"),
    _assessors(
        "Rprec_mult_avgjg",
        assessors.Rprec_mult_avgjg,
        RealCutoffs(MULTIPLES_OF_R),
        reads="qrels_jg",
    ),
]

# trec_eval prints them between num_nonrel_judged_ret and yaap.
PREFS_MEASURES = [*_COUNTS, *_SHARES, *_GROUPS]

PREFS_NICKNAMES: Mapping[str, Sequence[str]] = {
    "prefs": [
        *("runid", "num_q"),
        *(measure.name for measure in _COUNTS),
        *("prefs_simp", "prefs_pair", "prefs_avgjg"),
    ],
    "all_prefs": ["runid", "num_q", *(measure.name for measure in [*_COUNTS, *_SHARES])],
    "qrels_jg": ["runid", "num_q", *(measure.name for measure in _GROUPS)],
}
