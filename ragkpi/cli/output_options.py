"""Options that say where a result goes, how it is written, and what it says about itself."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ragkpi.cli.messages import colour_warnings, tell
from ragkpi.cli.option_groups import option, option_group
from ragkpi.errors import UsageError
from ragkpi.records import NamedTuple
from ragkpi.reports.renderers import FORMATS_OF_REPORTS, REPORT_FORMATS, format_of_file
from ragkpi.wording import counted

if TYPE_CHECKING:
    from ragkpi.charts.chart import Charts
    from ragkpi.reports.layout import Layout, Report


class Output(NamedTuple):
    """How a result is written.

    Attributes
    ----------
    format
        As given to --format, None if it was not.
    path
        Where to, None for standard output.
    digits
        As given to --digits.
    plot
        Path of a picture, ``-`` for plain text, None for plain text on terminals only.
    wide, colour
        As given to --wide and --color.
    """

    format: str | None
    path: str | None
    digits: int | None
    plot: str | None = None
    wide: bool = False
    colour: Literal["auto", "always", "never"] = "auto"

    def layout(self, **more: Any) -> "Layout":
        """Say how the report is wanted; `more` are fields of `Layout`."""
        from ragkpi.reports.layout import Layout
        from ragkpi.reports.text_table import wants_colour

        on_screen = self.path is None and sys.stdout.isatty()
        coloured = self.path is None and wants_colour(sys.stdout)
        if self.colour != "auto":
            coloured = self.colour == "always"
        width = None
        if on_screen and not self.wide:
            import shutil

            width = shutil.get_terminal_size().columns
        colour: Literal["always", "never"] = "always" if coloured else "never"
        return Layout(digits=self.digits, colour=colour, width=width, **more)

    def write(self, report: "Report", charts: "Charts | None" = None, /, **more: Any) -> None:
        """Write a report in the format that is given or fits its destination; draw its charts.

        Parameters
        ----------
        report
            What was found out.
        charts
            Drawn into a picture, or as text, if somebody wants them. A terminal that was not asked
            for any gets the first one.
        more
            Fields of `Layout`.
        """
        from ragkpi.reports.output_files import write
        from ragkpi.reports.renderers import pieces

        # Nothing but a table is coloured, and its cells are visible texts.
        styles: Literal["spelled", "kept"] = "kept" if self._format == "table" else "spelled"
        write(pieces(report, self._format, self.layout(**more)), self.path, styles)
        if self.format is None and self._format in ("csv", "tsv"):
            # What its reader must know has no place among the rows.
            for sentence in getattr(report, "sentences", ()):
                tell(f"answer: {sentence}")
        if charts is not None:
            self._draw(charts)

    @property
    def chosen(self) -> str | None:
        """The format that --format names, or the file's suffix; None if neither does."""
        if self.format is None and self.path is not None and self.path != "-":
            return format_of_file(self.path)
        return self.format

    @property
    def _format(self) -> str:
        """As chosen; else a table for a terminal or a file, plain rows for a pipe."""
        if self.chosen is not None:
            return self.chosen
        to_file = self.path is not None and self.path != "-"
        return "table" if to_file or sys.stdout.isatty() else "tsv"

    def _draw(self, charts: "Charts") -> None:
        table = self.format in (None, "table")
        on_screen = self.path is None and sys.stdout.isatty() and table
        if self.plot == "-" or (self.plot is None and on_screen):
            import shutil

            from ragkpi.charts.text_chart import texts
            from ragkpi.reports.output_files import write

            first, *others = charts()
            width = shutil.get_terminal_size().columns
            drawn = [first, *others] if self.plot == "-" else [first]
            write(["\n" + texts(drawn, width)])
            if len(drawn) <= len(others):
                more = counted(len(others), "more chart")
                write([f"{more}: --plot - or --plot FILE.png\n"])
        elif self.plot is not None:
            from ragkpi.charts.picture import draw

            draw(charts(), self.plot)


def _described(names: Sequence[str]) -> str:
    formats = ", ".join(f"{name}: {REPORT_FORMATS[name].purpose}" for name in names)
    return f"How to write, such as json, csv or latex. {formats}. Default: "


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
        _described(FORMATS_OF_REPORTS) + "by FILE's suffix; table on a terminal, tsv into a pipe.",
        choices=FORMATS_OF_REPORTS,
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
    if plot not in (None, "-"):
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
    help=_described(tuple(REPORT_FORMATS))
    + "by FILE's suffix; else trec for one run, of several a table on a terminal, tsv into a "
    "pipe.",
    choices=tuple(REPORT_FORMATS),
)


class Labels(NamedTuple):
    """What a result says about itself: how runs are called, and which signature is shown."""

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
    """Read the options that say how runs are called, and what is said about all of them."""
    return Labels(names, "long" if long else "short" if short else "none")


# For answers that name runs, and whose signature stands in the small print of their pictures.
naming = labels.without("short", "long")


def is_signed(output: Output, labels: Labels) -> bool:
    """Say whether a result carries its signature, for which files are hashed."""
    return labels.signature != "none" or output.chosen in ("json", "jsonl")
