"""Markdown (GitHub's tables), the best values bold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkpi.reports.layout import Layout, Report
from ragkpi.wording import visible

# Characters that mean something; an underscore does not between letters, as in ndcg_cut_10.
# Names of runs come from files: nothing in them becomes a link, a picture or a tag.
_SPECIAL = re.compile(
    r"[\\|*`<\[&~]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|@(?=[\w-]+\.)", re.IGNORECASE
)


def write_markdown(report: Report, layout: Layout) -> Iterator[str]:
    """Draw a table with pipes; notes are paragraphs under it."""
    table = report.table(layout)
    heads = [_escaped(visible(column.name)) for column in table.columns]
    rules = ["---:" if column.numeric else ":---" for column in table.columns]
    lines = [heads, rules]
    for row in table.rows:
        texts = []
        for cell, column in zip(row, table.columns, strict=True):
            text = column.text(cell, layout)
            if not isinstance(cell.value, int | float):
                text = _escaped(text)
            text = f"**{text}**" if cell.best else text
            texts.append(f"{text}<sup>{cell.marks}</sup>" if cell.marks else text)
        lines.append(texts)
    below = [table.caption] if table.caption else []
    notes = "".join(f"\n{_escaped(visible(note))}\n" for note in [*below, *table.notes])
    yield "".join(f"| {' | '.join(line)} |\n" for line in lines) + notes


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"\\{match[0]}", text)
