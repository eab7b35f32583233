"""Gates: limits for values, and a baseline that runs may not fall behind by more than a margin."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from ragkpi.errors import GateFailedError, UsageError
from ragkpi.evaluation import Run
from ragkpi.interface import option
from ragkpi.library.arguments import one_of, run_of
from ragkpi.measures.scores import Scores
from ragkpi.records import dataclass, field, replace
from ragkpi.statistics.gates import (
    BaselineGate,
    DecidedBy,
    Gate,
    Margin,
    Verdict,
    baseline_verdicts,
    parse_margin,
    unmet,
    verdicts,
)
from ragkpi.statistics.query_slices import QuerySlice
from ragkpi.studies.evaluate.stored_result import (
    StoredResult,
    is_stored_result,
    read_stored_result,
    stored_verdicts,
)
from ragkpi.wording import visible

GateLimits = Mapping[str, float] | Iterable[tuple[str, float]]


@dataclass(frozen=True)
class Gates:
    """The gates that runs have to pass.

    Attributes
    ----------
    limits
        The worst that values may be.
    baseline, stored
        A run, or a result that was stored; None without one.
    against
        How far below the baseline or stored result runs may be.
    """

    limits: Sequence[Gate] = ()
    baseline: Run | None = None
    stored: StoredResult | None = None
    against: BaselineGate = field(default_factory=BaselineGate)

    @property
    def over_all_queries(self) -> bool:
        """Whether runs have to be evaluated over all judged queries."""
        return bool(self.limits) or self.baseline is not None

    def runs(self, others: Iterable[str]) -> dict[str, Run]:
        """Return the baseline if it is a run, by a name that no other run has."""
        if self.baseline is None:
            return {}
        name = self.baseline if isinstance(self.baseline, str) else "baseline"
        while name in others:
            name += "#baseline"
        return {name: self.baseline}

    def verdicts(
        self,
        runs: Mapping[str, Scores],
        baselines: Mapping[str, Scores],
        slices: Sequence[QuerySlice] = (),
    ) -> list[Verdict]:
        """Hold every run against limits and baselines; `baselines` are the ones that `runs` named.

        Baselines, and limits that name no slice, are held against the values over all queries.
        """
        of_all = [gate for gate in self.limits if gate.name == gate.metric]
        for gate in self.limits:
            if gate not in of_all and not any(gate.is_of(*part[:2]) for part in slices):
                known = ", ".join(visible(part.name) for part in slices[:10])
                raise UsageError(
                    f"{option('fail_under')} {visible(gate.name)}: no such slice of the "
                    f"evaluated queries; "
                    + (f"there are {known}" if slices else f"give labels with {option('by')} FILE")
                )
        found: list[Verdict] = []
        for run in runs.items():
            found += verdicts(*run, of_all)
            for part in slices:
                found += _of_slice(run, part, [gate for gate in self.limits if gate not in of_all])
            for baseline in baselines.items():
                found += baseline_verdicts(baseline, run, self.against)
            if self.stored is not None:
                found += stored_verdicts(self.stored, run, self.against)
        return found

    def missed(self, found: Sequence[Verdict]) -> list[GateFailedError]:
        """Return what falls short, once per run and value."""
        return [GateFailedError(str(verdict)) for verdict in unmet(found)]


def _of_slice(
    run: tuple[str, Scores], part: QuerySlice, limits: Sequence[Gate]
) -> Iterator[Verdict]:
    """Hold a slice of a run against the limits that name it."""
    own = [replace(gate, name=gate.metric) for gate in limits if gate.is_of(part.by, part.label)]
    for verdict in verdicts(run[0], part.of(run[1]), own):
        yield replace(verdict, name=f"{visible(part.name)}:{verdict.name}")


def gates_of(
    fail_under: GateLimits,
    baseline: Any,
    margin: float | str | None,
    gate_by: DecidedBy | None,
    gate_confidence: float | None,
) -> Gates:
    """Return the gates of a call; wrong arguments are refused."""
    given = {"margin": margin, "gate_by": gate_by, "gate_confidence": gate_confidence}
    for name, value in given.items():
        if value is not None and baseline is None:
            raise UsageError(
                f"{option(name)} {value}: no baseline; give {option('fail_under_baseline')} "
                f"RUN with it"
            )
    pairs = fail_under.items() if isinstance(fail_under, Mapping) else fail_under
    limits = [Gate(name, float(limit)) for name, limit in pairs]
    if baseline is None:
        return Gates(limits)
    if gate_confidence is not None and not 0 < gate_confidence < 1:
        raise UsageError(
            f"{option('gate_confidence')} {gate_confidence:g}: expected a share such as 0.95"
        )
    against = BaselineGate(
        Margin(0.0) if margin is None else parse_margin(str(margin)),
        one_of("gate_by", gate_by or "value", get_args(DecidedBy)),
        gate_confidence or 0.95,
    )
    if isinstance(baseline, str | os.PathLike) and is_stored_result(os.fspath(baseline)):
        return Gates(limits, None, read_stored_result(os.fspath(baseline)), against)
    return Gates(limits, run_of(baseline), None, against)
