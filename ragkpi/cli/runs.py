"""Runs of a command line: paths, and ``NAME=PATH`` where a run gets a name of its own."""

import os
from collections import Counter
from collections.abc import Sequence

from ragkpi.errors import InputError
from ragkpi.reports.names import NamedPath, run_names
from ragkpi.wording import did_you_mean, visible


def run_path(word: str) -> str:
    """Return the path of a run; a word that is a path as a whole has no name."""
    name, equals, path = word.partition("=")
    if os.path.exists(word):
        return word
    if not equals:
        from ragkpi.measures.registry import metric_of  # a file that exists needs no measures

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
