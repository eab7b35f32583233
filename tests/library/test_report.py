"""`ragkpi.report`: the page from what is in memory, as the command makes it from files."""

import html
import json
import re

import pytest

import ragkpi
from ragkpi.errors import UsageError
from tests.cli.commandline import BM25, FIXTURES, FUSION
from tests.published_schema import valid_document


@pytest.fixture(name="run_command")
def _run_command(request):
    return request.getfixturevalue("ragkpi")


def in_memory(path):
    ranking = {}
    for line in (FIXTURES / path).read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        ranking.setdefault(query, {})[document] = float(score)
    return ranking


def test_dicts_make_the_page_that_files_make(run_command, tmp_path):
    runs = {"bm25": in_memory(BM25), "fusion": in_memory(FUSION)}
    text = {"hd-03": "Can I export all tickets?"}
    found = ragkpi.report(
        str(FIXTURES / "qrels.txt"), runs, ["ndcg_cut.10"], corpus_size=5000, queries=text
    )
    valid_document(json.dumps(found.data))
    run_command(
        "report",
        "-N",
        "5000",
        "-m",
        "ndcg_cut.10",
        "-o",
        tmp_path / "page.html",
        "qrels.txt",
        BM25,
        FUSION,
        folder=FIXTURES,
    )
    page = (tmp_path / "page.html").read_text()
    theirs = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    for key in ("runs", "queries", "per_query", "details", "holes"):
        assert json.loads(json.dumps(found.data[key])) == theirs[key]
    assert found.data["query_texts"][2] == ["Can I export all tickets?", 25]


def test_a_notebook_shows_it_in_a_frame_that_nothing_ends(tmp_path):
    found = ragkpi.report({"q": {"d": 1}}, {"q": {'"><script>': 1.0}}, "P.1", corpus_size=9)
    frame = found._repr_html_()
    inside = re.fullmatch(r'<iframe [^>]*srcdoc="([^"]*)"></iframe>', frame)[1]
    assert html.unescape(inside) == found.html
    found.save(str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text() == found.html


def test_slices_may_be_given_by_name():
    labels = {"kind": {"hd-01": "first"}}
    found = ragkpi.report(
        str(FIXTURES / "qrels.txt"), str(FIXTURES / BM25), "P.5", by=labels, corpus_size=5000
    )
    assert [part["name"] for part in found.data["slices"]] == ["all queries", "kind: first"]


def test_what_is_no_number_is_refused():
    with pytest.raises(UsageError, match="detail_queries=-1"):
        ragkpi.report({"q": {"d": 1}}, {"q": {"d": 1.0}}, detail_queries=-1)
