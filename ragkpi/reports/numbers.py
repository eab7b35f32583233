"""Values as text and as JSON: rounded for people, whole for programs."""

from __future__ import annotations

import math
import re
from typing import Any

from ragkpi.measures.measure import Style

DECIMALS = 4
SIGNIFICANT = 6
NOT_AVAILABLE = "NA"


def decoded(value: Any) -> Any:
    """Turn the bytes of an input file into text, bytes that are no UTF-8 into surrogates."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def visible(text: str) -> str:
    r"""Write control characters and bytes that are no UTF-8 as ``\x1b``, for screens and pages."""
    return re.sub(
        "[\0-\x1f\x7f-\x9f\udc80-\udcff]", lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", text
    )


def rounded(value: Any, style: Style, digits: int | None = None, signed: bool = False) -> str:
    """Write a value for people.

    Parameters
    ----------
    value
        A number, NaN for NA, or a text or bytes; None for nothing at all.
    style
        How it is written: ``"decimal"`` with `digits` places (4), ``"significant"`` with
        `digits` significant ones (6), ``"integer"`` with none.
    signed
        Whether a positive number has a plus sign.
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
    if style == "significant":
        return f"{value + 0.0:{sign}.{SIGNIFICANT if digits is None else max(digits, 1)}g}"
    text = f"{value:{sign}.{DECIMALS if digits is None else digits}f}"
    return text if text.strip("+-0.") else text.replace("-", sign)


def exact(value: Any, style: Style, digits: int | None = None) -> str:
    """Write a value for programs: the shortest text that reads back as the same double.

    With `digits`, write it as `rounded` does.
    """
    if digits is not None or not isinstance(value, int | float) or not math.isfinite(value):
        return rounded(value, style, digits)
    number = float(value)
    return str(int(number)) if style == "integer" and number.is_integer() else repr(number)


def as_json(value: Any, style: Style, digits: int | None = None) -> int | float | str | None:
    """Return what JSON can hold: null for NA, ``"-inf"`` and ``"inf"``, whole numbers as such."""
    text = exact(value, style, digits)
    if not isinstance(value, int | float) or math.isinf(value):
        return text
    if math.isnan(value):
        return None
    return int(text) if style == "integer" and text.lstrip("-").isdecimal() else float(text)
