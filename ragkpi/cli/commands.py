"""The commands: what is known of them before their modules are imported."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than listing them
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal

    Task = Literal["evaluate", "decide", "prepare"]

TASKS: Mapping[Task, str] = {
    "evaluate": "Evaluate and compare",
    "decide": "Decide",
    "prepare": "Prepare, look up and keep",
}


class Entry:
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

    def __init__(self, task: Task, purpose: str, examples: tuple[str, str]) -> None:
        self.task = task
        self.purpose = purpose
        self.examples = examples


# By name, in the order in which people need them. The module ragkpi.cli.NAME holds a function
# `command`.
COMMANDS: Mapping[str, Entry] = {
    "eval": Entry(
        "evaluate",
        "Evaluate runs: trec_eval's lines, and the measures retrieval for RAG needs.",
        (
            "ragkpi eval qrels.txt reranked.run",
            "ragkpi eval -m map,bor.10 -N 5k qrels.txt runs/bm25.run runs/dense.run",
        ),
    ),
    "compare": Entry(
        "evaluate",
        "Compare runs with a baseline: differences, intervals, tests.",
        (
            "ragkpi compare qrels.txt runs/bm25.run runs/fusion.run",
            "ragkpi compare --paper --format latex qrels.txt runs/bm25.run runs/dense.run",
        ),
    ),
    "report": Entry(
        "evaluate",
        "Write one HTML page: runs, queries and documents, to look at and to share.",
        (
            "ragkpi report -o report.html qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi report -o page.html --pool first_stage.run qrels.txt reranked.run",
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
            "ragkpi holes -m ndcg_cut.20 --first 10 qrels.txt runs/bm25.run",
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
            "ragkpi agree qrels.txt qrels.llm.txt runs/bm25.run runs/dense.run",
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


# Where a shell says what it wants completed.
COMPLETE_VARIABLE = "_RAGKPI_COMPLETE"


def function_of(name: str) -> Callable[..., Any]:
    """Import a command's module and return its function."""
    import importlib

    function: Callable[..., Any] = importlib.import_module(f"ragkpi.cli.{name}").command
    return function
