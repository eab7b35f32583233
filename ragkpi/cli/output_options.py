"""Options that say where a result goes, how it is written, and what it says about itself."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragkpi.cli.options import option, option_group
from ragkpi.cli.terminal import colour_warnings, tell
from ragkpi.errors import UsageError
from ragkpi.reports.layout import REPORT_FORMATS, format_of_file
from ragkpi.wording import counted

if TYPE_CHECKING:
    from ragkpi.charts.chart import Chart, Charts
    from ragkpi.reports.layout import Layout, Report


class Output(NamedTuple):
    """How a result is written.

    Attributes
    ----------
    format
        The value of ``--format``; None without.
    path
        The file; None for standard output.
    digits
        The value of ``--digits``.
    plot
        The path of a picture; ``-`` for all charts as text, None for one on a terminal.
    wide, colour
        The values of ``--wide`` and ``--color``.
    """

    format: str | None
    path: str | None
    digits: int | None
    plot: str | None = None
    wide: bool = False
    colour: Literal["auto", "always", "never"] = "auto"

    @property
    def chosen(self) -> str | None:
        """The format that --format names, or the file's suffix; None if neither does."""
        if self.format is None and self.path is not None and self.path != "-":
            return format_of_file(self.path)
        return self.format

    def write(self, report: "Report", charts: "Charts | None" = None, /, **more: Any) -> None:
        """Write a report in the chosen format; draw its charts.

        Without a chosen format it is a table on a terminal and in a file, and plain rows in a pipe.

        Parameters
        ----------
        report
            The answer.
        charts
            Drawn as ``--plot`` says; without it, a terminal gets the first one as text.
        more
            Fields of `Layout`.
        """
        from ragkpi.reports.output_files import write

        on_screen = self.path is None and sys.stdout.isatty()
        to_pipe = self.path in (None, "-") and not sys.stdout.isatty()
        format_ = self.chosen or ("tsv" if to_pipe else "table")
        # Nothing but a table is coloured, and its cells are visible texts.
        styles: Literal["spelled", "kept"] = "kept" if format_ == "table" else "spelled"
        write(
            REPORT_FORMATS[format_].write(report, self._layout(on_screen, more)), self.path, styles
        )
        if self.format is None and format_ in ("csv", "tsv"):
            # Rows have no place for the sentences that answer the question.
            for sentence in getattr(report, "sentences", ()):
                tell(f"answer: {sentence}")
        if charts is None:
            return
        if self.plot is not None and self.plot != "-":
            from ragkpi.charts.picture import draw

            draw(charts(), self.plot)
        elif self.plot == "-" or (on_screen and self.format in (None, "table")):
            self._draw_text(charts())

    def _layout(self, on_screen: bool, more: Mapping[str, Any]) -> "Layout":
        from ragkpi.reports.layout import Layout
        from ragkpi.reports.terminal import wants_colour

        coloured = self.colour == "always"
        if self.colour == "auto":
            coloured = self.path is None and wants_colour(sys.stdout)
        width = _terminal_width() if on_screen and not self.wide else None
        colour: Literal["always", "never"] = "always" if coloured else "never"
        return Layout(digits=self.digits, colour=colour, width=width, **more)

    def _draw_text(self, charts: "Sequence[Chart]") -> None:
        from ragkpi.charts.text_chart import texts
        from ragkpi.reports.output_files import write

        drawn = charts if self.plot == "-" else charts[:1]
        write(["\n" + texts(drawn, _terminal_width())])
        if len(drawn) < len(charts):
            more = counted(len(charts) - len(drawn), "more chart")
            write([f"{more}: --plot - or --plot FILE.png\n"])


def _terminal_width() -> int:
    import shutil  # takes seven milliseconds

    return shutil.get_terminal_size().columns


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
        "Draw a picture, FILE.png or FILE.svg; - draws one in plain text, as a terminal "
        "gets it anyway.",
        use="common",
    ),
    wide: bool = option("--wide", "All columns, however narrow the terminal is."),
    colour: Literal["auto", "always", "never"] = option(
        "--color auto|always|never",
        "Colour for what is best, worse or warned of; auto: on terminals, unless NO_COLOR is set.",
        "auto",
    ),
) -> Output:
    """Return how a result is written and drawn; refuse what cannot be drawn."""
    if plot == "-" and path is None and format_ not in (None, "table"):
        raise UsageError(
            f"--plot -: a chart in plain text would stand behind the {format_}; "
            "expected -o FILE with it, or --plot FILE"
        )
    if plot is not None and plot != "-":
        from ragkpi.charts.picture import refuse_undrawable

        refuse_undrawable(plot)
    colour_warnings(colour)
    made = Output(format_, path, digits, plot, wide, colour)
    _ = made.chosen  # refuses a suffix that no format has, before anything is read
    return made


output = output_and_plot.without("plot")
output_of_texts = output.without("digits")  # tables of texts and counts
output_of_eval = output.changed(
    "format_",
    help=f"{_HOW} trec: trec_eval's lines, {_PURPOSES}. Default: by FILE's suffix; else trec for "
    "one run, of several a table on a terminal, tsv into a pipe.",
    choices=("trec", *REPORT_FORMATS),
)


class Labels(NamedTuple):
    """What runs are called, and which signature a result shows."""

    names: Literal["file", "runid"]
    signature: Literal["none", "short", "long"]


@option_group("Labels")
def labels(
    names: Literal["file", "runid"] = option(
        "--names file|runid", "Call runs after their files or their run ids.", "file"
    ),
    short: bool = option(
        "--signature",
        "Say what the numbers depend on: version, hash of the qrels, settings that are not "
        "the default ones. json and jsonl always say it.",
    ),
    long: bool = option("--signature-long", "The same with every setting and full hashes."),
) -> Labels:
    """Return what runs are called, and which signature is shown."""
    return Labels(names, "long" if long else "short" if short else "none")


# For answers whose signature is shown in the small print of their charts alone.
naming = labels.without("short", "long")


def is_signed(output: Output, labels: Labels) -> bool:
    """Return whether a result shows its signature, for which files are hashed."""
    return labels.signature != "none" or output.chosen in ("json", "jsonl")
