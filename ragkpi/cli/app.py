"""The typer app: its commands, with purposes and examples, and how it parses a line.

A command's module is imported when the line names it. `questions/<question>/command.py` defines
it, as the typer function `shell`.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Literal, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from ragkpi.cli.configuration import project_options
from ragkpi.cli.pages import Version, show_page
from ragkpi.errors import UsageError
from ragkpi.interface import wants_colour
from ragkpi.wording import did_you_mean

Task = Literal["evaluate", "decide", "prepare"]

TASKS: Mapping[Task, str] = {
    "evaluate": "Evaluate and compare",
    "decide": "Decide",
    "prepare": "Files and reference",
}


class Entry(NamedTuple):
    """A command's entry in the list."""

    task: Task
    purpose: str
    module: str = ""  # below ``ragkpi.questions``, with the function `shell`; NAME.command


# By name, ordered by task and by frequency of use.
COMMANDS: Mapping[str, Entry] = {
    "eval": Entry(
        "evaluate", "Evaluate runs with trec_eval's measures and those for RAG.", "evaluate.command"
    ),
    "compare": Entry("evaluate", "Compare runs: differences, intervals and tests."),
    "report": Entry("evaluate", "Write one HTML page: runs, queries and documents."),
    "depth": Entry("decide", "How many passages to retrieve, or tools to show?"),
    "diagnose": Entry("decide", "Retriever or reranker: where was the evidence lost?"),
    "holes": Entry("decide", "How much could unjudged documents change?"),
    "calibrate": Entry("decide", "Which measure tracks the quality of responses?"),
    "agree": Entry("decide", "Compare two sets of judgements: levels and order of runs."),
    "correct": Entry("decide", "Estimate human scores from few human and many LLM judgements."),
    "power": Entry("decide", "How many queries does a comparison need?"),
    "inspect": Entry("prepare", "Show what files contain and whether they match."),
    "check": Entry("prepare", "Find problems in runs, and fix them."),
    "convert": Entry("prepare", "Write a run or qrels in another format."),
    "formats": Entry("prepare", "List file formats, or explain one.", "describe.formats"),
    "measures": Entry("prepare", "List, search or explain measures.", "describe.measures"),
    "zscores": Entry(
        "prepare", "Write the means and deviations that 'eval -Z' needs.", "evaluate.zscores"
    ),
    "log": Entry(
        "prepare", "Show the evaluations that 'eval --log FILE' recorded.", "evaluate.log"
    ),
    "verify": Entry("prepare", "Recompute a saved result from its files."),
    "demo": Entry("prepare", "Write example files into a folder."),
    "schema": Entry("prepare", "Print the JSON schema of JSON output.", "describe.schema"),
}


# trec_eval's long names.
_TREC_EVAL = {
    "--complete_rel_info_wanted": "--complete",
    "--level_for_rel": "--level",
    "--query_eval_wanted": "--per-query",
    "--nosummary": "--no-summary",
    "--measure": "--measure",
    "--Debug_level": "--Debug_level",
    "--Judged_docs_only": "--judged-only",
    "--Max_retrieved_per_topic": "--max-retrieved",
    "--Number_docs_in_coll": "--corpus-size",
    "--Rel_info_format": "--rel-info",
    "--Results_format": "--Results_format",
    "--Zscore": "--zscores",
}

_PAGES = {"-h", "--help", "-v", "-V", "--version"}  # without reading a project


def take(words: Sequence[str]) -> None:
    """Run the command of a line; `typer.TyperException` if typer cannot parse it."""
    line = ["--version"] if words == ["version"] else list(words) or ["--help"]
    if line[:1] == ["help"]:
        line = [*line[1:2], "--help"]
    unfinished = _words_to_complete()
    name = next((word for word in (unfinished or line)[:1] if word[:1] != "-"), "")
    if name and name not in COMMANDS and not unfinished:
        raise UsageError(_unknown(name))
    app = typer.Typer(
        cls=_ByTask,
        rich_markup_mode="rich" if wants_colour(sys.stdout) else None,
        pretty_exceptions_enable=False,
        epilog="To begin: ragkpi demo. Options of a command: ragkpi COMMAND -h",
    )
    app.callback(invoke_without_command=True)(_ragkpi)
    by_task = (one for task in TASKS for one, entry in COMMANDS.items() if entry.task == task)
    for command in [name] if name in COMMANDS else by_task:
        task, purpose, _ = COMMANDS[command]
        shell: Any = command_of(name) if command == name else _of_another_line
        app.command(
            command,
            short_help=purpose,
            epilog=_examples(shell.examples) if command == name else None,
            rich_help_panel=TASKS[task],
        )(shell)
    group = get_command(app)
    if "_RAGKPI_COMPLETE" in os.environ:
        group.main(line, "ragkpi")
    elif name:
        options = group.commands[name].params  # type: ignore[attr-defined]
        end = line.index("--") if "--" in line else len(line)
        line = [*(_spelled_out(word, options) for word in line[:end]), *line[end:]]
    context: Any
    defaults = {name: project_options(line)} if name and not _PAGES & {*line} else {}
    with group.make_context("ragkpi", line, default_map=defaults, obj=words) as context:
        group.invoke(context)


class _ByTask(TyperGroup):
    """Lists commands by task without rich, which has panels for them."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for task, heading in TASKS.items():
            of_task = [(name, of.purpose) for name, of in COMMANDS.items() if of.task == task]
            with formatter.section(heading):
                formatter.write_dl(of_task)


def command_of(name: str) -> Any:
    """Import the typer function of a command."""
    module = COMMANDS[name].module or f"{name}.command"
    return import_module(f"ragkpi.questions.{module}").shell


def _of_another_line() -> None:
    """A stand-in for a command that the line does not name, so that its module is not imported."""


def _ragkpi(
    version: Annotated[bool, Version] = False,
    short_help: Annotated[
        bool, typer.Option("-h", hidden=True, is_eager=True, callback=show_page)
    ] = False,
) -> None:
    """Evaluate retrieval for search and RAG: trec_eval's measures, tests and diagnostics."""


def _examples(examples: Sequence[str]) -> str:
    """Return the end of a help page; paragraphs keep their lines."""
    lines = [f"  {example}" for example in examples]
    if wants_colour(sys.stdout):
        return "\n".join(["Examples:", *lines])
    return "\b\n" + "\n".join(["Examples:", *lines])


def _words_to_complete() -> list[str]:
    """Return the words after the program's name that a shell completes."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    return line.split()[1:] if "_RAGKPI_COMPLETE" in os.environ else []


def _unknown(name: str) -> str:
    advice = did_you_mean(name, COMMANDS, "'ragkpi -h' lists them")
    if os.path.exists(name):
        advice = "to evaluate files: ragkpi eval QRELS RUN"
    return f"no command is named '{name}'; {advice}"


def _spelled_out(word: str, options: Sequence[Any]) -> str:
    """Complete the beginning of a long name, and replace trec_eval's names, which win.

    `UsageError` for an ambiguous beginning.
    """
    beginning, equals, value = word.partition("=")
    names = {name for option in options for name in option.opts if name.startswith("--")}
    if len(beginning) < 3 or beginning[:2] != "--" or beginning in names:
        return word
    of_trec_eval = [
        ours for name, ours in _TREC_EVAL.items() if name.startswith(beginning) and ours in names
    ]
    matches = of_trec_eval or sorted(name for name in names if name.startswith(beginning))
    if len(matches) > 1:
        raise UsageError(f"option {beginning} is ambiguous: {', '.join(matches)}")
    return f"{matches[0]}{equals}{value}" if matches else word


def mistake_in(problem: typer.TyperException) -> str:
    """Say in one line what is wrong with a command line, and what to do."""
    context: Any = getattr(problem, "ctx", None)
    option: Any = getattr(problem, "param", None)
    if context is not None and hasattr(problem, "possibilities"):  # no such option
        name = problem.option_name  # type: ignore[attr-defined]
        names = [name for option in context.command.params for name in option.opts]
        lists = f"'{context.command_path} --help' lists them"
        advice = did_you_mean(name, names, lists, 0.85) if name[:2] == "--" else lists
        return f"{name}: no such option; {advice}"
    if option is not None and problem.message:
        message = problem.message.replace("int range", "whole number")
        return f"{option.opts[0]}: {message.removesuffix('.')}"
    message = problem.format_message().removesuffix(".")
    if context is None:
        return message
    usage = " ".join(context.get_usage().split()).removeprefix("Usage: ")
    return f"{message}; expected {usage}"
