"""The judgements under which what a run shows is as good as it can be."""

from __future__ import annotations

from dataclasses import replace

from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings
from ragkpi.studies.holes.open_runs import find_holes


def with_shown_at_their_best(
    judgements: Judgements, run: Hits, settings: Settings, cutoff: int
) -> tuple[Judgements, Hits] | None:
    """Give every unjudged document of a run's top K the level of the highest grade.

    Parameters
    ----------
    run
        Read with the names of its documents down to the cutoff.

    Returns
    -------
    The judgements with these documents, and the run by them; None if all shown are judged.
    """
    holes = find_holes(judgements, [run], settings)
    shown = holes.row[holes.within(cutoff)]
    if not len(shown):
        return None
    best = max(settings.grade_map.rubric.items(), key=lambda level_and_grade: level_and_grade[1])
    level = holes.judgements.level.copy()
    level[shown] = best[0]
    return replace(holes.judgements, level=level), holes.runs[0]
