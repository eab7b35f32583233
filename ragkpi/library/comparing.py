"""How a call compares runs: the procedure from its arguments, and gates against a baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ragkpi.library.arguments import bootstrap_of
from ragkpi.library.call import Evaluations
from ragkpi.library.options import Comparing, Testing, checked
from ragkpi.library.unjudged_doubt import judging_of
from ragkpi.measures.measure import Scores
from ragkpi.statistics.gates import BaselineGate, Verdict, baseline_verdicts
from ragkpi.statistics.paired import Difference, Procedure
from ragkpi.statistics.units import Clusters


def procedure_of(how: Comparing, clusters: Clusters | None = None) -> Procedure:
    """Return the procedure of a comparison, or refuse wrong arguments."""
    values = checked(how, Testing)
    return Procedure(bootstrap=bootstrap_of(how, clusters=clusters), **values)


def verdicts_on_run(
    evaluated: Evaluations | None,
    keys: tuple[str, str],
    baseline: tuple[str, Scores],
    run: tuple[str, Scores],
    gate: BaselineGate,
) -> list[Verdict]:
    """Hold a run against a baseline; `keys` are their names in the call.

    Where both were read there, rates that are equal stay equal if the runs rank alike, and doubts
    are those of `holes`.
    """
    if evaluated is None or not all(key in evaluated.by_name for key in keys):
        return baseline_verdicts(baseline, run, gate)
    one, other = (evaluated.by_name[key] for key in keys)
    gate = replace(gate, doubt=_doubt_of(evaluated, *keys, (baseline[0], run[0])))
    return baseline_verdicts(
        baseline, run, gate, "equal" if other.has_ranking_of(one) else "differ"
    )


def _doubt_of(
    evaluated: Evaluations, baseline: str, run: str, names_in_words: tuple[str, str]
) -> Callable[[Difference], str]:
    """Return a function that says what unjudged documents leave open of a run."""
    names = dict(zip(evaluated.by_name, evaluated.names, strict=True))

    def doubt(difference: Difference) -> str:
        if difference.metric not in evaluated.metrics:  # a z-score
            return ""
        judging = judging_of(evaluated, difference.metric)
        claims = {names[run]: difference.decision}
        doubts = judging.doubts(names[baseline], claims) if judging else {}
        return doubts[names[run]].in_words(*names_in_words) if doubts else ""

    return doubt
