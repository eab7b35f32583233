"""`ragkpi schema`: what programs may rely on in JSON that ragkpi writes."""

from __future__ import annotations


def command() -> None:
    """Print the JSON schema of --format json; #/$defs/line is that of a line of jsonl and --log."""
    from pathlib import Path

    from ragkpi import reports

    print((Path(reports.__path__[0]) / "schema.json").read_text("utf-8"), end="")
