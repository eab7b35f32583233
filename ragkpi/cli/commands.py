"""The commands, each imported only when it is called, and trec_eval's way of reading options."""

import difflib
import importlib
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from ragkpi.cli.option_groups import Option
from ragkpi.errors import UsageError

# Name: what it is for. The module ragkpi.cli.NAME holds a function `command`.
COMMANDS: Mapping[str, str] = {
    "agree": "May these judgements be trusted: do two judges agree, and order runs alike?",
    "calibrate": "Which measure tracks the quality of responses, and which alpha suits best.",
    "check": "Report what is wrong or suspicious about a run, and mend it.",
    "compare": "Compare runs with a baseline: differences, intervals, tests.",
    "convert": "Write a run or qrels in another format.",
    "depth": "How many passages to retrieve, or tools to show: success against chance, by depth.",
    "diagnose": "Retriever or reranker: where each query lost its evidence, and what was missed.",
    "eval": "Evaluate runs: trec_eval's lines, and the measures retrieval for RAG needs.",
    "holes": "How much unjudged documents can change values and the order of runs.",
    "log": "Show the evaluations that 'eval --log FILE' wrote down.",
    "measures": "List the measures, or explain one.",
    "report": "Write one HTML page: runs, queries and documents, to look at and to share.",
    "schema": "Print the JSON schema of what 'eval' and 'compare' write as JSON.",
    "zscores": "Write the means and deviations over runs that 'eval -Z' needs.",
}


# Their abbreviations mean what they mean to trec_eval, whatever else there is.
_TREC_EVAL = {
    *("--help", "--version", "--measure", "--query_eval_wanted", "--nosummary", "--Debug_level"),
    *("--complete_rel_info_wanted", "--level_for_rel", "--Number_docs_in_coll", "--Zscore"),
    *("--Judged_docs_only", "--Max_retrieved_per_topic", "--Rel_info_format", "--Results_format"),
}


class AbbreviatingCommand(TyperCommand):
    """A command whose long options may be abbreviated, as getopt has it, and stand in groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = [name for parameter in self.params for name in getattr(parameter, "opts", [])]
        return super().parse_args(ctx, [_expanded(argument, known) for argument in args])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"Options": []}
        for parameter in self.get_params(ctx):
            heading = getattr(parameter, "rich_help_panel", None) or "Options"
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(heading, []).append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _expanded(argument: str, known: list[str]) -> str:
    name, equals, value = argument.partition("=")
    if not name.startswith("--") or len(name) == 2 or name in known:
        return argument
    candidates = sorted(option for option in known if option.startswith(name))
    candidates = [name for name in candidates if name in _TREC_EVAL] or candidates
    if len(candidates) > 1:
        raise typer.BadParameter(f"option {name} is ambiguous: {', '.join(candidates)}.")
    return candidates[0] + equals + value if candidates else argument


class LazyGroup(TyperGroup):
    """The `ragkpi` command; knows its commands by name only."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            near = difflib.get_close_matches(cmd_name, COMMANDS, n=1)
            advice = f"did you mean {near[0]}?" if near else "'ragkpi -h' lists them"
            if os.path.exists(cmd_name):
                advice = "to evaluate files: ragkpi eval QRELS RUN"
            raise UsageError(f"no command is named '{cmd_name}'; {advice}")
        module = importlib.import_module(f"ragkpi.cli.{cmd_name}")
        app = _application()
        app.command(
            cmd_name, cls=AbbreviatingCommand, context_settings=getattr(module, "CONTEXT", {})
        )(_declared(module.command))
        return typer.main.get_command(app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _declared(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters are declared as typer reads them."""

    def run(**given: Any) -> None:
        command(**given)

    signature = inspect.signature(command)
    parameters = [_for_typer(parameter) for parameter in signature.parameters.values()]
    run.__doc__ = command.__doc__
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _for_typer(parameter: inspect.Parameter) -> inspect.Parameter:
    if get_origin(parameter.annotation) is not Annotated:
        return parameter
    type_, declared = get_args(parameter.annotation)
    if not isinstance(declared, Option):
        return parameter
    facts: dict[str, Any] = {
        "help": declared.help,
        "metavar": declared.metavar,
        "min": declared.min,
        "max": declared.max,
        "parser": declared.parse,
    }
    if not declared.names:
        return parameter.replace(
            annotation=Annotated[type_, typer.Argument(**facts, show_default=False)]
        )
    found = typer.Option(
        *declared.names, **facts, envvar=declared.envvar, rich_help_panel=declared.heading
    )
    return parameter.replace(annotation=Annotated[type_, found])


def _application() -> typer.Typer:
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def group() -> Any:
    """Return the `ragkpi` command."""
    app = _application()

    @app.callback(
        cls=LazyGroup,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    def ragkpi(
        context: typer.Context,
        version: bool = typer.Option(False, "--version", help="Print the version and stop."),
    ) -> None:
        """trec_eval's numbers, and the ones that retrieval for language models needs.

        'ragkpi eval QRELS RUN' prints what trec_eval prints; 'ragkpi COMMAND -h' explains a
        command, 'ragkpi measures NAME' a measure.

        Exit status: 0 done, 1 usage, 2 input unreadable or malformed, 3 a gate was missed,
        4 inconsistent data, 7 no query in common, 70 an error of ragkpi itself, 130 interrupted,
        141 nobody reads the output.
        """
        if version:
            from ragkpi import __version__

            print(f"ragkpi {__version__}")
        elif context.invoked_subcommand is None:
            print(context.get_help())

    return typer.main.get_command(app)
