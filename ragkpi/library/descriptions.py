"""Texts about measures and formats that several commands print."""

from __future__ import annotations

from ragkpi.files.registry import FILE_FORMATS, FileFormat
from ragkpi.files.shapes import SHAPES
from ragkpi.measures.measure import Measure


def explanation(measure: Measure) -> str:
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


def formats_listed() -> str:
    """Return the list of formats, a line each."""
    lines = ["Formats (of what; suffixes)"]
    forms = {**FILE_FORMATS["run"], **FILE_FORMATS["qrels"]}
    for name, form in forms.items():
        suffixes = f"; {' '.join(form.suffixes)}" if form.suffixes else ""
        lines.append(f"  {name:18}  {form.description} ({kinds_of(form)}{suffixes})")
    for kind in ("run", "qrels"):
        title = "runs" if kind == "run" else kind
        lines += [
            "",
            f"Shapes of {title}, in JSON and tables; the most specific one that fits is read",
            *(f"  {shape.name:18}  {shape.written_by}" for shape in SHAPES[kind].values()),
        ]
    return "\n".join(lines)


def kinds_of(form: FileFormat) -> str:
    """Return what a format holds: a run, qrels or both, and which of them is only read."""
    return " or ".join(
        kind if kind in form.writers else f"{kind}, read only" for kind in form.readers
    )
