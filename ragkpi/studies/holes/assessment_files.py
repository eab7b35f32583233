"""Lists of documents to be judged, as assessors and as qrels want them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

UNJUDGED = -1


def assessment_lines(
    documents: Iterable[tuple[bytes, bytes, float, int, int]],
) -> Iterator[bytes]:
    """Write `query document share runs rank`, tab-separated under a head, the first one first."""
    yield b"query\tdocument\tshare\truns\tbest_rank\n"
    for query, document, share, runs, rank in documents:
        yield b"%b\t%b\t%.6g\t%d\t%d\n" % (query, document, share, runs, rank)


def open_qrels_lines(documents: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Write qrels lines whose level, -1 for "in the pool but unjudged", is to be replaced."""
    for query, document in documents:
        yield b"%b 0 %b %d\n" % (query, document, UNJUDGED)
