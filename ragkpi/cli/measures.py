"""`ragkpi measures`: the registry, listed or explained."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Measures or nicknames to explain."),
    ] = None,
) -> None:
    """List every measure with its one-line definition, or explain those named."""
    from ragkpi.measures.registry import NICKNAMES, all_measures, find_values

    if names:
        chosen = dict.fromkeys(value.measure.name for value in find_values(names))
        print("\n\n".join(explanation(name) for name in chosen))
        return
    measures = all_measures()
    width = max(map(len, measures))
    for name, measure in measures.items():
        print(f"{name:{width}}  {measure.help.splitlines()[0]}")
    print("\nNicknames")
    for name, members in NICKNAMES.items():
        print(f"{name:{width}}  {' '.join(members)}")


def explanation(name: str) -> str:
    """Return the help text of a measure: its docstring, and what its registry line says."""
    from ragkpi.measures.registry import all_measures

    measure = all_measures()[name]
    facts = {
        "Parameters": measure.parameters.describe(),
        "Over queries": measure.aggregate.name,
        "Reads": measure.reads,
        "Needs": ", ".join(sorted(measure.needs)) or "nothing else",
    }
    lines = [f"{label + ':':<13}{text}" for label, text in facts.items()]
    return "\n".join([measure.name, measure.help, *lines])
