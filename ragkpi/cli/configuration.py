"""Options of a project, ``[tool.ragkpi]`` in the nearest pyproject.toml, after those of a line."""

import os
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from ragkpi.errors import InputError, UsageError
from ragkpi.interface import interface
from ragkpi.wording import did_you_mean, parse_size

PROJECT = ContextVar("PROJECT", default="")  # the options from the command's project, for JSON
_FILE, _TABLE = "pyproject.toml", "[tool.ragkpi]"
_EXPECTED = {
    "qrels": "a path, which 'qrels' on a command line then stands for",
    "measures": "a measure, or a list of them",
    "corpus_size": "a number of documents such as 5000 or '5k'",
    "baseline": "the path or the name of a run",
}


def project_options(words: Sequence[str]) -> dict[str, Any]:
    """Return the project's options for a line: typer's defaults, by names of parameters."""
    _, project = _project_options(os.getcwd())
    left_out = {"qrels"}
    if "--all-pairs" in words:  # no run is a baseline
        left_out.add("baseline")
    of_scores = any(word.split("=")[0] == "--scores" for word in words)  # no random draw
    if of_scores or os.environ.get("RAGKPI_CORPUS_SIZE"):
        left_out.add("corpus_size")
    return {name: value for name, value in project.items() if name not in left_out}


def with_project_qrels(files: Sequence[str]) -> list[str]:
    """Replace ``qrels`` by the project's qrels, unless a file has this name."""
    first, *others = files or [""]
    if first == "qrels" and not os.path.exists(first):
        _, project = _project_options(os.getcwd())
        return [project.get("qrels", first), *others]
    return list(files)


def note_project(names: Sequence[str]) -> None:
    """Name the arguments from the project, in the first note and in JSON."""
    PROJECT.set("")
    if not names:
        return
    path, project = _project_options(os.getcwd())
    values = {
        name: project[name]
        for name in ("measures", "corpus_size", "baseline", "qrels")
        if name in names
    }
    parts = [
        f"{name} {', '.join(value) if name == 'measures' else value}"
        for name, value in values.items()
    ]
    PROJECT.set(f"{path}: {'; '.join(parts)}")
    interface().note(PROJECT.get())


def _project_options(folder: str) -> tuple[str, dict[str, Any]]:
    """Read the nearest pyproject.toml: its path and the content of its table; empty without one."""
    path = os.path.join(folder, _FILE)
    while not os.path.isfile(path):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return "", {}
        path = os.path.join(folder, _FILE)
    with open(path, "rb") as file:
        octets = file.read()
    if b"ragkpi" not in octets:
        return path, {}
    import tomllib

    relative = os.path.relpath(path)
    try:
        table = tomllib.loads(octets.decode()).get("tool", {}).get("ragkpi", {})
    except ValueError as problem:
        raise InputError(relative, None, str(problem), "expected TOML") from None
    return relative, {name: _option(relative, name, value) for name, value in table.items()}


def _option(path: str, name: str, value: Any) -> Any:
    """Return the value of a key, converted like its option; `InputError` for a wrong one."""
    if name not in _EXPECTED:
        advice = did_you_mean(name, _EXPECTED, f"expected {', '.join(_EXPECTED)}")
        raise InputError(path, None, f"{_TABLE} has no key {name!r}", advice)
    wrong = InputError(path, None, f"{_TABLE}: {name} = {value!r}", f"expected {_EXPECTED[name]}")
    if name == "measures":
        measures = [value] if isinstance(value, str) else value
        if not isinstance(measures, list) or not all(isinstance(one, str) for one in measures):
            raise wrong
        return measures
    if name == "corpus_size" and isinstance(value, int | str) and not isinstance(value, bool):
        try:
            return parse_size(str(value))
        except UsageError:
            raise wrong from None
    if not isinstance(value, str) or name == "corpus_size":
        raise wrong
    file = os.path.join(os.path.dirname(path), value)
    return file if os.path.exists(file) else value
