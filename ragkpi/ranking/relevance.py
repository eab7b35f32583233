"""`Relevance`: qrels in any format of -R, ready to judge run after run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

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
        worth = judged.level if judged.gain is None else judged.gain
        return {decoded(judged.document[row]): worth[row].item() for row in rows}

    def __iter__(self) -> Iterator[str]:
        return map(decoded, self.judgements.queries)

    def __len__(self) -> int:
        return len(self.judgements.queries)

    def judge(self, hits: Hits, settings: Settings) -> tuple[Judged, Coverage]:
        return judge(self.judgements, hits, settings)


def _read_qrels(path: str, reading: Reading | str | None = None) -> Relevance:
    return Qrels(group_judgements(read_any_qrels(path, reading, "gains")))


def _read_assessors(path: str, _: Reading | str | None = None, *, format_name: str) -> Relevance:
    from ragkpi.ranking import preferences

    return preferences.READERS[format_name](path)


# By -R: from a path and the `Reading` of plain qrels (None: recognised) to relevance.
READERS: Mapping[str, Callable[..., Relevance]] = {
    "qrels": _read_qrels,
    **{
        name: partial(_read_assessors, format_name=name)
        for name in ("qrels_jg", "prefs", "qrels_prefs")
    },
}
