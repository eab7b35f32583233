"""The evaluation of runs against qrels that are read once: files to `Scores`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragkpi.measures.measure import Value
from ragkpi.measures.relevance_formats import refuse_wrong_format
from ragkpi.measures.scores import Scores, score
from ragkpi.ranking.judge import Coverage, shown_queries
from ragkpi.ranking.relevance import READERS, AnyJudged
from ragkpi.ranking.settings import Settings
from ragkpi.ranking.workers import available_workers, read_hits


@dataclass(frozen=True)
class Evaluation:
    """What came of one run: its scores, what they were computed from, and what was left out."""

    scores: Scores
    judged: AnyJudged
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
    relevance_format
        The format of the qrels, as -R names it.

    Raises
    ------
    UsageError
        If a value cannot be computed from that format; nothing is read then.
    """

    def __init__(
        self,
        qrels: str,
        values: Sequence[Value],
        settings: Settings,
        relevance_format: str = "qrels",
    ) -> None:
        refuse_wrong_format(values, relevance_format)
        self.values = list(values)
        self.settings = settings
        self.relevance = READERS[relevance_format](qrels)

    def evaluate(self, run: str) -> Evaluation:
        """Evaluate the run at a path, ``-`` for standard input."""
        hits = read_hits(run, self.relevance.judgements, workers=available_workers())
        judged, coverage = self.relevance.judge(hits, self.settings)
        divisor = len(judged.queries)
        if self.settings.missing == "zero":
            divisor = len(
                self.relevance.judgements.queries
            )  # trec_eval divides so even with -D 0.QID
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
