"""Ids and numbers from the columns of data frames: pandas, polars, pyarrow or lists.

With pyarrow they are read from its buffers; without, from lists.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ragkpi.formats.given_columns import octets, tokens_of
from ragkpi.formats.tokens import IntArray, Tokens


def tokens(column: Any) -> Tokens:
    """Encode a column of ids."""
    array = _arrow(column)
    if array is None:
        return tokens_of(_list(column))
    import pyarrow

    kind = array.type
    if pyarrow.types.is_dictionary(kind):
        array = array.cast(kind.value_type)
        kind = kind.value_type
    if array.null_count:
        octets(None)  # raises the error
    text = (
        pyarrow.types.is_string(kind)
        or pyarrow.types.is_large_string(kind)
        or kind == "string_view"
    )
    binary = pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind)
    if not (text or binary or pyarrow.types.is_integer(kind)):
        return tokens_of(array.to_pylist())
    if not binary:
        array = array.cast("large_string")
    array = array.cast("large_binary")
    if isinstance(array, pyarrow.ChunkedArray):
        array = array.combine_chunks()
    return _tokens_of_array(array)


def _tokens_of_array(array: Any) -> Tokens:
    """Return an array of large_string or large_binary, without nulls, as a column."""
    if not len(array):
        return Tokens.from_strings([])
    _, offsets, data = array.buffers()
    bounds: IntArray = np.frombuffer(offsets, dtype=np.int64)[array.offset :][: len(array) + 1]
    text = np.frombuffer(data or b"", dtype=np.uint8)[bounds[0] : bounds[-1]]
    places = bounds - bounds[0]
    return Tokens(text, places[:-1], places[1:])


def numbers(column: Any) -> Any:
    """Return scores or levels: an array if all are numbers, else a list."""
    array = _arrow(column)
    if array is None:
        return _list(column)
    import pyarrow

    kind = array.type
    if array.null_count or not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
        return list(array.to_pylist())
    return np.asarray(array)


def _arrow(column: Any) -> Any | None:
    """Return a column as an array or chunked array of pyarrow; None if that is impossible."""
    try:
        import pyarrow
    except ImportError:
        return None
    if isinstance(column, pyarrow.Array | pyarrow.ChunkedArray):
        return column
    try:
        if hasattr(column, "to_arrow"):  # polars
            return column.to_arrow()
        if hasattr(column, "to_numpy"):  # pandas
            return pyarrow.array(column)
    except (pyarrow.ArrowException, NotImplementedError, TypeError, ValueError):
        pass  # such as texts and numbers in one column
    return None


def _list(column: Any) -> list[Any]:
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)
