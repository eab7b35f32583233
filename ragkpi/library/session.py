"""One call of a function or a command: what is evaluated, how, and who is told what."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ragkpi.errors import RagkpiError, RagkpiWarning
from ragkpi.evaluation import Evaluation, Evaluator, Run, what_is_compared, without_strangers
from ragkpi.library.wording_in_python import in_python
from ragkpi.measures.measure import Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.rel_info import default_requests, refuse_unserved
from ragkpi.ranking.hits import Hits, Wanted
from ragkpi.ranking.relevance import Relevance
from ragkpi.ranking.settings import Settings
from ragkpi.statistics.alignment import aligned

if TYPE_CHECKING:
    from ragkpi.formats.file_formats import Reading
    from ragkpi.reports.signature import Signature

Watch = Callable[[int], None]


class Voice(NamedTuple):
    """How an interface speaks to its user.

    Attributes
    ----------
    progress
        From a number of steps and what they are to a context that takes how many are done.
    note, warn
        Say what was left out or assumed, and what may mislead.
    refuse
        End the call because of problems; does nothing without any.
    """

    progress: Callable[[int, str], AbstractContextManager[Watch]]
    note: Callable[[str], None]
    warn: Callable[[str], None]
    refuse: Callable[[Sequence[RagkpiError]], None]


def _warn(text: str) -> None:
    # The line that is shown is the caller's, outside this package.
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("ragkpi."):
        frame, level = frame.f_back, level + 1
    warnings.warn(in_python(text), RagkpiWarning, stacklevel=level)


def _raise(problems: Sequence[RagkpiError]) -> None:
    if problems:
        raise problems[0]


IN_PYTHON = Voice(lambda total, label: nullcontext(lambda done: None), _warn, _warn, _raise)


@dataclass(frozen=True)
class Session:
    """What is to be evaluated, and how.

    Attributes
    ----------
    requests
        Names of measures; empty if there was none.
    settings
        The choices that change numbers.
    rel_info
        The format of the qrels.
    pool
        The first stage, or None.
    qrels_format, run_format
        How files are read; None where each one's format is to be recognised.
    voice
        Who is told what.
    said
        Every note and warning, in order.
    """

    requests: Sequence[str]
    settings: Settings
    rel_info: str = "qrels"
    pool: Run | None = None
    qrels_format: Reading | None = None
    run_format: Reading | None = None
    voice: Voice = IN_PYTHON
    said: list[str] = field(default_factory=list)

    def metrics(self, default: Sequence[str] | None = None) -> list[Metric]:
        """Resolve the requests, or `default`, or what the relevance format serves."""
        return list(_resolved(tuple(self.requests or default or default_requests(self.rel_info))))

    def evaluator(self, qrels: str | Relevance, metrics: Sequence[Metric]) -> Evaluator:
        """Read the qrels, and the pool if there is one.

        Raises
        ------
        UsageError
            If `metrics` cannot be computed from such qrels; nothing is read then.
        """
        refuse_unserved(metrics, self.rel_info, self.settings)
        return Evaluator(
            qrels, self.settings, self.rel_info, self.pool, self.qrels_format, self.run_format
        )

    def signature(self, qrels: Any, metrics: Sequence[Metric]) -> Signature:
        """Say what the numbers depend on; what is in memory has no hash."""
        from ragkpi.formats.inputs import inputs
        from ragkpi.reports.signature import signature_of

        files = {
            role: inputs().sha256(os.fspath(given))
            for role, given in (("qrels", qrels), ("pool", self.pool))
            if isinstance(given, str | os.PathLike)
        }
        return signature_of(self.settings, metrics, files)

    def read(
        self, evaluator: Evaluator, runs: Mapping[str, Run], wanted: Wanted
    ) -> list[Hits | RagkpiError]:
        """Read runs, or find out what is wrong with them, under a bar."""
        with self.voice.progress(len(runs), "runs") as watch:
            return evaluator.read(list(runs.values()), wanted, watch)

    def evaluate_every(
        self, evaluator: Evaluator, runs: Mapping[str, Run], metrics: Sequence[Metric]
    ) -> list[Evaluation]:
        """Read and evaluate runs; if any is bad, the call ends."""
        read = self.read(evaluator, runs, evaluator.needs(metrics))
        return self.every(list(runs), evaluator.score(read, metrics))

    def side_by_side(self) -> Session:
        """Evaluate over all judged queries, for what stands beside each other must be over them."""
        if self.settings.missing != "intersection":
            return self
        return replace(self, settings=replace(self.settings, missing="zero"))

    def evaluate_side_by_side(
        self, qrels: str | Relevance, runs: Mapping[str, Run], metrics: Sequence[Metric]
    ) -> list[Evaluation]:
        """Read and evaluate runs over the same queries, and say which ones."""
        asked = self.side_by_side()
        evaluator = asked.evaluator(qrels, metrics)
        outcomes = evaluator.score(asked.read(evaluator, runs, evaluator.needs(metrics)), metrics)
        results = asked.comparable(self, runs, evaluator, outcomes)
        asked.say(dict(zip(runs, results, strict=True)))
        if asked.settings.missing == "common":
            shared = aligned(list(runs), [one.scores for one in results])
            pairs = zip(results, shared, strict=True)
            results = [replace(one, scores=scores) for one, scores in pairs]
        return results

    def comparable(
        self,
        before: Session,
        runs: Mapping[str, Run],
        evaluator: Evaluator,
        outcomes: Sequence[Evaluation | RagkpiError],
    ) -> list[Evaluation]:
        """Return all outcomes of runs that stand beside each other, and say over which queries.

        `before` is the session that this one was made of by `side_by_side`; where the two are one,
        whoever called has said what becomes of missing queries. If any run is bad, or has no
        judged query, the call ends.
        """
        if self is before:
            return self.done(list(runs), outcomes)
        file = evaluator.relevance.judgements.file
        results = self.done(list(runs), without_strangers(outcomes, file))
        coverages = {name: one.coverage for name, one in zip(runs, results, strict=True)}
        note = what_is_compared(coverages, len(results[0].scores.queries))
        if note:
            self.note(note)
        return results

    def every(
        self, names: Sequence[str], outcomes: Sequence[Evaluation | RagkpiError]
    ) -> list[Evaluation]:
        """Return all outcomes and say what is known about them; if any is bad, the call ends."""
        found = self.done(names, outcomes)
        self.say(dict(zip(names, found, strict=True)))
        return found

    def done(
        self, names: Sequence[str], outcomes: Sequence[Evaluation | RagkpiError]
    ) -> list[Evaluation]:
        """Return all outcomes; if any is bad, the call ends."""
        self.voice.refuse(
            [
                about(name, outcome) if len(names) > 1 else outcome
                for name, outcome in zip(names, outcomes, strict=True)
                if isinstance(outcome, RagkpiError)
            ]
        )
        return [outcome for outcome in outcomes if isinstance(outcome, Evaluation)]

    def say(self, evaluations: Mapping[str, Evaluation]) -> None:
        """Say what was left out or assumed, and what may mislead.

        A line each, which names the runs that it concerns if it does not concern all of them.
        """
        for text in _concerning(evaluations, lambda one: one.notes):
            self.note(text)
        for text in _concerning(evaluations, lambda one: one.warnings):
            self.warn(text)

    def note(self, text: str) -> None:
        """Say what was left out or assumed."""
        self.said.append(text)
        self.voice.note(text)

    def warn(self, text: str) -> None:
        """Say what may mislead."""
        self.said.append(text)
        self.voice.warn(text)


@lru_cache(maxsize=256)
def _resolved(requests: tuple[str, ...]) -> tuple[Metric, ...]:
    """Resolve requests once: in a loop of small calls that is most of the time."""
    return tuple(find_metrics(requests))


def about(run: str, problem: RagkpiError) -> RagkpiError:
    """Name the run in the text of its error."""
    if run in str(problem):
        return problem
    named = RagkpiError(f"{run}: {problem}")
    named.exit_status = problem.exit_status
    return named


def _concerning(
    evaluations: Mapping[str, Evaluation], texts: Callable[[Evaluation], Sequence[str]]
) -> Iterator[str]:
    runs: dict[str, list[str]] = {}
    for run, evaluation in evaluations.items():
        for text in texts(evaluation):
            runs.setdefault(text, []).append(run)
    for text, named in runs.items():
        yield text + (f" ({', '.join(named)})" if len(named) < len(evaluations) else "")
