"""Runs of a call: the forms that Python takes, and paths with names of a command line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ragkpi.errors import InputError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.column_names import RETRIEVED
from ragkpi.measures.registry import metric_of
from ragkpi.ranking.reading import RunInMemory
from ragkpi.ranking.relevance import Relevance
from ragkpi.reports.names import NamedPath, run_names
from ragkpi.wording import did_you_mean, visible

T = TypeVar("T")
Path = str | os.PathLike[str]
ById = Mapping[str, T] | Mapping[int, T] | Mapping[bytes, T]
"""Values by the ids of queries or documents."""
Ranking = ById[float] | list[Any]
"""Documents with their scores, or best first."""
Queries = ById[Ranking]


class Frame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> object: ...


class ColumnNames(Protocol):
    """A table of pyarrow."""

    @property
    def column_names(self) -> object: ...


Run = Path | Queries | Frame | ColumnNames | Iterable[tuple[object, ...]]
Runs = Run | Mapping[str, Run] | Sequence[Path | Queries | Frame | ColumnNames]
AnyQrels = Run | Relevance
Labels = Path | Mapping[str, ById[str]]
Measures = str | Sequence[str]


def run_of(run: Any) -> RunOrPath:
    """Convert a run to the form that a `Session` takes: a path, or a run in memory."""
    if isinstance(run, str | os.PathLike):
        return os.fspath(run)

    return run if isinstance(run, RunInMemory) else RunInMemory(run)


def runs_of(runs: Any) -> dict[str, RunOrPath] | None:
    """Name the runs in a mapping or a list; None for a single run."""
    if isinstance(runs, Mapping):
        first = next((value for value in runs.values() if _filled(value)), None)
        named = ((name if isinstance(name, str) else str(name), of) for name, of in runs.items())
        return {name: run_of(run) for name, run in named} if _is_run(first) else None
    if isinstance(runs, list | tuple) and runs and all(map(_is_run, runs)):
        paths = [os.fspath(run) if _is_path(run) else f"run{n}" for n, run in enumerate(runs, 1)]
        return dict(zip(run_names(paths), map(run_of, runs), strict=True))
    return None


def named_runs(runs: Any) -> dict[str, RunOrPath]:
    """Name one run or several."""
    several = runs_of(runs)
    return named_run(runs) if several is None else several


def named_run(run: Any) -> dict[str, RunOrPath]:
    """Name one run after its file, or ``"run"``."""
    if isinstance(run, NamedPath):
        return {run: run}
    return {run_names([os.fspath(run)])[0] if _is_path(run) else "run": run_of(run)}


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _filled(value: Any) -> bool:
    return not isinstance(value, Mapping) or any(map(_filled, value.values()))


def _is_run(value: Any) -> bool:
    """Return whether a value is a whole run, not a ranking that maps documents to scores."""
    if isinstance(value, Mapping):
        key, first = next(iter(value.items()), (None, None))
        # A retriever's {"documents": […]} is a ranking, {query: […]} is a run.
        return isinstance(first, Mapping) or (isinstance(first, list) and key not in RETRIEVED)
    of_frames = ("columns", "column_names", "blocks")
    return _is_path(value) or any(hasattr(value, name) for name in of_frames)


def run_path(word: str) -> str:
    """Return the path of a run; a word that is a path as a whole has no name."""
    name, equals, path = word.partition("=")
    if os.path.exists(word):
        return word
    if not equals:
        if metric_of(word):
            expected = f"expected a file; a measure follows -m: -m {word}"
            raise InputError(word, None, "no such file", expected)
        return word
    if not name or not path or "/" in name or visible(name) != name:
        expected = "expected a path, or NAME=PATH with a name without / and control characters"
        raise InputError(word, None, "no such file", expected)
    run = NamedPath(path)
    run.name = name
    return run


def refuse_equal_names(paths: Sequence[str]) -> None:
    """Raise `InputError` if several paths have one name of their own."""
    names = Counter(path.name for path in paths if isinstance(path, NamedPath))
    for name, count in names.items():
        if count > 1:
            files = ", ".join(path for path in paths if getattr(path, "name", "") == name)
            raise InputError(files, None, f"both called {name}", "expected a name for each file")


def by_path(words: Sequence[str]) -> dict[str, str]:
    """Return the runs by their paths; a file that stands there again is the same run."""
    runs: dict[str, str] = {}
    for path in map(run_path, words):
        before = runs.setdefault(os.path.realpath(path), path)
        if isinstance(path, NamedPath) and before is not path:
            if isinstance(before, NamedPath) and before.name != path.name:
                both = f"called {before.name} and {path.name}"
                raise InputError(path, None, both, "expected one name for a file")
            runs[os.path.realpath(path)] = path
    refuse_equal_names([*runs.values()])
    return {run: run for run in runs.values()}


def with_baseline(words: Sequence[str], baseline: str) -> list[str]:
    """Put the baseline, a run's name or a path, before the runs; `InputError` if it is neither."""
    runs = list(by_path(words))
    if os.path.exists(run_path(baseline)):
        return [baseline, *words]
    names = dict(zip(run_names(runs), runs, strict=True))
    if baseline not in names:
        advice = did_you_mean(baseline, [*names, *runs], f"expected one of {', '.join(names)}")
        raise InputError(
            f"--baseline {baseline}", None, "no run has this name, and no file", advice
        )
    return [names[baseline], *words]
