"""Gates of an evaluation: limits on values, and a run or a saved result as the baseline."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from ragkpi.errors import RagkpiError, UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.interface import spell
from ragkpi.library.doubts import names_needed, verdicts_against
from ragkpi.library.options import Gating, one_of
from ragkpi.library.runs import are_seeds, files_of, run_of, seeds_of
from ragkpi.library.session import Evaluations, OnProblem, Session
from ragkpi.library.stored import StoredResult, open_run
from ragkpi.measures.measure import Metric, Scores
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Settings
from ragkpi.reports.names import system_of
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.gates import (
    BaselineGate,
    DecidedBy,
    Gate,
    Verdict,
    failures_of,
    limit_verdict,
    margin_of,
    parse_gate,
    refuse_failures,
    refuse_idle,
)
from ragkpi.statistics.paired import Procedure
from ragkpi.wording import visible


def _baseline_of(path: str) -> StoredResult | RunOrPath:
    """Open a baseline: a run, the only run of a result, or a log's last run that missed no gate."""
    results = open_run(path)
    if not isinstance(results, list):
        return results
    if all("time" in result.record for result in results):  # a log
        passed = [one for one in results if all(v["passed"] for v in one.record.get("gates", ()))]
        results = passed[-1:]
    if len(results) != 1:
        names = ", ".join(visible(str(result.record.get("name"))) for result in results)
        stored = f"{len(results)} runs ({names})" if results else "no run that passed its gates"
        raise UsageError(f"{path}: it holds {stored}; store one")
    return results[0]


@dataclass(frozen=True)
class Gates:
    """The gates that runs must pass: limits, and a baseline under a unique name."""

    limits: Sequence[Gate] = ()
    baseline: Mapping[str, RunOrPath | StoredResult] = field(default_factory=dict)
    against: BaselineGate = field(default_factory=BaselineGate)

    def metrics_of(self, session: Session, metrics: Sequence[Metric]) -> list[Metric]:
        """Return the metrics of a call; without requests, also those that limits name.

        `UsageError` for gates that no run can miss, or pass.
        """
        names, of_limits = {metric.name for metric in metrics}, list[Metric]()
        if not session.requests:
            with suppress(UsageError, ValueError):  # refused below, with the available values
                of_limits = find_metrics([gate.name for gate in self.limits])
        every = [*metrics, *(metric for metric in of_limits if metric.name not in names)]
        for gate in self.limits:
            refuse_idle(gate, every)
        if self.baseline and not any(metric.is_comparable for metric in every):
            gate_name = spell("fail_under_baseline")
            raise UsageError(f"{gate_name}: no value of this evaluation is better than another")
        return every

    @property
    def runs(self) -> dict[str, RunOrPath]:
        """The baseline, if it is a run."""
        return {n: run for n, run in self.baseline.items() if not isinstance(run, StoredResult)}

    def depth(self, metrics: Sequence[Metric], settings: Settings) -> int:
        """Return the depth to which doubts about a baseline need names of documents."""
        return max(names_needed([metric], settings) for metric in metrics) if self.runs else 0

    def verdicts(
        self,
        names: Mapping[str, str],
        scores: Mapping[str, Scores],
        evaluated: Evaluations,
    ) -> list[Verdict]:
        """Test every run against limits and baselines.

        `names` are those of the runs in the result by their names in the call.
        """
        against = self._against_baseline(names, scores, evaluated)
        every: list[Verdict] = []
        for run, name in names.items():
            every += [limit_verdict(name, scores[run], limit) for limit in self.limits]
            every += against.get(run, ())
        return every

    def failures(self, verdicts: Sequence[Verdict], problems: OnProblem) -> list[RagkpiError]:
        """Return the errors of gates that did not pass, or raise them."""
        missed = failures_of(verdicts)
        if problems == "raised":
            refuse_failures(missed)
        return missed

    def _against_baseline(
        self, names: Mapping[str, str], scores: Mapping[str, Scores], evaluated: Evaluations
    ) -> Mapping[str, Sequence[Verdict]]:
        """Return the verdicts on runs against the baseline, by their names in the call."""
        other, baseline = next(iter(self.baseline.items()), ("", ""))
        of_runs = {run: scores[run] for run in names}
        there = scores.get(system_of(other))
        if isinstance(baseline, StoredResult):
            for run, name in names.items():
                baseline.refuse_run(name, scores[run], evaluated)
            comparable = [m.name for m in evaluated.metrics if m.is_comparable]
            there = baseline.scores.only(baseline.scores[name] for name in comparable)
            of_runs = {run: of.only(of[name] for name in comparable) for run, of in of_runs.items()}
        if there is None:  # no baseline, or its evaluation failed
            return {}
        bootstrap = Bootstrap(clusters=evaluated.session.clusters)
        gate = replace(self.against, procedure=Procedure(family="all", bootstrap=bootstrap))
        key = system_of(other)
        named, every = {**names, key: key}, {**of_runs, key: there}
        return verdicts_against(key, named, every, gate, evaluated)


def gates_of(runs: Mapping[str, RunOrPath], how: Gating) -> Gates:
    """Return the gates of a call on these runs, or refuse wrong arguments."""
    fail_under, baseline = how.get("fail_under", ()), how.get("fail_under_baseline")
    limits = [
        parse_gate(limit if isinstance(limit, str) else f"{limit[0]}={limit[1]}")
        for limit in (fail_under.items() if isinstance(fail_under, Mapping) else fail_under)
    ]
    margin, gate_by = how.get("margin"), how.get("gate_by")
    if baseline is None:
        for name, value in {"margin": margin, "gate_by": gate_by}.items():
            if value is not None:
                instead = f"no baseline; give {spell('fail_under_baseline')} RUN with it"
                raise UsageError(f"{spell(name)} {value}: {instead}")
        return Gates(limits)
    decided_by = one_of("gate_by", gate_by or "worse", get_args(DecidedBy))
    against = BaselineGate(margin_of(margin), decided_by)
    seeds: Any = baseline if are_seeds(baseline) else files_of(baseline)
    if seeds:
        name = _unlike(getattr(baseline, "name", "baseline"), map(system_of, runs))
        return Gates(limits, seeds_of(name, seeds), against)
    if not isinstance(baseline, str | os.PathLike):
        return Gates(limits, {_unlike("baseline", runs): run_of(baseline)}, against)
    path = os.fspath(baseline)
    for run in runs.values():
        with suppress(OSError, ValueError):
            if isinstance(run, str) and os.path.samefile(run, path):
                raise UsageError(
                    f"{spell('fail_under_baseline')} {path}: it is a run of this call, and no "
                    "worse than itself; leave it out of the runs, or give another baseline"
                )
    opened = _baseline_of(path)
    return Gates(limits, {_unlike(getattr(opened, "name", path), runs): opened}, against)


def _unlike(name: str, runs: Iterable[str]) -> str:
    """Return a name of a baseline that no run has."""
    names = {*runs}
    while name in names:
        name += "#baseline"
    return name
