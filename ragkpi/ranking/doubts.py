"""Doubts: signs in a run that make all of its values doubtful; every command tells them.

A run with ids of another kind, or with distances for scores, has values, but wrong ones.
Each doubt is one line. Under ``--strict`` it is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.interface import option
from ragkpi.ranking.hits import Beginning
from ragkpi.ranking.judged import BoolArray, Judged
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.spelling import OF_DOCUMENTS, OF_QUERIES, queries_meant
from ragkpi.wording import counted, named

_TOP = 10
_MOST_OUTSIDE = 0.2  # share of the judged top documents that a pool may lack


def doubts(
    judged: Judged, judgements: Judgements, seen: Beginning, unknown: list[bytes]
) -> Iterator[str]:
    """Yield the doubts about a judged run, a line each.

    Parameters
    ----------
    judged, judgements
        The run, and the qrels.
    seen
        The first lines of the run.
    unknown
        The queries of the run that are not judged.
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
    """Return unjudged documents of the run, each with the judged document that it looks like."""
    rows = [judgements.spellings(query).meant(document) for query, document in seen.documents]
    return [
        (document, judgements.document[row])
        for (_, document), row in zip(seen.documents, rows, strict=True)
        if row >= 0
    ]
