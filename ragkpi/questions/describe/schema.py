"""The command `ragkpi schema`: the JSON schema of what commands write."""

from ragkpi.cli.signature import command
from ragkpi.reports.renderers import schema_text


@command()
def shell() -> None:
    """Print the JSON schema of --format json; #/$defs/line is that of a line of jsonl and --log."""
    print(schema_text(), end="")
