"""The formats of reports: one record each, from which ``--format`` has its names and its help."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from ragkpi.errors import UsageError
from ragkpi.records import NamedTuple
from ragkpi.reports.json_output import write_json, write_jsonl
from ragkpi.reports.latex import write_latex
from ragkpi.reports.layout import Layout, Report
from ragkpi.reports.markdown import write_markdown
from ragkpi.reports.separated import write_csv, write_tsv
from ragkpi.reports.text_table import write_table


class ReportFormat(NamedTuple):
    """A way to write any report.

    Attributes
    ----------
    purpose
        What the format is for, in the words of the help text.
    write
        Takes a report and a layout, yields pieces of text.
    suffix
        The suffix of files that get this format without ``--format``.
    """

    purpose: str
    write: Callable[[Report, Layout], Iterator[str]]
    suffix: str = ""


REPORT_FORMATS: Mapping[str, ReportFormat] = {
    "table": ReportFormat("for people", write_table),
    "json": ReportFormat("one object ('ragkpi schema')", write_json, ".json"),
    "jsonl": ReportFormat("an object per line", write_jsonl, ".jsonl"),
    "csv": ReportFormat("for spreadsheets", write_csv, ".csv"),
    "tsv": ReportFormat("for programs", write_tsv, ".tsv"),
    "markdown": ReportFormat("for pages", write_markdown, ".md"),
    "latex": ReportFormat("for papers (booktabs)", write_latex, ".tex"),
}


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
    by_suffix = {known.suffix: name for name, known in REPORT_FORMATS.items() if known.suffix}
    if suffix not in by_suffix:
        raise UsageError(
            f"-o {path}: no format has the suffix {suffix}; expected {', '.join(by_suffix)} or "
            ".txt, or --format"
        )
    return by_suffix[suffix]


def rendered(report: Report, name: str, layout: Layout) -> str:
    """Write a report as one text."""
    return "".join(REPORT_FORMATS[name].write(report, layout))
