"""Write bytes, lists of ids and numbers as text: rounded for people, exact for programs."""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice
from operator import index
from typing import Any, Literal

from ragkpi.arrays import ROUNDING
from ragkpi.errors import UsageError
from ragkpi.interface import spell

# The style of a value: %6.4f, a whole number, six significant digits, or text.
Style = Literal["decimal", "integer", "significant", "probability", "text", "quoted"]

# Control characters, soft hyphens, zero-width marks, marks of direction and of line ends, and
# surrogates: bytes that are not UTF-8, and halves of pairs.
HIDDEN = (
    r"[\0-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ud800-\udfff]"
)
"""A regular expression of hidden characters, in Python as in JavaScript."""

# A terminal needs newlines, tabs, and the sequences that set colours.
_ON_SCREEN = f"(?![\\t\\n]){HIDDEN}"
_BESIDE_STYLES = f"(?!\x1b\\[[0-9;]*m){_ON_SCREEN}"

DECIMALS = 4
SIGNIFICANT = 6
NOT_AVAILABLE = "NA"


def decoded(value: Any) -> Any:
    """Decode the bytes of an input file; bytes that are not UTF-8 become surrogates."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def octets(id_: Any) -> bytes:
    """Return an id as the bytes of a file; `UsageError` unless it is a text or an integer."""
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


def visible(text: str) -> str:
    r"""Write control characters and bytes that are not UTF-8 as ``\x1b``, for screens and pages.

    Characters that move or reverse the text around them are escaped too (``\u202e``).
    """
    return text if text.isprintable() else re.sub(HIDDEN, _spelled, text)


def on_screen(text: str, styles: Literal["spelled", "kept"] = "spelled") -> str:
    r"""Escape a text of several lines for a terminal, as `visible` does for one line.

    Colours are ``"kept"`` if they cannot come from a file: in a table, whose cells went through
    `visible`.

    >>> on_screen("P_5\tq\u202e1\t0.4\n")
    'P_5\tq\\u202e1\t0.4\n'
    """
    return re.sub(_ON_SCREEN if styles == "spelled" else _BESIDE_STYLES, _spelled, text)


_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def in_markup(text: str) -> str:
    """Escape a text for XML and HTML, with hidden characters visible."""
    return visible(text).translate(_MARKUP)


def _spelled(match: re.Match[str]) -> str:
    number = ord(match[0])
    is_byte = number < 0x20 or 0xDC80 <= number <= 0xDCFF  # not allowed in JSON strings
    return f"\\x{number & 0xFF:02x}" if is_byte else f"\\u{number:04x}"


def rounded(value: Any, style: Style, digits: int | None = None, signed: bool = False) -> str:
    """Write a number, a text or bytes for people; NaN becomes NA, and None an empty text.

    ``"decimal"`` has `digits` decimal places (4), ``"significant"`` `digits` significant digits
    (6), ``"integer"`` no decimals; ``"probability"`` is ``"< 0.0001"`` where four decimals are 0.
    A `signed` positive number has a plus sign.
    """
    if value is None:
        return ""
    if not isinstance(value, int | float):
        return str(decoded(value))
    if math.isnan(value):
        return NOT_AVAILABLE
    sign = "+" if signed else ""
    if math.isinf(value) or (style == "integer" and value == int(value)):
        return f"{value:{sign}.0f}"
    if style == "probability" and 0 < value < _SMALLEST_P:
        return f"< {_SMALLEST_P}" if digits is None else f"{value:.{max(digits, 1)}g}"
    if style == "significant":
        return f"{value + 0.0:{sign}.{SIGNIFICANT if digits is None else max(digits, 1)}g}"
    text = f"{value:{sign}.{DECIMALS if digits is None else digits}f}"
    return text if text.strip("+-0.") else text.replace("-", sign)


def with_interval(
    value: Any,
    interval: tuple[float, float],
    style: Style,
    digits: int | None = None,
    signed: bool = False,
    limit: float | None = None,
) -> str:
    """Write a number followed by the bounds of its interval, each `rounded`.

    Bounds have enough digits to show on which side of a `limit` they lie.

    >>> with_interval(0.5, (0.4249, 1), "decimal", 2)
    '0.50 [0.42, 1.00]'
    >>> with_interval(0.5, (0.0012, 1), "decimal", 2, limit=0)
    '0.50 [0.001, 1.00]'
    """
    number, low, high = (rounded(one, style, digits, signed) for one in (value, *interval))
    if limit is not None and style == "decimal":
        places, sign = DECIMALS if digits is None else digits, "+" if signed else ""
        low, high = (beside(end, limit, places, "f", sign) for end in interval)
    return f"{number} [{low}, {high}]"


def exact(value: Any, style: Style, digits: int | None = None) -> str:
    """Write a value for programs: the shortest text that reads back as the same double.

    With `digits`, write it like `rounded`.
    """
    if digits is None and style != "integer" and isinstance(value, float) and math.isfinite(value):
        return repr(float(value))  # nearly all values of queries
    if digits is not None or not isinstance(value, int | float) or not math.isfinite(value):
        return rounded(value, style, digits)
    number = float(value)
    return str(int(number)) if style == "integer" and number.is_integer() else repr(number)


def as_json(value: Any, style: Style, digits: int | None = None) -> int | float | str | None:
    """Return a value for JSON: null for NA, ``"-inf"``, ``"inf"``, whole numbers."""
    if digits is None and style != "integer" and isinstance(value, float) and math.isfinite(value):
        return float(value)  # skips the shortest text
    text = exact(value, style, digits)
    if not isinstance(value, int | float) or math.isinf(value):
        return text
    if math.isnan(value):
        return None
    return int(text) if style == "integer" and text.lstrip("-").isdecimal() else float(text)


def shown(piece: bytes | str, longest: int = 60, quoted_by: Callable[[str], str] = ascii) -> str:
    """Quote a piece of input for a one-line message, escaped and cut to a readable length.

    `ascii` distinguishes look-alikes; names of columns, which commands repeat, need `repr`.
    """
    octets = piece.encode("utf-8", "backslashreplace") if isinstance(piece, str) else piece
    quoted = quoted_by(octets[: longest + 1].decode("utf-8", "backslashreplace"))
    return quoted if len(octets) <= longest else quoted[: longest - 2] + "…'"


def named(id_: bytes, longest: int = 80) -> str:
    """Show an id in a message: whole if it is plain, quoted if it would mislead."""
    text = visible(decoded(id_))
    text = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return text if text and " " not in text else f"'{text}'"


def named_apart(mine: bytes, theirs: bytes) -> tuple[str, str]:
    r"""Show two ids; look-alikes are escaped so that they differ.

    >>> named_apart(b"a", b"b")
    ('a', 'b')
    >>> named_apart("\u1e69".encode(), "s\u0323\u0307".encode())
    ('\\u1e69', 's\\u0323\\u0307')
    """
    one, other = decoded(mine), decoded(theirs)
    if one == other or without_form(one) != without_form(other):
        return named(mine), named(theirs)
    spelled = (re.sub(r"[^ -~]", _spelled_whole, text) for text in (one, other))
    return next(spelled), next(spelled)


def _spelled_whole(match: re.Match[str]) -> str:
    text = _spelled(match)
    return text if text.startswith("\\u") else f"\\u{ord(match[0]):04x}"


_NO_WIDTH = r"[\u00ad\u180e\u200b-\u200f\u2060-\u206f\ufeff]"


def without_form(text: str) -> str:
    """Return a text in Unicode normal form NFKC, without zero-width characters."""
    return unicodedata.normalize("NFKC", re.sub(_NO_WIDTH, "", text))


def text_lines(text: str, width: int | None, below: str = "") -> list[str]:
    """Wrap a text at spaces, with `below` before later lines; ids and numbers stay whole."""
    if width is None:
        return [text]
    lines = textwrap.wrap(
        text, width, subsequent_indent=below, break_on_hyphens=False, break_long_words=False
    )
    return lines or [""]


def listed(ids: Iterable[bytes], most: int = 5) -> str:
    """List the first few ids."""
    names = [named(id_) for id_ in islice(ids, most + 1)]
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def joined(names: Sequence[str]) -> str:
    """Join names in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Write a number with its noun: ``1 query``, ``1,250 queries``."""
    noun = singular if number == 1 else plural or f"{singular}s"
    return f"{number:,} {noun}"


def did_you_mean(name: str, names: Iterable[str], otherwise: str, alike: float = 0.6) -> str:
    """Suggest a name for a mistyped one, or say what to do `otherwise`.

    `alike` is the minimum similarity of a suggestion, from 0 to 1.

    >>> did_you_mean("evla", ["eval", "compare"], "'ragkpi -h' lists them")
    'did you mean eval?'
    """
    import difflib  # only mistakes need it

    folded = {one.casefold(): one for one in names}
    near = difflib.get_close_matches(name.casefold(), folded, cutoff=alike)
    return f"did you mean {' or '.join(folded[one] for one in near)}?" if near else otherwise


def exact_percent(share: float) -> str:
    """Write a share, such as a level of confidence, with all of its digits."""
    return f"{share * 100:.12g}%"


def percent(share: float, digits: int = 0, bound: float | None = None) -> str:
    """Write a share; only 0, 1 and the bound are written as 0%, 100% and the bound.

    >>> percent(0.954), percent(0.9996), percent(0.5004, bound=0.5)
    ('95%', 'nearly 100%', '50.04%')
    """
    for decimals in (digits, 1):
        text = rounded(share * 100, "decimal", decimals)
        if bound is not None:
            text = beside(share * 100, bound * 100, decimals)
        if not 0 < share < 1 or float(text) not in (0, 100):
            return f"{text}%"
    return f"nearly {round(share) * 100}%"


def beside(
    value: float, bound: float, digits: int, kind: Literal["f", "g"] = "f", sign: str = ""
) -> str:
    """Write a number with its digits, and with more if rounding would put it onto a bound.

    >>> beside(0.0312, 0.05, 2), beside(0.0496, 0.05, 2), beside(0.00012, 0.05, 2, "g")
    ('0.03', '0.0496', '0.00012')
    """
    text = f"{value:{sign}.{digits}{kind}}"
    moved = abs(value - bound) > ROUNDING and (float(text) - bound) * (value - bound) <= 0
    if moved:
        return beside(value, bound, digits + 1, kind, sign)
    return text if text.strip("+-0.") else text.replace("-", sign)


_SMALLEST_P = 0.0001


def p_text(p: float) -> str:
    """Write a p-value in a sentence.

    >>> p_text(0.01234), p_text(2e-7)
    ('p = 0.0123', 'p < 0.0001')
    """
    return f"p = {beside(p, 0.05, 4)}" if p >= _SMALLEST_P else f"p < {_SMALLEST_P}"


def parse_size(text: str) -> int:
    """Read a number of documents: ``5000``, ``5k``, ``113.5M``, ``1.2G``.

    >>> parse_size("5k"), parse_size("113.5M")
    (5000, 113500000)
    """
    unit = {"k": 1_000, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}.get(text[-1:], 1)
    try:
        size = Decimal(text[:-1] if unit > 1 else text) * unit
    except InvalidOperation:
        size = Decimal(-1)
    if not size.is_finite() or not 0 <= size < 1 << 63 or size != int(size):
        expected = "expected a number of documents such as 5000, 5k or 113.5M"
        raise UsageError(f"{spell('corpus_size')} {text}: {expected}")
    return int(size)
