"""The runs of a page over their shared queries: the leader by each metric, and advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.bounds.bounds import HoleBounds
from ragkpi.errors import UsageError
from ragkpi.library.doubts import Judging
from ragkpi.library.session import Evaluations
from ragkpi.measures.measure import Metric, Scores
from ragkpi.questions.compare.answer import explained
from ragkpi.questions.compare.verdict import (
    CLAIM_WORDS,
    beaten_by_best,
    best_value,
    doubts_of,
    sentences,
)
from ragkpi.ranking.judge import part_of
from ragkpi.ranking.judged import Judged
from ragkpi.reports.names import short_names
from ragkpi.statistics.all_pairs import compare_all
from ragkpi.statistics.bootstrap import Interval
from ragkpi.statistics.paired import Claim, Difference, Procedure, comparable_samples
from ragkpi.statistics.power import (
    FEWEST_IN_PILOT,
    least_difference,
    noise_of,
    queries_needed,
)
from ragkpi.statistics.replicates import systems_of
from ragkpi.wording import (
    NOT_AVAILABLE,
    as_json,
    counted,
    p_text,
    percent,
    rounded,
    visible,
    with_interval,
)

CUTOFF = 10  # documents that a reader sees, for parts of the page with a fixed depth
_LONGEST_LABEL = 24  # characters
_MOST_ADVICE = 3


def only(scores: Scores, metrics: Sequence[Metric]) -> Scores:
    """Keep the columns of some metrics."""
    return scores.only(scores[metric.name] for metric in metrics)


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A run of the page, with the scores of the page's measures.

    `label` is its name, short enough for a row. `judged` is None for a saved result.
    """

    name: str
    label: str
    scores: Scores
    judged: Judged | None = None

    def over(self, queries: IntArray) -> ReportedRun:
        """Return the run over some of its queries, by number."""
        if len(queries) == len(self.scores.queries):
            return self
        judged = self.judged and part_of(self.judged, queries)
        return replace(self, scores=self.scores.over(queries), judged=judged)


def reported_runs(
    names: Sequence[str], scores: Sequence[Scores], evaluated: Evaluations | None
) -> list[ReportedRun]:
    """Reduce runs to their shared queries; nothing is `evaluated` for saved results."""
    labels = short_names([visible(name) for name in names], _LONGEST_LABEL)
    runs = [ReportedRun(*run) for run in zip(names, labels, scores, strict=True)]
    if evaluated:
        runs = [
            replace(run, judged=one.plain)
            for run, one in zip(runs, evaluated.values(), strict=True)
        ]
    common = set.intersection(*(set(run.scores.queries) for run in runs))
    return [
        run.over(np.flatnonzero([query in common for query in run.scores.queries])) for run in runs
    ]


@dataclass(frozen=True)
class Decision:
    """The result of the test of all pairs by the deciding metric over all queries.

    `p` is corrected for all pairs, (R, R); `claims` are about every run but the best, by name.
    """

    metric: Metric
    claims: Mapping[str, Claim]
    p: FloatArray
    sentences: Sequence[str]
    explanation: Sequence[str]


def decide(
    runs: Sequence[ReportedRun],
    metric: Metric | None,
    procedure: Procedure,
    judging: Judging | None,
) -> Decision | None:
    """Decide as ``ragkpi compare --all-pairs`` does; None for one run or without a metric."""
    if len(runs) < 2 or metric is None:
        return None
    labels = {run.name: run.label for run in runs}
    pairs = compare_all(list(labels), [only(run.scores, [metric]) for run in runs], procedure)
    (tested,) = pairs.claims
    doubts = {labels[name]: doubt for name, doubt in doubts_of(pairs, judging).items()}
    labelled = replace(pairs, names=list(labels.values()))
    claims, said = beaten_by_best(pairs, tested), sentences(labelled, doubts)
    return Decision(metric, claims, tested.p, said, explained(labelled))


def standing_object(
    runs: Sequence[ReportedRun],
    metric: Metric,
    intervals: Sequence[Interval],
    differences: Mapping[int, Sequence[Difference]],
    decision: Decision | None,
    limit: float,
) -> dict[str, Any]:
    """Return the runs by one metric, best first, under ``schema.json#/$defs/standing``.

    `differences` of the other runs, in their order, are by the index of the baseline.
    """
    style, order = metric.measure.style, best_first(runs, metric, decision)
    values = [run.scores[metric.name].summary for run in runs]
    numbers = [(of.low, value, of.high) for value, of in zip(values, intervals, strict=True)]
    ahead = {d.run: d.difference for d in differences.get(order[0], ())}
    rows = []
    for number in order:
        run, (start, value, end) = runs[number], numbers[number]
        judged = run.judged.share_judged(CUTOFF) if run.judged else math.nan
        row = {
            "run": number,
            "value": rounded(value, style),
            "interval": [] if math.isnan(start) else [rounded(x, style) for x in (start, end)],
            "judged": NOT_AVAILABLE if math.isnan(judged) else percent(judged),
            "numbers": [as_json(x, style) for x in numbers[number]],
        }
        if run.name in ahead:
            row["difference"] = rounded(ahead[run.name], style, signed=True)
        if decision and run.name in decision.claims:
            row["claim"] = decision.claims[run.name]
        rows.append(row)
    pairs = {}
    for baseline, of_runs in differences.items():
        others = (number for number in range(len(runs)) if number != baseline)
        p = decision.p[baseline] if decision else [None] * len(runs)
        each = zip(others, of_runs, strict=True)
        pairs[str(baseline)] = {str(other): _pair_text(d, p[other], limit) for other, d in each}
    return {
        "verdict": decision.sentences if decision else [_description(runs, metric)],
        "rows": rows,
        "pairs": pairs,
    }


def best_first(runs: Sequence[ReportedRun], metric: Metric, decision: Decision | None) -> list[int]:
    """Return the indices of the runs that can be the best, best first, then of worse runs.

    NA is last; runs are in the given order if none is better.
    """
    if not metric.is_comparable:
        return list(range(len(runs)))
    values = [run.scores[metric.name].summary for run in runs]
    order = metric.best_first(np.array(values, dtype=np.float64))
    claims = decision.claims if decision else {}
    return sorted(order, key=lambda run: claims.get(runs[run].name) == "worse")


def _description(runs: Sequence[ReportedRun], metric: Metric) -> str:
    """Name the best value, and say that nothing was tested."""
    values = np.array([run.scores[metric.name].summary for run in runs], dtype=np.float64)
    if len(runs) == 1:
        return f"{runs[0].label} has {metric.name} {rounded(values[0], metric.measure.style)}."
    if not metric.is_comparable:
        return f"No run is better than another in {metric.name}."
    best = best_value(metric, [run.label for run in runs], values)
    return f"By {metric.name}, {best} (exploratory, not tested)."


def _pair_text(d: Difference, p: float | None, limit: float) -> list[str]:
    """Return the claim about a pair, and a text that follows the names; p is None if untested."""
    change = with_interval(d.difference, d.interval, d.metric.measure.style, signed=True)
    outcomes = f"wins on {counted(d.wins, 'query', 'queries')}, ties on {d.ties}, loses on"
    text = f"{outcomes} {d.losses}: {change} for this pair alone"
    if p is None:
        return ["described", text]
    claim = d.decided(p, limit).decision
    return [claim, f"{text}; {CLAIM_WORDS[claim][0]}, {p_text(p)} for all pairs"]


def more_queries(
    runs: Sequence[ReportedRun], decision: Decision | None, procedure: Procedure
) -> str:
    """Advise on more queries if the best run and the next do not differ significantly; else "".

    It gives the difference that these queries detect, whatever they show.
    """
    if decision is None:
        return ""
    metric = decision.metric
    two = [runs[number] for number in best_first(runs, metric, decision)[:2]]
    alone = all(run.scores.seeds == 1 for run in two)
    if not alone or decision.claims[two[1].name] != "undecided":
        return ""
    names, scores = [run.name for run in two], [only(run.scores, [metric]) for run in two]
    (sample,) = comparable_samples(names, scores, procedure)
    if sample.units < FEWEST_IN_PILOT:
        return (
            f"Add queries: {sample.units} are too few to plan with; with {FEWEST_IN_PILOT} or "
            "more, ragkpi power computes how many you need."
        )
    try:
        best, next_best = systems_of(sample)[0]
        noise = noise_of(best, next_best, sample.queries, procedure.bootstrap)
    except UsageError:  # the two runs never differ, or by a constant
        return ""
    seen = least_difference(sample.queries, noise, alpha=procedure.limit)
    number = queries_needed(seen / 2, noise, alpha=procedure.limit)
    return (
        f"Add queries: these {sample.queries} detect a difference of "
        f"{rounded(seen, metric.measure.style)} with 80% power, half of it takes {number:,} "
        "(ragkpi power)."
    )


def advice(
    part: Mapping[str, Any], main: Metric, more: str, bounds: HoleBounds | None
) -> list[dict[str, str]]:
    """Choose at most three pieces of advice, each with the section that shows the reason.

    The sentences are those of the questions; `more` is about queries.
    """
    items = [(more, "compare")]
    swaps = bounds.swaps if bounds else ()
    if any(swap.better == 0 and swap.metric.name == main.name for swap in swaps):
        items.append(("Judge more documents: unjudged ones could put another run first.", "holes"))
    for section in ("diagnoses", "depths"):
        items += [(answer.get("todo", ""), section) for answer in part.get(section, ())[:1]]
    return [{"text": text, "section": section} for text, section in items if text][:_MOST_ADVICE]
