"""Findings about a run and its qrels: queries, spelling of ids, how much is judged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkpi.ranking.spelling import OF_DOCUMENTS, OF_QUERIES, queries_meant
from ragkpi.studies.check.finding import DEPTHS, Asked, Finding, Found, Part
from ragkpi.studies.check.problems import Example
from ragkpi.wording import counted, listed, named


class NothingRelevant(Finding):
    """No judged document has the level of -l or a higher one, so nothing can be relevant."""

    def found(self) -> Found | None:
        if self.asked.judgements is None:
            return None
        highest = int(self.asked.judgements.level.max(initial=-1))
        level = self.asked.settings.relevance_level
        text = f"-l {level} is above the highest judged level, {highest}"
        return Found(1, text) if level > highest else None


class _Queries(Finding):
    """A comparison of the queries of the run with the judged ones."""

    words: tuple[str, str, str]

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.retrieved: set[bytes] = set()
        self.judged = [] if asked.judgements is None else asked.judgements.queries

    def see(self, part: Part) -> None:
        self.retrieved.update(part.run.queries)

    def differing(self) -> Sequence[bytes]:
        """Return the queries that one side lacks."""
        raise NotImplementedError

    def found(self) -> Found | None:
        queries = self.differing()
        if self.asked.judgements is None or not queries:
            return None
        singular, plural, what = self.words
        text = f"{counted(len(queries), singular, plural)} {what}"
        return Found(len(queries), text, [Example(None, listed(queries))])


class MissingQueries(_Queries):
    """Judged queries that the run lacks. 'ragkpi eval' leaves them out, with -c they count as 0."""

    words = "judged query is", "judged queries are", "missing from the run"

    def differing(self) -> Sequence[bytes]:
        return [query for query in self.judged if query not in self.retrieved]


class UnknownQueries(_Queries):
    """Queries of the run that are not judged; 'ragkpi eval' ignores them."""

    words = "query of the run is", "queries of the run are", "not judged"

    def differing(self) -> Sequence[bytes]:
        return sorted(self.retrieved - set(self.judged))


class QuerySpelling(Finding):
    """Unjudged query ids that are judged ones but for case, white space or leading zeros."""

    def see(self, part: Part) -> None:
        run, judgements = part.run, self.asked.judgements
        if judgements is None:
            return
        unknown = np.flatnonzero(part.judged_queries < 0)
        ids = [run.queries[number] for number in unknown.tolist()]
        meant = queries_meant(judgements.queries, ids) if ids else {}
        misspelt = unknown[[id_ in meant for id_ in ids]]

        def describe(row: int) -> str:
            query = run.queries[run.query[row]]
            return f"{ascii(query)[1:]} where the qrels have {ascii(meant[query])[1:]}"

        self.note(run, run.first_row[misspelt], describe)

    def text(self) -> str:
        differ = counted(self.count, "query id differs", "query ids differ")
        return f"{differ} from a judged one {OF_QUERIES}"


class DocumentSpelling(Finding):
    """Unjudged documents that are judged for their query but for case, white space, zeros or #.

    Leading zeros do not count, nor what follows a # (the number of a passage).
    """

    def see(self, part: Part) -> None:
        run, judgements = part.run, self.asked.judgements
        if judgements is None:
            return
        self.note(
            run,
            np.flatnonzero(part.meant >= 0),
            lambda row: (
                f"{ascii(run.document[row])[1:]} where the qrels have "
                f"{ascii(judgements.document[int(part.meant[row])])[1:]}"
            ),
        )

    def text(self) -> str:
        differ = counted(self.count, "document id differs", "document ids differ")
        return f"{differ} from a judged one {OF_DOCUMENTS}"


class _Shares(Finding):
    """How many documents of judged queries are judged, and how many there are, by depth."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.document = b""
        self.shares = np.zeros((len(DEPTHS), 2), dtype=np.int64)

    def see(self, part: Part) -> None:
        if self.asked.judgements is None or not len(part.run):
            return
        self.document = self.document or part.run.document[0]
        self.queries += int(np.count_nonzero(part.judged_queries >= 0))
        self.shares += part.shares


class JudgedShare(_Shares):
    """The judged share of the retrieved documents, over the judged queries of the run.

    A pool judges what the systems behind it retrieved: a low share makes a run look worse than
    it is. A query that retrieves fewer documents than the depth counts with what it has.
    """

    def found(self) -> Found | None:
        return Found(int(self.shares[0, 0]), self.text()) if self.queries else None

    def text(self) -> str:
        return ", ".join(
            f"{100 * judged / max(retrieved, 1):.1f} % of the top {depth} "
            f"({judged:,} of {retrieved:,})"
            for depth, (judged, retrieved) in zip(DEPTHS, self.shares.tolist(), strict=True)
        )


class NothingJudged(_Shares):
    """No document of any ranking is judged down to rank 100: the ids may be of another kind.

    Passages where documents are judged, URLs where keys are, another collection.
    """

    def found(self) -> Found | None:
        judged, retrieved = self.shares[-1].tolist()
        if self.asked.judgements is None or judged or not retrieved:
            return None
        text = (
            f"none of {counted(retrieved, 'document')} is judged; the run has ids such as "
            f"{named(self.document)}, the qrels {named(self.asked.judgements.document[0])}"
        )
        return Found(retrieved, text)
