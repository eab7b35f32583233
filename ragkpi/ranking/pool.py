"""A run beside the pool that it was selected from, and the corpus that the pool comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.errors import UsageError
from ragkpi.files.lines import Tokens
from ragkpi.files.trec import QrelsColumns
from ragkpi.interface import option
from ragkpi.ranking.judge import judge
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.reading import Hits
from ragkpi.wording import named


def judge_pool(judgements: Judgements, pool: Hits, judged: Judged) -> Judged:
    """Judge a pool over the queries of the run that was selected from it.

    -M and -J are about the run and leave the pool as it is; ``settings.pool_depth`` cuts it.
    """
    settings = replace(
        judged.settings,
        max_retrieved=judged.settings.pool_depth,
        unjudged="kept",
        ties="id",
        gains=None,
    )
    return judge(judgements, pool, settings, queries=judged.queries)[0]


def outside_pool(
    judgements: Judgements, run: Hits, judged: Judged, read_pool: Callable[[Judgements], Hits]
) -> IntArray:
    """Find the documents of a run that its pool lacks, by reading the pool for them.

    Parameters
    ----------
    judgements
        The qrels.
    run
        A run with the names of its top documents.
    judged
        The same run, judged.
    read_pool
        Reads the pool; judgements to hits.

    Returns
    -------
    (M, 2)
        0-based query and 1-based rank, as in `judged`, of each top document that is not in the
        first ``settings.pool_depth`` documents of the pool.
    """
    settings, top = judged.settings, run.top
    number = judgements.places_among(judged.queries)
    if settings.unjudged == "removed":  # what is left has judgements, and new ranks
        query, rank = judged.query, judged.rank
        names = judgements.document.take(judged.judgement)
    else:
        query, rank, names = number[top.query][top.group], top.rank, top.document
    chosen = query >= 0
    if settings.max_retrieved is not None:
        chosen &= rank <= settings.max_retrieved
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(query[rows], kind="stable")]
    wanted = _as_judgements(judged.queries, query[rows], names.take(rows).tolist())
    pool = read_pool(wanted)
    depth = np.inf if settings.pool_depth is None else settings.pool_depth
    inside = np.zeros(len(rows), dtype=bool)
    inside[pool.judgement[pool.rank <= depth]] = True
    return np.stack([query[rows], rank[rows]], axis=1)[~inside]


def _as_judgements(queries: list[bytes], query: IntArray, documents: list[bytes]) -> Judgements:
    """Make judgements of documents, ordered by query: a run is read for judged documents."""
    nothing = np.zeros(len(documents), dtype=np.int64)
    ids = Tokens.from_strings([queries[number] for number in query.tolist()])
    columns = QrelsColumns("run", ids, ids, Tokens.from_strings(documents), nothing, nothing)
    return group_judgements(columns)


def count_documents(judgements: Judgements, runs: Iterable[Hits]) -> int:
    """Count the distinct documents of the qrels and of runs that were read for them."""
    hashes = np.concatenate([judgements.document.hashes(), *(run.documents for run in runs)])
    hashes.sort()  # np.unique hashes hashes, and takes ten times as long
    return int(np.count_nonzero(hashes[1:] != hashes[:-1])) + 1


def corpus_sizes(queries: list[bytes], settings: Settings, seen: int) -> IntArray:
    """Return how many documents could have been retrieved for each query, (Q,).

    Parameters
    ----------
    queries
        The evaluated queries.
    settings
        The sizes as given.
    seen
        The size where none is given at all.

    Raises
    ------
    UsageError
        If only single queries have a size, and not all of them.
    """
    given, sizes = settings.corpus_size, settings.corpus_sizes
    if given is None and not sizes:
        given = seen
    lacking = [query for query in queries if query not in sizes] if given is None else []
    if lacking:
        raise UsageError(
            f"{option('corpus_sizes')} has no line for query {named(lacking[0])} and "
            f"{len(lacking) - 1} others; expected each evaluated query there, or "
            f"{option('corpus_size')} for the rest"
        )
    return np.array([sizes.get(query, given) for query in queries], dtype=np.int64)
