"""Qrels by the name of a data set, from a stand-in of ir_datasets."""

import sys
from types import SimpleNamespace

import pytest

from ragkpi.errors import InputError, UsageError
from ragkpi.files.formats import read_any_qrels


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
