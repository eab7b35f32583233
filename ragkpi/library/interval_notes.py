"""Notes on intervals: how they were computed, and over how many queries."""

from collections.abc import Mapping, Sequence

from ragkpi.measures.measure import Scores
from ragkpi.statistics.bootstrap import Bootstrap, Kind, few_queries_note, kind_of


def interval_notes(bootstrap: Bootstrap | None, runs: Sequence[Scores]) -> list[str]:
    """Describe how the intervals were computed, and warn of too few queries."""
    if bootstrap is None:
        return []
    kinds = {
        kind_of(column.metric, column.statistics[column.has_value], bootstrap)
        for run in runs
        for column in run.estimates()
        if len(column.seeds) < 2
    }
    words = [text for kind, text in _INTERVALS.items() if kind in kinds]
    if any(run.seeds > 1 for run in runs):
        words.append("Student's of a system, from its queries and its seeds")
    few = few_queries_note(runs, bootstrap)
    if not words:
        return [interval_note(bootstrap), *([few] if few else [])]
    if "resampled" in kinds:
        words.append(f"percentile bootstrap, {_draws(bootstrap)}")
    units = "clusters of queries" if bootstrap.clusters else "queries"
    begin = f"[low, high]: {bootstrap.percent} intervals over {units}: "
    return [begin + "; ".join(words), *([few] if few else [])]


_INTERVALS: Mapping[Kind, str] = {
    "score": "score interval of a mean, by its spread",
    "rate": "mid-p of a rate",
    "log": "Student's of a mean of logarithms",
}


def _draws(bootstrap: Bootstrap) -> str:
    return f"{bootstrap.resamples:,} resamples, seed {bootstrap.seed}"


def interval_note(bootstrap: Bootstrap, of: str = "", queries: str = "queries") -> str:
    """Describe how intervals of the number `of` were computed by resampling `queries`."""
    units = queries if bootstrap.clusters is None else f"clusters of {queries}"
    return (
        f"[low, high]: {bootstrap.percent} percentile bootstrap interval{of} over "
        f"{units}, {_draws(bootstrap)}"
    )
