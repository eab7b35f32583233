"""The formats of reports, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragkpi.reports.json_output import write_json, write_jsonl
from ragkpi.reports.latex import write_latex
from ragkpi.reports.layout import Layout, Report
from ragkpi.reports.markdown import write_markdown
from ragkpi.reports.separated import write_csv, write_tsv
from ragkpi.reports.text_table import draw

# What writes a report as it is wanted.
RENDERERS: Mapping[str, Callable[[Report, Layout], str]] = {
    "table": draw,
    "json": write_json,
    "jsonl": write_jsonl,
    "csv": write_csv,
    "tsv": write_tsv,
    "markdown": write_markdown,
    "latex": write_latex,
}
