"""Every question as a function: the numbers of the command, in every form that a result has."""

import json
import math
import re
import subprocess
import sys
import warnings
from hashlib import sha256
from pathlib import Path

import pytest

import ragkpi
from ragkpi.reports.layout import Layout
from tests.published_schema import SCHEMA

FIXTURES = Path(__file__).parents[1] / "helpdesk"
QRELS = FIXTURES / "qrels.txt"
RUNS = [FIXTURES / "runs" / f"{name}.run" for name in ("bm25", "dense", "fusion")]
RERANKED, POOL = FIXTURES / "reranked.run", FIXTURES / "first_stage.run"
QUALITY = FIXTURES / "quality.tsv"

# Each question as a function, and as a command line.
QUESTIONS = {
    "compare": (
        lambda: ragkpi.compare(QRELS, RUNS, "ndcg_cut.10", missing="zero"),
        ["compare", "-c", "-m", "ndcg_cut.10", QRELS, *RUNS],
    ),
    "compare all pairs": (
        lambda: ragkpi.compare(QRELS, RUNS, "map", pairs="all", trials=200),
        ["compare", QRELS, *RUNS, "-m", "map", "--all-pairs", "--trials", 200],
    ),
    "compare without measures": (
        lambda: ragkpi.compare(QRELS, RUNS, trials=200),
        ["compare", QRELS, *RUNS, "--trials", 200],
    ),
    "compare over common queries": (
        lambda: ragkpi.compare(QRELS, RUNS, "map", missing="common"),
        ["compare", "--common", "-m", "map", QRELS, *RUNS],
    ),
    "depth": (
        lambda: ragkpi.depth(QRELS, RUNS, corpus_size=5000, missing="zero"),
        ["depth", "-c", "-N", 5000, QRELS, *RUNS],
    ),
    "depth of counts": (
        lambda: ragkpi.depth(relevant=[4, 2], corpus_size=58),
        ["depth", "-N", 58, "--relevant", "4,2"],
    ),
    "diagnose": (
        lambda: ragkpi.diagnose(QRELS, RERANKED, pool=POOL, worst=10),
        ["diagnose", QRELS, RERANKED, "--pool", POOL],
    ),
    "calibrate": (
        lambda: ragkpi.calibrate(QRELS, RERANKED, QUALITY, ["P.10", "F.10"], resamples=200),
        [
            *["calibrate", "--quality", QUALITY, QRELS, RERANKED, "-mP.10", "-mF.10"],
            *["--resamples", 200],
        ],
    ),
    "holes": (
        lambda: ragkpi.holes(QRELS, RUNS, "P.20", missing="zero", first=2),
        ["holes", "-c", QRELS, *RUNS, "-m", "P.20", "--first", 2],
    ),
    "check": (
        lambda: ragkpi.check(RUNS[2], QRELS, ["ndcg_cut.10"]),
        ["check", QRELS, RUNS[2], "-m", "ndcg_cut.10"],
    ),
}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def without_signatures(document):
    runs = [
        {name: value for name, value in run.items() if name != "signature"}
        for run in document.get("runs", ())
    ]
    return {**document, **({"runs": runs} if runs else {})}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_function_answers_as_its_command(question, ragkpi):
    function, command = QUESTIONS[question]
    printed = json.loads(ragkpi(*command, "--format", "json").out)
    found = json.loads(json.dumps(function().to_dict()))
    assert without_signatures(found) == without_signatures(printed)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_form_of_a_result(question):
    jsonschema = pytest.importorskip("jsonschema")
    result = QUESTIONS[question][0]()
    jsonschema.validate(result.to_dict(), SCHEMA)
    assert len(result.to_pandas()) == len(result.to_polars()) == len(result.rows)
    assert result.to_arrow().num_rows == len(result.rows)
    assert result.answer
    assert str(result).startswith(f"{result.answer}\n\n")
    page = result._repr_markdown_()  # the verdict, then the table
    assert re.search(r"^[^|](?s:.*)\n\n\|.*\n\|( :?-+:? \|)+\n", page)
    assert result.explanation or question.startswith("check")
    assert "Result: " in repr(result)


@pytest.mark.parametrize("question", [name for name in QUESTIONS if not name.startswith("check")])
def test_the_picture_is_a_figure(question):
    pytest.importorskip("matplotlib")
    figure = QUESTIONS[question][0]().plot()
    assert figure.axes


def test_where_there_is_no_picture_that_is_said():
    with pytest.raises(ragkpi.UsageError, match="this result has no figure"):
        ragkpi.check(RUNS[0]).plot()


def test_queries_letters_and_tables_of_a_comparison():
    runs = {"one": {"q": {"a": 2.0, "b": 1.0}, "r": {"c": 1.0}}, "other": {"q": {"b": 1.0}}}
    qrels = {"q": {"a": 1, "b": 0}, "r": {"c": 1}}
    found = ragkpi.compare(qrels, runs, "P.1")
    document = found.report.document(Layout(per_query="shown"))
    (difference,) = document["comparison"]["differences"]
    lost = {"outcome": "lost", "baseline_value": 1.0, "value": 0.0, "difference": -1.0}
    assert difference["per_query"] == [{"query": query, **lost} for query in "qr"]
    assert "other & 0.0000 " in found.paper("one").to_text("latex")
    with pytest.raises(ragkpi.UsageError, match="against='x': expected one of"):
        found.paper("x")
    every = ragkpi.compare(qrels, runs, "P.1", pairs="all")
    assert every.to_dict()["all_pairs"]["letters"] == {
        "P_1": {"one": "a", "other": "a"}
    }  # p = 1/2: two of four shuffles
    assert [row["p(other)"] for row in every.rows] == [0.5, None]


def test_the_worst_queries_of_a_report():
    qrels, run = {"q": {"a": 1}, "r": {"c": 1}, "s": {"a": 1}}, {"q": {"b": 1.0}, "r": {"c": 1.0}}
    found = ragkpi.evaluate(qrels, run, "P.1", worst=2, missing="zero")
    assert found.report.worst.queries == [b"q", b"s"]


def test_runs_in_memory_give_the_answers_of_their_files():
    runs = {path.stem: ragkpi.read_run(path) for path in RUNS}
    qrels = ragkpi.read_qrels(QRELS)
    found = ragkpi.depth(qrels, runs, corpus_size=5000, missing="zero")
    assert found.rows == QUESTIONS["depth"][0]().rows
    compared = ragkpi.compare(qrels, runs, "ndcg_cut.10", missing="zero")
    assert compared.rows == QUESTIONS["compare"][0]().rows
    bounds = ragkpi.holes(qrels, runs, "P.20", missing="zero", first=2)
    assert bounds.rows == QUESTIONS["holes"][0]().rows


def test_a_result_says_what_it_depends_on(ragkpi):
    import ragkpi as library

    found = library.evaluate(QRELS, RUNS, "map", missing="zero")
    printed = json.loads(ragkpi("eval", "-c", "-m", "map", QRELS, *RUNS, "--format", "json").out)
    assert found.signature.long() == printed["runs"][0]["signature"]
    compared = library.compare(QRELS, RUNS, "map", missing="zero")
    assert compared.signature.long() == found.signature.long()
    other = QRELS.with_name("qrels.llm.txt")
    agreed = library.agree(QRELS, other).signature.fields
    assert agreed["other"] == f"sha256:{sha256(other.read_bytes()).hexdigest()}"
    one, same, more = (
        library.evaluate({"q": {"a": level}}, {"q": {"a": 1.0}}).signature.fields["qrels"]
        for level in (1, 1, 2)
    )
    assert one == same != more


def test_the_baseline_may_be_named():
    runs = {path.stem: path for path in RUNS}
    found = ragkpi.compare(QRELS, runs, "ndcg_cut.10", baseline="fusion", missing="zero")
    assert [row["run"] for row in found.rows] == ["fusion", "bm25", "dense"]


def test_quality_may_be_in_memory():
    scores = dict(line.split() for line in QUALITY.read_text().splitlines())
    quality = {query: float(score) for query, score in scores.items()}
    found = ragkpi.calibrate(QRELS, RERANKED, quality, ["P.10", "F.10"], resamples=200)
    assert repr(found.rows) == repr(QUESTIONS["calibrate"][0]().rows)  # NaN is not NaN


def test_evaluate_takes_several_runs(ragkpi):
    import ragkpi as library

    given = {
        "list": RUNS,
        "mapping of paths": {path.stem: path for path in RUNS},
        "mapping of runs": {path.stem: library.read_run(path) for path in RUNS},
    }
    printed = json.loads(ragkpi("eval", "-c", "-m", "map", QRELS, *RUNS, "--format", "json").out)
    expected = {run["name"]: run["values"]["map"] for run in printed["runs"]}
    for runs in given.values():
        found = library.evaluate(QRELS, runs, "map", missing="zero")
        assert {name: values["map"] for name, values in found.mean.items()} == expected
        assert found["bm25"].per_query["hd-01"].keys() == {"map"}
        assert [row["map"] for row in found.rows] == list(expected.values())


def test_read_run_keeps_every_score(tmp_path):
    run = ragkpi.read_run(RERANKED)
    assert sum(map(len, run.values())) == len(RERANKED.read_text().splitlines())
    converted = ragkpi.convert(RERANKED, tmp_path / "run.json")
    assert ragkpi.read_run(converted) == run
    assert ragkpi.evaluate(QRELS, converted, "map").mean == ragkpi.evaluate(QRELS, run, "map").mean


def test_a_file_that_is_rewritten_between_calls_is_read_again(tmp_path):
    path = tmp_path / "epoch.run"
    qrels = ragkpi.read_qrels({"q": {"a": 1}})
    means = []
    for lines in ("q Q0 a 1 2 r\n", "q Q0 b 1 3 r\nq Q0 a 2 2 r\n"):
        path.write_text(lines)
        means.append(ragkpi.evaluate(qrels, path, "recip_rank").mean["recip_rank"])
    assert means == [1.0, 0.5]


def test_the_corpus_size_of_the_environment_holds(monkeypatch):
    monkeypatch.setenv("RAGKPI_CORPUS_SIZE", "1024")
    found = ragkpi.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "bor.1").mean
    assert found["bor_1"] == pytest.approx(10.0)
    assert ragkpi.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "bor.1", corpus_size=2).mean[
        "bor_1"
    ] == pytest.approx(1.0)
    monkeypatch.setenv("RAGKPI_CORPUS_SIZE", "many")
    with pytest.raises(ragkpi.UsageError, match="RAGKPI_CORPUS_SIZE=many"):
        ragkpi.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "bor.1")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ragkpi.evaluate(QRELS, RERANKED, "map", corpus_size="many"), "corpus_size= many"),
        (lambda: ragkpi.evaluate(QRELS, RERANKED, "map", missing=True), "missing=True: expected"),
        (lambda: ragkpi.compare(QRELS, RERANKED, "map"), "one run "),
        (lambda: ragkpi.compare(QRELS, RUNS, "map", test="z"), "test='z': expected one of"),
        (lambda: ragkpi.compare(QRELS, RUNS, "map", baseline="x"), "baseline='x': expected one"),
        (lambda: ragkpi.depth(), "qrels and corpus_size="),
        (lambda: ragkpi.depth(QRELS), "give it with corpus_size="),
        (lambda: ragkpi.depth(QRELS, relevant=[1], corpus_size=9), "relevant="),
        (lambda: ragkpi.depth(relevant=[1]), "relevant=: "),
        (lambda: ragkpi.depth(QRELS, RUNS, at=[0]), "at=0: "),
        (lambda: ragkpi.depth(QRELS, RUNS, at=[10**6], corpus_size=50), "at= 1000000: the corpus"),
        (lambda: ragkpi.diagnose(QRELS, RERANKED), "expected pool="),
        (lambda: ragkpi.calibrate(QRELS, RERANKED, 5), "quality= is int"),
        (lambda: ragkpi.check({"q": {}}), "check is about files, not dict"),
        (lambda: ragkpi.convert(RERANKED, "-"), "OUT -: "),
        (lambda: ragkpi.read_run(RERANKED, file_format="x"), "file_format"),
        (lambda: ragkpi.read_qrels(QRELS, file_format="x"), "file_format"),
    ],
)
def test_wrong_arguments_are_refused_in_pythons_terms(call, says):
    with pytest.raises(ragkpi.UsageError) as refused:
        call()
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert " -N" not in str(refused.value)


def test_an_unknown_argument_is_a_type_error():
    with pytest.raises(TypeError, match=r"unexpected argument 'level'; expected .*corpus_size"):
        ragkpi.evaluate(QRELS, RERANKED, "map", level=2)


def test_what_the_command_prints_on_stderr_is_a_warning_of_the_callers_line():
    code = (
        "import ragkpi\n"
        f"found = ragkpi.evaluate({str(QRELS)!r}, {list(map(str, RUNS))!r}, 'map')\n"
        "print(found.notes[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "<string>:2: RagkpiWarning: 1 of 12 judged queries" in done.stderr
    assert 'missing="common": only' in done.stderr
    assert "hd-09" in done.stdout


def test_a_result_is_shown_without_the_tricks_of_its_ids():
    run = {"<script>": {"q": {"a": 1.0}}, "b": {"q": {"a": 1.0}}}
    page = ragkpi.evaluate({"q": {"a": 1}}, run, "map")._repr_markdown_()
    assert not re.search(r"(?<!\\)<script>", page)
    assert r"| \<script> |" in page


def test_small_calls_do_not_grow():
    import gc
    import tracemalloc

    qrels = ragkpi.read_qrels({f"q{q}": {f"d{d}": d % 2 for d in range(10)} for q in range(10)})
    run = {f"q{q}": {f"d{d}": math.sin(d) for d in range(20)} for q in range(10)}

    def call():
        return ragkpi.evaluate(qrels, run, ["map", "ndcg_cut.10"]).mean

    tracemalloc.start()
    try:
        for _ in range(200):  # until Python's lists of freed objects are full
            call()
        gc.collect()  # what only waits for a collection is no growth
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            call()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000  # 100 bytes a call
