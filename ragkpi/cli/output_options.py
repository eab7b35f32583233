"""Options that say how a result is written, and what it says about itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal, NamedTuple

import typer

from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.measures.scores import Scores
    from ragkpi.reports.layout import Layout, Report

_FORMAT_NAMES = "table|json|jsonl|csv|tsv|markdown|latex"


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
    """

    format: str | None
    path: str | None
    digits: int | None

    def refuse_trec(self, why: str) -> None:
        """Refuse trec_eval's lines, for what cannot be written as such."""
        if self.format == "trec":
            raise UsageError(f"--format trec: {why}; expected {_FORMAT_NAMES}")

    def layout(self, **more: Any) -> Layout:
        """Say how the report is wanted; `more` are fields of `Layout`."""
        from ragkpi.reports.layout import Layout
        from ragkpi.reports.text_table import wants_colour

        coloured = self.path is None and wants_colour(sys.stdout)
        return Layout(digits=self.digits, colour="always" if coloured else "never", **more)

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open where the result goes to, for bytes."""
        if self.path is None or self.path == "-":
            yield sys.stdout.buffer
            return
        from ragkpi.reports.output_files import replacing

        with replacing(self.path) as file:
            yield file

    def write(self, report: Report, layout: Layout) -> None:
        """Write a report, as a table if nobody said how."""
        from ragkpi.reports.output_files import write
        from ragkpi.reports.renderers import RENDERERS

        write(RENDERERS[self.format or "table"](report, layout), self.path)


Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"How to write: trec (one run of eval), {_FORMAT_NAMES}. Default: trec for one "
        "run of eval, else table. 'ragkpi schema' prints the schema of json and jsonl.",
    ),
]
File = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write to FILE, which is replaced when all is written, or not at all.",
    ),
]
Digits = Annotated[
    int | None,
    typer.Option(
        "--digits",
        metavar="N",
        min=0,
        max=17,
        help="Decimals. Default: 4, in json, jsonl, csv and tsv all there are.",
    ),
]


def output(format_: Format = None, path: File = None, digits: Digits = None) -> Output:
    """Read the options that say how a result is written."""
    if format_ not in (None, "trec", *_FORMAT_NAMES.split("|")):
        raise UsageError(f"--format {format_}: no such format; expected trec|{_FORMAT_NAMES}")
    return Output(format_, path, digits)


class Labels(NamedTuple):
    """What a result says about itself: how runs are called, and which signature is shown."""

    names: Literal["file", "runid"]
    signature: Literal["none", "short", "long"]

    def of(self, paths: Sequence[str], runs: Sequence[Scores]) -> list[str]:
        """Name runs, each differently."""
        from ragkpi.reports.run_names import run_names

        ids = [run.run_id.decode("utf-8", "surrogateescape") for run in runs]
        return run_names(paths, ids if self.names == "runid" else ())


def labels(
    names: Annotated[
        str,
        typer.Option(
            "--names", metavar="file|runid", help="Call runs after their files or their run ids."
        ),
    ] = "file",
    short: Annotated[
        bool,
        typer.Option(
            "--signature",
            help="Say what the numbers depend on: version, hash of the qrels, settings that are "
            "not the default ones. json and jsonl always say it.",
        ),
    ] = False,
    long: Annotated[
        bool, typer.Option("--signature-long", help="The same with every setting and full hashes.")
    ] = False,
) -> Labels:
    """Read the options that say how runs are called, and what is said about all of them."""
    if names not in ("file", "runid"):
        raise UsageError(f"--names {names}: no such names; expected file or runid")
    return Labels(
        "runid" if names == "runid" else "file",
        "long" if long else "short" if short else "none",
    )
