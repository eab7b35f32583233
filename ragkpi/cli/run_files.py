"""Several runs of one command line: evaluated, watched, and named where they fail."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ragkpi.cli.evaluation_options import EvaluationOptions, say
from ragkpi.cli.messages import Finished, tell
from ragkpi.errors import RagkpiError, UsageError
from ragkpi.records import replace

if TYPE_CHECKING:
    from ragkpi.evaluation import Evaluation, Evaluator
    from ragkpi.library.session import Voice
    from ragkpi.measures.measure import Metric
    from ragkpi.ranking.hits import Hits, Wanted

# How long nobody needs to be told that something happens, in seconds.
_SHORT = 1.0


class Results(NamedTuple):
    """What came of runs, in the order of their paths."""

    paths: Sequence[str]
    outcomes: Sequence[Evaluation | RagkpiError]

    def among(self, places: slice) -> list[tuple[str, Evaluation]]:
        """Return the runs at those places that could be evaluated."""
        return [
            (path, outcome)
            for path, outcome in zip(self.paths[places], self.outcomes[places], strict=True)
            if not isinstance(outcome, RagkpiError)
        ]

    def say(self) -> None:
        """Print what their reader must know."""
        say(dict(self.among(slice(None))))

    def every(self) -> list[Evaluation]:
        """Return all of them; if any is bad, the command ends with a line for each of those."""
        exit_with(self.problems)
        return [outcome for _, outcome in self.among(slice(None))]

    @property
    def problems(self) -> list[RagkpiError]:
        """What is wrong with the others."""
        return [
            _about(path, outcome) if len(self.paths) > 1 else outcome
            for path, outcome in zip(self.paths, self.outcomes, strict=True)
            if isinstance(outcome, RagkpiError)
        ]


def expect_files(least: int, files: Sequence[str] | None, expected: str) -> Sequence[str]:
    """Return the files of a command line; `UsageError` if there are fewer."""
    if files is None or len(files) < least:
        raise UsageError(f"{len(files or [])} files; expected {expected}")
    return files


def by_path(paths: Sequence[str]) -> dict[str, str]:
    """Return paths by different names: a file that is given twice is two runs."""
    return {
        path if paths.count(path) == 1 else f"{path}#{place}": path
        for place, path in enumerate(paths, start=1)
    }


def refuse_standard_input_twice(files: Sequence[str]) -> None:
    """Refuse a command line that wants standard input for more than one file."""
    if files.count("-") > 1:
        raise UsageError(f"{files.count('-')} files are -; standard input can be read once")


def read_runs(
    evaluator: Evaluator, paths: Sequence[str], wanted: Wanted
) -> list[Hits | RagkpiError]:
    """Read runs, or find out what is wrong with them, under a bar."""
    with progress(len(paths)) as watch:
        return evaluator.read(paths, wanted, watch)


def evaluate_runs(evaluator: Evaluator, paths: Sequence[str], metrics: Sequence[Metric]) -> Results:
    """Read and evaluate runs, and print what their reader must know."""
    read = read_runs(evaluator, paths, evaluator.needs(metrics))
    results = Results(paths, evaluator.score(read, metrics))
    results.say()
    return results


def evaluate_side_by_side(
    options: EvaluationOptions, qrels: str, paths: Sequence[str], metrics: Sequence[Metric]
) -> Results:
    """Evaluate runs over the same queries, and print which ones and what their reader must know."""
    options = options.side_by_side()
    evaluator = options.evaluator(qrels, metrics)
    outcomes = evaluator.score(read_runs(evaluator, paths, evaluator.needs(metrics)), metrics)
    if options.empty_rankings == "implied":
        from ragkpi.evaluation import without_strangers

        outcomes = without_strangers(outcomes, evaluator.relevance.judgements.file)
    results = Results(paths, outcomes)
    results.say()
    evaluated = results.among(slice(None))
    if evaluated and options.empty_rankings == "implied":
        from ragkpi.evaluation import what_is_compared

        coverages = {path: outcome.coverage for path, outcome in evaluated}
        note = what_is_compared(coverages, len(evaluated[0][1].scores.queries))
        if note:
            tell(f"note: {note}")
    if options.settings.missing != "common" or not evaluated:
        return results
    from ragkpi.statistics.alignment import aligned

    scores = aligned([path for path, _ in evaluated], [one.scores for _, one in evaluated])
    if scores[0].queries == evaluated[0][1].scores.queries and evaluated[0][1].coverage.missing:
        lacking = len(evaluated[0][1].coverage.missing)
        tell(f"note: compared over {len(scores[0].queries)} queries; {lacking} judged are missing")
    shared = iter(scores)
    return results._replace(
        outcomes=[
            outcome if isinstance(outcome, RagkpiError) else replace(outcome, scores=next(shared))
            for outcome in results.outcomes
        ]
    )


def evaluate_every(
    evaluator: Evaluator, paths: Sequence[str], metrics: Sequence[Metric]
) -> list[Evaluation]:
    """Read and evaluate runs; if any is bad, the command ends with a line for each of those."""
    return evaluate_runs(evaluator, paths, metrics).every()


def _about(path: str, problem: RagkpiError) -> RagkpiError:
    """Name the run in the text of its error."""
    if path in str(problem):
        return problem
    named = RagkpiError(f"{path}: {problem}")
    named.exit_status = problem.exit_status
    return named


def exit_with(problems: Sequence[RagkpiError]) -> None:
    """End the command if there are problems: a line each, and the status of the first."""
    if not problems:
        return
    sys.stdout.flush()
    for problem in problems:
        tell(problem)
    raise Finished(problems[0].exit_status)


def terminal() -> Voice:
    """Speak on stderr."""
    import warnings

    from ragkpi.errors import RagkpiWarning
    from ragkpi.library.session import Voice

    return Voice(
        progress=progress,
        note=lambda text: tell(f"note: {text}"),
        warn=lambda text: warnings.warn(text, RagkpiWarning, stacklevel=2),
        refuse=exit_with,
    )


@contextmanager
def progress(total: int, label: str = "runs") -> Iterator[Callable[[int], None]]:
    """Draw a bar on stderr, if that is a terminal and the work takes more than a second.

    Yields a function that takes how many are done.
    """
    if total < 2 or not sys.stderr.isatty():
        yield lambda done: None
        return
    bar = _Bar(total, label)
    try:
        yield bar
    finally:
        bar.stop()


class _Bar:
    def __init__(self, total: int, label: str) -> None:
        self._total, self._label = total, label
        self._begun = time.monotonic()
        self._drawn: Callable[[int], None] | None = None
        self.stop: Callable[[], None] = lambda: None

    def __call__(self, done: int) -> None:
        if self._drawn is None and time.monotonic() - self._begun > _SHORT and done < self._total:
            self._drawn = self._draw()
        if self._drawn is not None:
            self._drawn(done)

    def _draw(self) -> Callable[[int], None]:
        from rich.console import Console
        from rich.progress import Progress

        # No thread refreshes it: processes may still be forked.
        bar = Progress(console=Console(stderr=True), auto_refresh=False, transient=True)
        runs = bar.add_task(self._label, total=self._total)
        bar.start()
        self.stop = bar.stop
        return lambda done: bar.update(runs, completed=done, refresh=True)
