"""Units of evidence: single queries, or clusters of queries that depend on each other.

The estimate stays the mean over queries; its uncertainty depends on the number of clusters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ragkpi.arrays import FloatArray, IntArray

Clusters = Mapping[bytes, str]
"""The cluster of every query that has one: paraphrases or turns of one topic."""
Unit: TypeAlias = "IntArray | None"
"""The unit of every query, (n,), from 0 to G - 1; None if each query is its own unit."""


def units_of(queries: Sequence[bytes], clusters: Clusters | None) -> Unit:
    """Number the units of queries: those of one cluster share it, others are alone.

    >>> units_of([b"1_1", b"1_2", b"2"], {b"1_1": "1", b"1_2": "1"})
    array([0, 0, 1])
    """
    if not clusters:
        return None
    units: dict[str | bytes, int] = {}
    of_query = clusters.get
    numbers = [units.setdefault(of_query(query, query), len(units)) for query in queries]
    return None if len(units) == len(queries) else np.array(numbers)


def numbered_units(queries: Sequence[bytes], clusters: Clusters | None) -> IntArray:
    """Number the units of queries, (n,), also if each query is its own unit."""
    unit = units_of(queries, clusters)
    return np.arange(len(queries)) if unit is None else unit


def by_unit(values: FloatArray, unit: Unit) -> FloatArray:
    """Add the values of queries, (n, ...), by unit, (G, ...)."""
    if unit is None:
        return values
    added = np.zeros((int(unit.max()) + 1, *values.shape[1:]))
    np.add.at(added, unit, values)
    return added


_TURN = re.compile(rb"(.+)[-_.:/#](?:turn|t|q|v|p)?\d+")


def turns_of(queries: Sequence[bytes]) -> Clusters:
    """Return the clusters that ids suggest: 31 for ``31_1`` and ``31_2``; else no clusters.

    >>> turns_of([b"31_1", b"31_2", b"32_1"])
    {b'31_1': '31', b'31_2': '31', b'32_1': '32'}
    """
    stems = {query: turn[1].decode(errors="replace") for query in queries
             if (turn := _TURN.fullmatch(query))}  # fmt: skip
    sizes = Counter(stems.values())
    several = len(sizes) > 1 and max(sizes.values()) > 1 and len(stems) == len(queries)
    return stems if several else {}


def rarest_seen(units: int, level: float = 0.95) -> int:
    """Return k: n units show a property of 1 in k units or more with this probability.

    A property of a share s of all units is absent from n units with a probability of (1 - s)^n.

    >>> rarest_seen(30)
    10
    """
    return max(2, math.floor(1 / -math.expm1(math.log1p(-level) / units)))
