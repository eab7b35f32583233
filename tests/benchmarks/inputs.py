"""The inputs of the benchmarks: how large, how judged, how written."""

from __future__ import annotations

from dataclasses import dataclass

SPARSE = {1: 1.0}
GRADED = {0: 0.55, 1: 0.22, 2: 0.14, 3: 0.09}


@dataclass(frozen=True)
class Input:
    """One benchmark input.

    Attributes
    ----------
    queries, depth
        Size of the run.
    judgements
        Judged documents, all queries together; every query has at least one.
    retrieved
        Share of the judged documents that the run retrieves.
    grades
        Judged levels and how frequent they are.
    ids
        ``"numeric"``: MS MARCO v1 passages; ``"long"``: MS MARCO v2.1 segments.
    order
        ``"sorted"``; ``"unsorted"`` within each query; ``"shuffled"``, queries interleaved.
    scores
        ``"decimal"``: six decimals; ``"repr"``: the shortest text of a double, 15-17 digits;
        ``"exponent"``: such as ``1.234567e+01``; ``"tied"``: all equal.
    newline
        What ends a line of the run.
    seed
        Inputs that differ only in order, scores or newline share it, and so their rankings.
    """

    queries: int
    depth: int
    judgements: int
    retrieved: float
    grades: dict[int, float]
    ids: str = "numeric"
    order: str = "sorted"
    scores: str = "decimal"
    newline: bytes = b"\n"
    seed: int = 1


def _m(**changes: object) -> Input:
    return Input(1_000, 1_000, 1_066, 0.8, SPARSE, seed=3, **changes)  # type: ignore[arg-type]


INPUTS = {
    "S": Input(50, 100, 10_701, 0.25, GRADED, seed=1),
    "T": Input(54, 1_000, 11_386, 0.7, GRADED, seed=2),
    "M": _m(),
    "M-shuffled": _m(order="shuffled"),
    "M-unsorted": _m(order="unsorted"),
    "M-crlf": _m(newline=b"\r\n"),
    "M-17": _m(scores="repr"),
    "M-tied": _m(scores="tied"),
    "M-exponent": _m(scores="exponent"),
    "M10": Input(100, 1_000, 107, 0.8, SPARSE, seed=8),
    "M100": Input(10_000, 1_000, 10_660, 0.8, SPARSE, seed=9),
    "1M": Input(1, 1_000_000, 1_000, 0.8, SPARSE, seed=10),
    "P": Input(50, 1_000, 2_000, 0.5, GRADED, seed=11),
    "Q": Input(6_980, 30, 40_000, 0.5, GRADED, seed=12),
    "D10": Input(100, 100, 2_000, 0.7, GRADED, seed=13),
    "D": Input(1_000, 100, 20_000, 0.7, GRADED, seed=14),
    "D7": Input(7_000, 100, 140_000, 0.7, GRADED, seed=15),
    "L": Input(6_980, 1_000, 7_437, 0.8, SPARSE, seed=4),
    "Ld": Input(6_980, 1_000, 698_000, 0.524, GRADED, ids="long", seed=5),
    "XL": Input(50_000, 1_000, 53_300, 0.8, SPARSE, seed=6),
}
