"""Where the commands that answer a question put their answer: --format, -o, --plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.plots.chart import Chart
    from ragkpi.reports.answer import Answer


@dataclass(frozen=True)
class Output:
    """How an answer is wanted.

    Attributes
    ----------
    format
        Of the report.
    file
        Where it goes; None for standard output.
    digits
        None for the format's own choice.
    plot
        Path of a picture, ``-`` for plain text, None for plain text on terminals only.
    """

    format: str
    file: str | None
    digits: int | None
    plot: str | None

    def write(self, answer: Answer, charts: Sequence[Chart]) -> None:
        """Write an answer, and draw its charts: all into a picture, the first one as text."""
        import sys

        from ragkpi.reports.layout import Layout
        from ragkpi.reports.registry import FORMATS
        from ragkpi.reports.table import wants_colour
        from ragkpi.reports.writing import write

        on_screen = self.file is None and sys.stdout.isatty() and self.format == "table"
        colour = on_screen and wants_colour(sys.stdout)
        layout = Layout(digits=self.digits, colour="always" if colour else "never")
        write(FORMATS[self.format].write(answer, layout), self.file)
        if self.plot == "-" or (self.plot is None and on_screen):
            import shutil

            from ragkpi.plots.text import text

            write("\n" + text(charts[0], shutil.get_terminal_size().columns))
        elif self.plot is not None:
            from ragkpi.plots.picture import draw

            draw(charts, self.plot)


def output(
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="table, json, jsonl, csv, tsv, markdown or latex.",
        ),
    ] = "table",
    file: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write there instead."),
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option("--digits", metavar="DIGITS", min=0, max=17, help="Places behind the point."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw a picture, FILE.png or FILE.svg; - draws one in plain text, as a terminal "
            "gets it anyway.",
        ),
    ] = None,
) -> Output:
    """Read the options that say where an answer goes; refuse what cannot be written."""
    from ragkpi.plots.picture import refuse_undrawable
    from ragkpi.reports.registry import FORMATS

    if format_ not in FORMATS:
        raise UsageError(f"--format {format_}: no such format; expected {', '.join(FORMATS)}")
    if plot not in (None, "-"):
        refuse_undrawable(str(plot))
    return Output(format_, file, digits, plot)
