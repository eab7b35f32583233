"""A comparison has one ground: queries, qrels, settings, version. What differs is refused."""

import json

import pytest

import ragkpi
from tests.rules.made import edit, write_files

MEASURES = "recip_rank,bor.1"
SETTINGS = ("-N", "1000")


@pytest.fixture
def evaluate(ragkpi, tmp_path):
    write_files(tmp_path)
    return lambda *arguments: ragkpi("eval", *arguments, folder=tmp_path)


def refused(found, field, there, here):
    assert found.status == 4, found.err.decode()
    assert f"{field} is {there}" in found.err.decode()
    assert f", not {here}" in found.err.decode()
    assert b"; evaluate both with the same qrels, measures and options\n" in found.err


@pytest.mark.parametrize("form", ["json", "jsonl", "log"])
@pytest.mark.parametrize(
    ("there", "here", "field", "before", "now"),
    [
        (("-N", "500"), ("-N", "100M"), "N", "500", "100000000"),
        ((*SETTINGS, "-l", "1"), (*SETTINGS, "-l", "0"), "l", "1", "0"),
        ((*SETTINGS, "-M", "2"), SETTINGS, "M", "2", "all"),
        (SETTINGS, (*SETTINGS, "-J"), "unjudged", "kept", "removed"),
        ((*SETTINGS, "--draws", "ret"), SETTINGS, "draws", "ret", "nominal"),
        ((*SETTINGS, "--max-passage", "#"), SETTINGS, "sieve", "max_passage", "none"),
        ((*SETTINGS, "--ignore-identical-ids"), SETTINGS, "sieve", "ignore_identical", "none"),
        ((), SETTINGS, "N", "5 seen", "1000"),  # rel, x1, x2, x3, x4
    ],
)
@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_other_settings(evaluate, form, there, here, field, before, now, strict):
    store = ("--log", "base") if form == "log" else ("--format", form, "-o", "base")
    assert evaluate("-cq", "-m", MEASURES, *there, *store, "qrels", "good.run").status == 0
    gate = ("--gate-by", "value", "--fail-under-baseline", "base")
    found = evaluate("-m", MEASURES, *here, *gate, *strict, "qrels", "bad.run")
    refused(found, field, before, now)


def test_what_no_value_depends_on_may_differ(evaluate):
    evaluate("-q", "-m", MEASURES, "-N", "500", "-o", "base.json", "qrels", "good.run")
    gate = ("--fail-under-baseline", "base.json")
    assert evaluate("-m", "recip_rank", "-N", "900", *gate, "qrels", "like.run").status == 0
    assert evaluate("-m", "recip_rank", "--strict", *gate, "qrels", "like.run").status == 0
    assert evaluate("-m", "recip_rank", "--by", "all.tsv", *gate, "qrels", "like.run").status == 0


def test_other_qrels_and_queries(evaluate):
    store = ("-q", "-m", "recip_rank", "-o", "base.json")
    gate = ("-m", "recip_rank", "--fail-under-baseline", "base.json")
    evaluate(*store, "qrels", "good.run")
    refused(evaluate(*gate, "more.qrels", "bad.run"), "qrels", "", "")
    evaluate(*store, "five.qrels", "five.run")
    found = evaluate(*gate, "qrels", "bad.run")
    refused(found, "queries", "5, ", "12, ")
    evaluate("--common", *store, "qrels", "five.run")
    refused(evaluate(*gate, "qrels", "bad.run"), "queries", "5, ", "12, ")


@pytest.mark.parametrize("version", ["99.0", "0.2.0", "1.0", "", "0.10.0"])
@pytest.mark.parametrize("where", ["document", "signature", "both"])
def test_other_versions(evaluate, tmp_path, version, where):
    evaluate("-q", "-m", "recip_rank", "-o", "base.json", "qrels", "good.run")

    def change(run, document):
        if where != "signature":
            document["ragkpi"] = version
        if where != "document":
            run["signature"] = run["signature"].replace(ragkpi.__version__, version, 1)

    edit(tmp_path / "base.json", change)
    found = evaluate("-m", "recip_rank", "--fail-under-baseline", "base.json", "qrels", "bad.run")
    refused(found, "version", version, ragkpi.__version__)


def test_a_patch_computes_the_same(evaluate, tmp_path):
    evaluate("-q", "-m", "recip_rank", "-o", "base.json", "qrels", "good.run")
    patch = ".".join([*ragkpi.__version__.split(".")[:2], "99"])
    path = tmp_path / "base.json"
    path.write_text(path.read_text().replace(ragkpi.__version__, patch))
    gate = ("-m", "recip_rank", "--fail-under-baseline", "base.json", "qrels")
    assert evaluate(*gate, "like.run").status == 0
    assert evaluate(*gate, "bad.run").status == 3


@pytest.mark.parametrize("field", ["signature", "queries_sha256"])
def test_a_result_without_a_ground(evaluate, tmp_path, field):
    evaluate("-q", "-m", "recip_rank", "-o", "base.json", "qrels", "good.run")
    edit(tmp_path / "base.json", lambda run, _: run.pop(field))
    found = evaluate("-m", "recip_rank", "--fail-under-baseline", "base.json", "qrels", "bad.run")
    assert found.status == 2
    assert b"does not record its queries" in found.err
    assert b"ragkpi eval -q -o FILE.json QRELS RUN" in found.err


@pytest.mark.parametrize("lines", [1, 3, 11])
def test_a_result_cut_at_the_end_of_a_line(evaluate, tmp_path, lines):
    evaluate("-q", "-m", "recip_rank", "-o", "base.jsonl", "qrels", "good.run")
    path = tmp_path / "base.jsonl"
    whole = path.read_text().splitlines(keepends=True)
    assert len(whole) == 13
    path.write_text("".join(whole[: 1 + lines]))
    found = evaluate("-m", "recip_rank", "--fail-under-baseline", "base.jsonl", "qrels", "bad.run")
    assert found.status == 2
    assert f"has values for {lines} of 12 queries".encode() in found.err


def test_the_worst_queries_are_no_baseline(evaluate):
    evaluate("--worst", "3", "-m", "recip_rank", "-o", "base.json", "qrels", "good.run")
    found = evaluate("-m", "recip_rank", "--fail-under-baseline", "base.json", "qrels", "bad.run")
    assert found.status == 2
    assert b"has values for 3 of 12 queries" in found.err


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_result_of_several_runs_is_no_baseline(evaluate, form):
    evaluate("-q", "-m", "map", "-o", f"base.{form}", "qrels", "good.run", "bad.run")
    found = evaluate("-m", "map", "--fail-under-baseline", f"base.{form}", "qrels", "like.run")
    assert found.status == 1
    assert b"it holds 2 runs (good, bad); store one" in found.err


def test_records_are_ranked_on_one_ground(ragkpi, evaluate, tmp_path):
    """The better of two values over five queries does not come before one over twelve."""
    log = ("-cm", "recip_rank", "--log", "log")
    evaluate(*log, "qrels", "good.run")
    evaluate(*log, "five.qrels", "five.run")
    shown = lambda *how: ragkpi("log", "log", "--format", "csv", *how, folder=tmp_path)  # noqa: E731
    found = shown("--sort", "recip_rank")
    assert found.status == 4
    assert b"good and five are not comparable: queries is 12, " in found.err
    assert b"log them to different files" in found.err
    table = ragkpi("log", "log", "--format", "table", folder=tmp_path).out.decode()
    assert "*" not in table
    assert "queries:12, " in table
    assert "queries:5, " in table


def test_records_that_differ_in_what_the_value_needs_not(ragkpi, evaluate, tmp_path):
    for size, run in (("500", "bad.run"), ("900", "good.run")):
        evaluate("-cm", MEASURES, "-N", size, "--log", "log", "qrels", run)
    sorted_by = lambda name: ragkpi("log", "log", "--sort", name, folder=tmp_path)  # noqa: E731
    assert sorted_by("recip_rank").status == 0
    found = sorted_by("bor_1")
    assert found.status == 4
    assert b"N is 500 of one, 900 of the other; log them to different files" in found.err


def test_records_without_a_ground_are_not_ranked(ragkpi, evaluate, tmp_path):
    evaluate("-cm", "recip_rank", "--log", "log", "qrels", "good.run")
    (record,) = (json.loads(line) for line in (tmp_path / "log").read_text().splitlines())
    old = {name: text for name, text in record.items() if name != "signature"}
    lines = [json.dumps({**old, "name": name}) for name in ("old", "older")]
    with (tmp_path / "log").open("a") as file:
        file.write("\n".join(lines) + "\n")
    command = ("log", "log", "--format", "csv", "--sort", "recip_rank")
    found = ragkpi(*command, folder=tmp_path)
    assert found.status == 4
    assert b"qrels is not said of one, not said of the other" in found.err
    assert b"log them to different files" in found.err
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    assert ragkpi(*command, folder=tmp_path).status == 4


def test_qrels_in_memory_have_a_hash(tmp_path):
    qrels, other = ({f"q{n}": {"d": 1, "e": level} for n in range(8)} for level in (0, 1))
    run = {f"q{n}": {"d": 1.0} for n in range(8)}
    path = tmp_path / "base.jsonl"
    ragkpi.evaluate(qrels, run, "map").log(str(path), per_query="shown")
    how = {"fail_under_baseline": str(path), "gate_by": "value"}
    assert all(one.passed for one in ragkpi.evaluate(qrels, run, "map", **how).verdicts)
    with pytest.raises(ragkpi.RagkpiError, match=r"qrels is .*, not .*") as refused:
        ragkpi.evaluate(other, run, "map", **how)
    assert refused.value.exit_status == 4


def test_runs_over_other_queries_are_compared_on_request_alone(tmp_path):
    write_files(tmp_path)
    qrels, *runs = (str(tmp_path / name) for name in ("qrels", "good.run", "five.run"))
    with pytest.raises(ragkpi.RagkpiError, match="good is over 12 queries, five over 5") as refused:
        ragkpi.compare(qrels, runs, "recip_rank", missing="intersection")
    assert refused.value.exit_status == 4
    with pytest.warns(ragkpi.RagkpiWarning, match="5 queries that all runs have"):
        assert ragkpi.compare(qrels, runs, "recip_rank", missing="common").rows


def stored(evaluate, *names, more=()):
    for name in names:
        options = ("-q", "-N", "1000", "-m", "recip_rank,bor.1", *more)
        assert evaluate(*options, "-o", f"{name}.json", "qrels", f"{name}.run").status == 0
    return [f"{name}.json" for name in names]


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize("mixed", [False, True])
def test_results_are_compared_as_their_runs_are(ragkpi, evaluate, tmp_path, form, mixed):
    """By means and by a ratio of means, to the last digit."""
    good, bad = stored(evaluate, "good", "bad")
    how = ("--format", form, "--signature-long")
    asked = ("-N", "1000", "-m", "recip_rank,bor.1")
    runs = ragkpi("compare", *asked, *how, "qrels", "good.run", "bad.run", folder=tmp_path)
    files = (*asked, "qrels", "good.run", bad) if mixed else (good, bad)
    found = ragkpi("compare", *how, *files, folder=tmp_path)
    assert (found.status, found.out) == (0, runs.out), found.err


def test_a_log_and_a_file_of_several_runs_are_runs(ragkpi, evaluate, tmp_path):
    evaluate("-q", "-m", "recip_rank", "-o", "two.jsonl", "qrels", "good.run", "bad.run")
    evaluate("-q", "-m", "recip_rank", "--log", "log", "qrels", "like.run")
    found = ragkpi("compare", "--format", "json", "two.jsonl", "log", folder=tmp_path)
    rows = json.loads(found.out)["comparison"]["differences"]
    # The mean reciprocal ranks are 0.75, 0.375 and 0.75.
    assert [(row["baseline"], row["run"], row["difference"]) for row in rows] == [
        ("two.jsonl:good", "two.jsonl:bad", -0.375),
        ("two.jsonl:good", "log", 0.0),
    ]


@pytest.mark.parametrize(
    ("there", "field", "values"),
    [
        (("-M", "2"), "M", ("2", "all")),
        (("-J",), "unjudged", ("removed", "kept")),
        (("-N", "500"), "N", ("500", "1000")),
        (("--common",), "queries", ("5, ", "12, ")),
    ],
)
def test_results_on_other_grounds_are_not_compared(
    ragkpi, evaluate, tmp_path, there, field, values
):
    (good,) = stored(evaluate, "good")
    options = ("-q", "-N", "1000", "-m", "recip_rank,bor.1", *there)
    run = "five.run" if "--common" in there else "bad.run"
    assert evaluate(*options, "-o", "other.json", "qrels", run).status == 0
    found = ragkpi("compare", good, "other.json", folder=tmp_path)
    assert (found.status, found.out) == (4, b"")
    assert f"not comparable with good of good.json: {field} is {values[0]}" in found.err.decode()
    assert f", not {values[1]}" in found.err.decode()


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("more.qrels", "good.json", "bad.json"), 4, "qrels is "),
        (("-M", "3", "good.json", "bad.json"), 4, "M is all, not 3"),
        (("-N", "7", "qrels", "good.json", "bad.json"), 4, "N is 1000, not 7"),
        (("-N", "1000", "qrels", "good.json", "five.run", "--common"), 4, "queries is 12, "),
        (("-m", "map", "good.json", "bad.json"), 4, "values is without map, not with"),
        (("good.json", "bad.run"), 1, "bad.run: a run; expected qrels before it"),
        (("qrels", "good.json"), 1, "2 files; expected three or more"),
        (("good.json", "brief.json"), 1, "-q"),
        (("good.json", "nosuch.json"), 2, "nosuch.json: cannot be read"),
        (("qrels", "good.json", "nosuch.json"), 2, "nosuch.json: cannot be read"),
        (("--all-pairs", "--fail-if", "worse", "good.json", "bad.json"), 1, "--fail-if"),
        (("--margin", "0.1", "good.json", "bad.json"), 1, "give --fail-if with it"),
    ],
)
def test_what_is_not_comparable_with_a_result(ragkpi, evaluate, tmp_path, arguments, status, says):
    stored(evaluate, "good", "bad")
    evaluate("-m", "recip_rank", "-o", "brief.json", "qrels", "good.run")
    found = ragkpi("compare", *arguments, folder=tmp_path)
    assert (found.status, found.out) == (status, b""), found.err
    assert says in found.err.decode()


@pytest.mark.parametrize("by", ["worse", "noninferior"])
@pytest.mark.parametrize("margin", [(), ("--margin", "0.1"), ("--margin", "60%")])
@pytest.mark.parametrize("run", ["bad", "like", "good"])
@pytest.mark.parametrize("files", ["results", "runs"])
def test_compare_fails_as_eval_does(ragkpi, evaluate, tmp_path, by, margin, run, files):
    """The same verdicts on the same gates, of runs and of what was stored of them."""
    (tmp_path / "base.run").write_text((tmp_path / "good.run").read_text())
    base, other = stored(evaluate, "base", run)
    asked = ("-N", "1000", "-m", "recip_rank,bor.1")
    gate = ("--gate-by", by, *margin, "--fail-under-baseline")
    path = base if files == "results" else "base.run"
    of_eval = evaluate(*asked, *gate, path, "--format", "json", "qrels", f"{run}.run")
    given = (base, other) if files == "results" else (*asked, "qrels", path, f"{run}.run")
    how = ("--fail-if", by, *margin, "--format", "json")
    of_compare = ragkpi("compare", *how, *given, folder=tmp_path)
    assert of_compare.status == of_eval.status
    if not margin:
        assert (of_eval.status == 0) == (run == "good" or (by == "worse" and run == "like"))
    kept = ("measure", "value", "limit", "difference", "interval", "passed", "queries")
    verdicts = [
        [{key: one[key] for key in kept} for one in json.loads(found.out)["runs"][-1]["gates"]]
        for found in (of_eval, of_compare)
    ]
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 2


def test_notes_of_stored_results_are_said_again(ragkpi, evaluate, tmp_path):
    """Five of twelve queries are evaluated; of the other run nothing is to be said."""
    for name in ("five", "bad"):
        words = ("eval", "-q", "-m", "recip_rank", "-o", f"{name}.json", "qrels", f"{name}.run")
        assert ragkpi(*words, folder=tmp_path).status == 0
    compared = ragkpi("compare", "five.json", "bad.json", folder=tmp_path)
    assert compared.status == 0
    assert b"7 of 12 judged queries are missing from the run" in compared.err
    assert b"(five.json)" in compared.err


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("per_query", [(), ("-q",), ("-q", "--ci"), ("-q", "--signature-long")])
def test_a_table_of_values_is_no_result(ragkpi, evaluate, tmp_path, form, per_query):
    """It does not say over which qrels and queries its values are."""
    stored = ("-m", "map,P.5", *per_query, "-o", f"main.{form}", "qrels", "good.run")
    assert ragkpi("eval", *stored, folder=tmp_path).status == 0
    for words, status in (
        (("compare", f"main.{form}", "bad.run"), 1),
        (("compare", "qrels", f"main.{form}", "bad.run"), 2),
        (("eval", "--fail-under-baseline", f"main.{form}", "qrels", "bad.run"), 2),
        (("log", f"main.{form}"), 2),
        (("verify", f"main.{form}"), 1),
    ):
        refused = ragkpi(*words, folder=tmp_path)
        assert (refused.status, refused.err.count(b"error: ")) == (status, 1)
