"""Columns of ids and numbers from Python objects.

Ids are joined and encoded many at a time, because a step per row is slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import Numbers, judged_or_not
from ragkpi.records import NamedTuple
from ragkpi.wording import named

if TYPE_CHECKING:
    import numpy.typing as npt

_IDS_AT_ONCE = 1 << 16


class GivenColumns(NamedTuple):
    """Rows of a caller, n of them in groups: the query of each group, and the starts of groups.

    `number` holds the scores or levels unchanged: a list, or an array of numbers.
    """

    query: Tokens
    starts: IntArray
    document: Tokens
    number: Sequence[Any]

    def scores(self) -> FloatArray:
        """Read scores, (n,); `UsageError`, with query and document, for anything but a number."""
        score: FloatArray = _numbers(self.number).astype(np.float64)
        wrong = np.flatnonzero(np.isnan(score))
        if len(wrong):
            raise self._wrong("run", int(wrong[0]), "score", "a number")
        return score

    def levels(self, numbers: Numbers) -> tuple[IntArray, FloatArray | None]:
        """Read judged levels, (n,), and gains if any is fractional, as in `QrelsColumns`.

        `UsageError`, with query and document, for anything but a number, and for a fraction
        among levels.
        """
        given = _numbers(self.number)
        if given.dtype.kind not in "ib":
            # Beyond 2 ** 53 a float may not be the number of the caller.
            wrong = ~(np.abs(given) <= 2**53)
            fractional = given != np.floor(given)
            refused = wrong | fractional if numbers == "levels" else wrong
            if refused.any():
                expected = "an integer" if numbers == "levels" else "a number"
                raise self._wrong("qrels", int(np.flatnonzero(refused)[0]), "level", expected)
            if fractional.any():
                return judged_or_not(given), given.astype(np.float64)
        return given.astype(np.int64), None

    def _wrong(self, what: str, row: int, number: str, expected: str) -> UsageError:
        group = int(np.searchsorted(self.starts, row, side="right")) - 1
        query, document = (named(id_) for id_ in (self.query[group], self.document[row]))
        value = self.number[row]
        if isinstance(value, np.generic):
            value = value.item()
        return UsageError(
            f"{what}: query {query}, document {document}: {number} {value!r}; expected {expected}"
        )


def octets(id_: Any) -> bytes:
    """Return an id as the bytes of a file; `UsageError` for anything but text or an integer."""
    if isinstance(id_, bytes):
        return id_
    try:
        if isinstance(id_, str):
            return id_.encode("utf-8", "surrogateescape")
        return b"%d" % index(id_)
    except UnicodeEncodeError:  # half of a surrogate pair
        raise UsageError(f"an id is {id_!r}; expected Unicode text") from None
    except TypeError:
        raise UsageError(f"an id is {id_!r}; expected text or a whole number") from None


def tokens_of(ids: Sequence[Any]) -> Tokens:
    """Encode ids, as `octets`."""
    if len(ids) <= _IDS_AT_ONCE:
        return _encoded(ids)
    parts = range(0, len(ids), _IDS_AT_ONCE)
    return Tokens.joined([_encoded(ids[first : first + _IDS_AT_ONCE]) for first in parts])


def _encoded(ids: Sequence[Any]) -> Tokens:
    try:
        text = "".join(ids)
    except TypeError:
        if set(map(type, ids)) != {int}:
            return Tokens.from_strings(map(octets, ids))
        ids = list(map(str, ids))
        text = "".join(ids)
    if not text.isascii():  # lengths are in characters
        return Tokens.from_strings(map(octets, ids))
    return Tokens.from_text(text.encode(), np.fromiter(map(len, ids), np.int64, len(ids)))


def _numbers(given: Sequence[Any]) -> npt.NDArray[Any]:
    """Return numbers, which may be texts of a file; NaN for anything else."""
    try:
        numbers = np.asarray(given)
    except (ValueError, OverflowError):
        numbers = np.empty(0, dtype=object)
    if numbers.dtype.kind not in "iufb":
        numbers = np.array([_or_nan(value) for value in given])
    return numbers


def _or_nan(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan
