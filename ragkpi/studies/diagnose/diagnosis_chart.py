"""The chart of `ragkpi diagnose`: PROC against %PROC, in four quadrants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.charts.chart import Axis, PlaneChart, Points, Rule
from ragkpi.studies.diagnose.diagnosis_study import Diagnosis, Verdict

_CORNERS: tuple[Verdict, ...] = ("retriever", "fine", "both", "reranker")


def diagnosis_chart(found: Diagnosis) -> PlaneChart:
    """Draw a point per query that has both; the texts in the corners count verdicts."""
    counts = found.counts()
    limits = found.thresholds
    return PlaneChart(
        f"Retriever or reranker? {len(found.queries)} queries, K = {found.cutoff}",
        Axis("PROC: what the pool allows", low=0, high=1),
        Axis("%PROC: what the selection realised", low=0, high=1),
        points=list(_groups(found)),
        rules=[Rule("x", limits.proc), Rule("y", limits.pct_proc)],
        corners=[f"{verdict} {counts[verdict]}" for verdict in _CORNERS],
    )


def _groups(found: Diagnosis) -> Iterator[Points]:
    verdicts = np.array(found.verdicts)
    for verdict in _CORNERS:
        chosen = (verdicts == verdict) & ~np.isnan(found.pct_proc)
        yield Points(verdict, found.proc[chosen].tolist(), found.pct_proc[chosen].tolist())
