"""The formats of reports: JSON (described by ``schema.json``), CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

from ragkpi.errors import UsageError
from ragkpi.reports.junit import write_junit
from ragkpi.reports.layout import Check, Layout, Report, Table
from ragkpi.reports.terminal import write_table
from ragkpi.wording import Style, exact, visible

_NO_UTF8 = "[\udc80-\udcff]"
_LOOKS_ESCAPED = r"\\\\x(?=[0-9a-f]{2})"

# JSON indents the document, its runs, a run and its queries; deeper objects take a line each.
_INDENTED_LEVELS = 4


def schema_text() -> str:
    """Return the text of ``schema.json``."""
    with open(os.path.join(os.path.dirname(__file__), "schema.json"), encoding="utf-8") as file:
        return file.read()


def dump(value: Any) -> str:
    r"""Write JSON that is UTF-8.

    A byte that is not UTF-8 becomes four characters such as ``\xff``. In a text that already looks
    like this, ``\x5c`` replaces the backslash, so that readers can undo both.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if "\\\\x" in text:
        text = re.sub(_LOOKS_ESCAPED, r"\\\\x5cx", text)
    text = re.sub(_NO_UTF8, lambda match: f"\\\\x{ord(match[0]) & 0xFF:02x}", text)
    # JSON input can contain halves of surrogate pairs.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_json(report: Report, layout: Layout) -> Iterator[str]:
    """Write one object, indented down to the values of a query."""
    project = {"project": layout.project} if layout.project else {}
    yield from _indented({**report.document(layout), **project}, _INDENTED_LEVELS)
    yield "\n"


def _indented(value: Any, levels: int, margin: str = "\n") -> Iterator[str]:
    """Indent the outer levels; the fast encoder writes each inner value on one line."""
    if not levels or not value or not isinstance(value, dict | list):
        yield dump(value)
        return
    inner = margin + "  "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    yield opening
    for number, (key, item) in enumerate(items):
        yield f"{',' if number else ''}{inner}"
        yield "" if key is None else f"{dump(key)}: "
        yield from _indented(item, levels - 1, inner)
    yield margin + closing


def write_jsonl(report: Report, layout: Layout) -> Iterator[str]:
    """Write one JSON object per line."""
    for line in report.lines(layout):
        yield dump(line) + "\n"


# Spreadsheets read a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

_ROWS_AT_ONCE = 1000


def write_delimited(report: Report, layout: Layout, delimiter: str = ",") -> Iterator[str]:
    """Write comma-separated values (RFC 4180, with plain newlines), or with another delimiter.

    A text that begins like a formula gets a leading apostrophe, the convention of spreadsheets.
    """
    rows = _rows(report.table(replace(layout, notes="columns")), layout.digits)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(some)
        yield out.getvalue()


def _rows(table: Table, digits: int | None) -> Iterator[list[str]]:
    """Yield the texts of the header and each row; intervals add two columns."""
    yield table.names
    for row in chain(table.streamed, table.rows):
        yield [_text(value, style, digits) for value, style in table.values(row)]


def _text(value: Any, style: Style, digits: int | None) -> str:
    """Write a value, with an apostrophe before a text that is a formula in spreadsheets."""
    text = exact(value, style, digits)
    is_formula = text.startswith(_FORMULA) and not isinstance(value, int | float)
    return f"'{text}" if is_formula else text


# Characters with a meaning in Markdown, except underscores between letters, as in ndcg_cut_10.
# Run names come from files and must not become links, pictures or tags.
_MARKDOWN = r"(?i)[\\|*`<\[&~]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|@(?=[\w-]+\.)"


def write_markdown(report: Report, layout: Layout) -> Iterator[str]:
    """Draw a table with pipes between paragraphs: the verdict, then notes and explanation."""
    table = report.table(layout)
    texts = [*([table.caption] if table.caption else []), *table.texts(layout), *table.below]
    yield _paragraphs(table.verdict) + _pipes(table, layout)
    yield "".join(f"\n{_markdown(visible(text))}\n" for text in texts)


def _pipes(table: Table, layout: Layout) -> str:
    heads = [_markdown(visible(column.name)) for column in table.columns]
    rules = ["---:" if column.numeric else ":---" for column in table.columns]
    lines = [heads, rules]
    for row in table.rows:
        texts = []
        for cell, column in zip(row, table.columns, strict=True):
            text = column.text(cell, layout)
            if not isinstance(cell.value, int | float):
                text = _markdown(text)
            text = f"**{text}**" if cell.best else text
            texts.append(f"{text}<sup>{cell.marks}</sup>" if cell.marks else text)
        lines.append(texts)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def write_github(report: Report, layout: Layout) -> Iterator[str]:
    """Draw a step's summary, or a comment: verdict, gates and notes, the table folded.

    Checks that did not pass are workflow commands, which a log shows next to their lines. They are
    in an HTML comment, so that the page can go to the log unchanged.
    """
    table = report.table(layout)
    commands = [_command(check) for check in table.checks if check.outcome in _COMMANDS]
    if commands:
        yield "".join(f"{line}\n" for line in ("<!--", *commands, "-->", ""))
    page = (
        _paragraphs(table.verdict),
        _paragraphs(table.below),
        "<details><summary>Table</summary>\n\n",
        _pipes(table, layout),
        "\n</details>\n\n",
        _paragraphs(table.texts(layout)),
    )
    # The runner executes any line that begins with two colons; ids and names come from files.
    yield re.sub(r"(?m)^(?=\s*::)", r"\\", "".join(page))


def _command(check: Check) -> str:
    """Write a workflow command; break up text that would end the comment around it."""
    place = {"file": check.file, "line": check.line, "title": f"ragkpi: {check.name}"}
    properties = ",".join(
        f"{name}={_escaped(str(value), '%:,')}" for name, value in place.items() if value
    )
    return f"::{_COMMANDS[check.outcome]} {properties}::{_escaped(check.text, '%')}"


def _escaped(text: str, special: str) -> str:
    text = visible(text).replace("-->", "-- >")
    return re.sub(f"[{special}]", lambda match: f"%{ord(match[0]):02X}", text)


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"{_markdown(visible(text))}\n\n" for text in texts)


def _markdown(text: str) -> str:
    return re.sub(_MARKDOWN, lambda match: f"\\{match[0]}", text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after \\, a bare bracket would begin an option
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_MARKS = {"†": r"\dagger", "‡": r"\ddagger", "§": r"\S", "¶": r"\P", "‖": r"\parallel", "#": r"\#"}
_NUMBER = r"([+-]?)(inf|\d+(?:\.\d+)?)(?:e([+-]\d+))?"


def write_latex(report: Report, layout: Layout) -> Iterator[str]:
    r"""Draw a ``tabular`` for ``\usepackage{booktabs}``, with all texts as comments below it.

    A caption puts it into a float, ``table``.
    """
    table = report.table(layout)
    kinds = "".join("r" if column.numeric else "l" for column in table.columns)
    rows = []
    for row in table.rows:
        texts = []
        for cell, column in zip(row, table.columns, strict=True):
            text = column.text(cell, layout)
            text = (
                re.sub(_NUMBER, _mathematics, text).replace("<", "$<$")
                if column.numeric
                else _latex(text)
            )
            text = rf"\textbf{{\boldmath {text}}}" if cell.best else text
            marks = "".join(_MARKS[mark] for mark in cell.marks or "")
            texts.append(f"{text}$^{{{marks}}}$" if marks else text)
        rows.append(texts)
    before: list[str] = []
    if table.caption:
        caption = _latex(visible(table.caption))
        for mark, command in _MARKS.items():
            caption = caption.replace(_LATEX.get(mark, mark), f"${command}$")
        before = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", r"\label{tab:runs}"]
    heads, *lines = (
        " & ".join(texts) + r" \\"
        for texts in ([_latex(visible(column.name)) for column in table.columns], *rows)
    )
    body = [r"\toprule", heads, r"\midrule", *lines, r"\bottomrule"]
    tabular = [rf"\begin{{tabular}}{{{kinds}}}", *body, r"\end{tabular}"]
    after = [r"\end{table}"] if before else []
    texts = [*table.verdict, *table.notes, *table.explained]
    notes = [f"% {visible(text)}" for text in texts]
    yield "".join(f"{line}\n" for line in (*before, *tabular, *after, *notes))


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _mathematics(match: re.Match[str]) -> str:
    """Set a sign, an exponent or infinity as mathematics; a hyphen is not a minus sign."""
    sign, digits, exponent = match.groups()
    if not sign and not exponent and digits != "inf":
        return digits
    power = rf"\cdot 10^{{{int(exponent)}}}" if exponent else ""
    return f"${sign}{digits.replace('inf', chr(92) + 'infty')}{power}$"


class ReportFormat(NamedTuple):
    """A format that can write any report."""

    purpose: str  # for the help text
    write: Callable[[Report, Layout], Iterator[str]]
    suffix: str = ""  # files with this suffix get the format without `--format`


REPORT_FORMATS: Mapping[str, ReportFormat] = {
    "table": ReportFormat("for people", write_table),
    "json": ReportFormat("one object ('ragkpi schema')", write_json, ".json"),
    "jsonl": ReportFormat("an object per line", write_jsonl, ".jsonl"),
    "csv": ReportFormat("for spreadsheets", write_delimited, ".csv"),
    "tsv": ReportFormat("for programs", partial(write_delimited, delimiter="\t"), ".tsv"),
    "markdown": ReportFormat("for pages", write_markdown, ".md"),
    "latex": ReportFormat("for papers (booktabs)", write_latex, ".tex"),
    "github": ReportFormat("for checks of GitHub", write_github),
    "junit": ReportFormat("JUnit's XML, for other CI", write_junit, ".xml"),
}


def format_of_file(path: str) -> str | None:
    """Return the format that a file's suffix selects; None for ``.txt`` and without a suffix."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix in ("", ".txt"):
        return None
    by_suffix = {form.suffix: name for name, form in REPORT_FORMATS.items() if form.suffix}
    if suffix not in by_suffix:
        raise UsageError(
            f"-o {path}: no format has the suffix {suffix}; expected {', '.join(by_suffix)} or "
            ".txt, or --format"
        )
    return by_suffix[suffix]


def rendered(report: Report, name: str, layout: Layout) -> str:
    """Write a report as one text."""
    return "".join(REPORT_FORMATS[name].write(report, layout))
