"""Findings about a run beside its qrels: queries, spelling of ids, how much is judged."""

from __future__ import annotations

import numpy as np

from ragkpi.ranking.spelling import OF_DOCUMENTS, OF_QUERIES, queries_meant
from ragkpi.studies.check.finding import DEPTHS, Asked, Example, Finding, Found, Part
from ragkpi.wording import counted, listed, named


class NothingRelevant(Finding):
    """No judged document has the level of -l or a higher one, so nothing can be relevant."""

    def found(self) -> Found | None:
        if self.asked.judgements is None:
            return None
        highest = int(self.asked.judgements.level.max(initial=-1))
        level = self.asked.settings.relevance_level
        if highest >= level:
            return None
        return Found(1, f"-l {level} is above the highest judged level, {highest}")


class _Queries(Finding):
    """Queries of the run, beside the judged ones."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._present: set[bytes] = set()

    def see(self, part: Part) -> None:
        self._present.update(part.run.queries)

    def _tell(self, queries: list[bytes], singular: str, plural: str, words: str) -> Found | None:
        if not queries:
            return None
        text = f"{counted(len(queries), singular, plural)} {words}"
        return Found(len(queries), text, [Example(None, listed(queries))])


class MissingQueries(_Queries):
    """Judged queries that the run lacks. 'ragkpi eval' leaves them out, with -c they count as 0."""

    def found(self) -> Found | None:
        judgements = self.asked.judgements
        judged = [] if judgements is None else judgements.queries
        missing = [query for query in judged if query not in self._present]
        return self._tell(missing, "judged query is", "judged queries are", "missing from the run")


class UnknownQueries(_Queries):
    """Queries of the run that are not judged; 'ragkpi eval' ignores them."""

    def found(self) -> Found | None:
        if self.asked.judgements is None:
            return None
        unknown = sorted(self._present - set(self.asked.judgements.queries))
        return self._tell(unknown, "query of the run is", "queries of the run are", "not judged")


class QuerySpelling(Finding):
    """Unjudged query ids that are judged ones but for case, white space or leading zeros."""

    def see(self, part: Part) -> None:
        run, judgements = part.run, self.asked.judgements
        unknown = np.flatnonzero(part.judged_queries < 0)
        if judgements is None or not len(unknown):
            return
        meant = queries_meant(
            judgements.queries, [run.queries[number] for number in unknown.tolist()]
        )
        if not meant:
            return
        misspelt = [number for number in unknown.tolist() if run.queries[number] in meant]
        self.count += len(misspelt)

        def describe(row: int) -> str:
            query = run.queries[run.query[row]]
            return f"{ascii(query)[1:]} where the qrels have {ascii(meant[query])[1:]}"

        rows = run.first_row[np.array(misspelt, dtype=np.int64)]
        self.note(run, rows[rows >= 0], describe)

    def found(self) -> Found | None:
        if not self.count:
            return None
        differ = counted(self.count, "query id differs", "query ids differ")
        return Found(self.count, f"{differ} from a judged one {OF_QUERIES}", self.examples)


class DocumentSpelling(Finding):
    """Unjudged documents that are judged for their query but for case, white space, zeros or #.

    Leading zeros do not count, nor what follows a # (the number of a passage).
    """

    def see(self, part: Part) -> None:
        run, judgements = part.run, self.asked.judgements
        if judgements is None:
            return
        misspelt = np.flatnonzero(part.meant >= 0)
        self.count += len(misspelt)
        self.note(
            run,
            misspelt,
            lambda row: (
                f"{ascii(run.document[row])[1:]} where the qrels have "
                f"{ascii(judgements.document[int(part.meant[row])])[1:]}"
            ),
        )

    def found(self) -> Found | None:
        if not self.count:
            return None
        differ = counted(self.count, "document id differs", "document ids differ")
        return Found(self.count, f"{differ} from a judged one {OF_DOCUMENTS}", self.examples)


class _Shares(Finding):
    """How many documents of judged queries are judged, and how many there are, to some depths."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._example = b""
        self.shares = [(0, 0) for _ in DEPTHS]

    def see(self, part: Part) -> None:
        run = part.run
        if self.asked.judgements is None or not len(run):
            return
        self._example = self._example or run.document[0]
        self.queries += int(np.count_nonzero(part.judged_queries >= 0))
        self.shares = [
            (judged + more_judged, retrieved + more_retrieved)
            for (judged, retrieved), (more_judged, more_retrieved) in zip(
                self.shares, part.shares, strict=True
            )
        ]


class JudgedShare(_Shares):
    """The judged share of the retrieved documents, over the judged queries of the run.

    A pool judges what the systems behind it retrieved: a low share makes a run look worse than
    it is. A query that retrieves fewer documents than the depth counts with what it has.
    """

    def found(self) -> Found | None:
        if not self.queries:
            return None
        parts = [
            f"{100 * judged / max(retrieved, 1):.1f} % of the top {depth} "
            f"({judged:,} of {retrieved:,})"
            for depth, (judged, retrieved) in zip(DEPTHS, self.shares, strict=True)
        ]
        return Found(self.shares[0][0], ", ".join(parts))


class NothingJudged(_Shares):
    """No document of any ranking is judged down to rank 100: the ids may be of another kind.

    Passages where documents are judged, URLs where keys are, another collection.
    """

    def found(self) -> Found | None:
        judged, retrieved = self.shares[-1]
        if self.asked.judgements is None or judged or not retrieved:
            return None
        text = (
            f"none of {counted(retrieved, 'document')} is judged; the run has ids such as "
            f"{named(self._example)}, the qrels {named(self.asked.judgements.document[0])}"
        )
        return Found(retrieved, text)
