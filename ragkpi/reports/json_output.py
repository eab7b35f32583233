"""JSON and JSON Lines, both valid under ``schema.json`` next to this file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragkpi.reports.layout import Layout, Report

_NO_UTF8 = "[\udc80-\udcff]"
_LOOKS_ESCAPED = r"\\\\x(?=[0-9a-f]{2})"

# The document, its runs, a run and its queries are indented; deeper objects take a line each.
_INDENTED_LEVELS = 4


def dump(value: Any, indent: int | None = None) -> str:
    r"""Write JSON that is UTF-8.

    A byte that is not UTF-8 becomes the four characters ``\xff``. A text that already looks so
    begins with ``\x5c`` instead of its backslash, so that a reader can undo both.
    """
    import json  # takes 3 ms, which an evaluation without JSON does not wait for

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=_plain)
    if "\\\\x" in text:
        text = re.sub(_LOOKS_ESCAPED, r"\\\\x5cx", text)
    text = re.sub(_NO_UTF8, lambda match: f"\\\\x{ord(match[0]) & 0xFF:02x}", text)
    # JSON input may hold halves of surrogate pairs.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: Any) -> dict[str, Any]:
    """Turn a mapping that is no dictionary into one."""
    if isinstance(value, Mapping):
        return dict(value.items())
    raise TypeError(f"{type(value).__name__} is no JSON")


def write_json(report: Report, layout: Layout) -> Iterator[str]:
    """Write one object, indented down to the values of a query."""
    yield from _indented(report.document(layout), _INDENTED_LEVELS)
    yield "\n"


def _indented(value: Any, levels: int, margin: str = "\n") -> Iterator[str]:
    """Indent the outer levels; the values inside take a line each, written by the fast encoder."""
    if not levels or not value or not isinstance(value, Mapping | list):
        yield dump(value)
        return
    inner = margin + "  "
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    items = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    yield opening
    for number, (key, item) in enumerate(items):
        yield f"{',' if number else ''}{inner}"
        yield "" if key is None else f"{dump(key)}: "
        yield from _indented(item, levels - 1, inner)
    yield margin + closing


def write_jsonl(report: Report, layout: Layout) -> Iterator[str]:
    """Write an object per line."""
    for line in report.lines(layout):
        yield dump(line) + "\n"
