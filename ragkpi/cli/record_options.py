"""Options that write evaluations down: --log and --meta."""

from ragkpi.cli.option_groups import option, option_group
from ragkpi.cli.resampling_options import Arguments
from ragkpi.errors import UsageError


@option_group("Record")
def record(
    log: str | None = option(
        "--log FILE",
        "Append a line of JSON per run to FILE: files and their hashes, signature, time, "
        "values. 'ragkpi log FILE' shows it.",
    ),
    meta: list[str] = option(
        "--meta KEY=VALUE", "Say it in the record, e.g. index=2026-11-01; repeatable."
    ),
) -> Arguments:
    """Return the arguments of `RunResults.log`; nothing without ``--log``."""
    if log is None:
        if meta:
            raise UsageError(f"--meta {meta[0]}: nothing is written down; give --log FILE with it")
        return {}
    from ragkpi.studies.evaluate.evaluation_log import parse_meta

    return {"path": log, "meta": parse_meta(meta)}
