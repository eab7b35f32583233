"""How judges agree about documents, and about the order of runs that are evaluated by each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

from ragkpi.errors import UsageError
from ragkpi.evaluation import Evaluator
from ragkpi.formats.file_formats import Reading
from ragkpi.interface import option
from ragkpi.measures.scores import Scores
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.relevance import Qrels
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass, replace
from ragkpi.statistics.paired import Procedure
from ragkpi.studies.agree.label_study import (
    PairAgreement,
    agreement_by_query,
    alpha_of_panel,
    pair_agreement,
)
from ragkpi.studies.agree.order_study import Estimate, order_agreement
from ragkpi.studies.agree.panel import Panel, shared_queries

MOST_LEVELS = 40  # more levels are rather measurements, and matrices of them are huge


@dataclass(frozen=True)
class Agreement:
    """How the judges of a panel agree.

    Attributes
    ----------
    panel
        The judges and their levels.
    pairs
        Every two judges that judged a document in common.
    alpha
        Krippendorff's alpha of all judges, by scale; empty for two judges.
    runs
        The names of the runs; empty without runs.
    procedure
        How differences of runs were tested, and queries resampled.
    """

    panel: Panel
    pairs: Sequence[PairAgreement]
    alpha: Mapping[str, Estimate]
    runs: Sequence[str]
    procedure: Procedure

    @property
    def with_reference(self) -> list[PairAgreement]:
        """The reference with each of the other judges."""
        return [pair for pair in self.pairs if pair.judges[0] == self.panel.names[0]]


def evaluators(
    judges: Sequence[Judgements], settings: Settings, run_format: Reading | None = None
) -> list[Evaluator]:
    """Prepare an evaluation under each judge, over the queries that all of them judged.

    A query that a run lacks is an empty ranking, or an error if the settings ask for that:
    otherwise runs would be compared over different queries.
    """
    alike = settings if settings.missing == "error" else replace(settings, missing="zero")
    shared = shared_queries(judges)
    return [Evaluator(Qrels(judge), alike, run_format=run_format) for judge in shared]


def agree(
    panel: Panel,
    procedure: Procedure,
    runs: Sequence[str] = (),
    scores: Sequence[Sequence[Scores]] = (),
    per_query: Literal["hidden", "shown"] = "hidden",
) -> Agreement:
    """Measure how judges agree about documents, and about the order of runs if there are any.

    Parameters
    ----------
    panel
        The judges and their levels.
    procedure
        How differences of runs are tested, and queries resampled.
    runs, scores
        The runs' names, and for each judge the runs' scores by its judgements, as `evaluators`
        evaluate them.
    per_query
        Whether pairs of judges are compared query by query, too.

    Raises
    ------
    UsageError
        If there are more than `MOST_LEVELS` levels, or runs that cannot be ordered.
    """
    if len(panel.levels()) > MOST_LEVELS:
        raise UsageError(
            f"the judges give {len(panel.levels())} different levels; expected at most "
            f"{MOST_LEVELS}: put them on a smaller scale with {option('map_levels')}"
        )
    pairs = []
    for first, second in combinations(range(len(panel.names)), 2):
        if panel.both(first, second).any():
            pair = pair_agreement(panel, first, second, procedure.bootstrap)
            if per_query == "shown":
                pair = replace(pair, by_query=agreement_by_query(panel, first, second))
            if scores and first == 0:
                orders = order_agreement(runs, scores[0], scores[second], procedure)
                pair = replace(pair, orders=orders)
            pairs.append(pair)
    alpha = alpha_of_panel(panel, procedure.bootstrap) if len(panel.names) > 2 else {}
    return Agreement(panel, pairs, alpha, runs, procedure)
