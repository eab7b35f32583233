"""The list of commands, with purposes and examples; a command's own module is imported late."""

from collections.abc import Mapping
from importlib import import_module
from typing import Literal, NamedTuple

from ragkpi.cli.options import OptionGroup

Task = Literal["evaluate", "decide", "prepare"]

TASKS: Mapping[Task, str] = {
    "evaluate": "Evaluate and compare",
    "decide": "Decide",
    "prepare": "Prepare, look up and keep",
}


class Entry(NamedTuple):
    """A command's entry in the list; `questions/<question>/command.py` defines the command itself.

    The examples run in the folder ``fixtures``. `question` defaults to the command's name.
    """

    task: Task
    purpose: str
    examples: tuple[str, str, str]
    question: str = ""


# By name, in the order of people's needs.
COMMANDS: Mapping[str, Entry] = {
    "eval": Entry(
        "evaluate",
        "Evaluate runs: trec_eval's lines, and the measures retrieval for RAG needs.",
        (
            "ragkpi eval qrels.txt reranked.run",
            "ragkpi eval -m map,bor.10 -N 5k qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi eval -m ndcg_cut.10 --worst 5 qrels.txt reranked.run",
        ),
        "evaluate",
    ),
    "compare": Entry(
        "evaluate",
        "Compare runs with a baseline: differences, intervals, tests.",
        (
            "ragkpi compare qrels.txt runs/bm25.run runs/fusion.run",
            "ragkpi compare --paper --format latex qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi compare -q -m map qrels.txt runs/bm25.run runs/dense.run",
        ),
    ),
    "report": Entry(
        "evaluate",
        "Write one HTML page: runs, queries and documents, to look at and to share.",
        (
            "ragkpi report -o report.html qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi report -o page.html --pool first_stage.run qrels.txt reranked.run",
            "ragkpi report -m ndcg_cut.10 -o few.html qrels.txt reranked.run",
        ),
    ),
    "depth": Entry(
        "decide",
        "How many passages to retrieve, or tools to show: success against chance, by depth.",
        (
            "ragkpi depth -N 5000 qrels.txt runs/bm25.run",
            "ragkpi depth -N 58 --relevant 4",
            "ragkpi depth --target recall=0.5 qrels.txt runs/bm25.run runs/dense.run",
        ),
    ),
    "diagnose": Entry(
        "decide",
        "Retriever or reranker: where each query lost its evidence, and what was missed.",
        (
            "ragkpi diagnose --pool first_stage.run qrels.txt reranked.run",
            "ragkpi diagnose -k 5 --worst 3 --pool first_stage.run qrels.txt reranked.run",
            "ragkpi diagnose --pool first_stage.run --format json qrels.txt reranked.run",
        ),
    ),
    "holes": Entry(
        "decide",
        "How much unjudged documents can change values and the order of runs.",
        (
            "ragkpi holes qrels.txt runs/bm25.run runs/fusion.run",
            "ragkpi holes -m ndcg_cut.20 --first 10 qrels.txt runs/bm25.run",
            "ragkpi holes --within cutoff --assess todo.tsv qrels.txt runs/bm25.run",
        ),
    ),
    "calibrate": Entry(
        "decide",
        "Which measure tracks the quality of responses, and which alpha suits best.",
        (
            "ragkpi calibrate --quality quality.tsv qrels.txt reranked.run",
            "ragkpi calibrate -m P.10 -m F.10 --quality quality.tsv qrels.txt reranked.run",
            "ragkpi calibrate --quality quality.tsv --alphas 0.5,1 qrels.txt reranked.run",
        ),
    ),
    "agree": Entry(
        "decide",
        "May these judgements be trusted: do two judges agree, and order runs alike?",
        (
            "ragkpi agree qrels.txt qrels.llm.txt",
            "ragkpi agree qrels.txt qrels.llm.txt runs/bm25.run runs/dense.run",
            "ragkpi agree -q --differences differences.tsv qrels.txt qrels.llm.txt",
        ),
    ),
    "correct": Entry(
        "decide",
        "What would people say, from few of their judgements and a model's of everything?",
        (
            "ragkpi correct people.txt qrels.llm.txt runs/bm25.run runs/fusion.run",
            "ragkpi correct -m P.10 people.txt qrels.llm.txt reranked.run dense.run",
            "ragkpi correct -m map --explain people.txt qrels.llm.txt runs/bm25.run",
        ),
    ),
    "inspect": Entry(
        "prepare",
        "Say what files are: formats, ids, scores, levels, and whether they go together.",
        (
            "ragkpi inspect qrels.txt reranked.run",
            "ragkpi inspect runs",
            "ragkpi inspect --format json examples/retrieved.jsonl",
        ),
    ),
    "check": Entry(
        "prepare",
        "Report what is wrong or suspicious about runs, and mend them.",
        (
            "ragkpi check qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi check --fix mended.run first_stage.run",
            "ragkpi check --list",
        ),
    ),
    "convert": Entry(
        "prepare",
        "Write a run or qrels in another format.",
        (
            "ragkpi convert reranked.run reranked.jsonl",
            "ragkpi convert --to csv qrels.txt -",
            "ragkpi convert --from trec --to jsonl reranked.run -",
        ),
    ),
    "formats": Entry(
        "prepare",
        "List the formats of runs and qrels and what stacks write, or explain one.",
        ("ragkpi formats", "ragkpi formats csv map", "ragkpi formats names"),
        "describe",
    ),
    "measures": Entry(
        "prepare",
        "List the measures, search them, or explain one.",
        (
            "ragkpi measures precision",
            "ragkpi measures ndcg_cut bor",
            "ragkpi measures --format csv",
        ),
        "describe",
    ),
    "zscores": Entry(
        "prepare",
        "Write the means and deviations over runs that 'eval -Z' needs.",
        (
            "ragkpi zscores qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi zscores -m map -o norms.txt qrels.txt runs/bm25.run runs/dense.run",
            "ragkpi zscores -c qrels.txt runs/bm25.run runs/dense.run runs/fusion.run",
        ),
        "evaluate",
    ),
    "log": Entry(
        "prepare",
        "Show the evaluations that 'eval --log FILE' wrote down.",
        (
            "ragkpi log record.jsonl",
            "ragkpi log --sort map --where 'map>=0.2' record.jsonl",
            "ragkpi log --format csv record.jsonl",
        ),
        "evaluate",
    ),
    "verify": Entry(
        "prepare",
        "Compute a stored result again from the files that it names.",
        (
            "ragkpi verify main.json",
            "ragkpi verify record.jsonl",
            "ragkpi verify --format json main.json",
        ),
    ),
    "demo": Entry(
        "prepare",
        "Write the files of these examples into a folder, to try them.",
        ("ragkpi demo", "ragkpi demo helpdesk", "ragkpi demo /tmp/ragkpi-demo"),
    ),
    "schema": Entry(
        "prepare",
        "Print the JSON schema of what commands write as JSON.",
        (
            "ragkpi schema",
            "ragkpi schema > ragkpi.schema.json",
            """ragkpi schema | jq '."$defs".line'""",
        ),
        "describe",
    ),
}


def command_of(name: str) -> OptionGroup:
    """Import a command by its name; "" is `ragkpi` without a command."""
    question = name and (COMMANDS[name].question or name)
    page = f"ragkpi.questions.{question}.command" if name else "ragkpi.cli.help_pages"
    return getattr(import_module(page), name or "ragkpi")  # type: ignore[no-any-return]
