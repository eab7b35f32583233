"""Runs that are in memory: their hits, looked up in their own hash tables where that can be.

A mapping already knows its documents by their ids, so that the judged ones are looked up in it and
no id is encoded. Ranks are counted among the sorted scores; ids matter where scores tie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import gt, lt
from typing import Any, Literal

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.formats.file_formats import Reading
from ragkpi.formats.given_columns import octets
from ragkpi.formats.in_memory import mapped_rows, run_blocks
from ragkpi.formats.score_order import ranked_once
from ragkpi.formats.tokens import FloatArray, IntArray
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.ranking.doubts import Beginning
from ragkpi.ranking.hits import JUDGED_ONLY, Hits, Wanted, find_hits
from ragkpi.ranking.judgements import Judgements, spelling_of
from ragkpi.records import dataclass

# How much of a mapping is looked at for what makes it doubtful: rankings, scores and documents of
# each. Less than of a file, for a small call takes half a millisecond.
_QUERIES, _SCORES, _DOCUMENTS = 5, 20, 4


@dataclass(frozen=True, eq=False)
class RunInMemory:
    """A run as it was given to a function: a mapping, rows or a data frame.

    `reading` says whether small scores are the better ones, and what is done with documents.
    """

    given: Any
    reading: Reading | None = None

    def read_as(self, reading: Reading | str | None) -> RunInMemory:
        """Return the run as it is to be read; the name of a format says nothing about it."""
        if not isinstance(reading, Reading) or reading == self.reading:
            return self
        return RunInMemory(self.given, reading)

    @cached_property
    def blocks(self) -> list[RunColumns]:
        """The run as columns; errors as `run_blocks` has them."""
        if self.reading is None:
            return run_blocks(self.given)
        if self.reading.subset is not None:
            raise UsageError(f"--subset {self.reading.subset}: only a path can hold subsets")
        shape = self.reading.shape
        blocks = run_blocks(self.given if shape is None else mapped_rows(self.given, shape))
        if shape is not None and not shape.score:
            blocks = [ranked_once(_by_rank(block)) for block in blocks]
        if self.reading.scores == "distance":
            blocks = [block._replace(score=-block.score) for block in blocks]
        return list(self.reading.sieve.run(blocks)) if self.reading.sieve else blocks

    def hits(self, judgements: Judgements, wanted: Wanted = JUDGED_ONLY) -> Hits:
        """Judge the run, as `find_hits`."""
        plain = wanted == JUDGED_ONLY and self.reading is None
        hits = find_mapping_hits(self.given, judgements) if plain else None
        return hits or find_hits(self.blocks, judgements, wanted)


def _by_rank(block: RunColumns) -> RunColumns:
    """Return a run whose numbers are ranks, as one of scores."""
    return block._replace(score=-block.score, by_rank=np.ones(len(block.score), dtype=bool))


def find_mapping_hits(run: Any, judgements: Judgements) -> Hits | None:
    """Judge a run ``{query: {document: score}}``; the result is that of `find_hits`.

    Returns
    -------
    Hits or None
        None for what has to be looked at row by row: ids that are no str, scores that are no
        numbers, anything but dictionaries.
    """
    if type(run) is not dict or set(map(type, run)) - {str}:
        return None
    queries = [query for query, ranking in run.items() if ranking != {}]
    if not queries:
        return None
    number = [judgements.index.get(octets(query), -1) for query in queries]
    judgement: list[int] = []
    ranks: list[IntArray] = []
    for query, judged in zip(queries, number, strict=True):
        ranking = run[query]
        if type(ranking) is not dict or set(map(type, ranking)) != {str}:
            return None
        score = _sorted_scores(ranking)
        if score is None:
            return None
        if judged >= 0:
            rows = judgements.rows_by_text(judged)
            documents = list(rows.keys() & ranking.keys())
            if documents:
                judgement += map(rows.__getitem__, documents)
                ranks.append(_ranks(ranking, documents, score, judgements.ties == "descending"))
    return Hits(
        queries=list(map(octets, queries)),
        query=np.array(number, dtype=np.int64),
        num_ret=np.array([len(run[query]) for query in queries], dtype=np.int64),
        judgement=np.array(judgement, dtype=np.int64),
        rank=np.concatenate(ranks) if ranks else np.empty(0, dtype=np.int64),
        run_id=b"run",
        documents=np.empty(0, dtype=np.uint64),
        beginning=_beginning(run, queries, number, judgements),
    )


def _beginning(
    run: Mapping[str, Mapping[str, float]],
    queries: Sequence[str],
    number: Sequence[int],
    judgements: Judgements,
) -> Beginning:
    """Look at the first rankings, and at the first documents of each."""
    documents: list[tuple[int, bytes]] = []
    rising = ordered = 0
    respelt: Literal["perhaps", "no"] = "no"
    for query, place in zip(queries[:_QUERIES], number[:_QUERIES], strict=True):
        ranking = run[query]
        scores = list(islice(ranking.values(), _SCORES))
        rises, falls = sum(map(lt, scores, scores[1:])), sum(map(gt, scores, scores[1:]))
        rising += rises > 1 and not falls
        ordered += rises + falls > 1
        if place < 0:
            continue
        judged, spellings = judgements.rows_by_text(place), judgements.spellings(place)
        for document in islice(ranking, _DOCUMENTS):
            documents.append((place, octets(document)))
            if document not in judged and spelling_of(document) in spellings:
                respelt = "perhaps"
    return Beginning(documents, rising, ordered, respelt)


def _sorted_scores(ranking: Mapping[str, Any]) -> FloatArray | None:
    """Return the scores, ascending; None if one is no number."""
    try:
        score = np.fromiter(ranking.values(), np.float64, len(ranking))
    except (TypeError, ValueError, OverflowError):
        return None
    score.sort()
    return None if np.isnan(score[-1]) else score  # NaN sorts to the end


def _ranks(
    ranking: Mapping[str, Any], documents: list[str], score: FloatArray, descending: bool
) -> IntArray:
    """Return the 1-based rank of each document; equal scores are ordered by id."""
    own = np.array([ranking[document] for document in documents], dtype=np.float64)
    upto = score.searchsorted(own, side="right")  # how many do not score more
    ranks: IntArray = len(score) - upto + 1
    tied = (score[upto - 2] == own) & (upto > 1)
    if tied.any():
        ids: dict[float, list[bytes]] = {value: [] for value in own[tied].tolist()}
        for document, value in ranking.items():
            if (ties := ids.get(float(value))) is not None:
                ties.append(octets(document))
        order = {
            value: {id_: below for below, id_ in enumerate(sorted(ties, reverse=descending))}
            for value, ties in ids.items()
        }
        for row in np.flatnonzero(tied).tolist():
            ranks[row] += order[float(own[row])][octets(documents[row])]
    return ranks
