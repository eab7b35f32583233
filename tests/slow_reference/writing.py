"""Runs written row by row: what the writers of whole rankings must equal."""

import json


def trec(rankings, run_id):
    return b"".join(
        b"%b Q0 %b %d %b %b\n" % (query, document, rank, repr(score).encode(), run_id)
        for query, documents, scores in rankings
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1)
    )


def csv(rankings, run_id):
    def quoted(value):
        quote = any(byte in value for byte in (b'"', b",", b"\n", b"\r"))
        return b'"' + value.replace(b'"', b'""') + b'"' if quote else value

    lines = [[b"query_id", b"doc_id", b"rank", b"score", b"run_id"]]
    for query, documents, scores in rankings:
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1):
            lines.append([query, document, b"%d" % rank, repr(score).encode(), run_id])
    return b"".join(b",".join(map(quoted, line)) + b"\n" for line in lines)


def json_lines(rankings, run_id):
    return b"".join(
        _json(
            {
                "qid": _text(query),
                "run_id": _text(run_id),
                "candidates": [
                    {"docid": _text(document), "score": _number(score)}
                    for document, score in zip(documents, scores, strict=True)
                ],
            }
        )
        + b"\n"
        for query, documents, scores in rankings
    )


def json_document(rankings, run_id):
    lines = [
        _json(_text(query))
        + b": "
        + _json({_text(name): _number(score) for name, score in zip(names, scores, strict=True)})
        for query, names, scores in rankings
    ]
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


def _json(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _text(octets):
    return octets.decode("utf-8", "surrogateescape")


def _number(score):
    return repr(score) if score in (float("inf"), float("-inf")) else score
