"""Stored results that someone edited are refused by compare, gates and log, never believed."""

import json
import re

import pytest

from tests.test_readme import ROOT

FIXTURES = ROOT / "tests" / "helpdesk"


@pytest.fixture
def stored(ragkpi, tmp_path):
    """Two results of two measures, as texts."""
    texts = []
    for name in ("dense", "fusion"):
        path = tmp_path / f"{name}.json"
        run = f"runs/{name}.run"
        measures = ("-m", "ndcg_cut.10,recall.20")
        ragkpi("eval", "-q", "-c", *measures, "-o", path, "qrels.txt", run, folder=FIXTURES)
        texts.append(path.read_text())
    return texts


def edited(text, change):
    document = json.loads(text)
    change(document["runs"][0])
    return json.dumps(document)


EDITS = {
    "a key twice": lambda text: text.replace('"queries": 12', '"queries": 12, "queries": 12', 1),
    "known": lambda text: edited(text, lambda run: run["known"].update(recall_20=3)),
    "hash": lambda text: edited(text, lambda run: run["files"]["qrels"].update(sha256="0" * 64)),
    "digits": lambda text: re.sub(r'("recall_20": )0\.\d+', rf"\g<1>1{'0' * 400}", text, count=1),
    "mean": lambda text: edited(text, lambda run: run["values"].update(recall_20=0.9)),
    "value": lambda text: edited(
        text, lambda run: next(iter(run["per_query"].values())).update(recall_20=0.9)
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_no_edited_result_is_believed(ragkpi, tmp_path, stored, edit):
    text = EDITS[edit](stored[1])
    assert text != stored[1]
    (tmp_path / "edited.json").write_text(text)
    for words in (
        ("compare", "dense.json", "edited.json"),
        ("compare", "--fail-if", "worse", "edited.json", "dense.json"),
        ("log", "edited.json"),
    ):
        done = ragkpi(*words, folder=tmp_path)
        assert (done.status, done.out) == (2, b""), (words, done)
        assert b"edited.json" in done.complaints[-1]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("gate", [("worse",), ("noninferior", "--margin", "5%")])
def test_a_gate_loses_no_measure(ragkpi, tmp_path, stored, order, gate):
    """The candidate was stored with fewer measures: neither order decides by the rest."""

    def without_recall(run):
        run["values"].pop("recall_20")
        run["known"].pop("recall_20", None)
        for values in run["per_query"].values():
            values.pop("recall_20")

    (tmp_path / "fewer.json").write_text(edited(stored[1], without_recall))
    files = ["dense.json", "fewer.json"][::order]
    done = ragkpi("compare", "--fail-if", *gate, *files, folder=tmp_path)
    assert done.status == 4
    assert b"lacks recall_20" in done.complaints[-1]
    # Without a gate the rest is compared, and said.
    done = ragkpi("compare", *files, folder=tmp_path)
    assert done.status == 0
    assert b"lacks recall_20" in done.err
    asked = ragkpi("compare", "-m", "ndcg_cut.10", "--fail-if", *gate, *files, folder=tmp_path)
    assert asked.status in (0, 3)
