"""Options of a project, ``[tool.ragkpi]`` in the nearest pyproject.toml, after those of a line."""

import os
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from ragkpi.errors import InputError, UsageError
from ragkpi.wording import did_you_mean, parse_size

PROJECT = ContextVar("PROJECT", default="")  # what the command took from its project, for JSON
_FILE, _TABLE = "pyproject.toml", "[tool.ragkpi]"
_EXPECTED = {
    "qrels": "a path, which QRELS on a command line may then be called",
    "measures": "a measure, or a list of them",
    "corpus_size": "a number of documents such as 5000 or '5k'",
    "baseline": "the path or the name of a run",
}


def with_project_options(values: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Complete the values of a command line; also say which ones are the project's, or nothing."""
    if any(values.get(name) for name in ("version", "common_help", "full_help")):
        return dict(values), ""
    path, project = _project_options(os.getcwd())
    own: dict[str, Any] = {}
    for name in ("measures", "corpus_size", "baseline"):
        if name in project and name in values and values[name] in (None, []):
            own[name] = project[name]
    if values.get("all_pairs"):  # of which none is a baseline
        own.pop("baseline", None)
    if os.environ.get("RAGKPI_CORPUS_SIZE"):
        own.pop("corpus_size", None)
    first, *others = values.get("files") or [""]
    if first == "qrels" in project and not os.path.exists(first):
        own["files"] = [project["qrels"], *others]
    texts = {"qrels" if name == "files" else name: value for name, value in own.items()}
    parts = [
        f"{name} {', '.join(value) if name == 'measures' else project[name]}"
        for name, value in texts.items()
    ]
    return {**values, **own}, f"{path}: {'; '.join(parts)}" if parts else ""


def _project_options(folder: str) -> tuple[str, dict[str, Any]]:
    """Read the nearest pyproject.toml: its path, and what its table holds; nothing without one."""
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
    """Return the value of a key as the option of its name has it; `InputError` for a wrong one."""
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
