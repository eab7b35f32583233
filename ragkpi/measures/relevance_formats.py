"""Which measures can be computed from which relevance format (-R)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.errors import UsageError
from ragkpi.measures.measure import RelevanceFormat, Value

# What -R may name, and what measures computed from it read.
RELEVANCE_FORMATS: Mapping[str, RelevanceFormat] = {
    "qrels": "qrels",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
    "qrels_prefs": "prefs",
}

# The nickname of what is computed if no measure is named.
_DEFAULTS: Mapping[RelevanceFormat, str] = {
    "qrels": "official",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
}


def default_requests(relevance_format: str) -> list[str]:
    """Return what ``-m`` is to be if it is not given; `UsageError` for an unknown format."""
    return [_DEFAULTS[_reads(relevance_format)]]


def refuse_wrong_format(values: Sequence[Value], relevance_format: str) -> None:
    """Raise `UsageError` if a value cannot be computed from the relevance format of -R.

    Names every such measure, the -R that it needs, and what can be asked for instead.
    """
    given = _reads(relevance_format)
    wrong: dict[RelevanceFormat, list[str]] = {}
    for value in values:
        if value.measure.reads not in ("any", given):
            names = wrong.setdefault(value.measure.reads, [])
            if value.measure.name not in names:
                names.append(value.measure.name)
    if not wrong:
        return
    needs = "; ".join(
        f"{', '.join(names)} {'needs' if len(names) == 1 else 'need'} {_options(reads)}"
        for reads, names in wrong.items()
    )
    serves = f"-R {relevance_format} serves -m {_DEFAULTS[given]} and the like"
    raise UsageError(f"{needs}, not -R {relevance_format}; {serves}")


def _reads(relevance_format: str) -> RelevanceFormat:
    try:
        return RELEVANCE_FORMATS[relevance_format]
    except KeyError:
        known = ", ".join(RELEVANCE_FORMATS)
        raise UsageError(f"-R {relevance_format}: no such format; expected {known}") from None


def _options(reads: RelevanceFormat) -> str:
    return " or ".join(f"-R {name}" for name, what in RELEVANCE_FORMATS.items() if what == reads)
