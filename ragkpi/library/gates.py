"""Gates of runs against a baseline that is read in the same call: for eval and compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ragkpi.library.call import Evaluations
from ragkpi.library.unjudged_doubt import judging_of
from ragkpi.measures.measure import Scores
from ragkpi.statistics.gates import BaselineGate, Verdict, baseline_verdicts
from ragkpi.statistics.paired import Difference


def verdicts_on_run(
    evaluated: Evaluations,
    keys: tuple[str, str],
    baseline: tuple[str, Scores],
    run: tuple[str, Scores],
    gate: BaselineGate,
) -> list[Verdict]:
    """Hold a run against a baseline that was read in the same call; `keys` are their names there.

    Rates that are equal stay equal if the runs rank alike, and doubts are those of `holes`.
    """
    one, other = (evaluated.by_name[key] for key in keys)
    gate = replace(gate, doubt=_doubt_of(evaluated, *keys, (baseline[0], run[0])))
    return baseline_verdicts(baseline, run, gate, "equal" if other.ranks_like(one) else "differ")


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
