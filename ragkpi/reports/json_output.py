"""JSON and JSON Lines, both valid under ``schema.json`` next to this file."""

from __future__ import annotations

import json
from typing import Any

from ragkpi.reports.layout import Layout, Report


def dump(value: Any, indent: int | None = None) -> str:
    r"""Write JSON that is UTF-8: bytes that were none become escapes, ``\udcff``."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_json(report: Report, layout: Layout) -> str:
    """Write one object."""
    return dump(report.document(layout), indent=2) + "\n"


def write_jsonl(report: Report, layout: Layout) -> str:
    """Write an object per line."""
    return "".join(dump(line) + "\n" for line in report.lines(layout))
