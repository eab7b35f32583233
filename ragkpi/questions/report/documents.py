"""The documents of queries: rankings of runs, positions of relevant documents, and texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any, Literal, TypeAlias

import numpy as np

from ragkpi.files.query_files import Text, read_texts, texts_of_run
from ragkpi.library.session import Session
from ragkpi.measures.measure import Metric
from ragkpi.questions.report.standings import ReportedRun
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import DEEPEST, Hits, RunParts

DEPTH = 100  # documents to show per query and run
_MOST_PLACES = 100_000  # in all rankings together: about 2 MB

# The first documents of a run by query index in the judgements: id and judgement row, or -1.
_Rankings: TypeAlias = Mapping[int, Sequence[tuple[bytes, int]]]


Detail = dict[str, Any]
"""A query and its documents under ``schema.json#/$defs/query_detail``, with ids as bytes."""


def telling_queries(runs: Sequence[ReportedRun], main: Metric, most: int) -> list[int]:
    """Return the queries whose documents to show, largest differences between runs first.

    Queries without a difference, or of a single run, are sorted worst first.
    """
    values = np.array([run.scores[main.name].per_query for run in runs], dtype=np.float64)
    values = np.nan_to_num(values * main.measure.sign, nan=0.0, posinf=1e308, neginf=-1e308)
    spread = values.max(axis=0) - values.min(axis=0)
    order = np.lexsort((values.mean(axis=0), -spread))
    return [int(query) for query in order[: min(most, _MOST_PLACES // (len(runs) * DEPTH))]]


def query_details(
    session: Session, runs: Sequence[ReportedRun], hits: Sequence[Hits], queries: Sequence[int]
) -> list[Detail]:
    """Collect the documents of queries, by number, down to `DEPTH` of each run.

    `hits` were read with the names of documents to that depth.
    """
    if not queries:
        return []
    judgements, ids = session.judgements, runs[0].scores.queries
    shown = {judgements.index[ids[query]] for query in queries}
    rankings = [_rankings(run, judgements, shown, session.settings, DEPTH) for run in hits]
    pool: _Rankings = {}
    if session.pool is not None:
        of_pool = session.read_pool(judgements, RunParts(depth=DEEPEST))
        pool = _rankings(of_pool, judgements, shown, Settings(), DEEPEST)
    judged = [run.judged for run in runs if run.judged]
    return [_detail(query, ids[query], judged, rankings, pool, judgements) for query in queries]


def _rankings(
    hits: Hits, judgements: Judgements, queries: Set[int], settings: Settings, depth: int
) -> _Rankings:
    """Name the documents of queries; -J leaves out unjudged ones, -M cuts the ranking."""
    rankings = {}
    top, rows_of_hits = hits.top, hits.rows_of_top(judgements)
    judgement = np.full(len(top.document), -1)
    judgement[rows_of_hits[rows_of_hits >= 0]] = hits.judgement[rows_of_hits >= 0]
    for group, query in enumerate(top.query.tolist()):
        if query not in queries:
            continue
        rows = np.arange(top.starts[group], top.starts[group + 1])
        if settings.unjudged == "removed":
            rows = rows[(judgement[rows] >= 0) & (judgements.level[judgement[rows]] >= 0)]
        rows = rows[:depth][: settings.max_retrieved]
        names = top.document.take(rows).tolist()
        rankings[query] = list(zip(names, judgement[rows].tolist(), strict=True))
    return rankings


def _detail(
    query: int,
    id_: bytes,
    judged: Sequence[Judged],
    rankings: Sequence[_Rankings],
    pool: _Rankings,
    judgements: Judgements,
) -> Detail:
    """Collect the documents of a query."""
    number = judgements.index[id_]
    rows = np.arange(judgements.starts[number], judgements.starts[number + 1])
    rows = rows[judgements.level[rows] >= max(judged[0].settings.relevance_level, 1)]
    relevant = list(zip(judgements.document.take(rows).tolist(), rows.tolist(), strict=True))
    tops = [ranking.get(number, ()) for ranking in rankings]
    row_of = {name: row for documents in (*tops, relevant) for name, row in documents}
    place = {name: number for number, name in enumerate(row_of)}
    levels = [int(judgements.level[row]) if row >= 0 else -1 for row in row_of.values()]
    pool_rank = {name: rank for rank, (name, _) in enumerate(pool.get(number, ()), start=1)}
    below = []
    for run, top in zip(judged, tops, strict=True):
        hits = slice(int(run.starts[query]), int(run.starts[query + 1]))
        rank_of = dict(zip(run.judgement[hits].tolist(), run.rank[hits].tolist(), strict=True))
        ranks = [[place[name], rank_of.get(row, 0)] for name, row in relevant]
        below.append([pair for pair in ranks if pair[1] > len(top)])
    return {
        "query": query,
        "documents": list(place),
        "levels": [level if level >= 0 else None for level in levels],
        "pool_ranks": [pool_rank.get(name) for name in place] if pool else [],
        "rankings": [[place[name] for name, _ in top] for top in tops],
        "below": below,
    }


BUDGET = 3_800_000  # bytes of all texts of documents together
LONGEST = 2_000  # characters of a text
_FIRST = 10  # people read the first documents of a run, and skim the rest
_FAVOUR = 8  # factor by which texts of first and of relevant documents may be longer

TextSource = str | Mapping[bytes, Text] | None  # the path of a file of texts, or texts by id


def page_texts(
    details: Sequence[Detail],
    queries: Collection[bytes],
    query_texts: TextSource,
    document_texts: TextSource,
    run_files: Iterable[str],
) -> tuple[dict[bytes, Text], dict[bytes, Text]]:
    """Read the texts of queries and of documents that the page shows, by id.

    Run files can contain texts, used for ids without another text. Texts are cut so that all fit.
    """
    names = {name for detail in details for name in detail["documents"]}
    documents: dict[bytes, Text] = {}
    of_queries: dict[bytes, Text] = {}
    for path in run_files:
        in_queries, in_documents = texts_of_run(path)
        of_queries |= _among(in_queries, queries)
        documents |= _among(in_documents, names)
    of_queries |= _texts(query_texts, queries)
    documents |= _texts(document_texts, names)
    favoured = {
        name
        for detail in details
        for document, name in enumerate(detail["documents"])
        if (detail["levels"][document] or 0) > 0
        or any(document in ranking[:_FIRST] for ranking in detail["rankings"])
    }
    shares = sum(_FAVOUR if id_ in favoured else 1 for id_ in documents)
    share = BUDGET // max(shares, 1)
    cut = {id_: _cut(text, LONGEST, BUDGET) for id_, text in of_queries.items()}
    return cut, {
        id_: _cut(text, LONGEST, share * _FAVOUR if id_ in favoured else share)
        for id_, text in documents.items()
    }


def _texts(source: TextSource, ids: Collection[bytes]) -> Mapping[bytes, Text]:
    return read_texts(source, ids) if isinstance(source, str) else _among(source or {}, ids)


def _among(texts: Mapping[bytes, Text], ids: Collection[bytes]) -> Mapping[bytes, Text]:
    return {id_: text for id_, text in texts.items() if id_ in ids}


def _cut(text: Text, characters: int, octets: int) -> Text:
    """Cut a text to a number of characters, and to a number of bytes."""
    head, length = text
    encoded = head[:characters].encode("utf-8", "surrogatepass")
    rest: Literal["ignore", "surrogatepass"]
    rest = "ignore" if len(encoded) > octets else "surrogatepass"  # part of a character
    return Text((encoded[:octets].decode("utf-8", rest), length))
