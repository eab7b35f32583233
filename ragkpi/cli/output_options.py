"""Options that say where a result goes, how it is written, and what it says about itself."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ragkpi.cli.messages import colour_warnings, tell
from ragkpi.cli.option_groups import Annotated, option, option_group
from ragkpi.errors import UsageError
from ragkpi.records import NamedTuple
from ragkpi.reports.renderers import REPORT_FORMATS, format_of_file
from ragkpi.wording import counted

if TYPE_CHECKING:
    from ragkpi.charts.chart import Charts
    from ragkpi.measures.scores import Scores
    from ragkpi.reports.layout import Layout, Report

    FormatOfReports = str
    FormatOfEval = str
else:  # the names are known to the renderers alone
    FormatOfReports = Literal[tuple(REPORT_FORMATS)]
    FormatOfEval = Literal["trec", *REPORT_FORMATS]


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

        # Nothing but a table is coloured, and its cells are visible texts.
        styles: Literal["spelled", "kept"] = "kept" if self._format == "table" else "spelled"
        pieces = REPORT_FORMATS[self._format].write(report, self.layout(**more))
        write(pieces, self.path, styles)
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


_PURPOSES = ", ".join(f"{name}: {format_.purpose}" for name, format_ in REPORT_FORMATS.items())
_DEFAULT = "by FILE's suffix; table on a terminal, tsv into a pipe."
File = Annotated[
    str | None,
    option(
        *("-o", "--output"),
        metavar="FILE",
        help="Write to FILE, which is replaced when all is written, or not at all. Its suffix "
        "decides the format.",
    ),
]
Digits = Annotated[
    int | None,
    option(
        "--digits",
        metavar="N",
        min=0,
        max=17,
        help="Decimals. Default: 4, in json, jsonl, csv and tsv all there are.",
    ),
]
Wide = Annotated[bool, option("--wide", help="All columns, however narrow the terminal is.")]
Colour = Annotated[
    Literal["auto", "always", "never"],
    option(
        "--color",
        metavar="auto|always|never",
        help="Colour for what is best, worse or warned of; auto: on terminals, unless NO_COLOR is "
        "set.",
    ),
]
Format = Annotated[
    FormatOfReports | None,
    option("--format", metavar="FORMAT", help=f"How to write. {_PURPOSES}. Default: {_DEFAULT}"),
]


@option_group("Output")
def output(
    format_: Format = None,
    path: File = None,
    digits: Digits = None,
    wide: Wide = False,
    colour: Colour = "auto",
) -> Output:
    """Read how a result is written."""
    return _checked(Output(format_, path, digits, None, wide, colour))


@option_group("Output")
def output_of_eval(
    format_: Annotated[
        FormatOfEval | None,
        option(
            "--format",
            metavar="FORMAT",
            help=f"How to write. trec: trec_eval's lines, {_PURPOSES}. Default: by FILE's suffix; "
            "else trec for one run, of several a table on a terminal, tsv into a pipe.",
        ),
    ] = None,
    path: File = None,
    digits: Digits = None,
    wide: Wide = False,
    colour: Colour = "auto",
) -> Output:
    """Read how a result is written that may be trec_eval's lines."""
    return _checked(Output(format_, path, digits, None, wide, colour))


@option_group("Output")
def output_and_plot(
    format_: Format = None,
    path: File = None,
    digits: Digits = None,
    plot: Annotated[
        str | None,
        option(
            "--plot",
            metavar="FILE",
            help="Draw a picture, FILE.png or FILE.svg; - draws one in plain text, as a terminal "
            "gets it anyway.",
        ),
    ] = None,
    wide: Wide = False,
    colour: Colour = "auto",
) -> Output:
    """Read how a result is written and drawn; refuse what cannot be drawn."""
    if plot == "-":
        if path is None and format_ not in (None, "table"):
            raise UsageError(
                f"--plot -: a chart in plain text would stand behind the {format_}; "
                "expected -o FILE with it, or --plot FILE"
            )
    elif plot is not None:
        from ragkpi.charts.picture import refuse_undrawable

        refuse_undrawable(plot)
    return _checked(Output(format_, path, digits, plot, wide, colour))


def _checked(given: Output) -> Output:
    """Refuse a suffix that no format has before anything is read."""
    colour_warnings(given.colour)
    _ = given.chosen
    return given


# For tables of texts and counts.
output_of_texts = output.without(digits=None)


class Labels(NamedTuple):
    """What a result says about itself: how runs are called, and which signature is shown."""

    names: Literal["file", "runid"]
    signature: Literal["none", "short", "long"]

    def of(self, paths: Sequence[str], runs: Sequence["Scores"]) -> list[str]:
        """Name runs, each differently."""
        from ragkpi.reports.run_names import run_names

        ids = [run.run_id.decode("utf-8", "surrogateescape") for run in runs]
        return run_names(paths, ids if self.names == "runid" else ())


@option_group("Labels")
def labels(
    names: Annotated[
        Literal["file", "runid"],
        option(
            "--names", metavar="file|runid", help="Call runs after their files or their run ids."
        ),
    ] = "file",
    short: Annotated[
        bool,
        option(
            "--signature",
            help="Say what the numbers depend on: version, hash of the qrels, settings that are "
            "not the default ones. json and jsonl always say it.",
        ),
    ] = False,
    long: Annotated[
        bool, option("--signature-long", help="The same with every setting and full hashes.")
    ] = False,
) -> Labels:
    """Read the options that say how runs are called, and what is said about all of them."""
    return Labels(names, "long" if long else "short" if short else "none")


# For answers that name runs, and whose signature stands in the small print of their pictures.
naming = labels.without(short=False, long=False)


def is_signed(output: Output, labels: Labels) -> bool:
    """Say whether a result carries its signature, for which files are hashed."""
    return labels.signature != "none" or output.chosen in ("json", "jsonl")
