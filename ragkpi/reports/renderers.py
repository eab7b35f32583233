"""The formats of reports: one record each, from which ``--format`` has its names and its help."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from ragkpi.errors import UsageError
from ragkpi.records import NamedTuple

if TYPE_CHECKING:  # a record costs nothing at the start, what it names is imported when it is used
    from ragkpi.reports.layout import Layout, Report


class ReportFormat(NamedTuple):
    """A way to write reports.

    Attributes
    ----------
    purpose
        What it is for, as the help text says it.
    writer
        ``module:function`` in this room; the function takes a report and a layout and returns
        pieces of text.
    suffixes
        Of files that are written so if nobody says how.
    of
        What can be written so.
    """

    purpose: str
    writer: str
    suffixes: tuple[str, ...] = ()
    of: Literal["any report", "one run of eval"] = "any report"


REPORT_FORMATS: Mapping[str, ReportFormat] = {
    "trec": ReportFormat("trec_eval's lines", "trec_lines:write_trec", of="one run of eval"),
    "table": ReportFormat("for people", "text_table:write_table"),
    "json": ReportFormat("one object ('ragkpi schema')", "json_output:write_json", (".json",)),
    "jsonl": ReportFormat("an object per line", "json_output:write_jsonl", (".jsonl",)),
    "csv": ReportFormat("for spreadsheets", "separated:write_csv", (".csv",)),
    "tsv": ReportFormat("for programs", "separated:write_tsv", (".tsv",)),
    "markdown": ReportFormat("for pages", "markdown:write_markdown", (".md",)),
    "latex": ReportFormat("for papers (booktabs)", "latex:write_latex", (".tex",)),
}

# Those that everything can be written in.
FORMATS_OF_REPORTS = tuple(
    name for name, format_ in REPORT_FORMATS.items() if format_.of == "any report"
)


def format_of_file(path: str) -> str | None:
    """Return the format that a file's suffix asks for; None for ``.txt`` and without a suffix.

    Raises
    ------
    UsageError
        If no format has that suffix.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix in ("", ".txt"):
        return None
    of_suffix = {suffix: name for name, one in REPORT_FORMATS.items() for suffix in one.suffixes}
    if suffix not in of_suffix:
        raise UsageError(
            f"-o {path}: no format has the suffix {suffix}; expected {', '.join(of_suffix)} or "
            ".txt, or --format"
        )
    return of_suffix[suffix]


def pieces(report: Report, name: str, layout: Layout) -> Iterator[str]:
    """Write a report in a format of any report, piece by piece."""
    module, _, function = REPORT_FORMATS[name].writer.partition(":")
    found: Iterator[str] = getattr(importlib.import_module(f"ragkpi.reports.{module}"), function)(
        report, layout
    )
    return found


def rendered(report: Report, name: str, layout: Layout) -> str:
    """Write a report as one text."""
    return "".join(pieces(report, name, layout))
