"""Findings about a run beside its qrels: queries, spelling of ids, how much is judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ragkpi.formats.tokens import PADDING, Tokens
from ragkpi.studies.check.finding import Example, Found, Subject, first_examples
from ragkpi.wording import counted, listed, named

# Where the judged share is looked at.
_DEPTHS = (10, 100)


def nothing_relevant(subject: Subject) -> Found | None:
    """No judged document has the level of -l or a higher one, so nothing can be relevant."""
    if subject.judgements is None:
        return None
    highest = int(subject.judgements.level.max(initial=-1))
    level = subject.settings.relevance_level
    if highest >= level:
        return None
    return Found(1, f"-l {level} is above the highest judged level, {highest}")


def missing_queries(subject: Subject) -> Found | None:
    """Judged queries that the run lacks. 'ragkpi eval' leaves them out, with -c they count as 0."""
    if subject.judgements is None:
        return None
    present = set(subject.run.queries)
    missing = [query for query in subject.judgements.queries if query not in present]
    return _queries(missing, "judged query is", "judged queries are", "missing from the run")


def unknown_queries(subject: Subject) -> Found | None:
    """Queries of the run that are not judged; 'ragkpi eval' ignores them."""
    if subject.judgements is None:
        return None
    unknown = sorted(set(subject.run.queries) - set(subject.judgements.queries))
    return _queries(unknown, "query of the run is", "queries of the run are", "not judged")


def _queries(queries: list[bytes], singular: str, plural: str, words: str) -> Found | None:
    if not queries:
        return None
    text = f"{counted(len(queries), singular, plural)} {words}"
    return Found(len(queries), text, [Example(None, listed(queries))])


def query_spelling(subject: Subject) -> Found | None:
    """Unjudged query ids that are judged ones but for case or white space."""
    judgements = subject.judgements
    if judgements is None:
        return None
    run = subject.run
    judged = {_alike(query): query for query in judgements.queries}
    pairs = {
        number: judged[_alike(query)]
        for number, query in enumerate(run.queries)
        if query not in judgements.index and _alike(query) in judged
    }
    if not pairs:
        return None
    rows = run.first_row[np.array(list(pairs), dtype=np.int64)]
    return Found(
        len(pairs),
        f"{counted(len(pairs), 'query id differs', 'query ids differ')} from a judged one by case "
        "or white space alone",
        first_examples(
            run,
            rows,
            lambda row: (
                f"{ascii(run.queries[run.query[row]])[1:]} where the qrels have "
                f"{ascii(pairs[int(run.query[row])])[1:]}"
            ),
        ),
    )


def document_spelling(subject: Subject) -> Found | None:
    """Unjudged documents that are judged for their query but for case or white space."""
    if subject.judgements is None:
        return None
    run, judgements = subject.run, subject.judgements
    alike = replace(judgements, document=_all_alike(judgements.document))
    meant = subject.find(_all_alike(run.document), alike)
    misspelt = np.flatnonzero((meant >= 0) & (subject.judgement < 0))
    if not len(misspelt):
        return None
    return Found(
        len(misspelt),
        f"{counted(len(misspelt), 'document id differs', 'document ids differ')} from a judged one "
        "by case or white space alone",
        first_examples(
            run,
            misspelt,
            lambda row: (
                f"{ascii(run.document[row])[1:]} where the qrels have "
                f"{ascii(judgements.document[int(meant[row])])[1:]}"
            ),
        ),
    )


def _alike(octets: bytes) -> bytes:
    return b"".join(octets.lower().split())


def _all_alike(tokens: Tokens) -> Tokens:
    """Return ids in lower case without white space, ASCII's both."""
    if not len(tokens):
        return tokens
    first, last = int(tokens.start.min()), int(tokens.end.max())
    text = tokens.buffer[first - PADDING : last + PADDING]
    start, end = tokens.start - first + PADDING, tokens.end - first + PADDING
    white = np.flatnonzero(text <= ord(" "))
    if (np.searchsorted(white, end) > np.searchsorted(white, start)).any():
        return Tokens.from_strings(map(_alike, tokens))
    upper = (text - np.uint8(ord("A"))) < 26
    return Tokens(text | (upper.view(np.uint8) << np.uint8(5)), start, end)


def judged(subject: Subject) -> Found | None:
    """The judged share of the retrieved documents, over the judged queries of the run.

    A pool judges what the systems behind it retrieved: a low share makes a run look worse than
    it is. A query that retrieves fewer documents than the depth counts with what it has.
    """
    shares = _judged_shares(subject)
    if shares is None:
        return None
    parts = []
    for depth, (known, retrieved) in zip(_DEPTHS, shares, strict=True):
        percent = 100 * known / max(retrieved, 1)
        parts.append(f"{percent:.1f} % of the top {depth} ({known:,} of {retrieved:,})")
    return Found(shares[0][0], ", ".join(parts))


def nothing_judged(subject: Subject) -> Found | None:
    """No document of any ranking is judged down to rank 100: the ids may be of another kind.

    Passages where documents are judged, URLs where keys are, another collection.
    """
    shares = _judged_shares(subject)
    if shares is None or subject.judgements is None or shares[-1][0] or not shares[-1][1]:
        return None
    run, judgements = subject.run, subject.judgements
    text = (
        f"none of {counted(shares[-1][1], 'document')} is judged; the run has ids such as "
        f"{named(run.document[0])}, the qrels {named(judgements.document[0])}"
    )
    return Found(shares[-1][1], text)


def _judged_shares(subject: Subject) -> list[tuple[int, int]] | None:
    """Count the judged and all documents down to each depth; None without a judged query."""
    run, judgements = subject.run, subject.judgements
    if judgements is None:
        return None
    row = subject.judgement
    known = (row >= 0) & (judgements.level[row] >= 0)
    counted_query = (subject.judged_queries >= 0)[run.query]
    if not counted_query.any():
        return None
    rank = run.ranks
    ranked_known, ranked_counted = known[run.order], counted_query[run.order]
    return [
        (
            int(np.count_nonzero(ranked_known & ranked_counted & (rank <= depth))),
            int(np.count_nonzero(ranked_counted & (rank <= depth))),
        )
        for depth in _DEPTHS
    ]
