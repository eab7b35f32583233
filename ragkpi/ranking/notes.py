"""Notes on an evaluation: what was left out or assumed, a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.interface import option
from ragkpi.ranking.judge import Coverage
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.wording import counted, listed


def coverage_notes(coverage: Coverage, settings: Settings) -> list[str]:
    """Return a line on the queries that the means leave out, if there are any."""
    notes = []
    if coverage.missing and settings.missing == "intersection":
        are = counted(len(coverage.missing), "judged query is", "judged queries are")
        notes.append(
            f"{are} missing from the run and left out of the means "
            f"({listed(coverage.missing, 3)}); {option('missing', 'zero')} counts them as "
            f"empty rankings"
        )
    if coverage.unjudged:
        are = counted(len(coverage.unjudged), "query of the run is", "queries of the run are")
        notes.append(f"{are} not judged and ignored ({listed(coverage.unjudged, 3)})")
    return ["; ".join(notes)] if notes else []


def judgement_notes(judgements: Judgements, settings: Settings) -> list[str]:
    """Return lines on what the judgements are taken for."""
    if settings.gains is not None:
        return settings.gains.notes(judgements, settings.relevance_level)
    if judgements.gain is not None:
        return [f"{judgements.file} has fractional levels: they are taken as gains"]
    return []


def assumption_notes(judged: Judged, seen: int) -> list[str]:
    """Return lines on a corpus size that is not given, and on what the pool lacks.

    `seen` documents replace the corpus size; 0 where that is known, or not needed.
    """
    notes = []
    if seen:
        notes.append(
            f"the corpus size is not given, so N = {seen}, the documents seen in qrels and "
            f"run: every bor is a lower bound; give the real size with "
            f"{option('corpus_size')} or in the "
            "environment variable RAGKPI_CORPUS_SIZE"
        )
    if judged.pool is not None:
        lacking = [q for q, n in zip(judged.queries, judged.pool.num_ret, strict=True) if not n]
        if lacking:
            are = counted(len(lacking), "evaluated query is", "evaluated queries are")
            notes.append(
                f"{are} missing from the pool ({listed(lacking, 3)}): nothing is reachable for them"
            )
    return notes


def concerning(lines_of: Mapping[str, Sequence[str]]) -> list[str]:
    """Return every line about runs, once; it names the runs that it concerns, if not all."""
    runs: dict[str, list[str]] = {}
    for name, lines in lines_of.items():
        for line in lines:
            runs.setdefault(line, []).append(name)
    return [
        line if len(named) == len(lines_of) else f"{line} ({', '.join(named)})"
        for line, named in runs.items()
    ]


def what_is_compared(coverages: Mapping[str, Coverage], queries: int) -> str:
    """Return a line on the runs that lack queries which count as empty rankings; else nothing.

    Parameters
    ----------
    coverages
        Of the runs, by name.
    queries
        How many are judged.
    """
    lacking = [
        f"{len(coverage.missing)} of {name} ({listed(coverage.missing, 3)})"
        for name, coverage in coverages.items()
        if coverage.missing
    ]
    if not lacking:
        return ""
    return (
        f"compared over all {counted(queries, 'judged query', 'judged queries')}; missing ones "
        f"count as empty rankings: {', '.join(lacking)}; {option('missing', 'common')} "
        f"takes those that all runs have"
    )
