"""Which measures can be computed from which relevance format (-R)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.errors import UsageError
from ragkpi.measures.measure import Metric, RelInfo

# What -R may name, and what measures computed from it read.
REL_INFO: Mapping[str, RelInfo] = {
    "qrels": "qrels",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
    "qrels_prefs": "prefs",
}

# The nickname of what is computed if no measure is named.
_DEFAULTS: Mapping[RelInfo, str] = {
    "qrels": "official",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
}


def default_requests(rel_info: str) -> list[str]:
    """Return what ``-m`` is to be if it is not given; `UsageError` for an unknown format."""
    return [_DEFAULTS[_reads(rel_info)]]


def refuse_wrong_format(metrics: Sequence[Metric], rel_info: str) -> None:
    """Raise `UsageError` if a value cannot be computed from the relevance format of -R.

    Names every such measure, the -R that it needs, and what can be asked for instead.
    """
    given = _reads(rel_info)
    wrong: dict[RelInfo, list[str]] = {}
    for metric in metrics:
        if metric.measure.reads not in ("any", given):
            names = wrong.setdefault(metric.measure.reads, [])
            if metric.measure.name not in names:
                names.append(metric.measure.name)
    if not wrong:
        return
    needs = "; ".join(
        f"{', '.join(names)} {'needs' if len(names) == 1 else 'need'} {_options(reads)}"
        for reads, names in wrong.items()
    )
    serves = f"-R {rel_info} serves -m {_DEFAULTS[given]} and the like"
    raise UsageError(f"{needs}, not -R {rel_info}; {serves}")


def _reads(rel_info: str) -> RelInfo:
    try:
        return REL_INFO[rel_info]
    except KeyError:
        known = ", ".join(REL_INFO)
        raise UsageError(f"-R {rel_info}: no such format; expected {known}") from None


def _options(reads: RelInfo) -> str:
    return " or ".join(f"-R {name}" for name, what in REL_INFO.items() if what == reads)
