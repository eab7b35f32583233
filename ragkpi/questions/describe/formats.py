"""`ragkpi formats`: which files are read and written, listed or explained."""

from ragkpi.cli.options import argument, formats_and_shapes, takes


@takes()
def command(
    names: list[str] = argument(
        "[NAME]...",
        "Formats or shapes to explain; map explains --map-run.",
        complete=formats_and_shapes,
    ),
) -> None:
    """List the formats of runs and qrels, and what stacks write in them, or explain those named.

    A file's format is how it is laid out; a shape is what its keys or columns mean. Both are
    recognised; --run-format and --qrels-format name one, --map-run and --map-qrels describe one.
    """
    from ragkpi.questions.describe.function import describe_formats
    from ragkpi.reports.terminal import on_terminal

    print(on_terminal(f"{describe_formats(*names or [])}\n"), end="")
