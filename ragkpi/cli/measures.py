"""`ragkpi measures`: the registry, listed by question, searched or explained."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.completion import measure_names
from ragkpi.cli.option_groups import argument, takes
from ragkpi.cli.output_options import Output, output
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.measures.measure import Measure
    from ragkpi.reports.answer import Answer


@takes(output=output)
def command(
    output: Output,
    names: Annotated[
        list[str] | None,
        argument(
            metavar="[NAME|WORD]...",
            help="Measures or nicknames, or words to search for.",
            complete=measure_names,
        ),
    ] = None,
) -> None:
    """List every measure under the question that it answers, or explain those named.

    What is no name is searched for: in names, in definitions, and in what other tools call a
    measure. With --format it is the same as a table: a row per measure.
    """
    from ragkpi.measures.registry import NICKNAMES, all_measures
    from ragkpi.reports.fitting import on_terminal
    from ragkpi.reports.output_files import write

    measures = all_measures()
    named, searched = _chosen(names or [], measures)
    chosen = named or searched
    if output.format is not None:
        output.write(_answer(list(chosen.values())))
    elif named:
        write([on_terminal("\n\n".join(map(explanation, named.values())) + "\n")], output.path)
    else:
        nicknames = NICKNAMES if chosen == measures else {}
        write([on_terminal(_listed(chosen, nicknames))], output.path)


def _chosen(
    names: Sequence[str], measures: "Mapping[str, Measure]"
) -> "tuple[Mapping[str, Measure], Mapping[str, Measure]]":
    """Return the measures that are named, or else those in which all the words occur."""
    from ragkpi.measures.registry import find_metrics

    if not names:
        return {}, measures
    try:
        return {metric.measure.name: metric.measure for metric in find_metrics(names)}, {}
    except UsageError:
        words = [name.casefold() for name in names]
        found = {
            name: measure
            for name, measure in measures.items()
            if all(word in _searched(measure) for word in words)
        }
        if not found:
            raise
        return {}, found


def _searched(measure: "Measure") -> str:
    return " ".join([measure.name, measure.help.splitlines()[0], *measure.known_as]).casefold()


def _listed(measures: "Mapping[str, Measure]", nicknames: Mapping[str, Sequence[str]]) -> str:
    """Write a line per measure, under the questions."""
    from ragkpi.measures.measure import QUESTIONS

    width = max(map(len, [*measures, *nicknames]))
    parts = []
    for question, text in QUESTIONS.items():
        lines = [
            f"{name:{width}}  {measure.help.splitlines()[0]}"
            for name, measure in measures.items()
            if measure.question == question
        ]
        if lines:
            parts.append([text, *lines])
    if nicknames:
        parts.append(
            ["Nicknames", *(f"{name:{width}}  {' '.join(of)}" for name, of in nicknames.items())]
        )
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _answer(measures: "Sequence[Measure]") -> "Answer":
    from ragkpi.reports.answer import Answer
    from ragkpi.reports.layout import Cell, Column, Table

    heads = ["measure", "question", "definition", "better", "parameters", "over queries", "reads"]
    rows = [
        [
            measure.name,
            measure.question,
            measure.help.splitlines()[0],
            measure.better,
            measure.parameters.describe(),
            measure.aggregate.name,
            measure.reads,
        ]
        for measure in measures
    ]
    table = Table([Column(head) for head in heads], [list(map(Cell, row)) for row in rows])
    return Answer("measures", table, [f"'ragkpi measures {measures[0].name}' explains it."], {})


def explanation(measure: "Measure") -> str:
    """Return the help text of a measure: its docstring, and what its registry line says."""
    facts = {
        "Parameters": measure.parameters.describe(),
        "Over queries": measure.aggregate.name,
        "Reads": measure.reads,
        "Needs": ", ".join(sorted(measure.needs)) or "nothing else",
        "Sees": measure.sees,
        "Ties": measure.over_ties,
    }
    lines = [f"{label + ':':<14}{text}" for label, text in facts.items()]
    return "\n".join([measure.name, measure.help, *lines])
