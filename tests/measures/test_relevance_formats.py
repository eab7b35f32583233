import pytest

from ragkpi.errors import UsageError
from ragkpi.measures.registry import (
    default_request,
    find_metrics,
    refuse_unserved,
)
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.relevance import REL_INFO
from tests.made_scores import metric

pytestmark = pytest.mark.usefixtures("command_line")

READS = {
    "runid": "any",
    "map": "qrels",
    "P": "qrels",
    "map_avgjg": "qrels_jg",
    "prefs_simp": "prefs",
}


def values(*names):
    return [metric(name, reads=READS[name]) for name in names]


@pytest.mark.parametrize(
    ("rel_info", "request_"),
    [("qrels", "official"), ("qrels_jg", "qrels_jg"), ("prefs", "prefs"), ("qrels_prefs", "prefs")],
)
def test_what_is_computed_unasked_can_be_computed(rel_info, request_):
    assert default_request(rel_info) == request_
    refuse_unserved(find_metrics([request_]), rel_info, Settings())


@pytest.mark.parametrize(
    ("name", "formats"),
    [
        ("runid", ["qrels", "qrels_jg", "prefs", "qrels_prefs"]),
        ("map", ["qrels"]),
        ("map_avgjg", ["qrels_jg"]),
        ("prefs_simp", ["prefs", "qrels_prefs"]),
    ],
)
def test_every_measure_has_its_formats(name, formats):
    for rel_info in REL_INFO:
        if rel_info in formats:
            refuse_unserved(values(name), rel_info, Settings())
        else:
            with pytest.raises(UsageError, match=f"{name} needs -R {formats[0]}"):
                refuse_unserved(values(name), rel_info, Settings())


@pytest.mark.parametrize(
    ("names", "rel_info", "says"),
    [
        (["map"], "prefs", "map needs -R qrels, not -R prefs"),
        (["map", "P", "P", "runid"], "qrels_jg", "map, P need -R qrels, not -R qrels_jg"),
        (["prefs_simp"], "qrels", "prefs_simp needs -R prefs or -R qrels_prefs, not -R qrels"),
        (["map", "map_avgjg"], "prefs", "map needs -R qrels; map_avgjg needs -R qrels_jg, not"),
        (["map"], "trec", "-R trec: unknown format; expected qrels, qrels_jg, prefs, qrels_prefs"),
    ],
)
def test_names_measures_and_formats(names, rel_info, says):
    with pytest.raises(UsageError) as problem:
        refuse_unserved(values(*names), rel_info, Settings())
    assert says in str(problem.value)
