"""Help pages, drawn by typer, and the version; `ragkpi --help` imports nothing else."""

from __future__ import annotations

from typer import Context, Exit, Option

from ragkpi.kernel import READER
from ragkpi.version import __version__


def show_common(context: Context, wanted: bool) -> None:
    """Print the page of options without a panel of their own, and end the command."""
    if wanted:
        for parameter in context.command.params:
            parameter.hidden = bool(getattr(parameter, "rich_help_panel", None))  # type: ignore[attr-defined]
        context.command.help = (context.command.help or "").partition("\n\n")[0]
        more = f"All options: {context.command_path} --help"
        context.command.epilog = f"{context.command.epilog}\n\n{more}"
        show_page(context)


def show_page(context: Context, wanted: bool = True) -> None:
    """Print typer's page of a command, and end it."""
    if wanted:
        page = context.get_help()  # with rich, this prints it
        if page:
            print(page)
        raise Exit


def _show_version(context: Context, wanted: bool) -> None:
    if wanted:
        print(f"ragkpi {__version__}" + ("" if context.parent else f" ({READER} reader)"))
        raise Exit


Version = Option(
    "-v",
    "-V",
    "--version",
    is_eager=True,
    callback=_show_version,
    help="Print the version and stop.",
    rich_help_panel="More options",
)
