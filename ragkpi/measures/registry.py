"""All measures, in the order in which they are printed, and the nicknames for sets of them.

The registry is data: `-m` parsing, the `measures` command, help and tests read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.measures import counts
from ragkpi.measures.aggregates import COUNT, LABEL, SUM
from ragkpi.measures.measure import Measure, Value
from ragkpi.measures.requests import parse_requests

_MEASURES = [
    Measure("runid", counts.runid, aggregate=LABEL, style="text", reads="any"),
    Measure("num_q", counts.num_q, aggregate=COUNT, style="integer", reads="any"),
    Measure("num_ret", counts.num_ret, aggregate=SUM, style="integer"),
    Measure("num_rel", counts.num_rel, aggregate=SUM, style="integer"),
    Measure("num_rel_ret", counts.num_rel_ret, aggregate=SUM, style="integer"),
]

REGISTRY: Mapping[str, Measure] = {measure.name: measure for measure in _MEASURES}

NICKNAMES: Mapping[str, Sequence[str]] = {}


def all_measures() -> Mapping[str, Measure]:
    """Return every measure by name, in printing order."""
    return REGISTRY


def find_values(texts: Sequence[str]) -> list[Value]:
    """Resolve ``-m`` arguments against all measures and nicknames."""
    return parse_requests(texts, all_measures(), NICKNAMES)
