"""Which format a file has, by its first bytes. What could be TREC is TREC."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from ragkpi.formats import column_names as fields

HEAD_LENGTH = 1 << 13

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
# An object and its first key; then what that holds, if it is an object.
_FIRST_KEY = rb'\s*\{\s*(?:\}|"((?:[^"\\]|\\.)*)"\s*:\s*(\{)?)'
_RECORD_KEYS = {
    *fields.QUERY,
    *fields.DOCUMENT,
    *fields.SCORE,
    *fields.RANK,
    *fields.RUN_ID,
    *fields.RETRIEVED,
}


def recognise_run(head: bytes) -> str:
    """Return the name of a run's format, from its first `HEAD_LENGTH` bytes."""
    return _recognise(head, _is_trec_run, (fields.QUERY, fields.DOCUMENT), _is_msmarco)


def recognise_qrels(head: bytes) -> str:
    """Return the name of the format of qrels, from their first `HEAD_LENGTH` bytes."""
    return _recognise(
        head, _is_trec_qrels, (fields.QUERY, fields.DOCUMENT, fields.LEVEL), lambda _: False
    )


def recognise_kind(head: bytes) -> Literal["run", "qrels"]:
    """Say whether a file holds qrels; what could be a run is one.

    JSON documents of numbers and binary tables could be both.
    """
    name = recognise_qrels(head)
    lines = _data_lines(head) or [b""]
    if name == "trec":
        return "qrels" if _is_trec_qrels(lines[0].split()) else "run"
    if name in ("tsv", "csv"):
        words = lines[0].split(b"\t" if name == "tsv" else b",")
        names = [fields.plain_name(word.decode("utf-8", "replace").strip('"')) for word in words]
        beir = names == ["query_id", "corpus_id", "score"]
        return "qrels" if beir or fields.find(names, fields.LEVEL[:-1]) else "run"
    if name == "jsonl":
        keys = re.findall(rb'"([a-z_]+)"\s*:', lines[0])
        return "qrels" if {key.decode() for key in keys} & set(fields.LEVEL[:-1]) else "run"
    return "run"


def _recognise(
    head: bytes,
    is_trec: Callable[[list[bytes]], bool],
    columns: Sequence[Sequence[str]],
    is_msmarco: Callable[[list[bytes]], bool],
) -> str:
    lines = _data_lines(head)
    if not lines or is_trec(lines[0].split()):
        return "trec"
    for magic, name in _MAGIC.items():
        if head.startswith(magic):
            return name
    if lines[0].lstrip().startswith(b"["):
        return "json"
    # Compiled here because hardly any start needs it; and a line may be longer than the head.
    key = re.match(_FIRST_KEY, head.removeprefix(_BYTE_ORDER_MARK))
    if key is not None:
        return _kind_of_object(key)
    if is_msmarco(lines):
        return "msmarco"
    for name, separator in (("tsv", b"\t"), ("csv", b",")):
        if separator in lines[0] and _names(lines[0].split(separator), columns):
            return name
    return "trec"


def _data_lines(head: bytes) -> list[bytes]:
    """Return the lines that are neither blank nor comments; one that is cut off only if alone."""
    lines = head.removeprefix(_BYTE_ORDER_MARK).split(b"\n")
    if len(head) >= HEAD_LENGTH:
        lines = lines[:-1] or lines
    return [line for line in lines if line.strip() and not line.startswith(b"#")]


def _is_trec_run(words: list[bytes]) -> bool:
    return len(words) >= 6 and _is_integer(words[3]) and _is_number(words[4])


def _is_trec_qrels(words: list[bytes]) -> bool:
    return len(words) == 4 and _is_integer(words[3])


def _is_integer(word: bytes) -> bool:
    return word.lstrip(b"+-").isdigit()


def _is_number(word: bytes) -> bool:
    """Say what looks like a number; reading it will tell exactly."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_msmarco(lines: list[bytes]) -> bool:
    """Say whether lines of three columns count the ranks of their first query from 1.

    Scores in the third column would rank documents the other way round.
    """
    rows = [line.split() for line in lines]
    first = [row for row in rows if row[0] == rows[0][0]]
    return all(len(row) == 3 for row in rows) and all(
        row[2] == b"%d" % rank for rank, row in enumerate(first, start=1)
    )


def _kind_of_object(key: re.Match[bytes]) -> str:
    """Tell ``{query: {document: …`` from an object with a field of its own."""
    if key[1] is None:  # {}
        return "json"
    field = fields.plain_name(key[1].decode("utf-8", "replace"))
    return "json" if key[2] and field not in _RECORD_KEYS else "jsonl"


def _names(words: list[bytes], columns: Sequence[Sequence[str]]) -> bool:
    """Say whether a line names all the columns."""
    names = [word.decode("utf-8", "replace").strip('"') for word in words]
    return all(fields.find(names, aliases) is not None for aliases in columns)
