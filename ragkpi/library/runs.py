"""Runs of a call: Python's forms, named paths of a line, and systems of several seeds."""

from __future__ import annotations

import filecmp
import itertools
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from ragkpi.errors import DataError, InputError, UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.column_names import RETRIEVED
from ragkpi.measures.measure import MetricScores, Scores
from ragkpi.measures.registry import metric_of
from ragkpi.ranking.reading import RunInMemory
from ragkpi.ranking.relevance import Relevance
from ragkpi.reports.names import NamedPath, Seed, run_names, system_of
from ragkpi.wording import counted, did_you_mean, listed, visible

T = TypeVar("T")
Path = str | os.PathLike[str]
ById = Mapping[str, T] | Mapping[int, T] | Mapping[bytes, T]
"""Values by the ids of queries or documents."""
Ranking = ById[float] | list[Any]
"""Documents with their scores, or best first."""
Queries = ById[Ranking]


class Frame(Protocol):
    """A data frame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> object: ...


Run = Path | Queries | Frame | Iterable[tuple[object, ...]]
Seeds = list[Path] | list[Queries] | list[Frame]
"""The runs of one system: its seeds, folds or repeated answers."""
Runs = Run | Mapping[str, Run | Seeds] | Sequence[Path | Queries | Frame]
AnyQrels = Run | Relevance
Labels = Path | Mapping[str, ById[str]]


def run_of(run: Any) -> RunOrPath:
    """Convert a run to the form for a `Session`: a path, or a run in memory."""
    if isinstance(run, str | os.PathLike):
        return os.fspath(run)

    return run if isinstance(run, RunInMemory) else RunInMemory(run)


def runs_of(runs: Any) -> dict[str, RunOrPath] | None:
    """Name the runs in a mapping or a list; None for a single run.

    A list in a mapping is a system: each of its runs is a `Seed`.
    """
    if isinstance(runs, Mapping):
        key, first = next(((k, of) for k, of in runs.items() if _filled(of)), ("", None))
        of_files = (
            isinstance(first, list | tuple)
            and are_seeds(first)
            and all(os.path.isfile(x) for x in first if isinstance(x, str))
        )  # and not the documents of a ranking
        if not (isinstance(key, NamedPath) or _is_run(first) or of_files):
            return None
        named: dict[str, RunOrPath] = {}
        for name, of in runs.items():
            key = name if isinstance(name, str) else str(name)
            named |= seeds_of(key, of) if are_seeds(of) else {key: run_of(of)}
        return named
    if isinstance(runs, list | tuple) and runs and all(map(_is_run, runs)):
        return dict(zip(_names_of(runs), map(run_of, runs), strict=True))
    return None


def _names_of(runs: Sequence[Any]) -> list[str]:
    return run_names(
        [os.fspath(run) if _is_path(run) else f"run{n}" for n, run in enumerate(runs, 1)]
    )


def are_seeds(value: Any) -> bool:
    """Return whether a value is a list of runs, not a list of rows."""
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_run, value))


def seeds_of(system: str, runs: Sequence[Any]) -> dict[str, RunOrPath]:
    """Name the runs of a system; `UsageError` for a repeated run, which adds no information."""
    name = getattr(system, "name", system)
    for one, other in itertools.combinations(runs, 2):
        files = all(_is_path(run) and os.path.isfile(run) for run in (one, other))
        if one is other or (files and filecmp.cmp(one, other, shallow=False)):
            which = f"{one} and {other} are" if files else "two runs are"
            raise UsageError(f"{visible(name)}: {which} the same; expected each seed once")
    if len(runs) == 1:
        return {system: run_of(runs[0])}
    named: dict[str, RunOrPath] = {}
    for own, run in zip(_names_of(runs), runs, strict=True):
        seed = Seed(f"{name}:{own}")
        seed.name, seed.system, seed.seeds = str(seed), system, len(runs)
        named[seed] = run_of(run)
    return named


def named_runs(runs: Any, systems: Literal["taken", "refused"] = "refused") -> dict[str, RunOrPath]:
    """Name one run or several; questions about documents refuse systems of several seeds."""
    several = runs_of(runs)
    named = named_run(runs) if several is None else several
    seeds = [name for name in named if isinstance(name, Seed)]
    if seeds and systems == "refused":
        name = visible(getattr(seeds[0].system, "name", seeds[0].system))
        raise UsageError(
            f"{name}: a system of several runs; eval, compare and report take systems; expected "
            "one run"
        )
    return named


def named_run(run: Any) -> dict[str, RunOrPath]:
    """Name one run by its file, or ``"run"``."""
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
    """Return the path of a run; a word that is an existing path has no name."""
    name, equals, path = word.partition("=")
    if isinstance(word, NamedPath) or os.path.exists(word):
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
    """Raise `InputError` if several paths have the same given name."""
    names = Counter(path.name for path in paths if isinstance(path, NamedPath))
    for name, count in names.items():
        if count > 1:
            files = ", ".join(path for path in paths if getattr(path, "name", "") == name)
            raise InputError(files, None, f"both called {name}", "expected a name for each file")


def files_of(path: object) -> list[str]:
    """Return the files of a system, which ``dense=s1.run,s2.run`` lists; none of another run."""
    if not isinstance(path, NamedPath) or "," not in path or os.path.exists(path):
        return []
    files = path.split(",")
    for file in files:
        if not os.path.exists(file):
            expected = f"expected the files of {path.name}, with commas between"
            raise InputError(visible(file or path), None, "no such file", expected)
    return files


def by_path(words: Sequence[str]) -> dict[str, Any]:
    """Return runs by path, and systems with the list of their paths.

    A repeated file is the same run.
    """
    runs: dict[str, str] = {}
    for path in map(run_path, words):
        before = runs.setdefault(os.path.realpath(path), path)
        names = {of.name for of in (before, path) if isinstance(of, NamedPath)}
        if len(names) > 1:
            fault = f"called {' and '.join(sorted(names))}"
            raise InputError(path, None, fault, "expected one name for a file")
        if isinstance(path, NamedPath):
            runs[os.path.realpath(path)] = path
    refuse_equal_names([*runs.values()])
    return {run: files_of(run) or run for run in runs.values()}


def with_baseline(words: Sequence[str], baseline: str) -> list[str]:
    """Put the baseline, a run's name or a path, before the runs; else raise `InputError`."""
    path = run_path(baseline)
    if os.path.exists(path) or files_of(path):
        return [baseline, *words]
    runs = list(by_path(words))
    names = dict(zip(run_names(runs), runs, strict=True))
    if baseline not in names:
        advice = did_you_mean(baseline, [*names, *runs], f"expected one of {', '.join(names)}")
        raise InputError(
            f"--baseline {baseline}", None, "no run has this name, and no file", advice
        )
    return [names[baseline], *words]


def systems(runs: Mapping[str, Sequence[Scores]]) -> dict[str, Scores]:
    """Make each system's scores of those of its seeds, by its name; a run alone stays as it is.

    The value is the mean of the seeds' values, and the statistics of a query are the means of
    theirs, NA where those of a seed are. `DataError` for seeds over different queries.
    """
    for name, (first, *others) in runs.items():
        for other in others:
            if apart := sorted(set(first.queries) ^ set(other.queries)):
                number = counted(len(apart), "query", "queries")
                raise DataError(
                    f"{name}: {number} of only some of its seeds ({listed(apart, 3)}); expected "
                    "each seed of a system over the same queries"
                )
    return {name: _system(seeds) if len(seeds) > 1 else seeds[0] for name, seeds in runs.items()}


def _system(seeds: Sequence[Scores]) -> Scores:
    columns = []
    for of_seeds in zip(*(seed.columns for seed in seeds), strict=True):
        first = of_seeds[0]
        if first.metric.measure.numeric:
            mean = np.mean([column.statistics for column in of_seeds], axis=0)
            lacking = np.isnan(mean).any(axis=1, keepdims=True)
            first = MetricScores(
                first.metric,
                mean,
                first.divisor,
                [replace(c, statistics=np.where(lacking, np.nan, c.statistics)) for c in of_seeds],
            )
        columns.append(first)
    return replace(seeds[0], columns=columns)


def by_system(runs: Mapping[str, Scores]) -> dict[str, Scores]:
    """Make systems of the seeds among runs, by their names in the call; leave out incomplete ones.

    A system without one of its seeds would have another value.
    """
    if not any(isinstance(name, Seed) for name in runs):
        return dict(runs)
    of_systems: dict[str, list[Scores]] = {}
    for name, scores in runs.items():
        of_systems.setdefault(system_of(name), []).append(scores)
    expected = {system_of(name): name.seeds for name in runs if isinstance(name, Seed)}
    complete = {n: of for n, of in of_systems.items() if len(of) == expected.get(n, 1)}
    return systems(complete)
