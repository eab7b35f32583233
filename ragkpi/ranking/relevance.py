"""`Relevance`: qrels in any format of -R, reusable for many runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from ragkpi.files.formats import Reading, read_any_qrels
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.reading import Hits
from ragkpi.wording import decoded, octets

if TYPE_CHECKING:
    from ragkpi.ranking.groups import JudgedGroups
    from ragkpi.ranking.preferences import JudgedPreferences

AnyJudged: TypeAlias = "Judged | JudgedGroups | JudgedPreferences"


class Relevance(Protocol):
    """Qrels of any format."""

    @property
    def judgements(self) -> Judgements: ...

    def judge(self, hits: Hits, settings: Settings) -> tuple[AnyJudged, Coverage]:
        """Judge the hits of a run; errors as in `ragkpi.ranking.judge.judge`."""


@dataclass(frozen=True, eq=False)
class Qrels(Mapping[str, dict[str, float]]):
    """One judgement of each document per query: ``{query: {document: level or gain}}``."""

    judgements: Judgements

    def __getitem__(self, query: str) -> dict[str, float]:
        judged = self.judgements
        place = judged.index[octets(query)]
        rows = range(judged.starts[place], judged.starts[place + 1])
        values = judged.level if judged.gain is None else judged.gain
        return {decoded(judged.document[row]): values[row].item() for row in rows}

    def __iter__(self) -> Iterator[str]:
        return map(decoded, self.judgements.queries)

    def __len__(self) -> int:
        return len(self.judgements.queries)

    def judge(self, hits: Hits, settings: Settings) -> tuple[Judged, Coverage]:
        return judge(self.judgements, hits, settings)


REL_INFO: Mapping[str, Literal["qrels", "qrels_jg", "prefs"]] = {
    "qrels": "qrels",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
    "qrels_prefs": "prefs",
}
"""The formats of -R, and which measures read each."""


def read_relevance(
    path: str, rel_info: str = "qrels", reading: Reading | str | None = None
) -> Relevance:
    """Read a file in a format of -R; the file format of plain qrels is recognised."""
    if rel_info == "qrels":
        return Qrels(group_judgements(read_any_qrels(path, reading, "gains")))
    from ragkpi.ranking import preferences

    return preferences.READERS[rel_info](path)
