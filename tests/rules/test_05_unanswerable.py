"""An empty list of judgements is a judged query without a relevant document, in every form."""

import json

import pytest

import ragkpi

FORMS = {
    "ids.json": json.dumps({"q1": ["a"], "q2": []}),
    "object.json": json.dumps({"q1": {"a": 1}, "q2": {}}),
    "lists.jsonl": '{"query_id": "q1", "relevant_ids": ["a"]}\n'
    '{"query_id": "q2", "relevant_ids": []}\n',
    "judgments.jsonl": '{"query_id": "q1", "judgments": [{"doc_id": "a", "level": 1}]}\n'
    '{"query_id": "q2", "judgments": []}\n',
    "trec": "q1 0 a 1\nq2 0 b 0\n",
}
RUN = "q1 Q0 a 1 2 r\nq2 Q0 b 1 2 r\n"


@pytest.mark.parametrize("form", FORMS)
def test_it_counts_as_zero_and_is_said(form, ragkpi, tmp_path):
    (tmp_path / form).write_text(FORMS[form])
    (tmp_path / "run").write_text(RUN)
    metrics = "recall.5,ndcg_cut.5,success.5,num_q"
    outcome = ragkpi("eval", "-m", metrics, form, "run", folder=tmp_path)
    values = {line.split()[0]: line.split()[2] for line in outcome.out.decode().splitlines()}
    half = dict.fromkeys(("recall_5", "ndcg_cut_5", "success_5"), "0.5000")
    assert values == {**half, "num_q": "2"}
    assert b"(q2)" in outcome.err
    checked = ragkpi("check", form, "run", "--format", "csv", folder=tmp_path)
    assert b"note,unanswerable,1,,1 judged query has no relevant document" in checked.out


@pytest.mark.parametrize("judged", [{"q1": {"a": 1}, "q2": {}}, {"q1": {"a": 1}, "q2": {"b": 0}}])
def test_in_memory(judged):
    run = {"q1": {"a": 1.5}, "q2": {"b": 2.5}}
    with pytest.warns(ragkpi.RagkpiWarning, match="1 of 2 queries has no relevant document"):
        assert ragkpi.evaluate(judged, run, "recall.5").mean == {"recall_5": 0.5}


def test_nothing_judged_is_no_qrels(ragkpi, tmp_path):
    (tmp_path / "qrels").write_text('{"query_id": "q1", "relevant_ids": []}\n')
    (tmp_path / "run").write_text(RUN)
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"contains no judgements" in outcome.err
