"""Small judgements and runs as text, dictionaries and arrays."""

import numpy as np
from hypothesis import strategies as st

from ragkpi.files.lines import Tokens
from ragkpi.files.trec import QrelsColumns
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.reading import JUDGED_ONLY
from ragkpi.ranking.reading import hits_of as found_hits
from ragkpi.ranking.reading import run_for as kernel_run
from tests.files.hostile import ids

queries = st.sampled_from([b"1", b"2", b"10", b"query-1", b"query-2", b"\xff"])
judged = st.dictionaries(queries, st.dictionaries(ids, st.integers(-1, 3), min_size=1), min_size=1)
scores = st.sampled_from([1.0, 1 + 2**-52, 2.0, 2.5, -3.0, 0.0, -0.0]) | st.floats(allow_nan=False)
retrieved = st.dictionaries(queries, st.dictionaries(ids, scores, min_size=1), min_size=1)


def judgements_of(qrels):
    rows = [(query, d, level) for query, levels in qrels.items() for d, level in levels.items()]
    columns = [[row[column] for row in rows] for column in range(3)]
    return group_judgements(
        QrelsColumns(
            "qrels",
            Tokens.from_strings(columns[0]),
            Tokens.from_strings([b"0"] * len(rows)),
            Tokens.from_strings(columns[1]),
            np.array(columns[2], dtype=np.int64),
            np.arange(1, len(rows) + 1),
        )
    )


def hits_of(run, judgements, wanted=JUDGED_ONLY):
    """Judge a run of bytes in memory, line for line as a file of it."""
    reader = kernel_run(judgements, wanted, held=False)
    reader.feed(b"".join(lines_of(run)))
    return found_hits(judgements, reader, reader.finish(), reader.run_id())


def lines_of(run):
    return [
        b"%s Q0 %s 1 %r tag\n" % (query, document, score)
        for query, ranking in run.items()
        for document, score in ranking.items()
    ]


def ranking(of_query, ties="descending"):
    """Documents by falling score, and by id where scores tie."""
    by_id = sorted(of_query, reverse=ties == "descending")
    return sorted(by_id, key=of_query.__getitem__, reverse=True)
