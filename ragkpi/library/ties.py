"""What the order of equal scores leaves open: runs over all orders, and in the two extreme ones."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import get_args

from ragkpi.library.session import Evaluations
from ragkpi.measures.measure import Metric, Scores
from ragkpi.ranking.reading import FirstOfTies

BY_ID = "as far as ties are broken by id"
"""The words of a claim that another order of equal scores would change."""


def over_all_orders(runs: Evaluations, metrics: Sequence[Metric]) -> dict[str, Scores]:
    """Return the expected scores over all orders of ties, by the keys of runs.

    A metric without an expectation keeps its values. Where no metric can differ, there are none.
    """
    session = runs.session
    expected = [metric for metric in metrics if metric.measure.expectation is not None]
    if session.settings.ties != "id" or not expected or not _are_tied(runs):
        return {}
    over_orders = copy(session)  # with the qrels that were read, which may be standard input
    over_orders.settings = replace(session.settings, ties="expected")
    scored = over_orders.score({key: run.hits for key, run in runs.items()}, expected)
    scores = {}
    for key, run in scored.items():
        own = runs[key].scores
        others = run.scores.of_queries(own.queries)
        scores[key] = own.only((others if m.name in others else own)[m.name] for m in metrics)
    return scores


def in_extreme_orders(runs: Evaluations) -> list[Evaluations]:
    """Evaluate runs with their best levels first among equal scores, and last; none without ties.

    Of the runs' metrics the extremes are known where a higher level is never worth less.
    """
    session, judgements = runs.session, runs.session.judgements
    if not _are_tied(runs):
        return []
    return [
        session.score(
            {key: run.hits.among_ties(judgements, first) for key, run in runs.items()},
            runs.metrics,
        )
        for first in get_args(FirstOfTies)
    ]


def _are_tied(runs: Evaluations) -> bool:
    return any(run.hits.is_tied for run in runs.values())
