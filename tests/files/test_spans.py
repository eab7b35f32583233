"""Spans of OpenTelemetry, one a line, and records of TruLens."""

import json

SPANS = [("where is it?", [("x", 0.9), ("b", 0.5)]), ("who pays?", [("a", 0.8), ("x", 0.1)])]


def attribute(key, value):
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": key, "value": {kind: value}}


def spans():
    for number, (question, documents) in enumerate(SPANS):
        attributes = [attribute("input.value", question)]
        for place, (id_, score) in enumerate(documents):
            attributes.append(attribute(f"retrieval.documents.{place}.document.id", id_))
            attributes.append(attribute(f"retrieval.documents.{place}.document.score", score))
        yield {"traceId": f"t{number}", "spanId": f"s{number}", "attributes": attributes}


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_the_input_of_a_span_is_its_query(ragkpi, tmp_path):
    (tmp_path / "run").write_text(lines(spans()))
    outcome = ragkpi("convert", "run", "-", "--to", "jsonl", folder=tmp_path)
    assert b"query=attributes.input.value, list=attributes.retrieval.documents" in outcome.err
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert "where is it?" in str(rows[0])
    assert "traceId" not in str(rows)


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
