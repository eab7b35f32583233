"""Notes on intervals: how they were computed, and over how many queries."""

from collections.abc import Collection, Sequence

from ragkpi.measures.measure import Scores
from ragkpi.statistics.bootstrap import Bootstrap, few_queries_note, kind_of

_WORDS = {
    "score": "score interval of a mean, by its spread",
    "rate": "mid-p of a rate",
    "log": "Student's of a mean of logarithms",
    "system": "Student's of a system, from its queries and its seeds",
    "resampled": "percentile bootstrap, {:,} resamples, seed {}",
}


def interval_notes(bootstrap: Bootstrap | None, runs: Sequence[Scores]) -> list[str]:
    """Describe how the intervals were computed, and warn of too few queries."""
    if bootstrap is None:
        return []
    kinds = {
        "system"
        if len(column.seeds) > 1
        else kind_of(column.metric, column.statistics[column.has_value], bootstrap)
        for run in runs
        for column in run.estimates()
    }
    few = few_queries_note(runs, bootstrap)
    return [interval_note(bootstrap, kinds=kinds or ("resampled",)), *([few] if few else [])]


def interval_note(
    bootstrap: Bootstrap,
    of: str = "",
    queries: str = "queries",
    kinds: Collection[str] = ("resampled",),
) -> str:
    """Describe how intervals of the number `of` were computed from `queries`."""
    units = queries if bootstrap.clusters is None else f"clusters of {queries}"
    ways = [words for kind, words in _WORDS.items() if kind in kinds]
    ways = [way.format(bootstrap.resamples, bootstrap.seed) for way in ways]
    return f"[low, high]: {bootstrap.percent} intervals{of} over {units}: {'; '.join(ways)}"
