"""trec_eval's lines: name, query or `all`, value."""

from __future__ import annotations

from typing import BinaryIO, Literal

from ragkpi.measures.scores import Scores

Lines = Literal["shown", "hidden"]


def write_trec(scores: Scores, out: BinaryIO, per_query: Lines, summary: Lines) -> None:
    """Write the lines of a run."""
    if summary == "shown":
        for index, value in enumerate(scores.values):
            out.write(f"{value.name:22}\tall\t{scores.summary(index)}\n".encode())
