"""`ragkpi measures`: the registry, listed or explained."""

from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.option_groups import argument

if TYPE_CHECKING:
    from ragkpi.measures.measure import Measure


def command(
    names: Annotated[
        list[str] | None,
        argument(metavar="[NAME]...", help="Measures or nicknames to explain."),
    ] = None,
) -> None:
    """List every measure with its one-line definition, or explain those named."""
    from ragkpi.measures.registry import NICKNAMES, all_measures, find_metrics

    if names:
        chosen = {metric.measure.name: metric.measure for metric in find_metrics(names)}
        print("\n\n".join(map(explanation, chosen.values())))
        return
    measures = all_measures()
    width = max(map(len, measures))
    for name, measure in measures.items():
        print(f"{name:{width}}  {measure.help.splitlines()[0]}")
    print("\nNicknames")
    for name, members in NICKNAMES.items():
        print(f"{name:{width}}  {' '.join(members)}")


def explanation(measure: "Measure") -> str:
    """Return the help text of a measure: its docstring, and what its registry line says."""
    facts = {
        "Parameters": measure.parameters.describe(),
        "Over queries": measure.aggregate.name,
        "Reads": measure.reads,
        "Needs": ", ".join(sorted(measure.needs)) or "nothing else",
    }
    lines = [f"{label + ':':<14}{text}" for label, text in facts.items()]
    return "\n".join([measure.name, measure.help, *lines])
