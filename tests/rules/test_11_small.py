"""Small rules: names behind @, the order of notes, titles of pages, dependencies that fit."""

import re
import tomllib
from pathlib import Path

import pytest

from ragkpi import UsageError
from ragkpi.measures.registry import NICKNAMES, all_measures, find_metrics

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["accuracy", "Accuracy", "ACCURACY", "acc"])
@pytest.mark.parametrize("cutoff", ["1", "10"])
def test_accuracy_at_k_is_refused_with_both_commands(ragkpi, name, cutoff):
    outcome = ragkpi("eval", "-m", f"{name}@{cutoff}", "tests/helpdesk/qrels.txt", "x", folder=ROOT)
    assert outcome.status == 1
    assert outcome.err.decode() == (
        f"ragkpi: error: -m {name}@{cutoff}: elsewhere that is the hit rate, -m success.{cutoff}; "
        f"(TP + TN) / N is -m accuracy.{cutoff}\n"
    )


EXAMPLES = ["ndcg_cut.10", "recip_rank.10", "t.10", "bor.10,m=2", "F.10", "iprec_at_recall.0.1"]
# What a name of another tool means: a measure with a cutoff in place of the uncut one.
TRANSLATED = {"map", "ndcg", "ndcg_rel", "Rprec"}


@pytest.mark.parametrize("request_", EXAMPLES)
def test_the_examples(request_):
    name, _, parameters = request_.partition(".")
    assert find_metrics([f"{name}@{parameters}"]) == find_metrics([request_])


def requests():
    """Every measure with each of its default parameters."""
    for name, measure in all_measures().items():
        if name not in ("accuracy", *TRANSLATED):
            yield from (f"{name}.{each.suffix}" for each in measure.parameters.defaults())


@pytest.mark.parametrize("request_", sorted(set(requests())))
def test_whatever_follows_a_dot_may_follow_an_at(request_):
    name, _, parameters = request_.partition(".")
    try:
        expected = find_metrics([request_])
    except UsageError:
        with pytest.raises(UsageError):
            find_metrics([f"{name}@{parameters}"])
    else:
        assert find_metrics([f"{name}@{parameters}"]) == expected


@pytest.mark.parametrize("name", [*all_measures(), *NICKNAMES])
def test_no_message_asks_whether_the_name_was_meant_that_was_typed(name):
    with pytest.raises(UsageError) as refused:
        find_metrics([f"{name}@no such parameter"])
    assert "no measure is named" not in str(refused.value)


# The notes of several runs.

FORMS = {
    "graded.csv": "query_id,doc_id,relevance,score\nq,a,0,2\nq,b,1,1\n",
    "unscored.csv": "query_id,doc_id\nq,a\nq,b\n",
    "folded.run": "q Q0 a#1 1 2 me\nq Q0 a#2 2 1 me\n",
}


@pytest.mark.parametrize("calls", range(5))
def test_notes_come_in_the_order_of_the_files(ragkpi, tmp_path, monkeypatch, calls):
    monkeypatch.setenv("RAGKPI_WORKERS", "4")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    names = []
    for number in range(12):
        form = list(FORMS)[(number + calls) % 2]
        text = FORMS[form]
        if number == 0:  # a large file first, so that the others are read before it
            text += "".join(
                f"r{row},d{row}{',1,1' * ('relevance' in text)}\n" for row in range(20_000)
            )
        names.append(f"{number:02}-{form}")
        (tmp_path / names[-1]).write_text(text)
    outcome = ragkpi("eval", "-m", "P.1", "qrels", *names, folder=tmp_path)
    assert outcome.status == 0
    said = re.findall(r"^ragkpi: warning: (\S+\.csv):", outcome.err.decode(), re.MULTILINE)
    assert said == names


def test_notes_of_runs_before_a_bad_one_are_said(ragkpi, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGKPI_WORKERS", "4")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "a.csv").write_text(FORMS["unscored.csv"])
    (tmp_path / "b.run").write_text("q Q0 a 1 none me\n")
    outcome = ragkpi("eval", "-m", "P.1", "qrels", "a.csv", "b.run", folder=tmp_path)
    lines = outcome.err.decode().splitlines()
    assert lines[0].startswith("ragkpi: warning: a.csv: has neither scores")
    assert any("b.run:1: score 'none'" in line for line in lines)
    assert outcome.status == 2


def test_folding_is_noted_in_order_too(ragkpi, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGKPI_WORKERS", "4")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    names = [f"{number}.run" for number in range(8)]
    for name in names:
        (tmp_path / name).write_text(FORMS["folded.run"])
    command = ("eval", "--max-passage", "#", "-m", "P.1", "qrels", *names)
    err = ragkpi(*command, folder=tmp_path).err.decode()
    assert re.findall(r"\d\.run", err) == names


# Titles of pages.

HOSTILE = ["a\x1b[31mb", "a\x07b", "a\u202eb", "a\rb", "a\x9bb", "a\udcffb", "a<b>&b"]


@pytest.mark.parametrize("name", HOSTILE)
def test_titles_hold_no_raw_escape(ragkpi, tmp_path, name):
    pytest.importorskip("bokeh")
    run = tmp_path / f"{name}.run"
    run.write_text("q Q0 a 1 1 me\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    command = ("report", "-N", "1000", "-o", "page.html", "qrels", run.name)
    outcome = ragkpi(*command, folder=tmp_path)
    assert outcome.status == 0, outcome.err
    page = (tmp_path / "page.html").read_text("utf-8")
    titles = re.findall(r"<(?:title|h1)>(.*?)</(?:title|h1)>", page, re.DOTALL)
    assert len(titles) == 2
    for text in titles:
        assert text.startswith("a")
        assert text.isprintable()
        assert "<b>" not in text


# Dependencies.


def test_the_oldest_dependencies_go_together():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = dict(text.partition(",")[0].split(">=") for text in project["dependencies"])
    version = {name: tuple(map(int, text.split("."))) for name, text in least.items()}
    # scipy 1.13.0 is the first that was built for numpy 2, as its release notes say.
    assert version["numpy"] >= (2, 0)
    assert version["scipy"] >= (1, 13)
