"""The commands, each imported only when it is called, and trec_eval's way of reading options."""

import difflib
import importlib
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from ragkpi.cli.typer_commands import typer_command
from ragkpi.errors import UsageError

Task = Literal["evaluate", "decide", "prepare"]

TASKS: Mapping[Task, str] = {
    "evaluate": "Evaluate and compare",
    "decide": "Decide",
    "prepare": "Prepare, look up and keep",
}


class Entry(NamedTuple):
    """What is known of a command before its module is imported.

    Attributes
    ----------
    task
        Under which of `TASKS` it is listed.
    purpose
        What it is for.
    examples
        Two command lines that do something in the folder ``fixtures``.
    """

    task: Task
    purpose: str
    examples: tuple[str, str]


# By name, in the order in which people need them. The module ragkpi.cli.NAME holds a function
# `command`.
COMMANDS: Mapping[str, Entry] = {
    "eval": Entry(
        "evaluate",
        "Evaluate runs: trec_eval's lines, and the measures retrieval for RAG needs.",
        (
            "ragkpi eval qrels.txt reranked.run",
            "ragkpi eval -m P.10,ndcg_cut.10,bor.10 -N 5k qrels.txt runs/bm25.run runs/dense.run",
        ),
    ),
    "compare": Entry(
        "evaluate",
        "Compare runs with a baseline: differences, intervals, tests.",
        (
            "ragkpi compare qrels.txt runs/bm25.run runs/fusion.run",
            "ragkpi compare -m map --test t --format latex qrels.txt runs/bm25.run runs/dense.run",
        ),
    ),
    "report": Entry(
        "evaluate",
        "Write one HTML page: runs, queries and documents, to look at and to share.",
        (
            "ragkpi report -o report.html qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi report -o page.html --pool first_stage.run --queries queries.tsv qrels.txt "
            "reranked.run",
        ),
    ),
    "depth": Entry(
        "decide",
        "How many passages to retrieve, or tools to show: success against chance, by depth.",
        (
            "ragkpi depth -N 5000 qrels.txt runs/bm25.run",
            "ragkpi depth -N 58 --relevant 4",
        ),
    ),
    "diagnose": Entry(
        "decide",
        "Retriever or reranker: where each query lost its evidence, and what was missed.",
        (
            "ragkpi diagnose --pool first_stage.run qrels.txt reranked.run",
            "ragkpi diagnose -k 5 --worst 3 --pool first_stage.run qrels.txt reranked.run",
        ),
    ),
    "holes": Entry(
        "decide",
        "How much unjudged documents can change values and the order of runs.",
        (
            "ragkpi holes qrels.txt runs/bm25.run runs/fusion.run",
            "ragkpi holes -m ndcg_cut.20 --within cutoff --first 10 qrels.txt runs/bm25.run",
        ),
    ),
    "calibrate": Entry(
        "decide",
        "Which measure tracks the quality of responses, and which alpha suits best.",
        (
            "ragkpi calibrate --quality quality.tsv qrels.txt reranked.run",
            "ragkpi calibrate -m P.10 -m F.10 --quality quality.tsv qrels.txt reranked.run",
        ),
    ),
    "agree": Entry(
        "decide",
        "May these judgements be trusted: do two judges agree, and order runs alike?",
        (
            "ragkpi agree qrels.txt qrels.llm.txt",
            "ragkpi agree qrels.txt qrels.llm.txt runs/bm25.run runs/dense.run runs/fusion.run",
        ),
    ),
    "check": Entry(
        "prepare",
        "Report what is wrong or suspicious about runs, and mend them.",
        (
            "ragkpi check qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi check --fix mended.run first_stage.run",
        ),
    ),
    "convert": Entry(
        "prepare",
        "Write a run or qrels in another format.",
        (
            "ragkpi convert reranked.run reranked.jsonl",
            "ragkpi convert --to csv qrels.txt -",
        ),
    ),
    "formats": Entry(
        "prepare",
        "List the formats of runs and qrels and what stacks write, or explain one.",
        ("ragkpi formats", "ragkpi formats ragas map"),
    ),
    "measures": Entry(
        "prepare",
        "List the measures, search them, or explain one.",
        ("ragkpi measures precision", "ragkpi measures ndcg_cut bor"),
    ),
    "zscores": Entry(
        "prepare",
        "Write the means and deviations over runs that 'eval -Z' needs.",
        (
            "ragkpi zscores qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi zscores -m map -o norms.txt qrels.txt runs/bm25.run runs/dense.run",
        ),
    ),
    "log": Entry(
        "prepare",
        "Show the evaluations that 'eval --log FILE' wrote down.",
        (
            "ragkpi log record.jsonl",
            "ragkpi log --sort map --where 'map>=0.2' record.jsonl",
        ),
    ),
    "schema": Entry(
        "prepare",
        "Print the JSON schema of what commands write as JSON.",
        ("ragkpi schema", "ragkpi schema > ragkpi.schema.json"),
    ),
}


Shell = Literal["bash", "zsh", "fish"]

# Where a shell says what it wants completed.
COMPLETE_VARIABLE = "_RAGKPI_COMPLETE"

_WIDTH: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

# Their abbreviations mean what they mean to trec_eval, whatever else there is.
_TREC_EVAL = {
    *("--help", "--version", "--measure", "--query_eval_wanted", "--nosummary", "--Debug_level"),
    *("--complete_rel_info_wanted", "--level_for_rel", "--Number_docs_in_coll", "--Zscore"),
    *("--Judged_docs_only", "--Max_retrieved_per_topic", "--Rel_info_format", "--Results_format"),
}


# The spelling that trec_eval has for an option, where there is another one.
_TREC_EVAL_ONLY = re.compile(
    "(, )?(" + "|".join(sorted(_TREC_EVAL - {"--help", "--version", "--measure"})) + r")(?![\w-])"
)


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
                names, text = record
                shown = _TREC_EVAL_ONLY.sub("", names) if names.count("--") > 1 else names
                groups.setdefault(heading, []).append((shown, text))
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in COMMANDS[self.name or ""].examples))


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

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:  # ragkpi help COMMAND
            args = [*args[1:2], "--help"]
        return super().parse_args(ctx, args)

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
        settings = {**_WIDTH, **getattr(module, "CONTEXT", {})}
        app.command(cmd_name, cls=AbbreviatingCommand, context_settings=settings)(
            typer_command(module.command)
        )
        return typer.main.get_command(app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for task, heading in TASKS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, one.purpose) for name, one in COMMANDS.items() if one.task == task]
                )


def _application() -> typer.Typer:
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def group() -> Any:
    """Return the `ragkpi` command."""
    if COMPLETE_VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    app = _application()

    @app.callback(
        cls=LazyGroup,
        invoke_without_command=True,
        context_settings=_WIDTH,
    )
    def ragkpi(
        context: typer.Context,
        version: Annotated[
            bool, typer.Option("--version", help="Print the version and stop.")
        ] = False,
        completion: Annotated[
            Shell | None,
            typer.Option(
                "--completion", metavar="SHELL", help="Print a script for bash, zsh, fish."
            ),
        ] = None,
    ) -> None:
        """trec_eval's numbers, and the ones that retrieval for language models needs.

        'ragkpi eval QRELS RUN' prints what trec_eval prints; 'ragkpi help COMMAND' explains a
        command with examples, 'ragkpi measures NAME' a measure. 'ragkpi --completion bash' (zsh,
        fish) prints what makes a shell complete commands, options and names.

        With every command, --max-memory SIZE (512M, 4G) says how much memory may be used; what
        would need more is refused. Default: three quarters of what the system has.

        Exit status: 0 done, 1 usage, 2 input unreadable or malformed, 3 a gate was missed or
        check found errors, 4 inconsistent data, 7 no query in common, 70 an error of ragkpi
        itself, 130 interrupted, 141 nobody reads the output.
        """
        if version:
            from ragkpi import __version__

            print(f"ragkpi {__version__}")
        elif completion is not None:
            from typer._completion_shared import get_completion_script

            print(
                get_completion_script(
                    prog_name="ragkpi", complete_var=COMPLETE_VARIABLE, shell=completion
                )
            )
        elif context.invoked_subcommand is None:
            print(context.get_help())

    return typer.main.get_command(app)
