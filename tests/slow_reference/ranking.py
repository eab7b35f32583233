"""Rankings of judged levels, and the `Judged` that says the same in arrays."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ragkpi.ranking.judged import Judged

UNJUDGED, IN_POOL = -1, -2


@dataclass
class Topic:
    """One query: `levels` down the ranking, and how many documents of each level are judged."""

    query: bytes
    documents: list
    levels: list
    counts: Counter
    relevance_level: int
    corpus_size: int

    def relevant(self, level):
        return level >= 0 and level >= self.relevance_level

    @property
    def num_rel(self):
        return sum(count for level, count in self.counts.items() if self.relevant(level))


def topics(qrels, run, settings):
    """Rank and judge every query that is to be evaluated, in byte order."""
    evaluated = []
    for query in sorted(qrels):
        if settings.only_query not in (None, query):
            continue
        if query not in run and settings.missing == "intersection":
            continue
        ranked = sorted(
            ((score, document) for document, score in run.get(query, {}).items()), reverse=True
        )
        documents = [document for _, document in ranked][: settings.max_retrieved]
        if settings.unjudged == "removed":
            documents = [d for d in documents if qrels[query].get(d, UNJUDGED) >= 0]
        evaluated.append(
            Topic(
                query,
                documents,
                [_level(qrels[query], document) for document in documents],
                Counter(level for level in qrels[query].values() if level >= 0),
                settings.relevance_level,
                settings.corpus_sizes.get(query, settings.corpus_size or 0),
            )
        )
    return evaluated


def _level(judgements, document):
    if document not in judgements:
        return UNJUDGED
    return judgements[document] if judgements[document] >= 0 else IN_POOL


def judged_of(qrels, run, settings, run_id=b""):
    """Build what the fast path is to hand to the measures."""
    evaluated = topics(qrels, run, settings)
    rows = [(query, document) for query, levels in qrels.items() for document in levels]
    row_of = {pair: row for row, pair in enumerate(rows)}
    level_starts, levels, level_counts = [0], [], []
    starts, hits = [0], []
    for number, topic in enumerate(evaluated):
        for level in sorted(topic.counts):
            levels.append(level)
            level_counts.append(topic.counts[level])
        level_starts.append(len(levels))
        for rank, document in enumerate(topic.documents, start=1):
            if document in qrels[topic.query]:
                level = qrels[topic.query][document]
                hits.append((number, rank, level, row_of[topic.query, document]))
        starts.append(len(hits))
    query, rank, level, judgement = np.array(hits, dtype=np.int64).reshape(-1, 4).T
    return Judged(
        queries=[topic.query for topic in evaluated],
        num_ret=_integers([len(topic.documents) for topic in evaluated]),
        level_starts=_integers(level_starts),
        levels=_integers(levels),
        level_counts=_integers(level_counts),
        starts=_integers(starts),
        query=query.copy(),
        rank=rank.copy(),
        level=level.copy(),
        judgement=judgement.copy(),
        settings=settings,
        run_id=run_id,
        corpus_size=_integers([topic.corpus_size for topic in evaluated]),
    )


def _integers(numbers):
    return np.array(numbers, dtype=np.int64)
