"""LaTeX: a tabular with the rules of booktabs, the best values bold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkpi.reports.layout import Layout, Report
from ragkpi.wording import visible

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after \\ it would begin an option
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_MARKS = {
    "†": r"\dagger",
    "‡": r"\ddagger",
    "§": r"\S",
    "¶": r"\P",
    "‖": r"\parallel",
    "#": r"\#",
}
_NUMBER = r"([+-]?)(inf|\d+(?:\.\d+)?)(?:e([+-]\d+))?"


def write_latex(report: Report, layout: Layout) -> Iterator[str]:
    r"""Draw a ``tabular`` for ``\usepackage{booktabs}``, with the notes as comments below.

    A caption puts it into a float, ``table``.
    """
    table = report.table(layout)
    kinds = "".join("r" if column.numeric else "l" for column in table.columns)
    rows = []
    for row in table.rows:
        texts = []
        for cell, column in zip(row, table.columns, strict=True):
            text = column.text(cell, layout)
            text = re.sub(_NUMBER, _mathematics, text) if column.numeric else _latex(text)
            text = rf"\textbf{{\boldmath {text}}}" if cell.best else text
            texts.append(text + _raised(cell.marks))
        rows.append(texts)
    before, after = _float(table.caption)
    yield "\n".join(
        [
            *before,
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            _line([_latex(visible(column.name)) for column in table.columns]),
            r"\midrule",
            *map(_line, rows),
            r"\bottomrule",
            r"\end{tabular}",
            *after,
            *(f"% {visible(note)}" for note in table.notes),
            "",
        ]
    )


def _float(caption: str) -> tuple[list[str], list[str]]:
    """Return the lines before and after the ``tabular`` of a table with a caption."""
    if not caption:
        return [], []
    text = _latex(visible(caption))
    for mark, command in _MARKS.items():
        text = text.replace(_LATEX.get(mark, mark), f"${command}$")
    return (
        [r"\begin{table}", r"\centering", rf"\caption{{{text}}}", r"\label{tab:runs}"],
        [r"\end{table}"],
    )


def _raised(marks: str) -> str:
    return f"$^{{{''.join(_MARKS[mark] for mark in marks)}}}$" if marks else ""


def _line(texts: list[str]) -> str:
    return " & ".join(texts) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _mathematics(match: re.Match[str]) -> str:
    """Set a number with more than digits as mathematics: a hyphen is no minus sign."""
    sign, digits, exponent = match.groups()
    if not sign and not exponent and digits != "inf":
        return digits
    power = rf"\cdot 10^{{{int(exponent)}}}" if exponent else ""
    return f"${sign}{digits.replace('inf', chr(92) + 'infty')}{power}$"
