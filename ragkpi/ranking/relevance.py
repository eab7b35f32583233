"""Relevance files of every format (-R), each ready to judge run after run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ragkpi.formats.preferences import read_preferences, read_qrels_preferences
from ragkpi.formats.qrels import read_qrels
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judge_preferences import Preferences
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judged_groups import GroupedQrels, JudgedGroups
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.preferences import JudgedPreferences
from ragkpi.ranking.settings import Settings

AnyJudged: TypeAlias = Judged | JudgedGroups | JudgedPreferences


class Relevance(Protocol):
    """What was judged relevant.

    Attributes
    ----------
    judgements
        The judged documents, each once per query: what the hits of a run are found in.
    """

    @property
    def judgements(self) -> Judgements: ...

    def judge(self, hits: Hits, settings: Settings) -> tuple[AnyJudged, Coverage]:
        """Settle what is evaluated; errors as `ragkpi.ranking.judge.judge` has them."""


@dataclass(frozen=True)
class Qrels:
    """One judgement of each document per query."""

    judgements: Judgements

    def judge(self, hits: Hits, settings: Settings) -> tuple[Judged, Coverage]:
        return judge(self.judgements, hits, settings)


READERS: Mapping[str, Callable[[str], Relevance]] = {
    "qrels": lambda path: Qrels(group_judgements(read_qrels(path))),
    "qrels_jg": lambda path: GroupedQrels.of(read_qrels(path)),
    "prefs": lambda path: Preferences.of(read_preferences(path)),
    "qrels_prefs": lambda path: Preferences.of(read_qrels_preferences(path)),
}
