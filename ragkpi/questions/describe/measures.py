"""`ragkpi measures`: the measures of ragkpi."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from typer import Argument

from ragkpi.cli.output import TextOutput
from ragkpi.cli.signature import command
from ragkpi.errors import UsageError
from ragkpi.library.options import complete_measure
from ragkpi.measures.measure import QUESTIONS, Measure
from ragkpi.measures.registry import NICKNAMES, all_measures, find_metrics
from ragkpi.questions.describe import Description
from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.reports.output_files import write
from ragkpi.reports.terminal import on_terminal


def describe_measures(*names: str) -> Description:
    """List the measures, grouped by question, as ``ragkpi measures``.

    Parameters
    ----------
    names
        Measures or nicknames to explain. Other words are searched for in names, in definitions and
        in the names of other tools.

    Examples
    --------
    >>> import ragkpi
    >>> [row["measure"] for row in ragkpi.describe_measures("bits-over-random").rows][0]
    'bor'
    >>> print(ragkpi.describe_measures("recip_rank").text.splitlines()[1])
    Reciprocal rank of the first relevant document; its mean is MRR.
    """
    measures = all_measures()
    if not names:
        return Description(_answer(measures), text=_listed(measures, NICKNAMES))
    try:
        matches = {metric.measure.name: metric.measure for metric in find_metrics(names)}
    except UsageError:
        matches = _search(names, measures)
        if not matches:
            raise
        return Description(_answer(matches), text=_listed(matches, {}))
    return Description(_answer(matches), text="\n\n".join(map(explanation, matches.values())))


def explanation(measure: Measure) -> str:
    """Return the help text of a measure: its docstring, and the attributes of its record."""
    facts = {
        "Parameters": measure.parameters.describe(),
        "Over queries": measure.aggregate.name,
        "Reads": measure.reads,
        "Needs": ", ".join(sorted(measure.needs)) or "nothing else",
    }
    lines = [f"{label + ':':<14}{text}" for label, text in facts.items()]
    return "\n".join([measure.name, measure.help, *lines])


def _search(names: Sequence[str], measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """Return the measures whose names and definitions contain all words."""

    def text(measure: Measure) -> str:
        return " ".join([measure.name, measure.help.splitlines()[0], *measure.aliases]).casefold()

    words = [name.casefold() for name in names]
    return {n: measure for n, measure in measures.items() if all(w in text(measure) for w in words)}


def _listed(measures: Mapping[str, Measure], nicknames: Mapping[str, Sequence[str]]) -> str:
    """List the measures, one per line, under their questions."""
    width = max(map(len, [*measures, *nicknames]))
    parts: dict[str, list[str]] = {title: [] for title in [*QUESTIONS.values(), "Nicknames"]}
    for name, measure in measures.items():
        parts[QUESTIONS[measure.question]].append(f"{name:{width}}  {measure.help.splitlines()[0]}")
    parts["Nicknames"] = [f"{name:{width}}  {' '.join(of)}" for name, of in nicknames.items()]
    return "\n\n".join("\n".join([title, *lines]) for title, lines in parts.items() if lines)


def _answer(measures: Mapping[str, Measure]) -> Answer:
    heads = ["measure", "question", "definition", "better", "parameters", "over queries", "reads"]
    rows = []
    for name, measure in measures.items():
        definition, parameters = measure.help.splitlines()[0], measure.parameters.describe()
        texts = name, measure.question, definition, measure.better, parameters
        rows.append([*map(Cell, (*texts, measure.aggregate.name, measure.reads))])
    verdict = [f"'ragkpi measures {next(iter(measures))}' explains it."]
    return Answer([*map(Column, heads)], rows, verdict=verdict, question="measures")


@command(
    examples=(
        "ragkpi measures precision",
        "ragkpi measures ndcg_cut bor",
        "ragkpi measures --format csv",
    ),
)
def shell(
    output: TextOutput,
    names: Annotated[
        list[str],
        Argument(
            metavar="[NAME|WORD]...",
            help="Measures or nicknames, or words to search for.",
            autocompletion=complete_measure,
        ),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
) -> None:
    """List the measures, grouped by question, or explain some of them.

    Other words are searched for in names, in definitions and in the names of other tools. With
    --format, the output is a table with a row per measure.
    """
    description = describe_measures(*names)
    if output.choice is not None:
        output.write(description.report)
    else:
        write([on_terminal(f"{description}\n")], output.path)
