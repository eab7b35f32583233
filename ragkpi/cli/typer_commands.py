"""Command lines that are not read by `command_line`: typer reads them, and says what is wrong.

Long options may be abbreviated, as getopt has it.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from ragkpi.cli.commands import COMMANDS, function_of
from ragkpi.cli.help_pages import overview, page_of_command
from ragkpi.cli.option_groups import REQUIRED, Parameter, parameters_of
from ragkpi.errors import UsageError

_INTERRUPT_STATUS = 130

# Their abbreviations mean what they mean to trec_eval, whatever else there is.
_TREC_EVAL = {
    *("--help", "--version", "--measure", "--query_eval_wanted", "--nosummary", "--Debug_level"),
    *("--complete_rel_info_wanted", "--level_for_rel", "--Number_docs_in_coll", "--Zscore"),
    *("--Judged_docs_only", "--Max_retrieved_per_topic", "--Rel_info_format", "--Results_format"),
}

# What typer says of the value of an option, and how it is said here: found; expected.
_WORDS = {
    r"'(.*)' is not a valid (?:int|integer)(?: range)?": r"\1: no whole number; expected one",
    r"'(.*)' is not a valid float(?: range)?": r"\1: no number; expected one",
    r"(\S+) is not in the range x>=(\S+)": r"\1: too small; expected \2 or more",
    r"(\S+) is not in the range (\S+)<=x<=(\S+)": r"\1: out of range; expected \2 to \3",
}
_OF_OPTION = re.compile(r"Invalid value for '(\S+?)'[^:(]*(?:\(env var: \S*\))?: (.*)", re.DOTALL)
_CHOICE = re.compile(r"'(.*?)' is not one of '(.*)'", re.DOTALL)


def run_by_typer(arguments: Sequence[str]) -> int:
    """Run a command line, or raise `UsageError`; return the exit status."""
    try:
        status = _group().main(list(arguments), prog_name="ragkpi", standalone_mode=False)
    except typer.TyperException as problem:
        raise UsageError(_usage_text(problem)) from None
    except SystemExit as stop:  # what typer makes of a closed pipe
        if stop.__context__ is not None:
            raise stop.__context__ from None
        return int(stop.code or 0)
    if status == _INTERRUPT_STATUS:  # and of an interrupt
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def typer_command(name: str, function: Callable[..., None]) -> Any:
    """Return a command as typer has it; it calls the function with what it reads."""

    def run(**given: Any) -> None:
        function(**given)

    parameters = [_for_typer(parameter) for parameter in parameters_of(function)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    own_help = any("--help" in parameter.declared.names for parameter in parameters_of(function))
    settings = {"help_option_names": [] if own_help else ["-h", "--help"]}
    app = _application()
    app.command(name, cls=_Command, context_settings=settings)(run)
    return typer.main.get_command(app)


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = [name for parameter in self.params for name in getattr(parameter, "opts", [])]
        return super().parse_args(ctx, [_expanded(argument, known) for argument in args])

    def get_help(self, ctx: Any) -> str:
        return page_of_command(self.name or "").rstrip("\n")


class _Group(TyperGroup):
    """The `ragkpi` command; knows its commands by name only."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:  # ragkpi help COMMAND
            args = [*args[1:2], "--help"]
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        return overview().rstrip("\n")

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in COMMANDS:
            return typer_command(cmd_name, function_of(cmd_name))
        near = difflib.get_close_matches(cmd_name, COMMANDS, n=1)
        advice = f"did you mean {near[0]}?" if near else "'ragkpi -h' lists them"
        if os.path.exists(cmd_name):
            advice = "to evaluate files: ragkpi eval QRELS RUN"
        raise UsageError(f"no command is named '{cmd_name}'; {advice}")


def _group() -> Any:
    app = _application()

    @app.callback(
        cls=_Group,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    def ragkpi(
        context: typer.Context,
        version: Annotated[bool, typer.Option("--version")] = False,
        completion: Annotated[str | None, typer.Option("--completion")] = None,
    ) -> None:
        if version:
            from ragkpi import __version__

            print(f"ragkpi {__version__}")
        elif completion is not None:
            from ragkpi.cli.completion import script

            print(script(completion), end="")
        elif context.invoked_subcommand is None:
            print(overview(), end="")

    return typer.main.get_command(app)


def _application() -> typer.Typer:
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _for_typer(parameter: Parameter) -> inspect.Parameter:
    declared = parameter.declared
    facts: dict[str, Any] = {
        "help": declared.help,
        "metavar": declared.metavar,
        "min": declared.min,
        "max": declared.max,
        "parser": declared.parse,
    }
    type_: Any = Literal[parameter.choices] if parameter.choices else parameter.type
    if parameter.values == "many":
        type_ = list[type_]
    if parameter.default is None:
        type_ = type_ | None
    read: Any = typer.Argument(**facts)
    if declared.names:
        read = typer.Option(*declared.names, **facts, envvar=declared.envvar)
    required = parameter.default is REQUIRED
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else parameter.default,
        annotation=Annotated[type_, read],
    )


def _expanded(argument: str, known: list[str]) -> str:
    name, equals, value = argument.partition("=")
    if not name.startswith("--") or len(name) == 2 or name in known:
        return argument
    candidates = sorted(option for option in known if option.startswith(name))
    candidates = [name for name in candidates if name in _TREC_EVAL] or candidates
    if len(candidates) > 1:
        raise typer.BadParameter(f"option {name} is ambiguous: {', '.join(candidates)}.")
    return candidates[0] + equals + value if candidates else argument


def _usage_text(problem: typer.TyperException) -> str:
    """Return what typer finds wrong in the words of all other errors."""
    what = problem.format_message().rstrip(".")
    of_option = _OF_OPTION.fullmatch(what)
    if of_option is None:
        context = getattr(problem, "ctx", None)
        command = "ragkpi COMMAND" if context is None else context.command_path
        return f"{what}; '{command} -h' shows what there is"
    option, text = of_option.groups()
    choice = _CHOICE.fullmatch(text)
    if choice is not None:
        *others, last = choice[2].split("', '")
        known = f"{', '.join(others)} or {last}" if others else last
        return f"{option} {choice[1]}: no such choice; expected {known}"
    for pattern, words in _WORDS.items():
        text = re.sub(pattern, words, text, flags=re.DOTALL)
    return f"{option} {text}"
