"""Markdown (GitHub's tables), the best values bold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkpi.reports.layout import Layout, Report
from ragkpi.wording import visible

# Characters with a meaning in Markdown; an underscore between letters has none, as in ndcg_cut_10.
# Names of runs come from files: they must not become links, pictures or tags.
_MARKDOWN = r"(?i)[\\|*`<\[&~]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|@(?=[\w-]+\.)"


def write_markdown(report: Report, layout: Layout) -> Iterator[str]:
    """Draw a table with pipes; notes are paragraphs below it."""
    table = report.table(layout)
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
    texts = [table.caption, *table.notes] if table.caption else table.notes
    notes = "".join(f"\n{_markdown(visible(text))}\n" for text in texts)
    yield "".join(f"| {' | '.join(line)} |\n" for line in lines) + notes


def _markdown(text: str) -> str:
    return re.sub(_MARKDOWN, lambda match: f"\\{match[0]}", text)
