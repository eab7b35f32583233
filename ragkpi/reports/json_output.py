"""JSON and JSON Lines, both valid under ``schema.json`` next to this file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragkpi.reports.layout import Layout, Report


def dump(value: Any, indent: int | None = None) -> str:
    r"""Write JSON that is UTF-8: bytes that were none become escapes, ``\udcff``."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_json(report: Report, layout: Layout) -> Iterator[str]:
    """Write one object."""
    yield dump(report.document(layout), indent=2) + "\n"


def write_jsonl(report: Report, layout: Layout) -> Iterator[str]:
    """Write an object per line."""
    for line in report.lines(layout):
        yield dump(line) + "\n"
