"""`ragkpi schema`: what programs may rely on in JSON that ragkpi writes."""

from __future__ import annotations


def command() -> None:
    """Print the JSON schema of --format json; #/$defs/line is that of a line of jsonl and --log."""
    from ragkpi.library.describing import schema_text

    print(schema_text(), end="")
