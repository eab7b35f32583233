"""`ragkpi` without a command: its version, and what makes a shell complete its command lines."""

from typing import Literal

from ragkpi.cli.options import option, takes


@takes()
def command(
    version: bool = option("--version", "Print the version and stop.", use="common"),
    completion: Literal["bash", "zsh", "fish"] | None = option(
        "--completion SHELL", "Print a script for bash, zsh, fish.", use="common"
    ),
) -> None:
    """trec_eval's numbers, and the ones that retrieval for language models needs.

    'ragkpi eval QRELS RUN' prints what trec_eval prints; 'ragkpi help COMMAND' explains a command
    with examples, 'ragkpi measures NAME' a measure. eval "$(ragkpi --completion bash)" (zsh; in
    fish: ragkpi --completion fish | source) makes a shell complete commands, options and names.

    With every command, --max-memory SIZE (512M, 4G) says how much memory may be used; what would
    need more is refused. Default: three quarters of what the system has.

    Exit status: 0 done, 1 usage, 2 input unreadable or malformed, 3 a gate was missed or check
    found errors, 4 inconsistent data, 7 no query in common, 70 an error of ragkpi itself, 130
    interrupted, 141 nobody reads the output.
    """
    if version:
        from ragkpi.kernel import READER
        from ragkpi.version import __version__

        print(f"ragkpi {__version__} ({READER} reader)")
    elif completion is not None:
        from ragkpi.cli.completion import SCRIPTS

        print(SCRIPTS[completion], end="")
    else:
        from ragkpi.cli.help_pages import help_page

        print(help_page("", "common"), end="")
