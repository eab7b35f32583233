"""All measures in printing order, the nicknames for sets of them, and the way to find them.

Every family of measures is a file, which declares its measures beside their functions. This file
only lists the families. `-m`, the `measures` command, help and tests read the records.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragkpi.errors import UsageError
from ragkpi.measures import counts, gain, incomplete, precision
from ragkpi.measures.measure import Measure, Metric
from ragkpi.measures.requests import parse_requests, split_requests

ENTRY_POINTS = "ragkpi.measures"

_COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
_PREFS = (
    *("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"),
    *("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel"),
    *("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret"),
    *("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
)
_GROUPS = ("map_avgjg", "P_avgjg", "Rprec_mult_avgjg")
# trec_eval's measures in the order in which it prints them.
_TREC_ORDER = (
    *_COUNTS,
    *("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P", "relstring"),
    *("recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "G"),
    *("dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P"),
    *("success", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    "num_nonrel_judged_ret",
    *_PREFS,
    *_GROUPS,
    *("yaap", "rbp", "rbp_resid", "unj"),
)
_NOT_IN_ALL_TREC = {"dcg", "ideal_dcg", "yaap", *_PREFS, *_GROUPS}

NICKNAMES: Mapping[str, Sequence[str]] = {
    "official": [
        *_COUNTS,
        *("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    ],
    "set": [
        *_COUNTS,
        *("utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    ],
    "all_trec": [name for name in _TREC_ORDER if name not in _NOT_IN_ALL_TREC],
    "prefs": ["runid", "num_q", *_PREFS[:6]],
    "all_prefs": ["runid", "num_q", *_PREFS],
    "qrels_jg": ["runid", "num_q", *_GROUPS],
    "chance": [
        *("success.1,5,10,20,100", "p_obs", "p_rand", "ef", "bor", "bor_max", "lambda"),
        "collapse",
    ],
    "rag": [
        *("ra_nwg", "proc", "pct_proc", "pct_proc_rom", "n_recall4", "n_recall5"),
        *("precision4", "harm", "harm_u", "num_q_fallback", "unj.10,30"),
    ],
    "kpi": [
        *("ndcg_cut.10,25,50,100", "map_cut.100", "recip_rank.10", "recall.25,50,100"),
        "success.10",
    ],
}


def _in_trec_order(families: Iterable[Sequence[Measure]]) -> dict[str, Measure]:
    measures = {measure.name: measure for family in families for measure in family}
    return dict(sorted(measures.items(), key=lambda item: _TREC_ORDER.index(item[0])))


_TREC_FAMILIES = (counts.MEASURES, precision.MEASURES, incomplete.MEASURES, gain.MEASURES)
TREC_MEASURES: Mapping[str, Measure] = _in_trec_order(_TREC_FAMILIES)


@functools.cache
def builtin_measures() -> Mapping[str, Measure]:
    """Return every measure of ragkpi by name, in printing order.

    The other families are imported here, as most evaluations only need those of `TREC_MEASURES`.
    """
    from ragkpi.measures import assessors, chance, evidence, kpi

    rag_families = (chance.MEASURES, evidence.MEASURES, kpi.MEASURES)
    return {
        **_in_trec_order([*_TREC_FAMILIES, assessors.MEASURES]),
        **{measure.name: measure for family in rag_families for measure in family},
    }


def find_metrics(texts: Sequence[str]) -> list[Metric]:
    """Resolve ``-m`` arguments against all measures and nicknames."""
    texts = split_requests(texts)
    names = [text.partition(".")[0] for text in texts]
    members = [member.partition(".")[0] for name in names for member in NICKNAMES.get(name, [name])]
    if TREC_MEASURES.keys() >= set(members):
        return parse_requests(texts, TREC_MEASURES, NICKNAMES)
    return parse_requests(texts, builtin_measures(), NICKNAMES, find_plugins)


def find_metrics_as_given(texts: Sequence[str]) -> list[Metric]:
    """Resolve ``-m`` arguments; a request for one metric becomes the name of the metric.

    >>> [metric.name for metric in find_metrics_as_given(["AP(rel=2)@100,MRR", "P.5,10"])]
    ['AP(rel=2)@100', 'MRR', 'P_5', 'P_10']
    """
    names: dict[str, str] = {}
    for text in split_requests(texts):
        metrics = find_metrics([text])
        if len(metrics) == 1 and text not in NICKNAMES:
            names.setdefault(metrics[0].name, text)
    return [
        replace(metric, name=names.get(metric.name, metric.name)) for metric in find_metrics(texts)
    ]


def all_measures() -> Mapping[str, Measure]:
    """Return every measure by name, in printing order, those of other packages last."""
    return {**builtin_measures(), **find_plugins()}


@functools.cache
def find_plugins() -> Mapping[str, Measure]:
    """Return the measures of other installed packages, by name.

    A package offers them by an entry point of the group ``ragkpi.measures`` that loads to a
    `Measure` or a list of them. The search takes longer than a small evaluation, so call this
    only when a name is unknown or when every measure is to be listed.

    Raises
    ------
    UsageError
        If an entry point cannot be loaded, or offers a name that is taken.
    """
    from importlib.metadata import entry_points

    taken = {*builtin_measures(), *NICKNAMES}
    plugins: dict[str, Measure] = {}
    for entry_point in entry_points(group=ENTRY_POINTS):
        origin = f"{ENTRY_POINTS} entry point '{entry_point.name}' ({entry_point.value})"
        try:
            offered = entry_point.load()
        except Exception as problem:
            raise UsageError(f"{origin} cannot be loaded: {problem}; mend or uninstall it") from (
                problem
            )
        for measure in [offered] if isinstance(offered, Measure) else offered:
            if measure.name in taken or measure.name in plugins:
                raise UsageError(f"{origin}: the name '{measure.name}' is taken; choose another")
            plugins[measure.name] = measure
    return plugins
