"""Options of `[tool.ragkpi]` in pyproject.toml, and files of a line in another order."""

import pytest

from tests.published_schema import valid_document

QRELS = "".join(f"q{n} 0 a 1\n" for n in range(4))
RUN = "".join(f"q{n} Q0 a 2 1 r\nq{n} Q0 b 1 2 r\n" for n in range(4))
TABLE = """[tool.ragkpi]
qrels = "data/gold"
measures = ["P.1", "recip_rank"]
corpus_size = "5k"
baseline = "data/old.run"
"""


@pytest.fixture
def project(ragkpi, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "pyproject.toml").write_text(TABLE)
    files = {"gold": QRELS, "old.run": RUN, "new.run": RUN.replace("a 2 1", "a 1 3")}
    for name, text in files.items():
        (tmp_path / "data" / name).write_text(text)

    def call(*words, table=None):
        if table is not None:
            (tmp_path / "pyproject.toml").write_text(table)
        return ragkpi(*words, folder=tmp_path / "sub")

    return call


OLD, NEW = "../data/old.run", "../data/new.run"


def test_the_nearest_table_is_said_first(project):
    outcome = project("eval", "qrels", OLD)
    rows = [line.split() for line in outcome.out.decode().splitlines()]
    assert sorted(rows) == [["P_1", "all", "0.0000"], ["recip_rank", "all", "0.5000"]]
    assert outcome.err.decode().splitlines()[0] == (
        "ragkpi: note: ../pyproject.toml: measures P.1, recip_rank; corpus_size 5000; "
        "qrels ../data/gold"
    )


def test_the_command_line_comes_first(project):
    outcome = project("eval", "-m", "map", "-N", "9", "../data/gold", OLD)
    assert outcome.out == b"map                   \tall\t0.5000\n"
    assert b"pyproject" not in outcome.err


def test_json_says_what_the_project_chose(project):
    said = "../pyproject.toml: measures P.1, recip_rank; corpus_size 5000; qrels ../data/gold"
    for words in (("eval", "qrels", OLD), ("depth", "qrels", OLD)):
        document = valid_document(project(*words, "--format", "json").out)
        assert document["project"] in (said, said.replace("measures P.1, recip_rank; ", ""))
    assert "project" not in valid_document(
        project("eval", "--format", "json", "-m", "map", "-N", "9", "../data/gold", OLD).out
    )


def test_a_baseline_of_the_project(project):
    lines = project("compare", "--format", "csv", "qrels", NEW).out.decode().splitlines()
    assert [line.split(",")[1] for line in lines[1:3]] == ["old", "new"]
    other = project("compare", "--baseline", "new", "--format", "csv", "qrels", OLD, NEW)
    assert other.out.decode().splitlines()[1].split(",")[1] == "new"
    assert project("compare", "--all-pairs", "qrels", OLD, NEW).status == 0


def test_a_file_called_qrels_is_that_file(project, tmp_path):
    (tmp_path / "sub" / "qrels").write_text(QRELS.replace(" a 1", " b 1"))
    assert project("eval", "-m", "P.1", "qrels", OLD).out.endswith(b"1.0000\n")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[tool.ragkpi]\nmesures = 'map'\n", "has no key 'mesures'; did you mean measures?"),
        ("[tool.ragkpi]\nx = 1\n", "expected qrels, measures, corpus_size, baseline"),
        ("[tool.ragkpi]\ncorpus_size = true\n", "corpus_size = True; expected a number"),
        ("[tool.ragkpi]\ncorpus_size = 'many'\n", "corpus_size = 'many'; expected a number"),
        ("[tool.ragkpi]\nmeasures = [1]\n", "measures = [1]; expected a measure"),
        ("[tool.ragkpi]\nbaseline = 1\n", "baseline = 1; expected the path"),
        ("[tool.ragkpi\n", "expected TOML"),
    ],
)
def test_a_wrong_table_is_one_line(project, table, words):
    outcome = project("eval", "../data/gold", OLD, table=table)
    assert (outcome.status, outcome.out) == (2, b"")
    assert outcome.err.count(b"\n") == 1
    assert words in outcome.err.decode()


@pytest.mark.parametrize("table", ["", "[tool.other]\nragkpi = 1\n"])
def test_a_project_without_options(project, table):
    outcome = project("eval", "-m", "P.1", "../data/gold", OLD, table=table)
    assert (outcome.status, outcome.err) == (0, b"")


@pytest.mark.parametrize("words", [("eval", "-h"), ("help", "compare"), ("--version",)])
def test_pages_do_not_read_the_project(project, words):
    assert project(*words, table="[tool.ragkpi]\nmeasres = 1\n").status == 0


def test_version_is_a_word(project):
    assert project("version").out == project("--version").out
