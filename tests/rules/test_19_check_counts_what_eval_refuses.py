"""What `eval` refuses, `check` of the same files refuses, too, or counts as an error."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ragkpi
from tests.files.hostile import SPOILERS, texts
from tests.hostile_files import ARROW, QRELS, RUNS, TABLES

in_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
pytestmark = [
    pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning"),
    pytest.mark.usefixtures("reader"),
]

GOOD_QRELS = b"".join(b"%d 0 d%d %d\n" % (q, n, n % 3) for q in range(4) for n in range(6))
RANKING = [(f"{q}", f"d{n}", n + 1, 9.5 - n) for q in range(4) for n in range(5)]


def rows_of(template, ranking):
    return "".join(template.format(*row) + "\n" for row in ranking)


def nested(ranking):
    run = {}
    for query, document, _, score in ranking:
        run.setdefault(query, {})[document] = score
    return run


def lines_of(ranking):
    """JSON Lines, a query a line."""
    for query, of in nested(ranking).items():
        hits = [{"docid": document, "score": score} for document, score in of.items()]
        yield json.dumps({"qid": query, "hits": hits})


FORMATS = {
    "trec": lambda ranking: rows_of("{0} Q0 {1} {2} {3} me", ranking),
    "trec between tabs": lambda ranking: rows_of("{0}\tQ0\t{1}\t{2}\t{3}\tme", ranking),
    "csv": lambda ranking: "qid,docno,score\n" + rows_of("{0},{1},{3}", ranking),
    "tsv": lambda ranking: "qid\tdocno\trank\tscore\n" + rows_of("{0}\t{1}\t{2}\t{3}", ranking),
    "msmarco": lambda ranking: rows_of("{0}\t{1}\t{2}", ranking),
    "json": lambda ranking: json.dumps(nested(ranking), indent=0),
    "jsonl": lambda ranking: "\n".join(lines_of(ranking)),
}


def refusal_of(function, *files, **how):
    try:
        return function(*files, **how), None
    except ragkpi.RagkpiError as problem:
        return None, problem


def held(folder, run, qrels=GOOD_QRELS, **how):
    """Return whether `eval` refuses the files, which `check` then has to."""
    (folder / "qrels").write_bytes(qrels)
    (folder / "run").write_bytes(run if isinstance(run, bytes) else run.encode())
    paths = folder / "qrels", folder / "run"
    _, refusal = refusal_of(ragkpi.evaluate, *paths, "recip_rank", **how)
    if refusal is None:
        return False
    checked, problem = refusal_of(ragkpi.check, *paths[::-1], **how)
    assert problem or checked.count("error"), str(refusal)
    if problem:
        assert problem.exit_status == refusal.exit_status, (str(problem), str(refusal))
    return True


@pytest.mark.parametrize("text", [text for text, *_ in RUNS.values()], ids=RUNS)
def test_runs_of_the_contract(text, tmp_path):
    assert held(tmp_path, text, b"1 0 d 1\n")


@pytest.mark.parametrize("text", [text for text, *_ in QRELS.values()], ids=QRELS)
def test_qrels_of_the_contract(text, tmp_path):
    assert held(tmp_path, b"1 Q0 d 1 1 me\n", text)


@pytest.mark.parametrize("text", [text for text, _ in ARROW.values()], ids=ARROW)
def test_damaged_tables(text, tmp_path):
    pytest.importorskip("pyarrow")
    assert held(tmp_path, text, b"1 0 d 1\n")


@pytest.mark.parametrize("columns", [columns for columns, _ in TABLES.values()], ids=TABLES)
def test_columns_of_tables(columns, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), tmp_path / "table")
    assert held(tmp_path, (tmp_path / "table").read_bytes(), b"1 0 d 1\n")


@pytest.mark.parametrize("text", [b"", b" ", b"\n\n", b"# a comment\n", b"\xef\xbb\xbf\n"])
def test_qrels_without_a_judgement(text, tmp_path):
    assert held(tmp_path, b"1 Q0 d 1 1 me\n", text)


CHANGES = {
    "rising": lambda ranking: [(*row, -score) for *row, score in ranking],
    "repeated": lambda ranking: ranking + ranking[:1],
    "other queries": lambda ranking: [(f"x{query}", *row) for query, *row in ranking],
    "a space": lambda ranking: [(query, f"d {d}", *row) for query, d, *row in ranking],
    "none": lambda ranking: [],
}
REFUSED = {
    "rising": {"csv", "json", "jsonl"},
    "repeated": {*FORMATS} - {"json", "jsonl"},  # a key once
    "other queries": {*FORMATS},
    "a space": {"trec", "trec between tabs"},
    "none": {*FORMATS},
}


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("change", CHANGES)
def test_whole_runs(change, format_, tmp_path):
    refused = held(tmp_path, FORMATS[format_](CHANGES[change](RANKING)))
    assert refused or format_ not in REFUSED[change]


@pytest.mark.parametrize("format_", FORMATS)
def test_roles(format_, tmp_path):
    """Qrels for a run, a run for qrels, and one file for both."""
    run = FORMATS[format_](RANKING).encode()
    assert held(tmp_path, run, run)
    assert held(tmp_path, GOOD_QRELS)
    assert held(tmp_path, GOOD_QRELS, run)


DOUBTFUL = {
    "rising": (CHANGES["rising"], {}),
    "one score": (lambda ranking: [(*row, 1.0) for *row, _ in ranking], {}),
    "other documents": (lambda ranking: [(q, f"y{d}", *row) for q, d, *row in ranking], {}),
    "chunks": (lambda ranking: [(q, f"{d}#1", *row) for q, d, *row in ranking], {}),
    "a query spelt otherwise": (
        lambda ranking: [(query.replace("3", "03"), *row) for query, *row in ranking],
        {},
    ),
    "a level that nobody gave": (lambda ranking: ranking, {"relevance_level": 5}),
}


@pytest.mark.parametrize("doubt", DOUBTFUL)
def test_what_is_refused_by_strict_is_a_warning_at_least(doubt, tmp_path):
    change, how = DOUBTFUL[doubt]
    (tmp_path / "qrels").write_bytes(GOOD_QRELS)
    (tmp_path / "run").write_text(FORMATS["trec"](change(RANKING)))
    paths = tmp_path / "qrels", tmp_path / "run"
    with pytest.raises(ragkpi.DataError):
        ragkpi.evaluate(*paths, "recip_rank", doubts="refused", **how)
    checked = ragkpi.check(*paths[::-1], **how)
    assert checked.count("warning") + checked.count("error")


@in_files
@pytest.mark.parametrize(
    "how", [{}, {"score_order": "distance"}, {"max_passage": "#"}, {"ignore_identical_ids": True}]
)
@given(data=st.data())
def test_spoilt_runs(how, data, tmp_path):
    """A few bytes are put into a run of any format, or taken out."""
    text = FORMATS[data.draw(st.sampled_from([*FORMATS]))](RANKING).encode()
    for _ in range(data.draw(st.integers(1, 3))):
        place, taken = data.draw(st.integers(0, len(text))), data.draw(st.sampled_from([0, 1, 20]))
        spoiler = data.draw(st.sampled_from([*SPOILERS, b'"', b",", b"nan", b"9" * 30, b"x"]))
        text = text[:place] + spoiler + text[place + taken :]
    held(tmp_path, text, **how)


@in_files
@given(run=texts(6), qrels=texts(4))
def test_any_words(run, qrels, tmp_path):
    held(tmp_path, run)
    held(tmp_path, b"1 Q0 d 1 1 me\n", qrels)
