"""The formats of reports, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ragkpi.reports.delimited import write_csv, write_tsv
from ragkpi.reports.json import write_json, write_jsonl
from ragkpi.reports.latex import write_latex
from ragkpi.reports.layout import Layout, Report
from ragkpi.reports.markdown import write_markdown
from ragkpi.reports.table import draw


@dataclass(frozen=True)
class Format:
    """A way to write any report, and what it is good for in one line."""

    write: Callable[[Report, Layout], str]
    purpose: str


FORMATS: Mapping[str, Format] = {
    "table": Format(draw, "aligned columns for people, the best of each marked"),
    "json": Format(write_json, "one object, numbers in full; reports/schema.json describes it"),
    "jsonl": Format(write_jsonl, "an object per run, and with -q per query, one per line"),
    "csv": Format(write_csv, "comma-separated, numbers in full"),
    "tsv": Format(write_tsv, "tab-separated, numbers in full"),
    "markdown": Format(write_markdown, "a table for GitHub and notebooks"),
    "latex": Format(write_latex, "a table for papers, with the rules of booktabs"),
}
