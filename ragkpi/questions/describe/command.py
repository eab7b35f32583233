"""`ragkpi measures`, `formats` and `schema`: what ragkpi computes, reads and writes."""

import ragkpi
from ragkpi.cli.options import argument, command
from ragkpi.cli.output_options import Output, output_of_texts
from ragkpi.reports.output_files import write
from ragkpi.reports.renderers import schema_text
from ragkpi.reports.terminal import on_terminal


@command
def measures(
    output: Output = output_of_texts,
    names: list[str] = argument(
        "[NAME|WORD]...", "Measures or nicknames, or words to search for.", complete="measure"
    ),
) -> None:
    """List every measure under the question that it answers, or explain those named.

    Other words are searched for: in names, in definitions, and in what other tools call a
    measure. With --format it is the same as a table: a row per measure.
    """
    description = ragkpi.describe_measures(*names)
    if output.choice is not None:
        output.write(description.report)
    else:
        write([on_terminal(f"{description}\n")], output.path)


@command
def formats(
    names: list[str] = argument(
        "[NAME]...",
        "Formats to explain; map explains --map-run, names lists the names of columns.",
        complete="format or topic",
    ),
) -> None:
    """List the formats of runs and qrels, and what stacks write in them, or explain those named.

    A file's format, and what its keys or columns hold, are recognised; --run-format and
    --qrels-format name the one, --map-run and --map-qrels the other.
    """
    print(on_terminal(f"{ragkpi.describe_formats(*names)}\n"), end="")


@command
def schema() -> None:
    """Print the JSON schema of --format json; #/$defs/line is that of a line of jsonl and --log."""
    print(schema_text(), end="")
