"""Grades that nobody asked for stop nothing: what needs the grade map is left out, in one line."""

import json

import pytest

import ragkpi as package

CORPUS = ("-N", "1000")
QUERIES, DOCUMENTS = 8, 6
LINE = "judged level 4 is not in the grade map 'umbrela' (0=1,1=3,2=4,3=5); give --grade-map rag25"


def qrels(levels):
    """Every query has a document of each level, the last level first in the run."""
    lines = [f"q{q} 0 d{d} {levels[d % len(levels)]}\n" for q in range(QUERIES) for d in range(4)]
    return "".join([*lines, *(f"q{q} 0 top {max(levels)}\n" for q in range(QUERIES))])


def run(shift):
    lines = []
    for q in range(QUERIES):
        documents = ["top", *(f"d{(d + shift) % 4}" for d in range(4)), "unjudged"]
        lines += [f"q{q} Q0 {d} {r} {9 - r} me\n" for r, d in enumerate(documents, start=1)]
    return "".join(lines)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rag25").write_text(qrels([0, 1, 2, 3, 4]).replace("d3 3", "d3 4"))
    (tmp_path / "umbrela").write_text(qrels([0, 1, 2, 3]))
    (tmp_path / "binary").write_text(qrels([0, 1]))
    (tmp_path / "relevant").write_text(qrels([1]))  # as BEIR has them: only what is relevant
    (tmp_path / "odd").write_text(qrels([0, 1, 7]))
    (tmp_path / "run").write_text(run(0))
    (tmp_path / "other").write_text(run(1))
    return tmp_path


def said_of_grades(outcome):
    lines = [line for line in outcome.err.decode().splitlines() if ": answer: " not in line]
    return [line for line in lines if "grade" in line or "RA-nWG" in line or "ra_nwg" in line]


def test_depth_leaves_its_column_out_with_one_line(ragkpi, folder):
    outcome = ragkpi("depth", *CORPUS, "--format", "tsv", "rag25", "run", folder=folder)
    assert outcome.status == 0
    heads = outcome.out.decode().splitlines()[0].split("\t")
    assert "recall" in heads
    assert "ra_nwg" not in heads
    assert said_of_grades(outcome) == [f"ragkpi: note: without ra_nwg: {LINE}"]


def test_the_line_leads_to_the_column(ragkpi, folder):
    command = ("depth", *CORPUS, "--format", "tsv", "--grade-map", "rag25", "rag25", "run")
    outcome = ragkpi(*command, folder=folder)
    assert "ra_nwg" in outcome.out.decode().splitlines()[0].split("\t")
    assert said_of_grades(outcome) == []


@pytest.mark.parametrize("options", [("--format", "json"), ("--explain",), ("--plot", "d.svg")])
@pytest.mark.parametrize("runs", [("run",), ("run", "other")])
def test_depth_in_every_form(ragkpi, folder, options, runs):
    if "--plot" in options:
        pytest.importorskip("matplotlib")
    outcome = ragkpi("depth", *CORPUS, *options, "rag25", *runs, folder=folder)
    assert outcome.status == 0, outcome.err
    assert len(said_of_grades(outcome)) == 1


def test_levels_that_no_preset_has(ragkpi, folder):
    outcome = ragkpi("depth", *CORPUS, "odd", "run", folder=folder)
    assert outcome.status == 0
    (line,) = said_of_grades(outcome)
    assert line.endswith("give --grade-map 0=1,1=3,… with every level")


PAGES = [("run",), ("run", "other"), ("--pool", "other", "run"), ("-m", "P.1", "run")]


@pytest.mark.parametrize("runs", PAGES)
def test_a_page_leaves_its_sections_out_with_one_line(ragkpi, folder, runs):
    outcome = ragkpi("report", *CORPUS, "-o", "page.html", "rag25", *runs, folder=folder)
    assert outcome.status == 0, outcome.err
    what = "RA-nWG, PROC and the diagnosis" if "--pool" in runs else "RA-nWG"
    assert said_of_grades(outcome) == [f"ragkpi: note: without {what}: {LINE}"]
    data = page_data(folder)
    assert f"without {what}: {LINE}" in data["notes"]
    (whole,) = data["slices"]
    assert "diagnoses" not in whole
    assert whole["depths"]
    for depth in whole["depths"]:
        assert [chart for chart in depth["charts"] if "RA-nWG" in json.dumps(chart)] == []
    assert not {"ra_nwg_10", "pct_proc_10"} & {measure["name"] for measure in data["measures"]}


@pytest.mark.parametrize("runs", PAGES)
def test_a_page_with_the_map_has_all_of_them(ragkpi, folder, runs):
    command = ("report", *CORPUS, "--grade-map", "rag25", "-o", "page.html", "rag25", *runs)
    outcome = ragkpi(*command, folder=folder)
    assert outcome.status == 0, outcome.err
    (whole,) = page_data(folder)["slices"]
    assert ("diagnoses" in whole) == ("--pool" in runs)
    assert whole["depths"]
    for depth in whole["depths"]:
        assert any("RA-nWG" in json.dumps(chart) for chart in depth["charts"])


def page_data(folder):
    html = (folder / "page.html").read_text("utf-8")
    return json.loads(html.partition('id="data">')[2].partition("</script>")[0])


@pytest.mark.parametrize(
    "command",
    [
        ("eval", "-m", "ra_nwg.2", "rag25", "run"),
        ("eval", "-m", "rag", "rag25", "run"),
        ("eval", "-m", "P.1,harm.2", "rag25", "run"),
        ("compare", "-m", "ra_nwg.2", "rag25", "run", "other"),
        ("holes", "-m", "ra_nwg.2", "rag25", "run"),
        ("diagnose", "--pool", "other", "rag25", "run"),
        ("report", "-m", "ra_nwg.2", "-o", "page.html", "rag25", "run"),
        ("report", "-m", "P.1,pct_proc.2", "--pool", "other", "-o", "p.html", "rag25", "run"),
    ],
)
def test_grades_that_were_asked_for_are_refused_in_one_line(ragkpi, folder, command):
    outcome = ragkpi(*command, folder=folder)
    assert (outcome.status, outcome.out) == (1, b"")
    assert said_of_grades(outcome)[-1] == f"ragkpi: error: {LINE}"
    assert len(said_of_grades(outcome)) == 1
    assert not (folder / "page.html").exists()


@pytest.mark.parametrize("gold", ["binary", "relevant", "umbrela"])
@pytest.mark.parametrize(
    "command",
    [
        ("eval", "-m", "official,kpi,chance", *CORPUS),
        ("eval", "-m", "ra_nwg.2,proc.2,pct_proc.2", "--pool", "other"),
        ("depth", *CORPUS),
        ("depth", *CORPUS, "--explain"),
        ("diagnose", "--pool", "other"),
        ("report", *CORPUS, "-o", "page.html"),
        ("report", *CORPUS, "-o", "page.html", "--pool", "other"),
        ("holes", "-m", "ndcg_cut.5"),
    ],
)
def test_nothing_warns_about_grades_where_they_cannot_matter(ragkpi, folder, gold, command):
    outcome = ragkpi(*command, gold, "run", folder=folder)
    assert outcome.status == 0, outcome.err
    assert said_of_grades(outcome) == []
    if command[0] == "report":
        assert not any("grade" in note for note in page_data(folder)["notes"])


def test_with_one_useful_grade_every_weight_cancels():
    # Of two relevant documents one is in the top 2: 1/2, whatever a relevant document weighs.
    gold = {"q": {"a": 1, "b": 1, "c": 0}}
    found = package.evaluate(gold, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}, "ra_nwg.2")
    assert found.mean == {"ra_nwg_2": 0.5}


def test_what_is_na_without_a_top_grade_still_says_why(ragkpi, folder):
    outcome = ragkpi("eval", "-m", "ra_nwg.2,n_recall5.2", "binary", "run", folder=folder)
    assert outcome.out.split()[-1] == b"NA"
    (line,) = said_of_grades(outcome)
    assert line.startswith("ragkpi: warning: n_recall5_2: no document has grade 5")


def test_several_grades_without_the_top_one_are_a_warning_as_before(ragkpi, folder):
    (folder / "lower").write_text(qrels([0, 1, 2]))
    outcome = ragkpi("eval", "-m", "ra_nwg.2", "lower", "run", folder=folder)
    (line,) = said_of_grades(outcome)
    assert line.startswith("ragkpi: warning: ra_nwg_2: ")


def test_saturated_success_hints_only_at_what_can_be_asked_for(ragkpi, tmp_path):
    # 30 relevant documents a query, of which the first 20 places have none below rank 1 of 3.
    gold = [f"q{q} 0 d{d} {1 + d % 4}\n" for q in range(9) for d in range(30)]
    hits = [f"q{q} Q0 d{d} 1 {50 - d} me\n" for q in range(9) for d in range(20)]
    (tmp_path / "qrels").write_text("".join(gold))
    (tmp_path / "run").write_text("".join(hits))
    command = ("depth", "-N", "100000", "--format", "json", "qrels", "run")
    found = json.loads(ragkpi(*command, folder=tmp_path).out)
    (study,) = found["findings"]["depth"]
    assert study["saturation"]["final"] == pytest.approx(20 / 30)
    assert "ra_nwg" not in " ".join(found["answer"])
