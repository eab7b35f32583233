"""Qrels by name, from a folder laid out as anserini-tools is and from a stand-in of ir_datasets."""

import json
import sys
from types import SimpleNamespace

import pytest

from ragkpi.errors import InputError, UsageError
from ragkpi.files.formats import read_any_qrels


@pytest.fixture(params=["qrels", "topics-and-qrels"])
def checkout(tmp_path, monkeypatch, request):
    folder = tmp_path / request.param
    folder.mkdir()
    (folder / "qrels.one.txt").write_text("1 0 d 2\n")
    (tmp_path / "secret").write_text("1 0 d 2\n")
    names = {"one.test": "qrels.one.txt", "two": "qrels.two.txt", "out": "../secret"}
    (tmp_path / "qrels.json").write_text(json.dumps(names))
    (tmp_path / "qrels-aliases.json").write_text(json.dumps({"one.test": ["one", "uno"]}))
    monkeypatch.setenv("RAGKPI_QRELS", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["one.test", "one", "uno"])
def test_names_and_aliases(name, checkout):
    assert list(read_any_qrels(name).judgements()) == [(b"1", b"d", 2)]


@pytest.mark.parametrize(
    ("name", "message"),
    [("two", "is not there"), ("out", "is not there"), ("three", "No such file")],
)
def test_names_that_lead_nowhere(name, message, checkout):
    with pytest.raises(InputError, match=message):
        read_any_qrels(name)


def test_a_command_takes_a_name(checkout, ragkpi, tmp_path):
    (tmp_path / "run").write_text("1 Q0 d 1 1 me\n")
    outcome = ragkpi("eval", "-m", "P.1", "--format", "json", "uno", "run", folder=tmp_path)
    assert outcome.status == 0, outcome.err


def test_a_data_set_of_ir_datasets(monkeypatch):
    rows = [SimpleNamespace(query_id="q", doc_id="d", relevance=1, iteration="0")]
    stand_in = SimpleNamespace(
        load=lambda name: {"a/b": SimpleNamespace(qrels_iter=lambda: rows)}[name]
    )
    monkeypatch.setitem(sys.modules, "ir_datasets", stand_in)
    assert list(read_any_qrels("irds:a/b").judgements()) == [(b"q", b"d", 1)]
    with pytest.raises(InputError, match="irds:c: cannot be read"):
        read_any_qrels("irds:c")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(UsageError, match="needs a package"):
        read_any_qrels("irds:a/b")
