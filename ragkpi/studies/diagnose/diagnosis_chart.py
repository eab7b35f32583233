"""The chart of `ragkpi diagnose`: PROC against %PROC, in four quadrants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.charts.chart import Axis, PlaneChart, Points, Rule
from ragkpi.studies.diagnose.diagnosis_study import Diagnosis, Verdict

_CORNERS: tuple[Verdict, ...] = ("retriever", "fine", "both", "reranker")


def diagnosis_chart(diagnosis: Diagnosis) -> PlaneChart:
    """Draw a point per query that has both; the texts in the corners count verdicts."""
    counts = diagnosis.counts()
    limits = diagnosis.thresholds
    return PlaneChart(
        f"Retriever or reranker? {len(diagnosis.queries)} queries, K = {diagnosis.cutoff}",
        Axis("PROC: what the pool allows", low=0, high=1),
        Axis("%PROC: what the selection realised", low=0, high=1),
        points=list(_groups(diagnosis)),
        rules=[Rule("x", limits.proc), Rule("y", limits.pct_proc)],
        corners=[f"{verdict} {counts[verdict]}" for verdict in _CORNERS],
    )


def _groups(diagnosis: Diagnosis) -> Iterator[Points]:
    verdicts = np.array(diagnosis.verdicts)
    for verdict in _CORNERS:
        chosen = (verdicts == verdict) & ~np.isnan(diagnosis.pct_proc)
        yield Points(verdict, diagnosis.proc[chosen].tolist(), diagnosis.pct_proc[chosen].tolist())
