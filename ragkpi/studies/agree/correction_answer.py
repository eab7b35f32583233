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
    found: Correction, question: str, runs: Sequence[str], judges: tuple[str, str]
) -> Answer:
    """Put a correction into words.

    Parameters
    ----------
    found, question
        The correction, and the command that was asked for it.
    runs, judges
        What the runs are called; and people, and the other judge.
    """
    differences = found.of == "differences"
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
    rows = [_row(one, runs, differences) for one in found.corrected]
    return Answer(
        question,
        Table(columns, rows, list(_notes(found, runs, judges))),
        list(_sentences(found, runs, judges)),
        _findings(found, runs, judges),
        1,
    )


def _row(one: CorrectedMetric, runs: Sequence[str], differences: bool) -> list[Cell]:
    found, style = one.found, one.metric.measure.style
    cells = [
        Cell(one.metric.name),
        Cell(runs[one.run]),
        Cell(found.other, style=style),
        Cell(found.human, _known(found.human_interval), style=style),
        Cell(found.estimate, _known(found.interval), style=style),
        Cell(found.tuning),
        Cell(found.worth),
    ]
    return [*cells, Cell(found.p), Cell(one.p_corrected)] if differences else cells


def _known(interval: Interval) -> Interval | None:
    return None if math.isnan(interval.low) else interval


def _notes(found: Correction, runs: Sequence[str], judges: tuple[str, str]) -> Iterator[str]:
    people, other = judges
    what = f"difference from {runs[0]}" if found.of == "differences" else "value"
    yield (
        f"other: the {what} by {other} over {counted(found.queries, 'query', 'queries')}; people: "
        f"by {people} over the {found.judged} of them that they judged; corrected: what they "
        "would say over all of them (PPI++)"
    )
    yield (
        f"[low, high]: {found.level * 100:.12g} % interval by Student's t; believed: how far "
        f"{other} is followed, 0 to 1; worth: judged queries that would give people alone that "
        "interval"
    )
    yield f"assumed: the {found.judged} queries are a random sample of all{_sampled(found)}"
    if found.left_out:
        left = counted(found.left_out, "query", "queries")
        yield f"{left} judged by {people} alone left out"
    if found.judged < _FEW:
        yield f"{found.judged} queries are few: very skewed values need more for these intervals"
    rare = [one.metric.name for one in found.corrected if one.rare]
    if rare:
        yield (
            f"{', '.join(dict.fromkeys(rare))}: few judged queries have the rarer of two values, "
            "which makes the interval too narrow"
        )
    for metric, reason in found.refused:
        yield f"{metric.name}: left out, {reason}"


def _sampled(found: Correction) -> str:
    """Say whether they look like one, by the metric that doubts it most."""
    if not found.sampling:
        return ""
    worst = min(found.sampling, key=lambda one: one.p)
    style = worst.metric.measure.style
    judged, rest = (rounded(value, style) for value in (worst.judged, worst.rest))
    verdict = "they do not look like one" if worst.doubtful else "nothing speaks against it"
    return (
        f"; {verdict}: the other judge gives them {worst.metric.name} {judged}, "
        f"the others {rest} (p = {worst.p:.2g})"
    )


def doubts(found: Correction) -> str:
    """Warn where the judged queries do not look like a random sample; empty where they do."""
    doubtful = [one.metric.name for one in found.sampling if one.doubtful]
    if not doubtful:
        return ""
    return (
        "the queries that people judged do not look like a random sample: the other judge's "
        f"{listed([name.encode() for name in doubtful])} differs on them; what is corrected by "
        "them may be wrong"
    )


def _sentences(found: Correction, runs: Sequence[str], judges: tuple[str, str]) -> Iterator[str]:
    people, other = judges
    known = [one for one in found.corrected if not math.isnan(one.found.interval.low)]
    if not known:
        yield "Nothing can be corrected: no value varies among the queries that people judged."
        return
    for one in known:
        yield _sentence(found, one, runs)
    worth = [one.found.worth for one in known]
    span = (
        f"{min(worth):.0f}"
        if max(worth) - min(worth) < 1
        else f"{min(worth):.0f} to {max(worth):.0f}"
    )
    gain = max(worth) / found.judged - 1
    moral = (
        f"{other} makes the {found.judged} queries of {people} worth {span}"
        if gain >= 0.05
        else f"{other} adds little to the {found.judged} queries of {people}, worth {span}"
    )
    if any(one.doubtful for one in found.sampling):
        moral += ", if they are a random sample, which they do not look like"
    yield f"{moral}."


def _sentence(found: Correction, one: CorrectedMetric, runs: Sequence[str]) -> str:
    style = one.metric.measure.style
    signed = found.of == "differences"
    estimate, low, high = (
        rounded(value, style, signed=signed) for value in (one.found.estimate, *one.found.interval)
    )
    if not signed:
        return f"People would give {runs[one.run]} {one.metric.name} {estimate} [{low}, {high}]."
    sign = one.metric.measure.sign
    better = "better" if sign * one.found.estimate > 0 else "worse"
    decided = "" if one.p_corrected < 0.05 else ", which is undecided"
    return (
        f"By people, {runs[one.run]} would be {better} than {runs[0]} by {one.metric.name} "
        f"({estimate} [{low}, {high}], p = {one.p_corrected:.2g}){decided}."
    )


def _findings(found: Correction, runs: Sequence[str], judges: tuple[str, str]) -> dict[str, Any]:
    return {
        "human": judges[0],
        "other": judges[1],
        "baseline": runs[0] if found.of == "differences" else None,
        "judged": found.judged,
        "queries": found.queries,
        "left_out": found.left_out,
        "level": found.level,
        "corrected": [
            {
                "measure": one.metric.name,
                "run": runs[one.run],
                "other": one.found.other,
                "human": one.found.human,
                "human_interval": list(one.found.human_interval),
                "estimate": one.found.estimate,
                "interval": list(one.found.interval),
                "believed": one.found.tuning,
                "standard_error": one.found.standard_error,
                "worth": one.found.worth,
                **(
                    {"p": one.found.p, "p_corrected": one.p_corrected}
                    if len(runs) > 1 and found.of == "differences"
                    else {}
                ),
            }
            for one in found.corrected
        ],
        "random_sample": [
            {"measure": one.metric.name, "judged": one.judged, "rest": one.rest, "p": one.p}
            for one in found.sampling
        ],
        "refused": [{"measure": metric.name, "reason": reason} for metric, reason in found.refused],
    }
