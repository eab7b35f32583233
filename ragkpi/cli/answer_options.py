"""Where the commands that answer a question put their answer: --format, -o, --plot."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ragkpi.cli import output_options as outputs
from ragkpi.cli.output_options import Digits, File, Format
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.charts.chart import Chart
    from ragkpi.reports.answer import Answer


class Output(NamedTuple):
    """How an answer is wanted.

    Attributes
    ----------
    report
        How its report is written.
    plot
        Path of a picture, ``-`` for plain text, None for plain text on terminals only.
    """

    report: outputs.Output
    plot: str | None

    def write(self, answer: Answer, charts: Sequence[Chart]) -> None:
        """Write an answer, and draw its charts: all into a picture, the first one as text."""
        self.report.write(answer, self.report.layout())
        table = self.report.format in (None, "table")
        on_screen = self.report.path is None and sys.stdout.isatty() and table
        if self.plot == "-" or (self.plot is None and on_screen):
            import shutil

            from ragkpi.charts.text_chart import text
            from ragkpi.reports.output_files import write

            write("\n" + text(charts[0], shutil.get_terminal_size().columns))
        elif self.plot is not None:
            from ragkpi.charts.picture import draw

            draw(charts, self.plot)


def output(
    format_: Format = None,
    file: File = None,
    digits: Digits = None,
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
    from ragkpi.charts.picture import refuse_undrawable

    report = outputs.output(format_, file, digits)
    report.refuse_trec("trec_eval has no lines for answers")
    if plot == "-":
        if report.path is None and report.format not in (None, "table"):
            raise UsageError(
                f"--plot -: a chart in plain text would stand behind the {report.format}; "
                "expected -o FILE with it, or --plot FILE"
            )
    elif plot is not None:
        refuse_undrawable(plot)
    return Output(report, plot)
