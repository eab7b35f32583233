"""Groups of options that control output: destination, format, charts and signature."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ragkpi.cli.configuration import PROJECT
from ragkpi.cli.terminal import colour_messages, held_notes, tell
from ragkpi.errors import UsageError
from ragkpi.interface import wants_colour
from ragkpi.library.options import Flags
from ragkpi.reports.layout import Layout, Report
from ragkpi.reports.output_files import write
from ragkpi.reports.renderers import REPORT_FORMATS, format_of_file
from ragkpi.reports.terminal import terminal_width

if TYPE_CHECKING:  # few commands draw
    from ragkpi.charts.chart import Chart, Charts
    from ragkpi.charts.picture import PlotSize
    from ragkpi.statistics.gates import Verdict

_FORMATS = ", ".join(REPORT_FORMATS)
_output = partial(Option, rich_help_panel="Output")

Signed = Annotated[
    Literal["none", "short", "long"],
    Flags(
        short=_output(
            "--signature",
            help="Print the signature: version, hash of the qrels, settings other than "
            "defaults. json and jsonl always include it.",
        ),
        long=_output(
            "--signature-long",
            help="Print the signature with every setting and full hashes.",
        ),
    ),
]
"""The form of signature to show."""

OutputFile = Annotated[
    str | None,
    Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write to FILE, atomically; its suffix sets the format.",
    ),
]


@dataclass(frozen=True)
class TextOutput:
    """Options for writing tables of texts and counts."""

    format: Annotated[
        str | None,
        Literal[*REPORT_FORMATS],
        Option(
            metavar="FORMAT",
            help=f"Output format: {_FORMATS}. Default: by FILE's suffix; table on a terminal, "
            "tsv into a pipe.",
        ),
    ] = None
    path: OutputFile = None  # None for standard output
    explain: Annotated[
        bool,
        Option(
            "--explain",
            help="Also show how the answer was computed: tests, corrections, seeds, columns.",
        ),
    ] = False
    wide: Annotated[
        bool,
        _output("--wide", help="Show all columns, ignoring the terminal width."),
    ] = False
    color: Annotated[
        Literal["auto", "always", "never"],
        _output(
            help="When to use colour. auto: on terminals and with FORCE_COLOR, not with NO_COLOR.",
        ),
    ] = "auto"

    def __post_init__(self) -> None:
        colour_messages(self.color)
        _ = self.choice  # refuses an unknown suffix before any file is read

    @property
    def choice(self) -> str | None:
        """The format of --format or of the file's suffix; None without either."""
        if self.format is None and self.path is not None and self.path != "-":
            return format_of_file(self.path)
        return self.format

    @property
    def is_read(self) -> bool:
        """Whether people read the report on standard output, with the gates below it."""
        return self.path is None and self.written in ("table", "markdown", "github", "junit")

    @property
    def written(self) -> str:
        """The format of a report: a table on a terminal and in a file, plain rows in a pipe."""
        to_pipe = self.path in (None, "-") and not (self.path is None and sys.stdout.isatty())
        return self.choice or ("tsv" if to_pipe else "table")

    def is_signed(self, form: Signed) -> bool:
        """Return whether a result shows its signature, for which the files are hashed."""
        return form != "none" or self.choice in ("json", "jsonl")

    def write(self, report: Report, **layout: Any) -> None:
        """Write a report in the chosen format; `layout` is for its `Layout`.

        A terminal shows the notes of the call below the table.
        """
        form = self.written
        coloured = self.path is None and wants_colour(sys.stdout)
        width = terminal_width() if self.is_on_screen and not self.wide else None
        every = Layout(
            colour=("always" if coloured else "never") if self.color == "auto" else self.color,
            explanation="shown" if self.explain else "offered",
            project=PROJECT.get(),
            width=width,
            call_notes=held_notes() if self.is_on_screen and form == "table" else (),
            **layout,
        )
        # Only tables are coloured, and their cells have only visible characters.
        styles: Literal["spelled", "kept"] = "kept" if form == "table" else "spelled"
        write(REPORT_FORMATS[form].write(report, every), self.path, styles)
        if self.format is None and form in ("csv", "tsv"):
            # Rows have no room for the verdict.
            for sentence in report.table(every).verdict:
                tell(f"answer: {sentence}")

    @property
    def is_on_screen(self) -> bool:
        """Whether standard output is the destination, and a terminal."""
        return self.path is None and sys.stdout.isatty()


@dataclass(frozen=True)
class Output(TextOutput):
    """Options for writing tables of values."""

    digits: Annotated[
        int | None,
        _output(
            metavar="N",
            min=0,
            max=17,
            help="Decimals. Default: 4; all in json, jsonl, csv and tsv.",
        ),
    ] = None

    def write(self, report: Report, **layout: Any) -> None:
        super().write(report, digits=self.digits, **layout)


@dataclass(frozen=True)
class EvalOutput(Output):
    """Options for writing an evaluation: trec_eval's lines, or any other table of values."""

    format: Annotated[
        str | None,
        Literal["trec", *REPORT_FORMATS],
        Option(
            metavar="FORMAT",
            help=f"Output format: trec (trec_eval's lines), {_FORMATS}. Default: by FILE's suffix; "
            "else trec for one run, of several a table on a terminal, tsv into a pipe.",
        ),
    ] = None


@dataclass(frozen=True)
class PlotOutput(Output):
    """Options for writing tables of values, and for drawing their charts."""

    plot: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Draw a figure to FILE.png, .svg or .pdf.",
        ),
    ] = None
    plot_size: Annotated[
        Literal["column", "page"] | None,
        _output(
            help="Size of the figure: a column or page of a paper, with type of at least 7 pt.",
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plot is not None:
            _drawing(self.plot)
        elif self.plot_size is not None:
            raise UsageError(
                f"--plot-size {self.plot_size}: it sets the size of a figure; add --plot FILE"
            )

    def draw(self, charts: "Charts | None") -> None:
        """Draw the charts into the file of ``--plot``."""
        if charts is None or self.plot is None:
            return
        draw = _drawing(self.plot)
        if every := charts():
            draw(every, self.plot, self.plot_size or "screen")
        else:
            tell("note: no chart to draw, so --plot writes no file")


def _drawing(path: str) -> Callable[["Sequence[Chart]", str, "PlotSize"], None]:
    """Return the function that draws charts into a file, or refuse the file early."""
    from ragkpi.charts.picture import draw, refuse_undrawable

    refuse_undrawable(path)
    return draw


def tell_gates(verdicts: "Sequence[Verdict]") -> None:
    """Say what each gate that passed saw; the others are errors."""
    for verdict in verdicts:
        if verdict.passed:
            tell(f"note: {verdict.sentence}")
