"""Relevance: qrels of every format (-R), ready to judge run after run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ragkpi.files.formats import Reading, read_any_qrels
from ragkpi.files.query_files import read_preferences, read_qrels_preferences
from ragkpi.files.trec import read_qrels
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judged_groups import GroupedQrels, JudgedGroups
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.preferences import JudgedPreferences, Preferences
from ragkpi.ranking.reading import Hits

AnyJudged: TypeAlias = "Judged | JudgedGroups | JudgedPreferences"


class Relevance(Protocol):
    """Qrels of any format.

    Attributes
    ----------
    judgements
        The judged documents, each once per query.
    """

    @property
    def judgements(self) -> Judgements: ...

    def judge(self, hits: Hits, settings: Settings) -> tuple[AnyJudged, Coverage]:
        """Judge the hits of a run; errors as `ragkpi.ranking.judge.judge` has them."""


@dataclass(frozen=True)
class Qrels:
    """One judgement of each document per query."""

    judgements: Judgements

    def judge(self, hits: Hits, settings: Settings) -> tuple[Judged, Coverage]:
        return judge(self.judgements, hits, settings)


# The rarer formats are imported when a file is in one of them.
def _read_qrels(path: str, format_name: Reading | str | None = None) -> Relevance:
    return Qrels(group_judgements(read_any_qrels(path, format_name, "gains")))


def _read_judgment_groups(path: str, _: Reading | str | None = None) -> Relevance:

    return GroupedQrels.of(read_qrels(path))


def _read_preferences(path: str, _: Reading | str | None = None) -> Relevance:

    return Preferences.of(read_preferences(path))


def _read_qrels_preferences(path: str, _: Reading | str | None = None) -> Relevance:

    return Preferences.of(read_qrels_preferences(path))


# By -R: from a path, and the format of plain qrels (None: recognised), to relevance.
READERS: Mapping[str, Callable[..., Relevance]] = {
    "qrels": _read_qrels,
    "qrels_jg": _read_judgment_groups,
    "prefs": _read_preferences,
    "qrels_prefs": _read_qrels_preferences,
}
