"""Runs whose order unjudged documents may turn round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ragkpi.measures.scores import Scores
from ragkpi.studies.holes.assignments import Trials

_ROUNDING = 1e-12


def turned(pair: Sequence[Trials], scores: Sequence[Scores]) -> bool:
    """Say whether the worse run wins where all goes its way.

    What it alone retrieves has the top level, what only the better one does is worthless, and
    what both have is whichever of the two helps it more.
    """
    better, worse = pair
    if better.run.judged.queries != worse.run.judged.queries:
        return False
    sign = worse.metric.measure.sign
    every = np.arange(len(worse.run.judged.queries))
    mine, theirs = worse.run.own >= 0, better.run.own >= 0
    bottom, top = worse.scale[0], worse.scale[-1]
    tried = []
    for shared in (bottom, top):
        levels = np.where(mine, np.where(theirs, shared, top), bottom)
        tried.append([trials.under(every, levels) for trials in (worse, better)])
    leads = [sign * (won[:, 0] - lost[:, 0]) for won, lost in tried]
    second = leads[1] > leads[0]
    summaries = []
    for place, of_run in enumerate((scores[1], scores[0])):
        rows = np.where(second[:, np.newaxis], tried[1][place], tried[0][place])
        chosen = replace(of_run, metrics=[worse.metric], statistics=[rows])
        summaries.append(float(chosen.summary(0)))
    return sign * (summaries[0] - summaries[1]) > _ROUNDING
