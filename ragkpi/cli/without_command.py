"""`ragkpi` without a command: its version, and what makes a shell complete its command lines."""

from typing import Literal

from ragkpi.cli.option_groups import option, takes


@takes()
def command(
    version: bool = option("--version", "Print the version and stop."),
    completion: Literal["bash", "zsh", "fish"] | None = option(
        "--completion SHELL", "Print a script for bash, zsh, fish."
    ),
) -> None:
    """Print what the options ask for."""
    if version:
        from ragkpi import __version__
        from ragkpi.kernel import READER

        print(f"ragkpi {__version__} ({READER} reader)")
    elif completion is not None:
        from ragkpi.cli.completion import SCRIPTS

        print(SCRIPTS[completion], end="")
    else:
        from ragkpi.cli.help_pages import help_page

        print(help_page("", "common"), end="")
