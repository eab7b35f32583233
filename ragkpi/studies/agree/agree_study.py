"""Judges, and runs under each of them: all that `ragkpi agree` finds out."""

from __future__ import annotations

from collections.abc import Sequence

from ragkpi.errors import NothingInCommonError
from ragkpi.evaluation import Evaluator
from ragkpi.formats.file_formats import Reading
from ragkpi.measures.scores import Scores
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.relevance import Qrels
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, field, replace
from ragkpi.statistics.paired import Procedure
from ragkpi.studies.agree.label_study import LabelAgreement, PairAgreement, label_agreement
from ragkpi.studies.agree.order_study import OrderAgreement, order_agreement
from ragkpi.studies.agree.panel import Panel, shared_queries


@dataclass(frozen=True)
class Agreement:
    """How judges agree.

    Attributes
    ----------
    labels
        About documents.
    runs
        What the runs are called; empty without runs.
    orders
        For each judge but the first how it orders the runs, by metric.
    procedure
        How differences of runs were tested, and queries drawn again.
    """

    labels: LabelAgreement
    runs: Sequence[str] = ()
    orders: Sequence[Sequence[OrderAgreement]] = ()
    procedure: Procedure = field(default_factory=Procedure)

    def pair(self, other: int) -> PairAgreement | None:
        """Return how the first judge and another one agree; None if they share no document."""
        pairs = (pair for pair in self.labels.pairs if pair.first == 0 and pair.second == other)
        return next(pairs, None)


def evaluators(
    judges: Sequence[Judgements], settings: Settings, run_format: Reading | None = None
) -> list[Evaluator]:
    """Prepare an evaluation under each judge, over the queries that all of them judged.

    A query that a run lacks is an empty ranking, or an error if the settings have it so: else
    runs would be compared over different queries.
    """
    alike = settings if settings.missing == "error" else replace(settings, missing="zero")
    shared = shared_queries(judges)
    if not shared[0].queries:
        raise NothingInCommonError("no query was judged by all judges; runs cannot be compared")
    return [Evaluator(Qrels(judge), alike, run_format=run_format) for judge in shared]


def agree(
    together: Panel,
    runs: Sequence[str] = (),
    scores: Sequence[Sequence[Scores]] = (),
    procedure: Procedure | None = None,
) -> Agreement:
    """Find out how judges agree about documents, and about runs if there are any.

    Parameters
    ----------
    together
        What the judges said.
    runs, scores
        The runs' names, and what they score under each judge, as `evaluators` evaluate them.
    procedure
        How differences of runs are tested, and queries drawn again.
    """
    how = procedure or Procedure()
    labels = label_agreement(together, how.bootstrap)
    orders = [order_agreement(scores[0], other, how) for other in scores[1:]]
    return Agreement(labels, runs, orders, how)
