"""Option groups that control output: destination, format, charts, run names and signature."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragkpi.cli.configuration import PROJECT
from ragkpi.cli.options import argument_group, option, option_group
from ragkpi.cli.terminal import colour_warnings, end_bar, held_notes, tell
from ragkpi.errors import UsageError
from ragkpi.reports.layout import Layout, Report
from ragkpi.reports.output_files import write
from ragkpi.reports.renderers import REPORT_FORMATS, format_of_file
from ragkpi.reports.terminal import drawn_table, terminal_size, wants_colour
from ragkpi.wording import on_screen

if TYPE_CHECKING:  # importing it takes longer than printing a help text
    from collections.abc import Sequence

    from ragkpi.charts.chart import Chart, Charts
    from ragkpi.charts.picture import PlotSize
    from ragkpi.statistics.gates import Verdict


class Output(NamedTuple):
    """The values of the output options, and the writer that follows them."""

    format: str | None
    path: str | None  # None for standard output
    digits: int | None
    plot: str | None  # "-" prints all charts as text
    plot_size: "PlotSize | None"
    wide: bool
    explain: bool
    colour: Literal["auto", "always", "never"]

    @property
    def choice(self) -> str | None:
        """The format that --format or the file's suffix names; None if neither does."""
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

    def is_signed(self, form: "Signed") -> bool:
        """Return whether a result shows its signature, which requires hashing the files."""
        return form != "none" or self.choice in ("json", "jsonl")

    def write(
        self,
        report: Report,
        charts: "Charts | None" = None,
        /,
        **more: Any,
    ) -> None:
        """Write a report in the chosen format and draw its charts; `more` goes to its `Layout`.

        A terminal shows the notes of the call below the table.
        """
        on_screen = self.path is None and sys.stdout.isatty()
        format_ = self.written
        coloured = self.path is None and wants_colour(sys.stdout)
        width, height = terminal_size() if on_screen and not self.wide else (None, None)
        layout = Layout(
            digits=self.digits,
            colour=("always" if coloured else "never") if self.colour == "auto" else self.colour,
            explanation="shown" if self.explain else "offered",
            project=PROJECT.get(),
            width=width,
            height=height,
            call_notes=held_notes() if on_screen and format_ == "table" else (),
            **more,
        )
        # Only a table is coloured, and its cells hold visible characters alone.
        styles: Literal["spelled", "kept"] = "kept" if format_ == "table" else "spelled"
        write(REPORT_FORMATS[format_].write(report, layout), self.path, styles)
        if self.format is None and format_ in ("csv", "tsv"):
            # Rows have no room for the sentences that answer the question.
            for sentence in report.table(layout).verdict:
                tell(f"answer: {sentence}")
        if charts is None or self.plot is None:
            return
        draw = _drawing(self.plot)
        if every := charts():
            draw(every, self.plot, self.plot_size or "screen")
        else:
            tell("note: there is nothing to draw, so --plot writes nothing")


def _drawing(path: str) -> Callable[["Sequence[Chart]", str, "PlotSize"], None]:
    """Return the function that draws charts into a file, once it is known that it can."""
    from ragkpi.charts.picture import draw, refuse_undrawable

    refuse_undrawable(path)
    return draw


def tell_gates(verdicts: "Sequence[Verdict]", elsewhere: bool) -> None:
    """Say what gates decided: one in a sentence, several in a table if it is not `elsewhere`."""
    if len(verdicts) == 1:
        if verdicts[0].passed:
            tell(f"note: {verdicts[0].sentence}")
    elif verdicts and not elsewhere:
        from ragkpi.library.evaluation_report import gates_table

        end_bar()
        width = terminal_size().columns if sys.stderr.isatty() else None
        for text in drawn_table(gates_table(verdicts), Layout(width=width)):
            sys.stderr.write(on_screen(text))


_HOW = "How to write, such as json, csv or latex."
_PURPOSES = ", ".join(f"{name}: {format_.purpose}" for name, format_ in REPORT_FORMATS.items())


FILE = option(
    "-o, --output FILE",
    "Write to FILE, which is replaced when all is written, or not at all. Its suffix "
    "decides the format.",
    use="common",
)


@option_group("Output")
def output_and_plot(
    format_: str | None = option(
        "--format FORMAT",
        f"{_HOW} {_PURPOSES}. Default: by FILE's suffix; table on a terminal, tsv into a pipe.",
        choices=tuple(REPORT_FORMATS),
        use="common",
    ),
    path: str | None = FILE,
    digits: int | None = option(
        "--digits N",
        "Decimals. Default: 4, in json, jsonl, csv and tsv all there are.",
        min=0,
        max=17,
    ),
    plot: str | None = option(
        "--plot FILE",
        "Draw a picture, FILE.png, .svg or .pdf.",
        use="common",
    ),
    plot_size: Literal["column", "page"] | None = option(
        "--plot-size column|page",
        "Draw the picture as wide as a column or page of a paper, with type of 7 pt at least.",
    ),
    wide: bool = option("--wide", "All columns and rows, however small the terminal is."),
    explain: bool = option(
        "--explain",
        "Also show how the answer was computed: tests, corrections, seeds, columns.",
        use="common",
    ),
    colour: Literal["auto", "always", "never"] = option(
        "--color auto|always|never",
        "Colour for what is best, worse or warned of; auto: on terminals, unless NO_COLOR is set.",
        "auto",
    ),
) -> Output:
    """Return the output settings; refuse a picture that cannot be drawn."""
    if plot is not None:
        _drawing(plot)
    elif plot_size is not None:
        raise UsageError(f"--plot-size {plot_size}: it is of a picture; give --plot FILE with it")
    colour_warnings(colour)
    values = Output(format_, path, digits, plot, plot_size, wide, explain, colour)
    _ = values.choice  # refuses an unknown suffix before any file is read
    return values


output = output_and_plot.without("plot", "plot_size")
output_of_texts = output.without("digits")  # tables of texts and counts
output_of_eval = output.changed(
    "format_",
    help=f"{_HOW} trec: trec_eval's lines, {_PURPOSES}. Default: by FILE's suffix; else trec for "
    "one run, of several a table on a terminal, tsv into a pipe.",
    choices=("trec", *REPORT_FORMATS),
)


@argument_group("Labels")
def naming(
    names: Literal["file", "runid"] = option(
        "--names file|runid", "Call runs after their files or their run ids.", "file"
    ),
) -> None:
    """The source of run names."""


Signed = Literal["none", "short", "long"]


@option_group("Labels")
def signature(
    short: bool = option(
        "--signature",
        "Say what the numbers depend on: version, hash of the qrels, settings that are not "
        "the default ones. json and jsonl always say it.",
    ),
    long: bool = option("--signature-long", "The same with every setting and full hashes."),
) -> Signed:
    """Return the form of signature to show."""
    return "long" if long else "short" if short else "none"
