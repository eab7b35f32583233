"""All measures, in the order in which they are printed, and the nicknames for sets of them.

The registry is data: `-m` parsing, the `measures` command, help and tests read it. The lines
themselves stand in ``registry_*.py``, one file per source of measures.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from ragkpi.errors import UsageError
from ragkpi.measures import registry_prefs, registry_rag, registry_trec
from ragkpi.measures.measure import Measure, Metric
from ragkpi.measures.requests import apart, parse_requests
from ragkpi.records import replace

ENTRY_POINTS = "ragkpi.measures"

REGISTRY: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        *registry_trec.CLASSIC,
        *registry_prefs.PREFS_MEASURES,
        *registry_trec.LATER,
        *registry_rag.RAG_MEASURES,
    )
}

NICKNAMES: Mapping[str, Sequence[str]] = {
    **registry_trec.NICKNAMES,
    **registry_prefs.PREFS_NICKNAMES,
    **registry_rag.RAG_NICKNAMES,
}


def find_metrics(texts: Sequence[str]) -> list[Metric]:
    """Resolve ``-m`` arguments against all measures and nicknames."""
    return parse_requests(texts, REGISTRY, NICKNAMES, find_plugins)


def find_metrics_as_given(texts: Sequence[str]) -> list[Metric]:
    """Resolve ``-m`` arguments, and call what one stands for alone as it was asked for.

    >>> [metric.name for metric in find_metrics_as_given(["AP(rel=2)@100,MRR", "P.5,10"])]
    ['AP(rel=2)@100', 'MRR', 'P_5', 'P_10']
    """
    names: dict[str, str] = {}
    for text in apart(texts):
        metrics = find_metrics([text])
        if len(metrics) == 1 and text not in NICKNAMES:
            names.setdefault(metrics[0].name, text)
    return [
        replace(metric, name=names.get(metric.name, metric.name)) for metric in find_metrics(texts)
    ]


def all_measures() -> Mapping[str, Measure]:
    """Return every measure by name, in printing order, those of other packages last."""
    return {**REGISTRY, **find_plugins()}


@functools.cache
def find_plugins() -> Mapping[str, Measure]:
    """Return the measures of other installed packages, by name.

    A package offers them by an entry point of the group ``ragkpi.measures`` that loads to a
    `Measure` or a list of them. Looking for packages takes longer than a small evaluation, so ask
    only when a name is unknown or when every measure is to be listed.

    Raises
    ------
    UsageError
        If an entry point cannot be loaded, or offers a name that is taken.
    """
    from importlib.metadata import entry_points

    plugins: dict[str, Measure] = {}
    for entry_point in entry_points(group=ENTRY_POINTS):
        origin = f"{ENTRY_POINTS} entry point '{entry_point.name}' ({entry_point.value})"
        try:
            offered = entry_point.load()
        except Exception as problem:
            raise UsageError(f"{origin} cannot be loaded: {problem}; mend or uninstall it") from (
                problem
            )
        measures = [offered] if isinstance(offered, Measure) else list(offered)
        for measure in measures:
            if measure.name in REGISTRY or measure.name in NICKNAMES or measure.name in plugins:
                raise UsageError(f"{origin}: the name '{measure.name}' is taken; choose another")
            plugins[measure.name] = measure
    return plugins
