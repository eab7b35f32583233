"""Small files beside runs and qrels: corpus sizes, quality, norms, preferences and gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import DataError, InputError
from ragkpi.files.formats import HEAD_LENGTH, Reading, is_number, reader_of
from ragkpi.files.lines import (
    LineShape,
    Tokens,
    read_table,
    refuse_invalid,
    scan,
    table_of,
    whole_text,
)
from ragkpi.files.opening import Source
from ragkpi.files.trec import QrelsColumns, parse_numbers, plain_qrels, qrels_of, read_qrels
from ragkpi.wording import shown

_SIZES = LineShape(("query", "size"), "refused", "first_column")


def read_corpus_sizes(path: str) -> dict[bytes, int]:
    """Read the size of the corpus for each query; `DataError` if a query has two sizes."""
    table = read_table(path, _SIZES)
    query, size_text = table.column(0), table.column(1)
    size = size_text.numbers()
    whole = (size >= 1) & (size < 2.0**53) & (size == np.floor(size))
    refuse_invalid(path, table.line, size_text, whole, "size", "expected a whole number from 1")
    sizes: dict[bytes, int] = {}
    for line, name, number in zip(table.line, query, size.astype(np.int64).tolist(), strict=True):
        if name in sizes:
            raise DataError(
                f"{path}:{line}: query {shown(name)} again; expected one size per query"
            )
        sizes[name] = number
    return sizes


_ONE_RUN = LineShape(("query", "score"), "refused", "first_column")
_SEVERAL = LineShape(("query", "run", "score"), "refused", "first_column")
_ANY = LineShape(("query", "score"), "ignored", "first_column")

# By run (None where the file names none), then by query.
Quality = Mapping[bytes | None, Mapping[bytes, float]]


def read_quality(path: str) -> Quality:
    """Read the quality of the response to each query.

    Lines have as many columns as the first line: query and score, or query, run and score.
    """
    with Source(path) as source:
        block = whole_text(source)
    if block is None:
        raise InputError(path, None, "is empty", "expected lines of query score")
    first = next((line for line in scan(block, _ANY).stop.tolist()), 0)
    words = block.text[:first].rsplit(b"\n", 1)[-1].split()
    shape = _SEVERAL if len(words) == 3 else _ONE_RUN
    table = scan(block, shape)
    if not len(table):
        raise InputError(path, None, "no scores", "expected lines of query score")
    query, *run, score_text = (table.column(number) for number in range(len(shape.columns)))
    score = score_text.numbers()
    refuse_invalid(path, table.line, score_text, np.isfinite(score), "score", "expected a number")
    runs: list[bytes | None] = list(run[0].tolist()) if run else [None] * len(score)
    by_run: dict[bytes | None, dict[bytes, float]] = {}
    rows = zip(table.line, query.tolist(), runs, score.tolist(), strict=True)
    for line, name, of, number in rows:
        scores = by_run.setdefault(of, {})
        if name in scores:
            per = "query and run" if run else "query"
            raise DataError(
                f"{path}:{line}: query {shown(name)} again; expected one score per {per}"
            )
        scores[name] = number
    return by_run


_NORMS = LineShape(("query", "measure", "mean", "deviation"), "refused", "first_column")


class Norm(NamedTuple):
    """The mean and the standard deviation of a measure for a query."""

    mean: float
    deviation: float


# By printed name of the value, then by query.
Norms = Mapping[bytes, Mapping[bytes, Norm]]


def read_zscores(path: str) -> Norms:
    """Read the mean and the standard deviation of measures for queries."""
    table = read_table(path, _NORMS)
    query, measure, *number_texts = map(table.column, range(4))
    numbers = []
    for name, text in zip(("mean", "deviation"), number_texts, strict=True):
        number = text.numbers()
        valid, expected = np.isfinite(number), "expected a decimal number"
        if name == "deviation":
            valid, expected = valid & (number >= 0), "expected a decimal number from 0"
        refuse_invalid(path, table.line, text, valid, name, expected)
        numbers.append(number.tolist())
    norms: dict[bytes, dict[bytes, Norm]] = {}
    for line, query_id, name, *norm in zip(
        table.line.tolist(), query.tolist(), measure.tolist(), *numbers, strict=True
    ):
        of_queries = norms.setdefault(name, {})
        if query_id in of_queries:
            again = f"{name.decode()} of query {query_id.decode()} again"
            raise InputError(path, line, again, "expected each measure once per query")
        of_queries[query_id] = Norm(*norm)
    return norms


LINE = LineShape(("query", "group", "subgroup", "document", "level"), "refused", "first_column")


@dataclass(frozen=True)
class PreferenceColumns:
    """Preference judgements as columns of n rows, in file order.

    Within a query, judgment group (an assessor) and sub-group, a document with a higher level is
    preferred over a document with a lower level. `line` is the physical line.
    """

    file: str
    query: Tokens
    group: Tokens
    subgroup: Tokens
    document: Tokens
    level: FloatArray
    line: IntArray


def read_preferences(path: str) -> PreferenceColumns:
    """Read `prefs`: query, judgment group, sub-group, document, level (a decimal number)."""
    table = read_table(path, LINE)
    query, group, subgroup, document, level_text = map(table.column, range(5))
    level = level_text.numbers()
    expected = "expected a decimal number such as 0, 1 or 2.5"
    refuse_invalid(path, table.line, level_text, np.isfinite(level), "level", expected)
    return PreferenceColumns(path, query, group, subgroup, document, level, table.line)


def read_qrels_preferences(path: str) -> PreferenceColumns:
    """Read `qrels_prefs`, in qrels format; each judgment group is one sub-group."""
    qrels = read_qrels(path)
    return PreferenceColumns(
        file=qrels.file,
        query=qrels.query,
        group=qrels.iteration,
        subgroup=Tokens.repeated(b"0", len(qrels.line)),
        document=qrels.document,
        level=qrels.level.astype(np.float64),
        line=qrels.line,
    )


_LINE = LineShape(("query", "document", "gain"), "refused", "first_column")
_JSON = b'{["'  # the first byte of JSON


def read_gains(path: str, reading: Reading | str | None = None) -> QrelsColumns:
    """Read lines of query, document and gain, or any format of qrels."""
    with Source(path) as source:
        line = source.peek(HEAD_LENGTH).lstrip().split(b"\n", 1)[0]
        words = line.split()
        if line[:1] in _JSON or b"," in line or len(words) != 3 or not is_number(words[2]):
            reader = reader_of("qrels", source, reading)
            return qrels_of(source, "gains") if reader.name == "trec" else reader.read_qrels(source)
        table = table_of(source, _LINE)
        query, document, text = map(table.column, range(3))
        level, gain = parse_numbers(source.name, text, table.line)
        return plain_qrels(source.name, query, document, level, table.line, gain)
