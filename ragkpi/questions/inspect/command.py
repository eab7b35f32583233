"""`ragkpi inspect`: what files are."""

import ragkpi
from ragkpi.cli.evaluation_options import Arguments, reading_options
from ragkpi.cli.options import argument, command
from ragkpi.cli.output_options import Output, output_of_texts
from ragkpi.errors import UsageError


@command
def inspect(
    output: Output = output_of_texts,
    reading: Arguments = reading_options,
    files: list[str] = argument("FILE...", "Runs, qrels, and folders of them."),
) -> None:
    """Say what files are: format, how it was recognised, queries, documents, scores and levels.

    The first records stand there as ragkpi understands them. With qrels and runs together: how
    many queries and documents they share, and the option that mends ids which do not match. What
    is neither is in the table, too, with the reason below; what cannot be opened is an error.
    """
    if not files:
        raise UsageError("no file is given; expected ragkpi inspect [options] FILE...")
    output.write(ragkpi.inspect(files, **reading).report)
