"""Which measures can be computed from what was given: the relevance format (-R), the ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.errors import UsageError
from ragkpi.interface import option, request_text
from ragkpi.measures.measure import Metric, RelInfo
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings

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


def refuse_unserved(metrics: Sequence[Metric], rel_info: str, settings: Settings) -> None:
    """Raise `UsageError` if a value cannot be computed from the given qrels, or as settings say.

    Names every such measure, what it needs, and what can be asked for instead.
    """
    _refuse_wrong_format(metrics, rel_info)
    if settings.ties == "expected":
        _refuse_unexpected(metrics, rel_info)
    if settings.gains is not None:
        _refuse_two_gains(metrics, rel_info)


def refuse_levels(metrics: Sequence[Metric], judgements: Judgements) -> None:
    """Raise `InputError` if qrels have fractional levels and a value is computed from levels."""
    needing = dict.fromkeys(m.measure.name for m in metrics if m.measure.worth == "level")
    if needing and judgements.gain is not None:
        need = "needs" if len(needing) == 1 else "need"
        judgements.refuse_gains(
            f"{', '.join(needing)} {need} levels; real gains serve {', '.join(_served())}"
        )


def _served() -> list[str]:
    from ragkpi.measures.registry import all_measures

    return [name for name, measure in all_measures().items() if measure.worth == "gain"]


def _refuse_two_gains(metrics: Sequence[Metric], rel_info: str) -> None:
    if rel_info != "qrels":
        raise UsageError(
            f"{option('gains')}: they are offered for plain qrels, not for "
            f"{option('rel_info')} {rel_info}"
        )
    if not any(metric.measure.worth == "gain" for metric in metrics):
        raise UsageError(
            f"{option('gains')}: none of the measures takes gains; those that do: "
            f"{', '.join(_served())}"
        )
    for metric in metrics:
        if metric.arguments.get("gains"):
            raise UsageError(
                f"{request_text(metric.name)}: it says gains of levels, and "
                f"{option('gains')} those of documents; "
                "expected one of the two"
            )


def _refuse_unexpected(metrics: Sequence[Metric], rel_info: str) -> None:
    if rel_info != "qrels":
        raise UsageError(
            f"{option('ties')} expected: it is offered for plain qrels, not for "
            f"{option('rel_info')} {rel_info}"
        )
    names = dict.fromkeys(m.measure.name for m in metrics if m.measure.expectation is None)
    if names:
        from ragkpi.measures.registry import all_measures

        known = [name for name, measure in all_measures().items() if measure.expectation]
        have = "has" if len(names) == 1 else "have"
        raise UsageError(
            f"{option('ties')} expected: {', '.join(names)} {have} no expected value over "
            f"orders of ties; "
            f"those that have: {', '.join(known)}"
        )


def _refuse_wrong_format(metrics: Sequence[Metric], rel_info: str) -> None:
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
    serves = f"{option('rel_info')} {rel_info} serves {request_text(_DEFAULTS[given])} and the like"
    raise UsageError(f"{needs}, not {option('rel_info')} {rel_info}; {serves}")


def _reads(rel_info: str) -> RelInfo:
    try:
        return REL_INFO[rel_info]
    except KeyError:
        known = ", ".join(REL_INFO)
        raise UsageError(
            f"{option('rel_info')} {rel_info}: no such format; expected {known}"
        ) from None


def _options(reads: RelInfo) -> str:
    return " or ".join(
        f"{option('rel_info')} {name}" for name, what in REL_INFO.items() if what == reads
    )
