"""The command `ragkpi verify`: whether a stored result follows from its files."""

import ragkpi
from ragkpi.cli.options import argument, command
from ragkpi.cli.output_options import Output, output
from ragkpi.cli.terminal import exit_with


@command
def verify(
    output: Output = output,
    file: str = argument("RESULT", "What eval -o FILE.json, FILE.jsonl or --log FILE wrote."),
) -> None:
    """Check that a stored result follows from the files that it names.

    Their hashes come first: if all are the same, every value is computed again with the settings
    of the result, its maps, gains, sizes and folds, for all queries and for each. What differs, or
    is not there, is a row, and the status is 4. Status 1 says that the result does not name its
    files, or has values that cannot be computed again, such as z-scores; 2 that it cannot be read.
    """
    verification = ragkpi.verify(file)
    output.write(verification.report)
    exit_with(verification.problems)
