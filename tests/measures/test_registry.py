import re
from importlib import metadata

import pytest

import ragkpi
from ragkpi.errors import UsageError
from ragkpi.measures import registry
from ragkpi.measures.measure import QUESTIONS, UNPROVEN, Measure
from ragkpi.measures.precision import P
from ragkpi.measures.registry import (
    NICKNAMES,
    all_measures,
    builtin_measures,
    find_metrics,
    find_plugins,
)
from tests.made_scores import measure

# Section 1.2 of the specification.
BEFORE_PREFERENCES = [
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"),
    *("Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    *("relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg"),
    *("binG", "G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel"),
    *("Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P", "set_relative_P"),
    *("set_recall", "set_map", "set_F"),
    *("num_nonrel_judged_ret",),
]
PREFERENCES = [
    *("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"),
    *("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel"),
    *("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret"),
    *("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
]
GROUPS = ["map_avgjg", "P_avgjg", "Rprec_mult_avgjg"]
AFTER_PREFERENCES = ["yaap", "rbp", "rbp_resid", "unj"]
FIELDS = ["Formula:", "Range:", "Edge cases:", "Source:"]


def names(requests):
    metrics = sorted(find_metrics(requests), key=lambda metric: metric.printed_place)
    return [metric.measure.name for metric in metrics]


def test_order_is_trec_evals():
    trec_evals = BEFORE_PREFERENCES + PREFERENCES + GROUPS + AFTER_PREFERENCES
    assert list(builtin_measures())[: len(trec_evals)] == trec_evals


def test_nicknames_are_trec_evals():
    assert list(NICKNAMES["official"]) == BEFORE_PREFERENCES[:12]
    assert list(NICKNAMES["all_trec"]) == [
        name
        for name in BEFORE_PREFERENCES + AFTER_PREFERENCES
        if name not in ("dcg", "ideal_dcg", "yaap")
    ]
    assert set(NICKNAMES["set"]) == {
        *BEFORE_PREFERENCES[:5],
        *("utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    }
    assert NICKNAMES["prefs"] == ["runid", "num_q", *PREFERENCES[:6]]
    assert NICKNAMES["all_prefs"] == ["runid", "num_q", *PREFERENCES]
    assert NICKNAMES["qrels_jg"] == ["runid", "num_q", *GROUPS]


@pytest.mark.parametrize("name", builtin_measures())
def test_help_has_every_field(name):
    text = builtin_measures()[name].help
    first, *rest = text.splitlines()
    labels = [word for line in rest for word in re.findall(r"^[A-Z][a-z ]+:", line)]
    assert re.fullmatch(r"\S.*\.", first)
    assert labels == FIELDS
    for field in FIELDS:
        assert re.search(rf"^{field} +\S", text, re.MULTILINE)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_the_direction_of_a_measure_is_true():
    """A ranking of all relevant documents is better by its record than one without any.

    What tells of judging and of pools alone sees no difference between these two.
    """
    blind = {"rbp_resid", "unj", "judged", "pool_miss", "proc"}
    relevant, others = [f"r{rank}" for rank in range(3)], [f"o{rank}" for rank in range(9)]
    qrels = {"q": dict.fromkeys(relevant, 3) | dict.fromkeys(others, 0)}
    best = {document: -rank for rank, document in enumerate(relevant + others[:2])}
    worst = {document: -rank for rank, document in enumerate(others[:5])}
    measures = {
        name: measure
        for name, measure in builtin_measures().items()
        if measure.better != "neither"
        and not name.startswith("prefs_")
        and not name.endswith("_avgjg")
        and name.partition("_n_")[0] not in blind
    }
    how = {"corpus_size": 500, "pool": {"q": best | worst}}
    high, low = (
        ragkpi.evaluate(qrels, {"q": ranking}, list(measures), **how).mean
        for ranking in (best, worst)
    )
    for metric in registry.find_metrics(list(measures)):
        gain = metric.measure.sign * (high[metric.name] - low[metric.name])
        assert gain > 0, metric.name


@pytest.mark.parametrize("left_out", ["better", "bounds", "ties", "question"])
def test_a_record_cannot_leave_out_what_a_command_needs(left_out):
    said = {"better": "higher", "bounds": UNPROVEN, "ties": "unproven", "question": "counts"}
    assert Measure("theirs", P, **said)
    del said[left_out]
    with pytest.raises(TypeError, match=left_out):
        Measure("theirs", P, **said)


def test_questions_are_those_that_have_a_heading():
    assert set(QUESTIONS) == {known.question for known in builtin_measures().values()}


def test_what_has_no_bounds_says_why():
    for name, known in builtin_measures().items():
        assert (known.bounds.search == "none") == bool(known.bounds.reason), name


def test_summaries_that_are_means_are_told_from_others():
    means = {name for name, known in builtin_measures().items() if known.is_mean}
    assert means >= {"map", "P", "ndcg_cut", "ra_nwg", "lambda"}
    assert not means & {"bor", "ef", "gm_map", "num_ret", "num_q", "runid", "pct_proc_rom"}


def offer(monkeypatch, origin, loaded):
    """Pretend that an installed package has an entry point of the group."""

    class EntryPoint:
        name = "theirs"

        def load(self):
            return loaded()

    EntryPoint.value = origin
    lookups = []

    def entry_points(group):
        lookups.append(group)
        return [EntryPoint()]

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    find_plugins.cache_clear()
    return lookups


@pytest.fixture(autouse=True)
def _forget_plugins():
    yield
    registry.find_plugins.cache_clear()


@pytest.mark.parametrize("wrap", [list, lambda measures: measures[0]], ids=["list", "single"])
def test_another_package_offers_a_measure(monkeypatch, wrap):
    theirs = measure("theirs", P)
    lookups = offer(monkeypatch, "their.module:MEASURES", lambda: wrap([theirs]))
    assert names(["theirs", "unj"]) == ["unj", "unj", "unj", "theirs"]
    assert list(all_measures()) == [*builtin_measures(), "theirs"]
    assert lookups == ["ragkpi.measures"]


def test_packages_are_not_looked_for_without_need(monkeypatch):
    lookups = offer(monkeypatch, "their.module:MEASURES", list)
    assert names(["P_10", "set", "recip_rank.cut.10"])
    assert lookups == []


@pytest.mark.parametrize("taken", ["map", "official"])
def test_another_package_cannot_take_a_name(monkeypatch, taken):
    offer(monkeypatch, "their.module:MEASURES", lambda: measure(taken, P))
    with pytest.raises(UsageError, match=rf"their.module:MEASURES.*'{taken}' is taken"):
        find_metrics(["theirs"])


def test_another_package_that_does_not_load(monkeypatch):
    def fail():
        raise ImportError("no module named theirs")

    offer(monkeypatch, "theirs:MEASURES", fail)
    with pytest.raises(UsageError, match="no module named theirs"):
        find_metrics(["nothing_like_it"])
