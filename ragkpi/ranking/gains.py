"""Real-valued gains: what documents are worth where that is not their level.

Qrels and gains have separate tasks. The qrels say which documents are judged and which are
relevant; gains say how much a judged document is worth to the measures that take gains. A judged
document without a gain is worth nothing; a document that is not judged has none. Qrels with
fractional levels are gains themselves, and have no levels.
"""

from __future__ import annotations

import numpy as np

from ragkpi.errors import DataError
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.ranking.judged import RealGains
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.records import NamedTuple, dataclass, field
from ragkpi.wording import counted, listed, named


class Worth(NamedTuple):
    """What each judgement is worth, (J,), and whether it was given a gain, (J,)."""

    gain: FloatArray
    named: BoolArray


@dataclass(frozen=True, eq=False)
class GivenGains:
    """Gains from a file or from memory, ready for any qrels.

    Attributes
    ----------
    given
        The documents with a gain.
    gain : (n,)
        The gain of each document.
    """

    given: Judgements
    gain: FloatArray
    _known: dict[int, tuple[Judgements, Worth]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, columns: QrelsColumns) -> GivenGains:
        """Group gains by query; `DataError` if a document has two."""
        grouped = group_judgements(columns)
        gain = grouped.level.astype(np.float64) if grouped.gain is None else grouped.gain
        return cls(grouped, gain)

    @property
    def sha256(self) -> str:
        """The hash of the sorted gains, whatever file they came in."""
        import hashlib

        query = self.given.query.tolist()
        rows = zip(query, self.given.document, self.gain.tolist(), strict=True)
        lines = sorted(b"%b %b %r\n" % (self.given.queries[q], doc, g) for q, doc, g in rows)
        return hashlib.sha256(b"".join(lines)).hexdigest()

    def worth(self, judgements: Judgements) -> Worth:
        """Return what each judgement is worth.

        Raises
        ------
        DataError
            If a document of a judged query has a gain and is not judged.
        """
        known = self._known.get(id(judgements))
        if known is None:
            known = self._known[id(judgements)] = judgements, self._joined(judgements)
        return known[1]

    def _joined(self, judgements: Judgements) -> Worth:
        given = self.given
        query = np.array([judgements.index.get(id_, -1) for id_ in given.queries], dtype=np.int64)
        line, row = judgements.find(query, given.starts, given.document)
        line, row = (places[judgements.level[row] >= 0] for places in (line, row))
        lacking = query[given.query] >= 0
        lacking[line] = False
        if lacking.any():
            first = int(np.flatnonzero(lacking)[0])
            count = counted(int(lacking.sum()), "document has", "documents have")
            raise DataError(
                f"{given.file}: {count} a gain and no judgement in {judgements.file}, first "
                f"{named(given.document[first])} of query "
                f"{named(given.queries[given.query[first]])}; expected gains of judged documents"
            )
        worth = Worth(np.zeros(len(judgements.level)), np.zeros(len(judgements.level), dtype=bool))
        worth.gain[row] = self.gain[line]
        worth.named[row] = True
        return worth

    def notes(self, judgements: Judgements, relevance_level: int) -> list[str]:
        """Return lines on relevant documents without a gain and on gains without judgements."""
        notes = []
        relevant = judgements.level >= max(relevance_level, 1)
        lacking = int((relevant & ~self.worth(judgements).named).sum())
        if lacking:
            have = counted(lacking, "relevant document has", "relevant documents have")
            notes.append(f"{have} no gain in {self.given.file}: worth 0")
        unknown = [query for query in self.given.queries if query not in judgements.index]
        if unknown:
            are = counted(len(unknown), "query", "queries")
            notes.append(f"gains of {are} that nobody judged are ignored ({listed(unknown, 3)})")
        return notes


def gains_of(
    judgements: Judgements, gains: GivenGains | None, number: IntArray, queries: int, hits: IntArray
) -> RealGains | None:
    """Return the gains of a judged run; None where its levels are its gains.

    Parameters
    ----------
    judgements, gains
        The qrels, and the gains that were given beside them.
    number
        For each query of the qrels its number in the run, -1 for queries that do not count.
    queries
        How many queries count.
    hits : (H,)
        The judgement of each hit.
    """
    worth = judgements.gain if gains is None else gains.worth(judgements).gain
    if worth is None:
        return None
    query = number[judgements.query]
    rows = np.flatnonzero((query >= 0) & (judgements.level >= 0))
    rows = rows[np.lexsort((-worth[rows], query[rows]))]
    starts = np.searchsorted(query[rows], np.arange(queries + 1))
    return RealGains(np.where(judgements.level >= 0, worth, 0.0)[hits], starts, worth[rows])
