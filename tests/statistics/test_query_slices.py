"""Slices: each is what an evaluation on qrels with its queries alone would say."""

import json
from pathlib import Path

import numpy as np
import pytest

import ragkpi
from ragkpi.library.arguments import session_of
from ragkpi.library.options import Estimating
from tests.published_schema import valid_document, valid_lines

FIXTURES = Path(__file__).parents[1] / "helpdesk"
QRELS, BM25, DENSE = (
    str(FIXTURES / name) for name in ("qrels.txt", "runs/bm25.run", "runs/dense.run")
)
LABELS = {
    "lang": {f"hd-{n:02}": "de" if n % 3 else "en" for n in range(1, 12)},
    "kind": {f"hd-{n:02}": f"k{n % 4}" for n in range(2, 13)},
}
EVERY = ["all_trec", "rag", "chance", "kpi"]  # gm_*, num_*, sums, texts, ratios of means


def only(queries, tmp_path):
    """Qrels that hold these queries alone."""
    lines = Path(QRELS).read_text().splitlines(keepends=True)
    (tmp_path / "some.qrels").write_text("".join(li for li in lines if li.split()[0] in queries))
    return str(tmp_path / "some.qrels")


def parts():
    for by, labels in LABELS.items():
        for label in sorted(set(labels.values())):
            yield f"{by}={label}", {query for query, of in labels.items() if of == label}


def assert_same(values, others):
    """Chances of several queries share their sums, so their last digits may differ."""
    assert list(values) == list(others)
    for name, value in values.items():
        expected = others[name]
        number = isinstance(expected, float)
        assert value == (pytest.approx(expected, rel=1e-13, nan_ok=True) if number else expected)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"missing": "zero"},
        {"max_retrieved": 3},
        {"unjudged": "removed", "relevance_level": 2},
        {"measures": "map", "ties": "expected"},
    ],
    ids=str,
)
@pytest.mark.parametrize("run", [BM25, DENSE], ids=["all queries", "one missing"])
def test_a_slice_is_an_evaluation_of_its_queries(tmp_path, run, how):
    how = {"measures": EVERY, "corpus_size": 5000, **how}
    found = ragkpi.evaluate(QRELS, run, by=LABELS, **how)
    assert set(found.slices) == {name for name, _ in parts()}
    for name, queries in parts():
        alone = ragkpi.evaluate(only(queries, tmp_path), run, **how)
        assert_same(found.slices[name].mean, alone.mean)
        assert list(found.slices[name].per_query) == list(alone.per_query)
        for query, values in alone.per_query.items():
            assert_same(found.slices[name].per_query[query], values)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_intervals_and_rows_of_a_slice_are_those_of_its_evaluation(tmp_path):
    how = {"measures": ["map", "gm_map", "bor.5", "P.5"], "corpus_size": 5000, "ci": True}
    runs = {"bm25": BM25, "dense": DENSE}
    found = ragkpi.evaluate(QRELS, runs, by=LABELS, **how)
    for name, queries in parts():
        alone = ragkpi.evaluate(only(queries, tmp_path), runs, **how)
        rows = [row for row in found.rows if f"{row['by']}={row['label']}" == name]
        for row, own in zip(rows, alone.rows, strict=True):
            assert_same({key: row[key] for key in own}, own)
            assert row["queries"] == len(queries)
    assert [row["label"] for row in found.rows if row["by"] is None] == ["all", "all"]


@pytest.fixture
def labels(tmp_path):
    lines = [f"{query}\t{LABELS['lang'].get(query, '')}" for query in sorted(LABELS["kind"])]
    (tmp_path / "labels.tsv").write_text("\n".join(["query_id\tlang", *lines]) + "\n")
    return str(tmp_path / "labels.tsv")


def test_columns_and_notes(ragkpi, labels):
    out = ragkpi("eval", "--by", labels, "-m", "num_q", QRELS, BM25).out.decode()
    assert out.splitlines() == [
        "by\tlabel\tqueries\trun\tnum_q",
        "\tall\t12\tbm25\t12",
        "lang\tde\t7\tbm25\t7",
        "lang\ten\t3\tbm25\t3",
    ]
    table = ragkpi("eval", "--by", labels, "-m", "num_q", "--format", "table", QRELS, BM25)
    assert table.out.decode().splitlines()[2:] == [
        "all            12   bm25      12",
        "lang=de         7   bm25       7",
        "lang=en         3   bm25       3",
        "2 queries have no lang and count among all queries alone (hd-01, hd-12)",
    ]


def test_documents_are_as_the_schema_has_them(ragkpi, labels):
    command = ("eval", "--by", labels, "-m", "map", "-q", "--ci", QRELS, BM25, DENSE)
    document = valid_document(ragkpi(*command, "--format", "json").out)
    assert [part["label"] for part in document["slices"]] == ["de", "en"]
    assert [run["queries"] for run in document["slices"][1]["runs"]] == [3, 3]
    lines = valid_lines(ragkpi(*command, "--format", "jsonl").out)
    runs = [line["slice"]["label"] for line in lines if "slice" in line and "run_id" in line]
    assert runs == ["de", "de", "en", "en"]


def test_a_stored_result_with_slices_is_a_baseline_for_all_queries(ragkpi, labels, tmp_path):
    for form in ("json", "jsonl"):
        stored = str(tmp_path / form)
        options = ("eval", "-cq", "--by", labels, "-m", "map", "--format", form, "-o", stored)
        assert ragkpi(*options, QRELS, DENSE).status == 0
        gate = ("--gate-by", "value", "--fail-under-baseline", stored)
        assert ragkpi("eval", "-c", "-m", "map", *gate, QRELS, DENSE).status == 0
        assert ragkpi("eval", "-c", "-m", "map", *gate, QRELS, BM25).status == 3


def test_trec_lines_are_refused(ragkpi, labels):
    outcome = ragkpi("eval", "--by", labels, "--format", "trec", QRELS, BM25)
    assert outcome.status == 1
    assert b"do not say which of several runs or groups they are of" in outcome.err


def test_labels_of_other_queries_are_refused():
    with pytest.raises(ragkpi.NothingInCommonError, match="no evaluated query has a label"):
        ragkpi.evaluate(QRELS, BM25, "map", by={"lang": {"another": "de"}})


def test_ids_are_no_labels():
    by = {"id": {f"q{n}": f"q{n}" for n in range(1001)}}
    qrels = {f"q{n}": {"d": 1} for n in range(1001)}
    with pytest.raises(ragkpi.UsageError, match="1,001 labels; expected at most 1,000"):
        ragkpi.evaluate(qrels, qrels, "P.1", by=by)


def test_hostile_labels(ragkpi, tmp_path):
    label = "\x1b[31m=cmd()\u202e\x07"
    bad = json.dumps({"query_id": "hd-01", "la\x1bng": label, "x": "\ud800"}).encode()
    more = json.dumps({"query_id": "\ud800", "x": "y"}).encode()
    (tmp_path / "labels.jsonl").write_bytes(bad + b"\n" + more + b"\n")
    command = ("eval", "--by", "labels.jsonl", "-m", "map")
    for form in ("table", "markdown", "latex", "csv", "tsv"):
        outcome = ragkpi(*command, "--format", form, QRELS, BM25, folder=tmp_path)
        assert outcome.status == 0
        assert form in ("csv", "tsv") or b"\x1b" not in outcome.out
    valid_document(ragkpi(*command, "--format", "json", QRELS, BM25, folder=tmp_path).out)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize("more", [{}, {"family": "all"}], ids=str)
def test_a_slice_of_a_comparison_is_a_comparison_of_its_queries(tmp_path, more):
    runs = {"bm25": BM25, "dense": DENSE, "fusion": str(FIXTURES / "runs/fusion.run")}
    how = {"measures": ["map", "bor.5"], "corpus_size": 5000, "trials": 500, **more}
    how["correction"] = "none"
    found = ragkpi.compare(QRELS, runs, by=LABELS, **how)
    for name, queries in parts():
        alone = ragkpi.compare(only(queries, tmp_path), runs, **how)
        assert repr(found.slices[name].rows) == repr(alone.rows)
        assert found.slices[name].answer == alone.answer


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_claims_of_slices_and_of_all_queries_are_one_family(tmp_path):
    """Holm's by hand, of two runs over all queries and six slices; all pairs: times seven."""
    runs = {"bm25": BM25, "dense": DENSE, "fusion": str(FIXTURES / "runs/fusion.run")}
    found = ragkpi.compare(QRELS, runs, "map", by=LABELS)
    rows = [row for row in found.rows if row["p"] is not None]
    p = sorted(row["p"] for row in rows)
    stepped = np.minimum(np.maximum.accumulate([x * (len(p) - i) for i, x in enumerate(p)]), 1.0)
    assert sorted(row["p_holm"] for row in rows) == pytest.approx(stepped.tolist())
    alone = ragkpi.compare(QRELS, runs, "map", pairs="all").rows
    every = ragkpi.compare(QRELS, runs, "map", pairs="all", by=LABELS)
    compared = [(alone, every.rows[:3])]
    for part, queries in parts():
        rows = ragkpi.compare(only(queries, tmp_path), runs, "map", pairs="all").rows
        compared.append((rows, every.slices[part].rows))
    for alone, together in compared:
        for one, other in zip(alone, together, strict=True):
            for name in ("p(bm25)", "p(dense)"):
                if one[name] is not None:
                    assert other[name] == pytest.approx(min(1.0, 7 * one[name]))


def test_comparisons_of_slices_are_as_the_schema_has_them(ragkpi, labels):
    command = ("compare", "--by", labels, "-m", "map", QRELS, BM25, DENSE)
    document = valid_document(ragkpi(*command, "--format", "json").out)
    assert [len(part["comparison"]["differences"]) for part in document["slices"]] == [1, 1]
    lines = valid_lines(ragkpi(*command, "--format", "jsonl").out)
    assert [line["slice"]["label"] for line in lines if "slice" in line and "p" in line] == [
        *("de", "en")
    ]
    outcome = ragkpi(*command)
    heads = outcome.out.decode().splitlines()[0].split("\t")
    assert heads[:6] == ["by", "label", "measure", "run", "queries", "value"]
    assert "answer: lang=en: By map, dense " in outcome.err.decode()
    table = ragkpi(*command, "--format", "table").out.decode()
    assert "\nlang=de   map" in table
    explained = ragkpi(*command, "--format", "table", "--explain").out.decode()
    assert explained.count("p: paired t test") == 1
    assert "p_holm is (3 tests)" in table


def test_a_table_for_papers_has_no_slices(ragkpi, labels):
    outcome = ragkpi("compare", "--by", labels, "--paper", "-m", "map", QRELS, BM25, DENSE)
    assert (outcome.status, outcome.out) == (1, b"")


FIRST, RERANKED = (str(FIXTURES / name) for name in ("first_stage.run", "reranked.run"))


def assert_same_answer(found, alone):
    assert repr(found.rows) == repr(alone.rows)
    assert found.to_dict() == alone.to_dict()
    assert str(found) == str(alone)


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize(
    ("runs", "how"),
    [
        ([RERANKED], {"measures": ["P.5", "ra_nwg.5", "recip_rank"], "per_query": True}),
        ([RERANKED, FIRST], {"measures": ["ndcg_cut.10", "bor.10"], "corpus_size": 5000}),
        ([RERANKED], {"measures": "recall.10", "relevance_level": 2}),
    ],
    ids=["one run", "two runs", "level"],
)
def test_a_slice_of_holes_is_holes_of_its_queries(tmp_path, runs, how):
    found = ragkpi.holes(QRELS, runs, by=LABELS, **how)
    widths = [row["width"] for row in found.rows]
    assert max(widths) > 0
    for name, queries in parts():
        assert_same_answer(found.slices[name], ragkpi.holes(only(queries, tmp_path), runs, **how))


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
@pytest.mark.parametrize(
    "how", [{}, {"pool_depth": 20, "cutoff": 5}, {"max_retrieved": 4, "missing": "zero"}], ids=str
)
def test_a_slice_of_a_diagnosis_is_a_diagnosis_of_its_queries(tmp_path, how):
    how = {"pool": FIRST, "missed": 2, **how}
    found = ragkpi.diagnose(QRELS, RERANKED, by=LABELS, **how)
    for name, queries in parts():
        alone = ragkpi.diagnose(only(queries, tmp_path), RERANKED, **how)
        assert_same_answer(found.slices[name], alone)


@pytest.mark.parametrize(
    "command",
    [("holes", "-m", "P.5", "-q"), ("diagnose", "--pool", FIRST)],
    ids=["holes", "diagnose"],
)
def test_answers_of_slices_are_as_the_schema_has_them(ragkpi, labels, command):
    command = (*command, "--by", labels, QRELS, RERANKED)
    document = valid_document(ragkpi(*command, "--format", "json").out)
    assert [part["question"] for part in document["slices"]] == [command[0]] * 2
    lines = valid_lines(ragkpi(*command, "--format", "jsonl").out)
    assert {line["slice"]["label"] for line in lines if "slice" in line} == {"de", "en"}
    assert ragkpi(*command).out.startswith(b"by\tlabel\tqueries\t")


CLUSTERS = {f"hd-{n:02}": f"t{n // 3}" for n in range(1, 13)}


@pytest.fixture
def clusters(tmp_path):
    path = tmp_path / "clusters.tsv"
    path.write_text("".join(f"{query}\t{cluster}\n" for query, cluster in CLUSTERS.items()))
    return str(path)


def test_a_call_knows_the_clusters_of_queries(clusters, tmp_path):
    both = {"topic": CLUSTERS, "lang": LABELS["lang"]}
    (tmp_path / "both.tsv").write_text(
        "query_id\ttopic\tlang\n"
        + "".join(f"{q}\t{c}\t{LABELS['lang'].get(q, '')}\n" for q, c in CLUSTERS.items())
    )
    expected = {query.encode(): cluster for query, cluster in CLUSTERS.items()}
    for cluster, by in (
        (CLUSTERS, None),
        (clusters, None),
        ("topic", both),
        ("topic", str(tmp_path / "both.tsv")),
    ):
        call = session_of(None, "map", {"cluster": cluster}, Estimating, by)
        assert call.clusters == expected
        assert set(call.labels or {}) == ({"lang"} if by else set())
    assert session_of(None, "map", {}, Estimating, both).clusters is None


@pytest.mark.parametrize(
    ("lines", "more", "status", "says"),
    [
        ("hd-01\ta\n", (), 4, "11 evaluated queries have no cluster (hd-02, hd-03, hd-04, …)"),
        ("hd-01\ta\nhd-01\tb\n", (), 4, "clusters.tsv:2: query hd-01 again"),
        ("hd-01\n", (), 2, "clusters.tsv: no label"),
        ("query_id\ta\tb\nhd-01\tx\ty\n", (), 1, "labels queries by a, b; expected one column"),
        (None, (), 2, "clusters.tsv"),
        (None, ("--by", "labels.tsv"), 1, "clusters.tsv: no file, and no column among lang"),
    ],
)
def test_what_gives_no_cluster_to_every_query_is_refused(
    ragkpi, labels, tmp_path, lines, more, status, says
):
    if lines is not None:
        (tmp_path / "clusters.tsv").write_text(lines)
    options = ("eval", "-m", "map", "--ci", "--cluster", "clusters.tsv", *more)
    outcome = ragkpi(*options, QRELS, BM25, folder=tmp_path)
    assert (outcome.status, says in outcome.err.decode()) == (status, True), outcome.err


def test_clusters_that_nothing_depends_on_are_refused(ragkpi, clusters):
    outcome = ragkpi("eval", "-m", "map", "--cluster", clusters, QRELS, BM25)
    assert outcome.status == 1
    assert b"nothing depends on it; give --ci or --fail-under-baseline with it" in outcome.err


def test_a_signature_says_the_clusters(ragkpi, clusters):
    options = ("eval", "-c", "-m", "map", "--ci", "--cluster", clusters, "--signature")
    assert "|cluster:" in ragkpi(*options, QRELS, BM25).out.decode()


@pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")
def test_intervals_and_gates_take_clusters(clusters):
    """Three of four queries of a topic are alike, so that four clusters know less than twelve."""
    alone = ragkpi.evaluate(QRELS, BM25, "map", ci=True)
    whole = ragkpi.evaluate(QRELS, BM25, "map", ci=True, cluster=clusters)
    again = ragkpi.evaluate(QRELS, BM25, "map", ci=True, cluster=CLUSTERS)
    assert whole.intervals == again.intervals != alone.intervals
    assert "over clusters of queries" in whole.report.interval_notes()[0]
    for how, differs in (({}, False), ({"cluster": clusters}, True)):
        found = ragkpi.evaluate(QRELS, DENSE, "map", fail_under_baseline=BM25, **how)
        interval = found.verdicts[0].difference.interval
        expected = ragkpi.compare(QRELS, [BM25, DENSE], "map", cluster=CLUSTERS).rows[1]
        assert (interval.low == pytest.approx(expected["difference_low"])) == differs
