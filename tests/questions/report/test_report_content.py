"""What the page shows, as the JSON in it: by the schema, and by what other commands say."""

import json
import re

import pytest

from ragkpi import report as ragkpi_report
from tests.cli.commandline import BM25, DENSE, FIXTURES, FUSION
from tests.published_schema import valid_document

RUNS = (BM25, DENSE, FUSION)
MEASURES = ("-m", "ndcg_cut.10", "-m", "recall.10", "-N", "5000")


@pytest.fixture
def report(ragkpi, tmp_path):
    """Make a page and return the JSON in it."""

    def run(*arguments, folder=FIXTURES):
        path = tmp_path / "page.html"
        done = ragkpi("report", "-o", path, *arguments, folder=folder)
        assert done.status == 0, done.err
        page = path.read_bytes().decode("utf-8")
        text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
        return valid_document(text)

    return run


def asked(ragkpi, command, *arguments):
    done = ragkpi(command, "--format", "json", *arguments, folder=FIXTURES)
    assert done.status == 0, done.err
    return json.loads(done.out)


def assert_rows_are_evals(standings, runs):
    """The texts of values and intervals are those of eval's numbers, whatever order they are in."""
    for measure, standing in standings.items():
        for row in standing["rows"]:
            run = runs[row["run"]]
            assert row["value"] == f"{run['values'][measure]:.4f}"
            assert row["interval"] == [f"{bound:.4f}" for bound in run["intervals"][measure]]


def assert_rows_are_those_of(document, section):
    """A table's texts are a document's numbers, to as many decimals as they show."""
    assert len(section["rows"]) == len(document["rows"])
    for texts, row in zip(section["rows"], document["rows"], strict=True):
        assert {name for name, text in texts.items() if text} == {
            name for name in row if not name.endswith("_interval")
        }
        for name, text in texts.items():
            value = row.get(name)
            if not isinstance(value, int | float):
                assert text == ("" if name not in row else "NA" if value is None else value)
                continue
            numbers = [value, *row.get(f"{name}_interval", ())]
            for part, number in zip(re.findall(r"[^\[\], ]+", text), numbers, strict=True):
                decimals = len(part.partition(".")[2])
                assert part.removeprefix("+") == f"{number:.{decimals}f}"


def test_runs_and_pairs_are_those_of_eval_and_compare(report, ragkpi):
    page = report(*MEASURES, "qrels.txt", *RUNS)
    found, names = page["slices"][0], page["runs"]
    evaluated = asked(ragkpi, "eval", "-c", "--ci", *MEASURES, "qrels.txt", *RUNS)
    assert names == [run["name"] for run in evaluated["runs"]]
    assert len(page["queries"]) == evaluated["runs"][0]["queries"]
    assert_rows_are_evals(found["standings"], evaluated["runs"])
    for baseline, path in enumerate(RUNS):
        others = [run for run in RUNS if run != path]
        compared = asked(ragkpi, "compare", "-c", *MEASURES, "qrels.txt", path, *others)
        for one in compared["comparison"]["differences"]:
            pairs = found["standings"][one["measure"]]["pairs"][str(baseline)]
            claim, text = pairs[str(names.index(one["run"]))]
            low, high = one["interval"]
            assert f"wins on {one['wins']} quer" in text
            assert f"ties on {one['ties']}, loses on {one['losses']}: " in text
            assert f"{one['difference']:+.4f} [{low:+.4f}, {high:+.4f}] for this pair" in text
            assert (claim == "described") == (one["measure"] != "ndcg_cut_10")


def test_the_page_names_the_same_runs_as_compare_of_all_pairs(report, ragkpi):
    runs = [f"runs/{path.name}" for path in sorted((FIXTURES / "runs").glob("*.run"))]
    standing = report("-m", "ndcg_cut.10", "qrels.txt", *runs)["slices"][0]["standings"]
    compared = asked(ragkpi, "compare", "-m", "ndcg_cut.10", "--all-pairs", "qrels.txt", *runs)
    letters = compared["all_pairs"]["letters"]["ndcg_cut_10"]
    names = list(letters)
    best, *others = standing["ndcg_cut_10"]["rows"]
    alike = {names[best["run"]]}
    alike |= {names[row["run"]] for row in others if row["claim"] == "undecided"}
    assert alike == {
        name for name, of in letters.items() if set(of) & set(letters[names[best["run"]]])
    }
    assert standing["ndcg_cut_10"]["verdict"] == compared["all_pairs"]["answer"]


def test_questions_are_answered_as_by_their_commands(report, ragkpi):
    pool = ("--pool", "first_stage.run")
    found = report(*MEASURES, *pool, "qrels.txt", "reranked.run")
    part = found["slices"][0]
    depth = asked(ragkpi, "depth", "-N", "5000", "qrels.txt", "reranked.run")
    assert part["depths"][0]["verdict"] == depth["answer"]
    assert_rows_are_those_of(depth, part["depths"][0])
    diagnosis = asked(ragkpi, "diagnose", "--worst", "20", *pool, "qrels.txt", "reranked.run")
    assert part["diagnoses"][0]["verdict"] == diagnosis["answer"]
    assert_rows_are_those_of(diagnosis, part["diagnoses"][0])
    holes = asked(ragkpi, "holes", *MEASURES, "qrels.txt", "reranked.run")
    assert_rows_are_those_of(holes, found["holes"])


def test_values_of_queries_are_those_of_eval(report, ragkpi):
    found = report(*MEASURES, "qrels.txt", *RUNS)
    evaluated = asked(ragkpi, "eval", "-c", "-q", *MEASURES, "qrels.txt", *RUNS)
    assert set(found["per_query"]) == {"ndcg_cut_10", "recall_10"}
    for measure, cells in found["per_query"].items():
        by_query = []
        for places, run in zip(cells["runs"], evaluated["runs"], strict=True):
            expected = [run["per_query"][query][measure] for query in found["queries"]]
            assert [cells["numbers"][place] for place in places] == expected
            assert [cells["texts"][place] for place in places] == [f"{x:.4f}" for x in expected]
            by_query.append(expected)
        by_query = list(zip(*by_query, strict=True))
        for column, of_runs in (
            ("mean", [sum(values) / 3 for values in by_query]),
            ("spread", [max(values) - min(values) for values in by_query]),
        ):
            assert [cells["numbers"][place] for place in cells[column]] == pytest.approx(of_runs)


def test_details_are_the_files_lines(report):
    found = report(*MEASURES, "--pool", "first_stage.run", "qrels.txt", *RUNS)
    judged = {}
    for line in (FIXTURES / "qrels.txt").read_text().splitlines():
        query, _, document, level = line.split()
        judged.setdefault(query, {})[document] = int(level)
    assert len(found["details"]) == 12
    for detail in found["details"]:
        query, documents = found["queries"][detail["query"]], detail["documents"]
        for path, ranking in zip(RUNS, detail["rankings"], strict=True):
            lines = [line.split() for line in (FIXTURES / path).read_text().splitlines()]
            expected = sorted((int(x[3]), x[2]) for x in lines if x[0] == query)
            assert [documents[place] for place in ranking] == [name for _, name in expected]
        levels = dict(zip(documents, detail["levels"], strict=True))
        assert levels == {name: judged[query].get(name) for name in documents}
        assert {name for name, level in judged[query].items() if level > 0} <= set(documents)


def test_documents_of_few_queries_when_few_are_asked_for(report, monkeypatch):
    monkeypatch.setattr("ragkpi.questions.report.documents.DEPTH", 3)
    found = report(*MEASURES, "--detail-queries", "2", "qrels.txt", *RUNS)
    cells = found["per_query"]["ndcg_cut_10"]
    values = [[cells["numbers"][place] for place in places] for places in cells["runs"]]
    spread = [max(of_query) - min(of_query) for of_query in zip(*values, strict=True)]
    widest = sorted(range(12), key=lambda query: -spread[query])[:2]
    assert [detail["query"] for detail in found["details"]] == widest
    assert all(len(ranking) <= 3 for one in found["details"] for ranking in one["rankings"])
    assert any("2 queries of 12" in note for note in found["notes"])


def test_relevant_documents_below_the_shown_ones_keep_their_rank(report, monkeypatch):
    whole = report(*MEASURES, "qrels.txt", *RUNS)
    monkeypatch.setattr("ragkpi.questions.report.documents.DEPTH", 1)
    cut = report(*MEASURES, "qrels.txt", *RUNS)
    ranks = {
        (one["query"], run, one["documents"][place]): rank
        for one in whole["details"]
        for run, ranking in enumerate(one["rankings"])
        for rank, place in enumerate(ranking, start=1)
        if one["levels"][place] and rank > 1
    }
    below = {
        (one["query"], run, one["documents"][place]): rank
        for one in cut["details"]
        for run, pairs in enumerate(one["below"])
        for place, rank in pairs
    }
    assert below == ranks


def test_judged_documents_alone_close_the_ranks(report):
    found = report(*MEASURES, "-J", "qrels.txt", "reranked.run")
    for detail in found["details"]:
        shown = [detail["levels"][place] for place in detail["rankings"][0]]
        assert None not in shown


def test_a_slice_is_an_evaluation_of_its_queries(report, ragkpi, tmp_path):
    names = [f"hd-{number:02}" for number in range(1, 13)]
    kinds = {name: "odd" if place % 2 == 0 else "even" for place, name in enumerate(names)}
    (tmp_path / "kinds.tsv").write_text("".join(f"{q}\t{kind}\n" for q, kind in kinds.items()))
    pool = ("--pool", "first_stage.run")
    found = report(*MEASURES, *pool, "--by", tmp_path / "kinds.tsv", "qrels.txt", *RUNS)
    assert [part["name"] for part in found["slices"]] == [
        "all queries",
        "label: even",
        "label: odd",
    ]
    for part, kind in zip(found["slices"][1:], ("even", "odd"), strict=True):
        lines = (FIXTURES / "qrels.txt").read_text().splitlines(keepends=True)
        own = tmp_path / f"{kind}.txt"
        own.write_text("".join(x for x in lines if kinds[x.split()[0]] == kind))
        evaluated = asked(ragkpi, "eval", "-c", "--ci", *MEASURES, own, *RUNS)
        assert_rows_are_evals(part["standings"], evaluated["runs"])
        (path,) = (run for run in RUNS if part["depths"][0]["run"] in run)
        depth = asked(ragkpi, "depth", "-c", "-N", "5000", own, path)
        assert part["depths"][0]["verdict"] == depth["answer"]
        diagnosis = asked(ragkpi, "diagnose", "-c", "--worst", "20", *pool, own, path)
        assert part["diagnoses"][0]["verdict"] == diagnosis["answer"]
        assert_rows_are_those_of(diagnosis, part["diagnoses"][0])


def test_one_run_is_compared_with_nothing(report):
    found = report(*MEASURES, "qrels.txt", BM25)
    standing = found["slices"][0]["standings"]["ndcg_cut_10"]
    assert standing["pairs"] == {}
    assert standing["rows"][0].keys() == {"run", "value", "interval", "judged", "numbers"}


def test_what_is_undecided_is_no_thing_to_do(report):
    """Two of twelve queries cannot tell how deep to look, or which stage to blame."""
    texts = [item["text"] for item in report(*MEASURES, "qrels.txt", BM25)["advice"]]
    assert not any(text.startswith(("Undecided", "Success cannot")) for text in texts)


def test_long_texts_are_cut_so_that_the_page_stays_small(report, tmp_path):
    lines = [line.split() for line in (FIXTURES / BM25).read_text().splitlines()]
    with open(tmp_path / "corpus.tsv", "w") as file:
        file.writelines(f"{fields[2]}\t{'word ' * 20_000}\n" for fields in lines)
    found = report(*MEASURES, "--corpus", tmp_path / "corpus.tsv", "qrels.txt", BM25)
    assert {length for _, length in found["texts"].values()} == {100_000}
    assert max(len(text) for text, _ in found["texts"].values()) == 2_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("qrels.txt", BM25), b"-o report.html"),
        (("-o", "x.html", "qrels.txt"), b"1 file; "),
        (("-o", "x.html", "-m", "runid", "qrels.txt", BM25), b"a numeric measure"),
    ],
)
def test_what_cannot_be_a_page_is_refused_in_a_line(ragkpi, arguments, said):
    done = ragkpi("report", *arguments, folder=FIXTURES)
    assert done.status == 1
    assert said in done.err
    assert done.err.count(b"\n") == 1


@pytest.mark.parametrize(
    ("how", "depth"),
    [
        ({"pool": f"{FIXTURES / 'first_stage.run'}"}, 100),
        ({"unjudged": "removed", "max_retrieved": 7}, 5),
        ({"detail_queries": 4}, 3),
    ],
)
def test_runs_of_many_queries_show_the_same_documents(how, depth, monkeypatch):
    """Of many queries, names are kept no deeper than documents are shown."""
    qrels, runs = FIXTURES / "qrels.txt", [FIXTURES / "reranked.run", FIXTURES / "dense.run"]
    for module in ("documents", "content"):
        monkeypatch.setattr(f"ragkpi.questions.report.{module}.DEPTH", depth)
    once = ragkpi_report(qrels, runs, **how).data["details"]
    monkeypatch.setattr("ragkpi.questions.report.content._MOST_CELLS", 0)
    assert ragkpi_report(qrels, runs, **how).data["details"] == once
    assert any(place for query in once for place in query["below"]) == (depth < 100)


def test_stored_results_make_the_page_of_their_runs_without_documents(report, ragkpi, tmp_path):
    whole = report("-c", *MEASURES, "qrels.txt", *RUNS)
    stored = [tmp_path / f"{place}.json" for place in range(3)]
    for path, run in zip(stored, RUNS, strict=True):
        ragkpi("eval", "-c", "-q", *MEASURES, "-o", path, "qrels.txt", run, folder=FIXTURES)
    names = [f"{name}={path}" for name, path in zip(whole["runs"], stored, strict=True)]
    mixed = (*MEASURES, "qrels.txt", f"bm25={BM25}", *names[1:])
    for arguments in (names, ("-m", "ndcg_cut.10,recall.10", *names), mixed):
        page = report(*arguments)
        for key in ("runs", "queries", "per_query", "measures"):
            assert page[key] == whole[key]
        for measure, standing in page["slices"][0]["standings"].items():
            known = whole["slices"][0]["standings"][measure]
            assert [{**row, "judged": ""} for row in standing["rows"]] == [
                {**row, "judged": ""} for row in known["rows"]
            ]
            assert {**standing, "rows": []} == {**known, "rows": []}
        assert page["details"] == page["slices"][0]["depths"] == []
        assert "holes" not in page
        assert len([note for note in page["notes"] if "no documents" in note]) == 1


def test_scores_make_the_page_of_their_runs_without_documents(report, ragkpi, tmp_path):
    """A table of the runs' values, with the labels of queries in a column, in the place of runs."""
    labels = {f"hd-{n:02}": "odd" if n % 2 else "even" for n in range(1, 13)}
    (tmp_path / "labels.tsv").write_text("".join(f"{q}\t{of}\n" for q, of in labels.items()))
    whole = report("-c", *MEASURES, "--by", tmp_path / "labels.tsv", "qrels.txt", *RUNS)
    names, words = whole["runs"], ("eval", "-c", "-q", *MEASURES, "--format", "json", "qrels.txt")
    document = json.loads(ragkpi(*words, *RUNS, folder=FIXTURES).out)
    rows = [
        {"query": query, "system": run["name"], **values, "parity": labels[query]}
        for run in document["runs"]
        for query, values in run["per_query"].items()
    ]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    columns = ("-m", "ndcg_cut_10", "-m", "recall_10")
    page = report(*columns, "--by", "parity", "--scores", tmp_path / "t.jsonl")
    for key in ("runs", "queries", "per_query"):
        assert page[key] == whole[key]
    for section, of_runs in zip(page["slices"], whole["slices"], strict=True):
        assert section["queries"] == of_runs["queries"]
        for measure, standing in section["standings"].items():
            known = of_runs["standings"][measure]
            # A number of any kind has no greatest value, so its interval is another one.
            one, other = (
                [(row["run"], row["value"]) for row in of["rows"]] for of in (standing, known)
            )
            assert one == other
            assert (standing["pairs"], standing["verdict"]) == (known["pairs"], known["verdict"])
    assert page["details"] == page["slices"][0]["depths"] == []
    assert sorted(names) == sorted(run["name"] for run in document["runs"])


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ((), 1, "qrels and runs"),
        (("--scores", "t.csv", "--better", "upwards"), 1, "expected lower, higher"),
        (("--scores", "t.csv", "--cluster", "alone.tsv"), 4, "no cluster"),
        (("--scores", "t.csv", "-c"), 1, "missing is not 0"),
        (("--better", "lower", "qrels", "run"), 1, "expected --scores"),
        (("--scores", "none.csv"), 2, "none.csv"),
    ],
)
def test_pages_of_scores_that_do_not_fit_are_refused(ragkpi, tmp_path, words, status, says):
    (tmp_path / "t.csv").write_text("query,a,b\nq1,0.5,0.25\nq2,0.75,0.5\n")
    (tmp_path / "alone.tsv").write_text("q1\tone\n")
    done = ragkpi("report", "-o", "x.html", *words, folder=tmp_path)
    assert done.status == status, done.err
    assert says in done.err.decode()
    assert not (tmp_path / "x.html").exists()


def test_stored_results_of_other_measures_or_without_qrels_are_refused(ragkpi, tmp_path):
    stored = tmp_path / "a.json"
    ragkpi("eval", "-c", "-q", *MEASURES, "-o", stored, "qrels.txt", BM25, folder=FIXTURES)
    for arguments, words in (
        (("-m", "P.3", stored), b"P_3"),
        ((stored, FUSION), b"expected qrels before it"),
    ):
        done = ragkpi("report", "-o", tmp_path / "x.html", *arguments, folder=FIXTURES)
        assert done.status != 0
        assert words in done.err
        assert not (tmp_path / "x.html").exists()
