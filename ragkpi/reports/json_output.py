"""JSON and JSON Lines, both valid under ``schema.json`` next to this file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragkpi.reports.layout import Layout, Report

_NO_UTF8 = re.compile("[\udc80-\udcff]")
_LOOKS_SO = re.compile(r"\\\\x(?=[0-9a-f]{2})")

# Of a document: its runs, a run, its queries. Deeper, an object stands on one line.
_INDENTED = 4


def dump(value: Any, indent: int | None = None) -> str:
    r"""Write JSON that is UTF-8.

    A byte that is none becomes the four characters ``\xff``. So that it can be had back, a text
    that already looks so begins with ``\x5c`` instead of its backslash.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=_plain)
    if "\\\\x" in text:
        text = _LOOKS_SO.sub(r"\\\\x5cx", text)
    text = _NO_UTF8.sub(lambda match: f"\\\\x{ord(match[0]) & 0xFF:02x}", text)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # halves of pairs, of JSON


def _plain(value: Any) -> dict[str, Any]:
    """Make a dictionary of a mapping that is none, as values of queries are."""
    if isinstance(value, Mapping):
        return dict(value.items())
    raise TypeError(f"{type(value).__name__} is no JSON")


def write_json(report: Report, layout: Layout) -> Iterator[str]:
    """Write one object, indented down to the values of a query."""
    yield from _indented(report.document(layout), _INDENTED)
    yield "\n"


def _indented(value: Any, levels: int, margin: str = "\n") -> Iterator[str]:
    """Indent the outer levels; what is inside goes through the fast encoder, a line each."""
    if not levels or not value or not isinstance(value, Mapping | list):
        yield dump(value)
        return
    inner = margin + "  "
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    yield opening
    for number, (key, item) in enumerate(items):
        yield f"{',' if number else ''}{inner}"
        if isinstance(value, Mapping):
            yield f"{dump(key)}: "
        yield from _indented(item, levels - 1, inner)
    yield margin + closing


def write_jsonl(report: Report, layout: Layout) -> Iterator[str]:
    """Write an object per line."""
    for line in report.lines(layout):
        yield dump(line) + "\n"
