"""The evaluation of runs against qrels that are read once: files to `Scores`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragkpi.formats.qrels import read_qrels
from ragkpi.measures.measure import Value
from ragkpi.measures.scores import Scores, score
from ragkpi.ranking.judge import Coverage, judge, shown_queries
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.settings import Settings
from ragkpi.ranking.workers import available_workers, read_hits


@dataclass(frozen=True)
class Evaluation:
    """What came of one run: its scores, what they were computed from, and what was left out."""

    scores: Scores
    judged: Judged
    coverage: Coverage


class Evaluator:
    """Qrels, values and settings, ready for run after run.

    Parameters
    ----------
    qrels
        Path of the qrels, ``-`` for standard input.
    values
        What to compute.
    settings
        The choices that change numbers.
    """

    def __init__(self, qrels: str, values: Sequence[Value], settings: Settings) -> None:
        self.values = list(values)
        self.settings = settings
        self.judgements: Judgements = group_judgements(read_qrels(qrels))

    def evaluate(self, run: str) -> Evaluation:
        """Evaluate the run at a path, ``-`` for standard input."""
        hits = read_hits(run, self.judgements, workers=available_workers())
        judged, coverage = judge(self.judgements, hits, self.settings)
        divisor = len(judged.queries)
        if self.settings.missing == "zero":
            divisor = len(self.judgements.queries)  # trec_eval divides so even with -D 0.QID
        return Evaluation(score(judged, self.values, divisor), judged, coverage)


def coverage_note(coverage: Coverage, settings: Settings) -> str:
    """Say in one line which queries the means leave out; empty if none is."""
    notes = []
    if coverage.missing and settings.missing == "intersection":
        notes.append(
            f"{len(coverage.missing)} judged queries are missing from the run and left out of "
            f"the means ({shown_queries(coverage.missing)}); -c counts them as empty rankings"
        )
    if coverage.unjudged:
        notes.append(
            f"{len(coverage.unjudged)} queries of the run are not judged and ignored "
            f"({shown_queries(coverage.unjudged)})"
        )
    return f"ragkpi: {'; '.join(notes)}" if notes else ""
