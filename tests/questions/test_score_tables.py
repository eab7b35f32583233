"""Scores of any kind: whatever the form of the table, scipy's paired t test of its numbers."""

import csv
import io
import json
import random

import numpy as np
import pytest
from scipy import stats

import ragkpi
from ragkpi.errors import RagkpiError

QUERIES = [f"q{n:02}" for n in range(24)]
DRAW = random.Random(5)
VALUES = {
    system: {query: round(min(1.0, max(0.0, DRAW.gauss(mean, 0.2))), 4) for query in QUERIES}
    for system, mean in (("base", 0.4), ("next", 0.55), ("third", 0.45))
}


def text_of(rows, separator=","):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


LONG = [
    {"query": query, "system": system, "faith": value}
    for system, of in VALUES.items()
    for query, value in of.items()
]
WIDE = [{"query": query, **{name: of[query] for name, of in VALUES.items()}} for query in QUERIES]
TIDY = [
    {"qid": row["query"], "model": row["system"], "metric": "faith", "value": row["faith"]}
    for row in LONG
]
FORMS = {
    "long.csv": text_of(LONG),
    "long.tsv": text_of(LONG, "\t"),
    "long with scores.csv": text_of(LONG).replace("faith", "score", 1),
    "long.jsonl": "".join(f"{json.dumps(row)}\n" for row in LONG),
    "long.json": json.dumps(LONG),
    "wide.csv": text_of(WIDE),
    "tidy.csv": text_of(TIDY),
}


def compared(rows):
    """Check differences and p-values, before their correction, against scipy's."""
    base = np.array([VALUES["base"][query] for query in QUERIES])
    for name in ("next", "third"):
        (row,) = [row for row in rows if row["run"] == name]
        other = np.array([VALUES[name][query] for query in QUERIES])
        test = stats.ttest_rel(other, base)
        low, high = test.confidence_interval()
        assert row["p"] == pytest.approx(test.pvalue, rel=1e-9)
        assert row["difference"] == pytest.approx((other - base).mean(), rel=1e-9)
        assert [row["difference_low"], row["difference_high"]] == pytest.approx([low, high])


@pytest.fixture
def command(request):
    """The command line, under another name than the package's."""
    return request.getfixturevalue("ragkpi")


@pytest.mark.parametrize("name", FORMS)
def test_tables_of_every_form(command, tmp_path, name):
    (tmp_path / name).write_text(FORMS[name])
    compared(ragkpi.compare(scores=tmp_path / name).rows)
    done = command("compare", "--scores", name, folder=tmp_path)
    assert done.status == 0, done.err


def test_lines_of_trec_eval_and_dictionaries_of_pytrec_eval(command, tmp_path):
    for system, of in VALUES.items():
        lines = [f"map                   \t{query}\t{value:.4f}\n" for query, value in of.items()]
        mean = sum(of.values()) / len(of)
        lines += ["runid                 \tall\tx\n", f"map                   \tall\t{mean:.4f}\n"]
        (tmp_path / f"{system}.txt").write_text("".join(lines))
        nested = {query: {"map": value} for query, value in of.items()}
        (tmp_path / f"{system}.json").write_text(json.dumps(nested))
    for suffix in ("txt", "json"):
        files = [f"{system}.{suffix}" for system in VALUES]
        compared(ragkpi.compare(scores=[tmp_path / file for file in files]).rows)
        assert command("compare", "--scores", *files, folder=tmp_path).status == 0


def test_frames_rows_and_mappings_in_python():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    nested = {s: {q: {"faith": v} for q, v in of.items()} for s, of in VALUES.items()}
    for table in (LONG, pandas.DataFrame(LONG), polars.DataFrame(LONG), nested):
        result = ragkpi.compare(scores=table, measures="faith")
        base, *others = result.rows
        assert base["run"] == "base"
        compared(others)


def test_lower_is_better_where_it_is_said():
    rows = [{**row, "latency": 1 - row["faith"]} for row in LONG]
    up = ragkpi.compare(scores=rows, measures="faith").answer
    down = ragkpi.compare(scores=rows, measures="latency", better="lower").answer
    named = ragkpi.compare(scores=rows, measures="latency", better={"latency": "lower"}).answer
    assert "better" in up
    assert "better" in down
    assert down == named
    assert "better" not in ragkpi.compare(scores=rows, measures="latency").answer.split("(p")[0]


def test_truths_and_percentages_are_numbers_and_rates_have_the_score_test():
    outcomes = [{"query": q, "a": n % 2 == 0, "b": "true"} for n, q in enumerate(QUERIES)]
    result = ragkpi.compare(scores=outcomes)
    assert [row["value"] for row in result.rows] == [0.5, 1.0]
    shares = [{"query": q, "a": "50%", "b": "75%".replace(" ", "")} for q in QUERIES]
    shares[0]["a"] = "49%"
    result = ragkpi.compare(scores=shares)
    assert result.rows[1]["value"] == pytest.approx(0.75)
    assert any("85% is 0.85" in note for note in result.notes)


def test_columns_of_the_table_are_slices_and_clusters():
    rows = [
        {**row, "lang": "de" if int(row["query"][1:]) % 2 else "en", "talk": row["query"][:2]}
        for row in LONG
    ]
    result = ragkpi.compare(scores=rows, measures="faith", by="lang")
    assert set(result.slices) == {"lang=de", "lang=en"}
    clustered = ragkpi.compare(scores=rows, measures="faith", cluster="talk")
    plain = ragkpi.compare(scores=rows, measures="faith")
    assert clustered.rows[1]["p"] != plain.rows[1]["p"]


def test_seeds_of_a_system_are_one():
    rows = [
        {**row, "seed": seed, "faith": row["faith"] + 0.01 * seed}
        for row in LONG
        for seed in range(3)
    ]
    result = ragkpi.compare(scores=rows)
    assert len(result.rows) == 3
    assert result.rows[1]["difference"] == pytest.approx(
        np.mean(list(VALUES["next"].values())) - np.mean(list(VALUES["base"].values()))
    )
    assert "means over seeds: base 3, next 3, third 3" in result.answer


BAD = {
    "a text": (
        "query,system,f\nq1,a,1\nq1,b,high\n",
        "bad.csv:3: f high is not a finite number",
        2,
    ),
    "infinite": ("query,system,f\nq1,a,1\nq1,b,inf\n", "bad.csv:3: f inf is not a finite", 2),
    "a hole": (
        "query,system,f\nq1,a,1\nq1,b,\nq2,a,1\nq2,b,0\n",
        "bad.csv:3: 1 query lacks a number (1 missing)",
        4,
    ),
    "no id": ("query,system,f\nq1,a,1\n,b,1\n", "bad.csv:3: no query", 2),
    "no system": ("query,system,f\nq1,a,1\nq1,,1\n", "bad.csv:3: no system", 2),
    "no seed": ("query,system,seed,f\nq1,a,1,1\nq1,b,,1\n", "bad.csv:3: no seed", 2),
    "a query of one": ("query,system,f\nq1,a,1\nq1,b,1\nq2,a,1\n", "1 query lacks a number", 4),
    "twice": ("query,system,f\nq1,a,1\nq1,a,0\nq1,b,1\n", "bad.csv:3: query q1 of a again", 4),
    "no query": ("system,f\na,1\nb,1\n", "bad.csv:2: no query among the columns", 2),
    "no numbers": ("query,system,f\nq1,a,x\nq1,b,y\n", "no numbers", 2),
    "one system": ("query,f\nq1,1\nq2,1\n", "one system", 2),
    "ragged": ("query,system,f\nq1,a,1,2\n", "bad.csv:2: 4 columns", 2),
    "empty": ("", "", 2),
}


@pytest.mark.parametrize(("text", "says", "status"), BAD.values(), ids=BAD)
def test_bad_tables_end_in_one_line(command, tmp_path, text, says, status):
    (tmp_path / "bad.csv").write_text(text)
    done = command("compare", "--scores", "bad.csv", "-o", "out.json", folder=tmp_path)
    complaints = [line for line in done.complaints if b"note" not in line]
    assert (done.status, len(complaints)) == (status, 1), done
    assert says in complaints[0].decode()
    assert not (tmp_path / "out.json").exists()


def test_holes_are_left_out_on_request(command, tmp_path):
    (tmp_path / "t.csv").write_text(
        "query,system,f\nq1,a,1\nq1,b,.5\nq2,a,1\nq2,b,NA\nq3,a,1\nq3,b,.2\n"
    )
    done = command("compare", "--common", "--scores", "t.csv", folder=tmp_path)
    assert done.status == 0
    assert b"without 1 query that some system lacks (q2)" in done.err


def test_gates_and_all_pairs_take_scores(command, tmp_path):
    (tmp_path / "t.csv").write_text(FORMS["long.csv"])
    options = ("--scores", "t.csv", "--baseline", "next")
    assert command("compare", *options, "--fail-if", "worse", folder=tmp_path).status == 3
    done = command(
        "compare", "--all-pairs", "--scores", "t.csv", "--format", "csv", folder=tmp_path
    )
    assert b"letters,rank" in done.out


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"measures": "nope"}, "no such column"),
        ({"better": "upwards"}, "expected lower, higher"),
        ({"better": {"nope": "lower"}}, "no such measure"),
        ({"scores": 5}, "expected a path, a data frame"),
        ({"scores": [3]}, "row 1 is int; expected names"),
        ({"scores": []}, "no scores"),
        ({"scores": {"query": [1, 2], "a": [1], "b": [1]}}, "several lengths"),
        ({"map_scores": "frage=qid"}, "expected ROLE=COLUMN"),
        ({"map_scores": "query=nope"}, "no column nope"),
        ({"missing": "zero"}, "a number that is missing is not 0"),
        ({"corpus_size": 100}, "corpus_size=: it says how"),
        ({"unjudged": "removed"}, 'unjudged="removed": it says how'),
        ({"baseline": "nope"}, "expected one of"),
        ({"qrels": {}, "runs": {}}, "they stand for qrels and runs"),
    ],
)
def test_arguments_that_do_not_fit(how, says):
    with pytest.raises(RagkpiError, match=says):
        ragkpi.compare(**{"scores": LONG, **how})


def test_a_cost_without_a_direction_has_a_note(command, tmp_path):
    (tmp_path / "t.csv").write_text(FORMS["long.csv"].replace("faith", "mean_latency"))
    done = command("compare", "--scores", "t.csv", folder=tmp_path)
    assert b"--better mean_latency=lower if lower ones are" in done.err
    done = command("compare", "--scores", "t.csv", "--better", "lower", folder=tmp_path)
    assert (done.status, b"--better" in done.err) == (0, False)


def test_options_of_scores_alone_need_scores():
    with pytest.raises(RagkpiError, match="expected scores="):
        ragkpi.compare({"q": {"d": 1}}, {"a": {}, "b": {}}, better="lower")


def test_a_map_names_columns_that_no_list_knows(command, tmp_path):
    rows = [{"frage": r["query"], "modell": r["system"], "faith": r["faith"]} for r in LONG]
    (tmp_path / "t.csv").write_text(text_of(rows))
    options = ("--scores", "t.csv", "--map-scores", "query=frage, system=modell")
    assert command("compare", *options, folder=tmp_path).status == 0
    compared(ragkpi.compare(scores=rows, map_scores={"query": "frage", "system": "modell"}).rows)


def test_all_lines_of_trec_eval_are_decided_by_a_reported_measure(command, tmp_path):
    """Counts of documents come first there, and decide nothing."""
    for system, of in VALUES.items():
        lines = [
            f"{name}\t{query}\t{number}\n"
            for query, value in of.items()
            for name, number in (("num_ret", 5), ("num_rel_ret", 2), ("map", value))
        ]
        (tmp_path / f"{system}.txt").write_text("".join(lines))
    done = command("compare", "--scores", "base.txt", "next.txt", folder=tmp_path)
    assert b"By map, next is better" in done.err
    assert b"num_ret" not in done.out


def test_a_query_has_one_label_and_one_cluster():
    rows = [{**row, "lang": "de" if n % 2 else "en"} for n, row in enumerate(LONG)]
    rows[0]["lang"] = "fr"
    with pytest.raises(RagkpiError, match="of query q00 is en, before fr; expected one label"):
        ragkpi.compare(scores=rows, by="lang")
    some = [{**row, "talk": "t" if row["query"] != "q07" else ""} for row in LONG]
    with pytest.raises(RagkpiError, match="1 evaluated query has no cluster"):
        ragkpi.compare(scores=some, cluster="talk")


def test_columns_frames_by_system_and_an_index():
    compared(ragkpi.compare(scores={name: [r[name] for r in LONG] for name in LONG[0]}).rows)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LONG)
    compared(ragkpi.compare(scores=frame.set_index("query")).rows)
    compared(ragkpi.compare(scores=frame.set_index(["query", "system"])).rows)
    by_system = {name: of.drop(columns="system") for name, of in frame.groupby("system")}
    compared(ragkpi.compare(scores=by_system).rows)


def test_three_tables_of_other_tools_print_scipys_digits(command, tmp_path):
    """ranx's and ragas's frames as CSV, and trec_eval's lines: the p that JSON and tables show."""
    of_trec = {
        f"{system}.txt": "".join(f"map\t{query}\t{value}\n" for query, value in of.items())
        for system, of in VALUES.items()
    }
    ragas = [{"question": r["query"], "model": r["system"], "faith": r["faith"]} for r in LONG]
    made = {**of_trec, "ranx.csv": FORMS["wide.csv"], "ragas.csv": text_of(ragas)}
    for name, text in made.items():
        (tmp_path / name).write_text(text)
    base, other = (np.array([VALUES[s][q] for q in QUERIES]) for s in ("base", "third"))
    for files in ([*of_trec], ["ranx.csv"], ["ragas.csv"]):
        line = ("compare", "--scores", *files, "--correction", "none", "--format")
        p = stats.ttest_rel(other, base).pvalue
        done = command(*line, "csv", folder=tmp_path)
        assert done.status == 0, done.err
        printed = done.out.decode().splitlines()
        (row,) = [row for row in csv.DictReader(printed) if row["run"] == "third"]
        assert float(row["p"]) == pytest.approx(p, rel=1e-13)
        shown = command(*line, "table", folder=tmp_path).out.decode().splitlines()
        (cells,) = [text.split() for text in shown if " third " in text and "By " not in text]
        assert cells[-1] == f"{p:.4f}"


@pytest.mark.parametrize("line", [("compare",), ("report", "-o", "page.html")])
def test_options_of_an_evaluation_are_refused_beside_scores(command, tmp_path, line):
    (tmp_path / "t.csv").write_text(FORMS["long.csv"])
    for options in (("-N", "100"), ("-l", "2"), ("-M", "5"), ("-J",)):
        done = command(*line, "--scores", "t.csv", *options, folder=tmp_path)
        assert done.status == 1
        assert f"{options[0]}: it says how runs are" in done.err.decode()
    (tmp_path / "pyproject.toml").write_text('[tool.ragkpi]\ncorpus_size = "5k"\n')
    for scores in (("--scores", "t.csv"), ("--scores=t.csv",)):
        assert command(*line, *scores, folder=tmp_path).status == 0
