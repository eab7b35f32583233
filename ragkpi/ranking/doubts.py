"""What makes the values of a run doubtful whatever they are: every command says it.

A run whose ids are of another kind, or whose scores are distances, has values, and they are wrong.
Each doubt is one line. Under ``--strict`` it is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.interface import option
from ragkpi.ranking.judged import BoolArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.spelling import OF_DOCUMENTS, OF_QUERIES, queries_meant
from ragkpi.records import NamedTuple
from ragkpi.wording import counted, named

_TOP = 10
_MOST_OUTSIDE = 0.2  # share of the judged top documents that a pool may lack


class Beginning(NamedTuple):
    """A look at the first lines of a run.

    Attributes
    ----------
    documents
        The number of the query in the judgements, and a document's id; of judged queries.
    rising, ordered
        How many rankings have scores that only rise from line to line, and how many have
        different scores at all.
    """

    documents: list[tuple[int, bytes]]
    rising: int
    ordered: int


NOTHING = Beginning([], 0, 0)


def doubts(
    judged: Judged, judgements: Judgements, seen: Beginning, unknown: list[bytes]
) -> Iterator[str]:
    """Yield what makes the values of a judged run doubtful, a line each.

    Parameters
    ----------
    judged, judgements
        The run, and what it is judged by.
    seen
        Its first lines.
    unknown
        The ids of its queries that are not judged.
    """
    level = judged.settings.relevance_level
    highest = int(judgements.level.max(initial=-1))
    if highest < level and judgements.gain is None:
        yield (
            f"no document is relevant: {option('relevance_level')} {level} is above the "
            f"highest judged level, {highest}; "
            "give a lower one"
        )
    if judged.queries and not judged.num_ret.any():
        yield "no judged query is in the run: all values are those of empty rankings"
    yield from _queries_alike(judgements, unknown)
    alike = _documents_alike(judgements, seen)
    if alike:
        mine, theirs = alike[0]
        yield (
            f"{counted(len(alike), 'document id')} of the first {len(seen.documents)} "
            f"{'differs' if len(alike) == 1 else 'differ'} from judged ones {OF_DOCUMENTS}: "
            f"{named(mine)} where the qrels have {named(theirs)}; give both the same ids "
            f"({option('max_passage', '#')} folds passages)"
        )
    top = judged.rank <= _TOP
    retrieved = int(judged.num_ret.sum())
    if retrieved and not (top & (judged.level >= 0)).any():
        which = f"no document in the top {_TOP} of any query"
        if not (judged.level >= 0).any():
            which = f"none of the {counted(retrieved, 'document')} retrieved for judged queries"
        example = f" such as {named(seen.documents[0][1])}" if seen.documents else ""
        yield (
            f"{which} is judged: the run has ids{example}, the qrels such as "
            f"{named(judgements.document[0])}; are they of one collection?"
        )
    if seen.rising > seen.ordered / 2:
        yield (
            f"scores rise down the file in {seen.rising} of the first "
            f"{counted(seen.ordered, 'ranking')}: are they distances? The highest ranks first; "
            f"{option('scores', 'distance')} turns them round"
        )
    yield from _outside_pool(judged, top)


def _outside_pool(judged: Judged, top: BoolArray) -> Iterator[str]:
    if judged.pool is None or judged.settings.pool_union == "union":
        return
    hits = judged.judgement[top]
    lacking = int(np.count_nonzero(~np.isin(hits, judged.pool.judgement)))
    if lacking > _MOST_OUTSIDE * len(hits):
        yield (
            f"the pool lacks {lacking} of the {len(hits)} judged documents in the top {_TOP} of "
            f"the run, so the run was not selected from it; are RUN and {option('pool')} swapped?"
        )


def _queries_alike(judgements: Judgements, unknown: list[bytes]) -> Iterator[str]:
    meant = queries_meant(judgements.queries, unknown)
    if meant:
        mine, theirs = next(iter(meant.items()))
        yield (
            f"{counted(len(meant), 'query id')} of the run "
            f"{'differs' if len(meant) == 1 else 'differ'} from judged ones {OF_QUERIES}: "
            f"{named(mine)} where the qrels have {named(theirs)}"
        )


def _documents_alike(judgements: Judgements, seen: Beginning) -> list[tuple[bytes, bytes]]:
    """Return documents of the run that are not judged, each with the judged one it looks like."""
    rows = [judgements.spellings(query).meant(document) for query, document in seen.documents]
    return [
        (document, judgements.document[row])
        for (_, document), row in zip(seen.documents, rows, strict=True)
        if row >= 0
    ]
