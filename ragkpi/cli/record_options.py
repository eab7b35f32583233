"""Options that write evaluations down: --log and --meta."""

from collections.abc import Mapping

from ragkpi.cli.option_groups import Annotated, option, option_group
from ragkpi.errors import UsageError
from ragkpi.records import NamedTuple


class LogFile(NamedTuple):
    """Where evaluations are written down, and what is said about them."""

    path: str
    meta: Mapping[str, str]


@option_group("Record")
def record(
    log: Annotated[
        str | None,
        option(
            "--log",
            metavar="FILE",
            help="Append a line of JSON per run to FILE: files and their hashes, signature, time, "
            "values. 'ragkpi log FILE' shows it.",
        ),
    ] = None,
    meta: Annotated[
        list[str],
        option(
            "--meta",
            metavar="KEY=VALUE",
            help="Say it in the record, e.g. index=2026-11-01; repeatable.",
        ),
    ] = [],  # noqa: B006 - typer copies defaults
) -> LogFile | None:
    """Read where evaluations are written down; None if they are not."""
    if log is None:
        if meta:
            raise UsageError(f"--meta {meta[0]}: nothing is written down; give --log FILE with it")
        return None
    from ragkpi.studies.evaluate.evaluation_log import parse_meta

    return LogFile(log, parse_meta(meta))
