"""Whether metrics suit the input: refusals of what cannot be computed, and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.errors import UsageError
from ragkpi.interface import option, request_text
from ragkpi.measures.measure import Caution, Metric, RelInfo, names_of
from ragkpi.measures.registry import all_measures
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements

# The formats of -R, and which measures read each.
REL_INFO: Mapping[str, RelInfo] = {
    "qrels": "qrels",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
    "qrels_prefs": "prefs",
}

# The nickname of the measures that are computed without -m.
_DEFAULTS: Mapping[RelInfo, str] = {
    "qrels": "official",
    "qrels_jg": "qrels_jg",
    "prefs": "prefs",
}


def default_requests(rel_info: str) -> list[str]:
    """Return the default of ``-m`` for a format; `UsageError` for an unknown one."""
    return [_DEFAULTS[_reads(rel_info)]]


def refuse_unserved(metrics: Sequence[Metric], rel_info: str, settings: Settings) -> None:
    """Raise `UsageError` if a metric cannot be computed from the format or under the settings.

    The message names every such measure, its needs, and measures that work instead.
    """
    _refuse_wrong_format(metrics, rel_info)
    if settings.ties == "expected":
        _refuse_ties(metrics, rel_info)
    if settings.gains is not None:
        _refuse_real_gains(metrics, rel_info)


def refuse_levels(metrics: Sequence[Metric], judgements: Judgements) -> None:
    """Raise `InputError` if qrels have fractional levels and a metric needs levels."""
    needing = dict.fromkeys(m.measure.name for m in metrics if m.measure.worth == "level")
    if needing and judgements.gain is not None:
        need = "needs" if len(needing) == 1 else "need"
        served = _names_taking_gains()
        judgements.refuse_gains(f"{', '.join(needing)} {need} levels; real gains serve {served}")


def _names_taking_gains() -> str:
    return ", ".join(n for n, measure in all_measures().items() if measure.worth == "gain")


def _refuse_real_gains(metrics: Sequence[Metric], rel_info: str) -> None:
    if rel_info != "qrels":
        raise UsageError(
            f"{option('gains')}: they are offered for plain qrels, not for "
            f"{option('rel_info')} {rel_info}"
        )
    if not any(metric.measure.worth == "gain" for metric in metrics):
        served = _names_taking_gains()
        raise UsageError(
            f"{option('gains')}: none of the measures takes gains; those that do: {served}"
        )
    for metric in metrics:
        if metric.arguments.get("gains"):
            raise UsageError(
                f"{request_text(metric.name)}: it says gains of levels, and "
                f"{option('gains')} those of documents; "
                "expected one of the two"
            )


def _refuse_ties(metrics: Sequence[Metric], rel_info: str) -> None:
    if rel_info != "qrels":
        raise UsageError(
            f"{option('ties')} expected: it is offered for plain qrels, not "
            f"for {option('rel_info')} {rel_info}"
        )
    names = dict.fromkeys(m.measure.name for m in metrics if m.measure.expectation is None)
    if names:
        known = [name for name, measure in all_measures().items() if measure.expectation]
        have = "has" if len(names) == 1 else "have"
        raise UsageError(
            f"{option('ties')} expected: {', '.join(names)} {have} no expected value over "
            f"orders of ties; "
            f"those that have: {', '.join(known)}"
        )


def _refuse_wrong_format(metrics: Sequence[Metric], rel_info: str) -> None:
    given = _reads(rel_info)
    wrong: dict[RelInfo, dict[str, None]] = {}
    for measure in (metric.measure for metric in metrics):
        if measure.reads not in ("any", given):
            wrong.setdefault(measure.reads, {})[measure.name] = None
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
        f"{option('rel_info')} {name}" for name, read in REL_INFO.items() if read == reads
    )


def cautions(judged: Judged, metrics: Sequence[Metric]) -> list[str]:
    """Return the warnings about metrics whose inputs break their assumptions, in their order."""
    concerned: dict[Caution, list[Metric]] = {}
    for metric in metrics:
        for caution in metric.measure.cautions:
            concerned.setdefault(caution, []).append(metric)
    return [line for caution, affected in concerned.items() for line in caution(judged, affected)]


def no_level_so_high(metrics: Sequence[Metric], judgements: Judgements) -> list[str]:
    """Warn of metrics whose own relevance level is above all judged levels."""
    highest = int(judgements.level.max(initial=-1))
    empty = [metric for metric in metrics if (metric.relevance_level or 0) > highest]
    if not empty:
        return []
    return [f"{names_of(empty)}: no document is relevant: the highest judged level is {highest}"]
