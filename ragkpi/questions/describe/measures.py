"""`ragkpi measures`: the registry, listed by question, searched or explained."""

from ragkpi.cli.options import argument, measure_names, takes
from ragkpi.cli.output_options import Output, output_of_texts


@takes(output=output_of_texts)
def command(
    output: Output,
    names: list[str] = argument(
        "[NAME|WORD]...", "Measures or nicknames, or words to search for.", complete=measure_names
    ),
) -> None:
    """List every measure under the question that it answers, or explain those named.

    What is no name is searched for: in names, in definitions, and in what other tools call a
    measure. With --format it is the same as a table: a row per measure.
    """
    from ragkpi.questions.describe.function import describe_measures
    from ragkpi.reports.output_files import write
    from ragkpi.reports.terminal import on_terminal

    described = describe_measures(*names or [])
    if output.chosen is not None:
        output.write(described.report)
    else:
        write([on_terminal(f"{described.text}\n")], output.path)
