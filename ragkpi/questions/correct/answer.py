"""The answer of `ragkpi correct`: what people would say over all queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ragkpi.questions.correct.study import UNLIKELY, CorrectedMetric, Correction
from ragkpi.reports.layout import Answer, Cell, Column, filled, finite
from ragkpi.wording import beside, counted, exact_percent, listed, rounded, with_interval

_FEW = 30  # with fewer queries, intervals assume values that are not very skewed


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
    rows = []
    for entry in correction.corrected:
        result, style = entry.result, entry.metric.measure.style
        cells = [
            *map(Cell, (entry.metric.name, entry.run)),
            Cell(result.other, style=style),
            Cell(result.human, finite(result.human_interval), style=style),
            Cell(result.estimate, finite(result.interval), style=style),
            *map(Cell, (result.tuning, result.worth)),
            *map(Cell, (result.p, entry.p_corrected) if differences else (None, None)),
        ]
        rows.append(cells)
    return Answer(
        *filled(columns, rows),
        list(_correction_notes(correction)),
        verdict=[_verdict(correction)],
        explanation=list(_computed(correction)),
        question="compare" if differences else "eval",
        findings=_correction_findings(correction),
        heads=1,
    )


def _correction_notes(correction: Correction) -> Iterator[str]:
    judged = correction.judged
    yield f"Assumed: the {judged} queries are a random sample of all{_sampled(correction)}"
    rare = dict.fromkeys(entry.metric.name for entry in correction.corrected if entry.rare)
    if rare:
        yield (
            f"{', '.join(rare)}: few judged queries have the rarer of two values, "
            "which makes the interval too narrow"
        )
    for metric, reason in correction.refused:
        yield f"{metric.name}: left out, {reason}"
    if judged < _FEW:
        yield f"{judged} queries are few: very skewed values need more for these intervals"
    tests = sum(not math.isnan(entry.p_corrected) for entry in correction.corrected)
    if tests > 1:
        yield f"Each interval is for its difference alone; p_corrected is for {tests} tests"
    if correction.left_out:
        left = counted(correction.left_out, "query", "queries")
        yield f"{left} judged by {correction.judges[0]} alone left out"


def _computed(correction: Correction) -> Iterator[str]:
    people, other = correction.judges
    what = f"difference from {correction.runs[0]}" if correction.of == "differences" else "value"
    yield (
        f"other: the {what} by {other} over {counted(correction.queries, 'query', 'queries')}; "
        f"people: by {people} over the {correction.judged} of them that they judged; corrected: "
        "what they would say over all of them (PPI++)"
    )
    yield (
        f"[low, high]: {exact_percent(correction.level)} interval by Student's t; believed: how "
        f"far {other} is followed, 0 to 1; worth: judged queries that would give people alone that "
        "interval"
    )
    if correction.of == "differences":
        yield _worth(correction)


def _sampled(correction: Correction) -> str:
    """State whether the judged queries look like a random sample, by the most doubtful metric."""
    if not correction.sampling:
        return ""
    worst = min(correction.sampling, key=lambda sampling: sampling.p)
    style = worst.metric.measure.style
    judged, rest = (rounded(value, style) for value in (worst.judged, worst.rest))
    verdict = "they do not look like one" if worst.doubtful else "nothing speaks against it"
    return (
        f"; {verdict}: the other judge gives them {worst.metric.name} {judged}, "
        f"the others {rest} (p = {beside(worst.p, UNLIKELY, 2, 'g')})"
    )


def correction_doubt(correction: Correction) -> str:
    """Warn if the judged queries do not look like a random sample; empty if they do."""
    doubtful = [sampling.metric.name for sampling in correction.sampling if sampling.doubtful]
    if not doubtful:
        return ""
    return (
        "the queries that people judged do not look like a random sample: the other judge's "
        f"{listed([name.encode() for name in doubtful])} differs on them; what is corrected by "
        "them may be wrong"
    )


_NAMED = 3  # runs in a verdict


def _verdict(correction: Correction) -> str:
    entries = [entry for entry in correction.corrected if finite(entry.result.interval)]
    if not entries:
        return "Nothing can be corrected: no value varies among the queries that people judged."
    if correction.of == "differences":
        return _about_differences(correction, entries)
    return f"{_about_values(correction, entries)} {_worth(correction)}"


def _worth(correction: Correction) -> str:
    """Say how many queries of people alone the other judge is worth."""
    people, other = correction.judges
    worth = [e.result.worth for e in correction.corrected if finite(e.result.interval)] or [0.0]
    least, most, judged = min(worth), max(worth), correction.judged
    queries = f"the {judged} queries of {people}"
    if most / judged - 1 < 0.05:
        return f"{other} adds little to {queries}."
    span = f"{least:.0f}" if most - least < 1 else f"{least:.0f} to {most:.0f}"
    # To estimate how far a judge can be trusted costs more than some judges bring.
    less = f"; where it is worth less than {judged}, people alone say more"
    return f"{other} makes {queries} worth {span}{less if round(least) < judged else ''}."


def _about_values(correction: Correction, entries: Sequence[CorrectedMetric]) -> str:
    """Say what people would give to the best runs by the first measure."""
    metric = entries[0].metric
    of_metric = [entry for entry in entries if entry.metric is metric]
    of_metric.sort(key=lambda entry: -metric.measure.sign * entry.result.estimate)
    values = ", ".join(f"{entry.run} {_estimated(entry, 'plain')}" for entry in of_metric[:_NAMED])
    more = len(of_metric) - _NAMED
    others = f"; {counted(more, 'more run')} below" if more > 0 else ""
    queries = counted(correction.queries, "query", "queries")
    return f"Over all {queries}, people would give {metric.name}: {values}{others}."


def _about_differences(correction: Correction, entries: Sequence[CorrectedMetric]) -> str:
    """Say which runs people would find better or worse than the first, as `compare` decides."""
    baseline, limit = correction.runs[0], round(1 - correction.level, 12)
    by_claim: dict[str, list[CorrectedMetric]] = {}
    for entry in entries:
        better = entry.metric.measure.sign * entry.result.estimate > 0
        claim = "better than" if better else "worse than"
        if entry.p_corrected >= limit:
            claim = "not shown to differ from"
        by_claim.setdefault(claim, []).append(entry)
    claims = []
    for claim in sorted(by_claim):
        first, *more = by_claim[claim]
        p = beside(first.p_corrected, limit, 2, "g")
        others = f" and {counted(len(more), 'more difference')}" if more else ""
        claims.append(
            f"{first.run} is {claim} {baseline} by {first.metric.name} "
            f"({_estimated(first, 'signed')}, p = {p}){others}"
        )
    return f"By people's judgements, over all queries, {'; '.join(claims)}."


def _estimated(entry: CorrectedMetric, sign: Literal["plain", "signed"]) -> str:
    result, style = entry.result, entry.metric.measure.style
    return with_interval(result.estimate, result.interval, style, 3, signed=sign == "signed")


def _correction_findings(correction: Correction) -> dict[str, Any]:
    differences = correction.of == "differences"
    fields = ("other", "human", "human_interval", "estimate", "interval", "standard_error", "worth")
    entries = [
        {
            "measure": entry.metric.name,
            "run": entry.run,
            **{name: getattr(entry.result, name) for name in fields},
            "believed": entry.result.tuning,
            **({"p": entry.result.p, "p_corrected": entry.p_corrected} if differences else {}),
        }
        for entry in correction.corrected
    ]
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
