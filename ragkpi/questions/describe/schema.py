"""`ragkpi schema`: the JSON schema of outputs."""

import json
from typing import Any

from ragkpi.cli.signature import command
from ragkpi.reports.renderers import schema_text


def schema() -> dict[str, Any]:
    """Return the JSON schema of `Result.to_dict` and ``--format json``, as ``ragkpi schema``."""
    document: dict[str, Any] = json.loads(schema_text())
    return document


@command(
    examples=(
        "ragkpi schema",
        "ragkpi schema > ragkpi.schema.json",
        "ragkpi schema | jq '.\"$defs\".line'",
    ),
)
def shell() -> None:
    """Print the JSON schema of --format json; #/$defs/line describes a line of jsonl and --log."""
    print(schema_text(), end="")
