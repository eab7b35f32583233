"""Unusual command lines, which typer reads or refuses with a message.

Long options may be abbreviated, as with getopt.
"""

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ragkpi.cli.help_pages import help_page
from ragkpi.cli.options import REQUIRED, Declaration
from ragkpi.errors import UsageError

# Abbreviations of these keep trec_eval's meaning, whatever other options exist.
_TREC_EVAL = {
    *("--help", "--version", "--measure", "--query_eval_wanted", "--nosummary", "--Debug_level"),
    *("--complete_rel_info_wanted", "--level_for_rel", "--Number_docs_in_coll", "--Zscore"),
    *("--Judged_docs_only", "--Max_retrieved_per_topic", "--Rel_info_format", "--Results_format"),
}


def values_by_typer(
    name: str, options: Sequence[Declaration], words: Sequence[str]
) -> dict[str, Any] | None:
    """Return the values of a command's options, "" for `ragkpi` itself; None after printing help.

    Mistakes raise `UsageError`.
    """
    program = f"ragkpi {name}".rstrip()
    known = [spelling for option in options for spelling in option.names]
    words = [_unabbreviated(word, known) for word in words]
    read: list[dict[str, Any]] = []

    class Command(TyperCommand):
        def get_help(self, ctx: Any) -> str:
            return help_page(name, "all" if "--help" in words else "common").rstrip("\n")

    def keep(**values: Any) -> None:
        read.append(values)

    parameters = [_for_typer(option) for option in options]
    keep.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    keep.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    help_names = [] if "--help" in known else ["-h", "--help"]
    app.command(cls=Command, context_settings={"help_option_names": help_names})(keep)
    try:
        app(words, prog_name=program, standalone_mode=False)
    except typer.TyperException as problem:
        what = problem.format_message().rstrip(".")
        if "--human" in what:
            raise UsageError("--human: ask ragkpi correct PEOPLE QRELS RUN...") from None
        raise UsageError(f"{what}; '{program} --help' shows what there is") from None
    except SystemExit as stop:  # typer's reaction to a closed pipe
        raise (stop.__context__ or stop) from None
    return read[0] if read else None


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
