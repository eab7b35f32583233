"""Notes and doubts about a run, one line each, which every command prints.

A doubt is a sign that all values of a run are wrong: ids of another kind, distances instead of
scores. With ``--strict`` it is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragkpi.arrays import BoolArray
from ragkpi.files.lines import Tokens
from ragkpi.interface import spell
from ragkpi.ranking.judge import Coverage
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import (
    JUDGES_NOTHING,
    OF_DOCUMENTS,
    OF_QUERIES,
    Judgements,
    longer_and_shorter,
    queries_meant,
)
from ragkpi.ranking.reading import Beginning
from ragkpi.wording import counted, listed, named, named_apart

_TOP = 10
_MOST_OUTSIDE = 0.2  # the share of judged top documents outside the pool that is tolerated


def doubts(
    judged: Judged, judgements: Judgements, sample: Beginning, unknown: list[bytes]
) -> Iterator[str]:
    """Yield doubts about a judged run; its `unknown` queries are not in the qrels."""
    level = judged.settings.relevance_level
    highest = int(judgements.level.max(initial=-1))
    if highest < level and judgements.gain is None:
        above = (
            f"{spell('relevance_level')} {level} is above the highest judged level, {highest}; "
            "give a lower one"
        )
        yield f"no document is relevant: {above if highest >= 0 else JUDGES_NOTHING}"
    if judged.queries and not judged.num_ret.any():
        yield "no document is retrieved for any evaluated query: all rankings are empty"
    if similar := list(queries_meant(judgements.queries, unknown).items()):
        count = counted(len(similar), "query id of the run differs", "query ids of the run differ")
        yield f"{count} {_from_judged(similar, OF_QUERIES)}"
    if pairs := _documents_alike(judgements, sample):
        count = counted(len(pairs), "document id differs", "document ids differ")
        yield (
            f"of the first {len(sample.documents)} documents {count} "
            f"{_from_judged(pairs, OF_DOCUMENTS)}; give both the same ids "
            f"({spell('max_passage', '#')} folds passages)"
        )
    top = judged.rank <= _TOP
    retrieved = int(judged.num_ret.sum())
    if retrieved and not (top & (judged.level >= 0)).any():
        which = f"no document in the top {_TOP} of any query"
        if not (judged.level >= 0).any():
            which = f"none of the {counted(retrieved, 'document')} retrieved for judged queries"
        retrieved_ids = [document for _, document in sample.documents]
        judged_ids = [judgements.document[row] for row in range(min(100, len(judgements.document)))]
        mine = f" such as {named(retrieved_ids[0])}" if retrieved_ids else ""
        advice = "are they from the same collection? 'ragkpi inspect' compares their ids"
        if pair := longer_and_shorter(judged_ids, retrieved_ids):
            advice = f"{named(pair[0])} and {named(pair[1])} differ by a part: "
            advice += f"{spell('max_passage', '#')} folds chunks into documents"
        theirs = named(judgements.document[0])
        yield f"{which} is judged: the run has ids{mine}, the qrels such as {theirs}; {advice}"
    if sample.rising > sample.ordered / 2:
        yield (
            f"scores increase down the file in {sample.rising} of the first "
            f"{counted(sample.ordered, 'ranking')}: are they distances? The highest score ranks "
            "first; "
            f"{spell('score_order', 'distance')} reverses that"
        )
    if 2 * sample.flat > sample.several:
        yield (
            f"all documents have the same score in {sample.flat} of the first "
            f"{counted(sample.several, 'ranking')}: their ids decide the order"
        )
    yield from _outside_pool(judged, top)


def _from_judged(pairs: Sequence[tuple[bytes, bytes]], how: str) -> str:
    mine, theirs = named_apart(*pairs[0])
    return f"from judged ones {how}: {mine} where the qrels have {theirs}"


def _outside_pool(judged: Judged, top: BoolArray) -> Iterator[str]:
    if judged.pool is None or judged.settings.pool_union == "union":
        return
    hits = judged.judgement[top]
    outside = int(np.count_nonzero(~np.isin(hits, judged.pool.judgement)))
    if outside > _MOST_OUTSIDE * len(hits):
        yield (
            f"the pool lacks {outside} of the {len(hits)} judged documents in the top {_TOP} of "
            f"the run, so the run was not selected from it; are RUN and {spell('pool')} swapped?"
        )


def _documents_alike(judgements: Judgements, sample: Beginning) -> list[tuple[bytes, bytes]]:
    """Return unjudged documents of the run with the judged documents they resemble."""
    queries = np.array([query for query, _ in sample.documents], dtype=np.int64)
    documents = [document for _, document in sample.documents]
    rows = judgements.meant(queries, Tokens.from_strings(documents)).tolist()
    pairs = zip(documents, rows, strict=True)
    return [(document, judgements.document[row]) for document, row in pairs if row >= 0]


def coverage_notes(coverage: Coverage, settings: Settings) -> list[str]:
    """Return notes on queries that are left out."""
    notes = []
    if coverage.missing and settings.missing == "intersection":
        one = len(coverage.missing) == 1
        notes.append(
            f"{_missing_from('the run', coverage)} and left out; "
            f"{spell('missing', 'zero')} counts {'it' if one else 'them'} as 0"
        )
    if coverage.unjudged:
        are = counted(len(coverage.unjudged), "query of the run is", "queries of the run are")
        notes.append(f"{are} unjudged and ignored ({listed(coverage.unjudged, 3)})")
    return notes


def missing_notes(names: Sequence[str], coverages: Sequence[Coverage]) -> list[str]:
    """Name the runs, at least one, without some of the queries, which count as empty rankings."""
    runs = zip(names, coverages, strict=True)
    incomplete = [(name, coverage) for name, coverage in runs if coverage.missing]
    common = f"{spell('missing', 'common')}: only queries that all runs have"
    if len(incomplete) == 1:
        one = len(incomplete[0][1].missing) == 1
        counts, it = ("counts", "it") if one else ("count", "them")
        alone = f"trec_eval leaves {it} out"
        hint = alone if len(names) == 1 else common
        return [f"{_missing_from(*incomplete[0])} and {counts} as 0 ({hint})"]
    worst = max(len(coverage.missing) for _, coverage in incomplete)
    judged = incomplete[0][1].judged
    number = f"{worst}" if all(len(c.missing) == worst for _, c in incomplete) else f"up to {worst}"
    return [
        f"{len(incomplete)} of {len(names)} runs lack {number} of {judged} judged queries; "
        f"they count as 0 ({common})"
    ]


def _missing_from(run: str, coverage: Coverage) -> str:
    number = len(coverage.missing)
    are = "is" if number == 1 else "are"
    return (
        f"{number} of {coverage.judged} judged queries {are} missing from {run} "
        f"({listed(coverage.missing, 3)})"
    )


def judgement_notes(judgements: Judgements, settings: Settings) -> list[str]:
    """Return notes on how ragkpi interprets the judgements."""
    if settings.gains is not None:
        return settings.gains.notes(judgements, settings.relevance_level)
    if judgements.gain is not None:
        return [f"{judgements.file} has fractional levels, which are read as gains"]
    return []


def unanswerable_notes(queries: Sequence[bytes], unanswerable: BoolArray) -> list[str]:
    """Name the queries without relevant documents."""
    nothing = [queries[place] for place in np.flatnonzero(unanswerable).tolist()]
    have, it = ("has", "it") if len(nothing) == 1 else ("have", "them")
    return [
        f"{len(nothing)} of {len(queries)} queries {have} no relevant document "
        f"({listed(nothing, 3)}): recall, nDCG and success are 0 for {it}"
    ]


def assumption_notes(judged: Judged, size: int) -> list[str]:
    """Return notes on an assumed corpus `size` and the pool's gaps."""
    notes = []
    if size:
        notes.append(
            f"corpus size unknown: N = {size}, the documents seen, makes every bor a lower "
            f"bound; give the real one with {spell('corpus_size')} or RAGKPI_CORPUS_SIZE"
        )
    if judged.pool is not None:
        empty = [q for q, n in zip(judged.queries, judged.pool.num_ret, strict=True) if not n]
        if empty:
            are = counted(len(empty), "evaluated query is", "evaluated queries are")
            which = f"({listed(empty, 3)})"
            notes.append(f"{are} missing from the pool {which}: no evidence is reachable for it")
    return notes


def concerning(lines_of: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each line about runs once, with the names of its runs unless it concerns all."""
    runs: dict[str, list[str]] = {}
    for name, lines in lines_of.items():
        for line in lines:
            runs.setdefault(line, []).append(name)
    return [
        line if len(named) == len(lines_of) else f"{line} ({', '.join(named)})"
        for line, named in runs.items()
    ]
