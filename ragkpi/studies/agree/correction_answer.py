"""The answer of `eval --human` and `compare --human`: what people would say everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.statistics.bootstrap import Interval
from ragkpi.studies.agree.correction_study import CorrectedMetric, Correction
from ragkpi.wording import counted, listed, rounded

_FEW = 30  # queries: below, intervals lean on values that are not very skewed


def correction_answer(correction: Correction) -> Answer:
    """Put a correction into words."""
    differences = correction.of == "differences"
    columns = [
        Column("measure"),
        Column("run"),
        Column("other", "decimal", signed=differences, digits=3, role="detail"),
        Column("people", "decimal", signed=differences, digits=3),
        Column("corrected", "decimal", signed=differences, digits=3),
        Column("believed", "decimal", digits=2, role="detail"),
        Column("worth", "decimal", digits=0),
        Column("p", "decimal", role="detail"),
        Column("p_corrected", "decimal"),
    ]
    shown = slice(None if differences else -2)
    rows = []
    for entry in correction.corrected:
        result, style = entry.result, entry.metric.measure.style
        cells = [
            Cell(entry.metric.name),
            Cell(entry.run),
            Cell(result.other, style=style),
            Cell(result.human, _known(result.human_interval), style=style),
            Cell(result.estimate, _known(result.interval), style=style),
            Cell(result.tuning),
            Cell(result.worth),
            Cell(result.p),
            Cell(entry.p_corrected),
        ]
        rows.append(cells[shown])
    return Answer(
        "compare" if differences else "eval",
        Table(columns[shown], rows, list(_correction_notes(correction))),
        list(_correction_sentences(correction)),
        _correction_findings(correction),
        1,
    )


def _known(interval: Interval) -> Interval | None:
    return None if math.isnan(interval.low) else interval


def _correction_notes(correction: Correction) -> Iterator[str]:
    people, other = correction.judges
    judged = correction.judged
    what = f"difference from {correction.runs[0]}" if correction.of == "differences" else "value"
    yield (
        f"other: the {what} by {other} over {counted(correction.queries, 'query', 'queries')}; "
        f"people: by {people} over the {judged} of them that they judged; corrected: "
        "what they would say over all of them (PPI++)"
    )
    yield (
        f"[low, high]: {correction.level * 100:.12g} % interval by Student's t; believed: how far "
        f"{other} is followed, 0 to 1; worth: judged queries that would give people alone that "
        "interval"
    )
    yield f"assumed: the {judged} queries are a random sample of all{_sampled(correction)}"
    if correction.left_out:
        left = counted(correction.left_out, "query", "queries")
        yield f"{left} judged by {people} alone left out"
    if judged < _FEW:
        yield f"{judged} queries are few: very skewed values need more for these intervals"
    rare = dict.fromkeys(entry.metric.name for entry in correction.corrected if entry.rare)
    if rare:
        yield (
            f"{', '.join(rare)}: few judged queries have the rarer of two values, "
            "which makes the interval too narrow"
        )
    for metric, reason in correction.refused:
        yield f"{metric.name}: left out, {reason}"


def _sampled(correction: Correction) -> str:
    """Say whether the judged queries look like a random sample, by the most doubtful metric."""
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
    """Warn if the judged queries do not look like a random sample; empty if they do."""
    doubtful = [sampling.metric.name for sampling in correction.sampling if sampling.doubtful]
    if not doubtful:
        return ""
    return (
        "the queries that people judged do not look like a random sample: the other judge's "
        f"{listed([name.encode() for name in doubtful])} differs on them; what is corrected by "
        "them may be wrong"
    )


def _correction_sentences(correction: Correction) -> Iterator[str]:
    people, other = correction.judges
    known = [entry for entry in correction.corrected if not math.isnan(entry.result.interval.low)]
    if not known:
        yield "Nothing can be corrected: no value varies among the queries that people judged."
        return
    for entry in known:
        yield _corrected_sentence(correction, entry)
    worth = [entry.result.worth for entry in known]
    least, most = min(worth), max(worth)
    span = f"{least:.0f}" if most - least < 1 else f"{least:.0f} to {most:.0f}"
    queries = f"the {correction.judged} queries of {people}"
    moral = f"{other} adds little to {queries}, worth {span}"
    if most / correction.judged - 1 >= 0.05:
        moral = f"{other} makes {queries} worth {span}"
    if any(sampling.doubtful for sampling in correction.sampling):
        moral += ", if they are a random sample, which they do not look like"
    yield f"{moral}."


def _corrected_sentence(correction: Correction, entry: CorrectedMetric) -> str:
    measure, name = entry.metric.measure, entry.metric.name
    signed = correction.of == "differences"
    estimate, low, high = (
        rounded(value, measure.style, signed=signed)
        for value in (entry.result.estimate, *entry.result.interval)
    )
    if not signed:
        return f"People would give {entry.run} {name} {estimate} [{low}, {high}]."
    better = "better" if measure.sign * entry.result.estimate > 0 else "worse"
    decided = "" if entry.p_corrected < 0.05 else ", which is undecided"
    return (
        f"By people, {entry.run} would be {better} than {correction.runs[0]} by {name} "
        f"({estimate} [{low}, {high}], p = {entry.p_corrected:.2g}){decided}."
    )


def _correction_findings(correction: Correction) -> dict[str, Any]:
    differences = correction.of == "differences"
    entries = []
    for entry in correction.corrected:
        result = entry.result
        finding = {
            "measure": entry.metric.name,
            "run": entry.run,
            "other": result.other,
            "human": result.human,
            "human_interval": result.human_interval,
            "estimate": result.estimate,
            "interval": result.interval,
            "believed": result.tuning,
            "standard_error": result.standard_error,
            "worth": result.worth,
        }
        p_values = {"p": result.p, "p_corrected": entry.p_corrected}
        entries.append({**finding, **(p_values if differences else {})})
    return {
        "human": correction.judges[0],
        "other": correction.judges[1],
        "baseline": correction.runs[0] if differences else None,
        "judged": correction.judged,
        "queries": correction.queries,
        "left_out": correction.left_out,
        "level": correction.level,
        "corrected": entries,
        "random_sample": [
            {"measure": s.metric.name, "judged": s.judged, "rest": s.rest, "p": s.p}
            for s in correction.sampling
        ],
        "refused": [{"measure": metric.name, "reason": why} for metric, why in correction.refused],
    }
