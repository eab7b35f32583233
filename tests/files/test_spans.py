"""Spans of OpenTelemetry, whose keys count documents, and records of TruLens."""

import json

import pytest

from tests.hostile_files import NOWHERE

SPANS = [("where is it?", [("x", 0.9), ("b", 0.5)]), ("who pays?", [("a", 0.8), ("x", 0.1)])]


def spans(typed):
    for number, (question, documents) in enumerate(SPANS):
        attributes = {"input.value": question}
        for place, (id_, score) in enumerate(documents):
            attributes[f"retrieval.documents.{place}.document.id"] = id_
            attributes[f"retrieval.documents.{place}.document.score"] = score
        if typed:
            attributes = [
                {"key": key, "value": {"stringValue": of}} for key, of in attributes.items()
            ]
        yield {"traceId": f"t{number}", "spanId": f"s{number}", "attributes": attributes}


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("typed", [False, True])
def test_keys_that_count_documents_are_no_single_document(typed, ragkpi, tmp_path):
    (tmp_path / "run").write_text(lines(spans(typed)))
    outcome = ragkpi("convert", "run", "-", "--to", "jsonl", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert NOWHERE in outcome.err.decode()
    assert b"doc=?" in outcome.err


def test_records_of_trulens_have_a_query(ragkpi, tmp_path):
    records = [
        {
            "record_id": f"record_hash_{number}",
            "main_input": question,
            "calls": [{"rets": [{"metadata": {"source": id_}} for id_, _ in documents]}],
        }
        for number, (question, documents) in enumerate(SPANS)
    ]
    (tmp_path / "run").write_text(lines(records))
    outcome = ragkpi("convert", "run", "-", "--to", "jsonl", folder=tmp_path)
    assert b"read as: query=main_input, list=calls[].rets, doc=metadata.source" in outcome.err
    assert "record_hash" not in outcome.out.decode()
