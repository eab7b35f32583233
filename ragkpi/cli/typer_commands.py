"""Command lines that `command_line` leaves to typer, which says what is wrong with them.

Long options may be abbreviated, as getopt has it.
"""

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ragkpi.cli.help_pages import help_page
from ragkpi.cli.options import REQUIRED, Declaration, OptionGroup
from ragkpi.errors import UsageError

_INTERRUPT_STATUS = 130

# Their abbreviations mean what they mean to trec_eval, whatever other options there are.
_TREC_EVAL = {
    *("--help", "--version", "--measure", "--query_eval_wanted", "--nosummary", "--Debug_level"),
    *("--complete_rel_info_wanted", "--level_for_rel", "--Number_docs_in_coll", "--Zscore"),
    *("--Judged_docs_only", "--Max_retrieved_per_topic", "--Rel_info_format", "--Results_format"),
}


def run_by_typer(name: str, command: OptionGroup, words: Sequence[str]) -> int:
    """Run a command, "" for none, or raise `UsageError`; return the exit status."""
    program = f"ragkpi {name}".rstrip()
    known = [spelling for option in command.options() for spelling in option.names]
    words = [_unabbreviated(word, known) for word in words]

    class Command(TyperCommand):
        def get_help(self, ctx: Any) -> str:
            return help_page(name, "all" if "--help" in words else "common").rstrip("\n")

    def run(**values: Any) -> None:
        command.call(values)

    parameters = [_for_typer(option) for option in command.options()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    own_help = "--help" in known
    settings = {"help_option_names": [] if own_help else ["-h", "--help"]}
    app.command(cls=Command, context_settings=settings)(run)
    try:
        status = app(words, prog_name=program, standalone_mode=False)
    except typer.TyperException as problem:
        what = problem.format_message().rstrip(".")
        raise UsageError(f"{what}; '{program} --help' shows what there is") from None
    except SystemExit as stop:  # typer turns a closed pipe into it
        if stop.__context__ is not None:
            raise stop.__context__ from None
        return int(stop.code or 0)
    if status == _INTERRUPT_STATUS:  # and an interrupt into a status
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _for_typer(option: Declaration) -> inspect.Parameter:
    type_: Any = list[option.type] if option.many else option.type  # type: ignore[name-defined]
    if option.default is None:
        type_ = type_ | None
    parser = None if option.type is bool else option.value_of
    declared: Any = typer.Argument(metavar=option.metavar, parser=parser)
    if option.names:
        declared = typer.Option(*option.names, envvar=option.envvar, parser=parser)
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if option.default is REQUIRED else option.default,
        annotation=Annotated[type_, declared],
    )


def _unabbreviated(word: str, known: Sequence[str]) -> str:
    name, equals, value = word.partition("=")
    if not name.startswith("--") or len(name) == 2 or name in known:
        return word
    candidates = sorted(option for option in known if option.startswith(name))
    candidates = [option for option in candidates if option in _TREC_EVAL] or candidates
    if len(candidates) > 1:
        raise UsageError(f"option {name} is ambiguous: {', '.join(candidates)}")
    return candidates[0] + equals + value if candidates else word
