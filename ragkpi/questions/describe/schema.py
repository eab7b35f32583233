"""`ragkpi schema`: what programs may rely on in JSON that ragkpi writes."""

from ragkpi.cli.options import takes


@takes()
def command() -> None:
    """Print the JSON schema of --format json; #/$defs/line is that of a line of jsonl and --log."""
    from ragkpi.questions.describe.function import schema_text

    print(schema_text(), end="")
