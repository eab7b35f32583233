"""The answer of `eval --human` and `compare --human`: what people would say everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.statistics.bootstrap import Interval
from ragkpi.studies.agree.correction_study import CorrectedMetric, Correction
from ragkpi.wording import counted, listed, rounded

_FEW = 30  # queries: below, intervals lean on values that are not very skewed


def correction_answer(
    correction: Correction, question: str, runs: Sequence[str], judges: tuple[str, str]
) -> Answer:
    """Put a correction into words.

    Parameters
    ----------
    correction, question
        The correction, and the command that was asked for it.
    runs, judges
        What the runs are called; and people, and the other judge.
    """
    differences = correction.of == "differences"
    columns = [
        Column("measure"),
        Column("run"),
        Column("other", "decimal", signed=differences, digits=3, role="detail"),
        Column("people", "decimal", signed=differences, digits=3),
        Column("corrected", "decimal", signed=differences, digits=3),
        Column("believed", "decimal", digits=2, role="detail"),
        Column("worth", "decimal", digits=0),
        *(
            [Column("p", "decimal", role="detail"), Column("p_corrected", "decimal")]
            if differences
            else []
        ),
    ]
    rows = [_row(entry, runs, differences) for entry in correction.corrected]
    return Answer(
        question,
        Table(columns, rows, list(_notes(correction, runs, judges))),
        list(_sentences(correction, runs, judges)),
        _findings(correction, runs, judges),
        1,
    )


def _row(entry: CorrectedMetric, runs: Sequence[str], differences: bool) -> list[Cell]:
    result, style = entry.result, entry.metric.measure.style
    cells = [
        Cell(entry.metric.name),
        Cell(runs[entry.run]),
        Cell(result.other, style=style),
        Cell(result.human, _known(result.human_interval), style=style),
        Cell(result.estimate, _known(result.interval), style=style),
        Cell(result.tuning),
        Cell(result.worth),
    ]
    return [*cells, Cell(result.p), Cell(entry.p_corrected)] if differences else cells


def _known(interval: Interval) -> Interval | None:
    return None if math.isnan(interval.low) else interval


def _notes(correction: Correction, runs: Sequence[str], judges: tuple[str, str]) -> Iterator[str]:
    people, other = judges
    what = f"difference from {runs[0]}" if correction.of == "differences" else "value"
    yield (
        f"other: the {what} by {other} over {counted(correction.queries, 'query', 'queries')}; "
        f"people: by {people} over the {correction.judged} of them that they judged; corrected: "
        "what they would say over all of them (PPI++)"
    )
    yield (
        f"[low, high]: {correction.level * 100:.12g} % interval by Student's t; believed: how far "
        f"{other} is followed, 0 to 1; worth: judged queries that would give people alone that "
        "interval"
    )
    judged = correction.judged
    yield f"assumed: the {judged} queries are a random sample of all{_sampled(correction)}"
    if correction.left_out:
        left = counted(correction.left_out, "query", "queries")
        yield f"{left} judged by {people} alone left out"
    if judged < _FEW:
        yield f"{judged} queries are few: very skewed values need more for these intervals"
    rare = [entry.metric.name for entry in correction.corrected if entry.rare]
    if rare:
        yield (
            f"{', '.join(dict.fromkeys(rare))}: few judged queries have the rarer of two values, "
            "which makes the interval too narrow"
        )
    for metric, reason in correction.refused:
        yield f"{metric.name}: left out, {reason}"


def _sampled(correction: Correction) -> str:
    """Say whether they look like one, by the metric that doubts it most."""
    if not correction.sampling:
        return ""
    worst = min(correction.sampling, key=lambda sampling: sampling.p)
    style = worst.metric.measure.style
    judged, rest = (rounded(value, style) for value in (worst.judged, worst.rest))
    verdict = "they do not look like one" if worst.doubtful else "nothing speaks against it"
    return (
        f"; {verdict}: the other judge gives them {worst.metric.name} {judged}, "
        f"the others {rest} (p = {worst.p:.2g})"
    )


def doubts(correction: Correction) -> str:
    """Warn where the judged queries do not look like a random sample; empty where they do."""
    doubtful = [sampling.metric.name for sampling in correction.sampling if sampling.doubtful]
    if not doubtful:
        return ""
    return (
        "the queries that people judged do not look like a random sample: the other judge's "
        f"{listed([name.encode() for name in doubtful])} differs on them; what is corrected by "
        "them may be wrong"
    )


def _sentences(
    correction: Correction, runs: Sequence[str], judges: tuple[str, str]
) -> Iterator[str]:
    people, other = judges
    known = [entry for entry in correction.corrected if not math.isnan(entry.result.interval.low)]
    if not known:
        yield "Nothing can be corrected: no value varies among the queries that people judged."
        return
    for entry in known:
        yield _sentence(correction, entry, runs)
    worth = [entry.result.worth for entry in known]
    span = (
        f"{min(worth):.0f}"
        if max(worth) - min(worth) < 1
        else f"{min(worth):.0f} to {max(worth):.0f}"
    )
    gain = max(worth) / correction.judged - 1
    moral = (
        f"{other} makes the {correction.judged} queries of {people} worth {span}"
        if gain >= 0.05
        else f"{other} adds little to the {correction.judged} queries of {people}, worth {span}"
    )
    if any(sampling.doubtful for sampling in correction.sampling):
        moral += ", if they are a random sample, which they do not look like"
    yield f"{moral}."


def _sentence(correction: Correction, entry: CorrectedMetric, runs: Sequence[str]) -> str:
    style = entry.metric.measure.style
    signed = correction.of == "differences"
    estimate, low, high = (
        rounded(value, style, signed=signed)
        for value in (entry.result.estimate, *entry.result.interval)
    )
    if not signed:
        return (
            f"People would give {runs[entry.run]} {entry.metric.name} {estimate} [{low}, {high}]."
        )
    sign = entry.metric.measure.sign
    better = "better" if sign * entry.result.estimate > 0 else "worse"
    decided = "" if entry.p_corrected < 0.05 else ", which is undecided"
    return (
        f"By people, {runs[entry.run]} would be {better} than {runs[0]} by {entry.metric.name} "
        f"({estimate} [{low}, {high}], p = {entry.p_corrected:.2g}){decided}."
    )


def _findings(
    correction: Correction, runs: Sequence[str], judges: tuple[str, str]
) -> dict[str, Any]:
    return {
        "human": judges[0],
        "other": judges[1],
        "baseline": runs[0] if correction.of == "differences" else None,
        "judged": correction.judged,
        "queries": correction.queries,
        "left_out": correction.left_out,
        "level": correction.level,
        "corrected": [
            {
                "measure": entry.metric.name,
                "run": runs[entry.run],
                "other": entry.result.other,
                "human": entry.result.human,
                "human_interval": list(entry.result.human_interval),
                "estimate": entry.result.estimate,
                "interval": list(entry.result.interval),
                "believed": entry.result.tuning,
                "standard_error": entry.result.standard_error,
                "worth": entry.result.worth,
                **(
                    {"p": entry.result.p, "p_corrected": entry.p_corrected}
                    if len(runs) > 1 and correction.of == "differences"
                    else {}
                ),
            }
            for entry in correction.corrected
        ],
        "random_sample": [
            {
                "measure": sampling.metric.name,
                "judged": sampling.judged,
                "rest": sampling.rest,
                "p": sampling.p,
            }
            for sampling in correction.sampling
        ],
        "refused": [
            {"measure": metric.name, "reason": reason} for metric, reason in correction.refused
        ],
    }
