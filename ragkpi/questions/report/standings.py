"""The runs of a page over their shared queries: the leader by each metric, and advice."""

from __future__ import annotations

import itertools
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
from ragkpi.questions.diagnose.answer import best_case
from ragkpi.ranking.judge import part_of
from ragkpi.ranking.judged import Judged
from ragkpi.reports.names import short_names
from ragkpi.statistics.all_pairs import compare_all
from ragkpi.statistics.bootstrap import Interval
from ragkpi.statistics.paired import (
    Claim,
    Difference,
    Procedure,
    comparable_samples,
)
from ragkpi.statistics.power import (
    FEWEST_IN_PILOT,
    least_difference,
    noise_of_runs,
    queries_needed,
)
from ragkpi.wording import (
    NOT_AVAILABLE,
    as_json,
    counted,
    p_text,
    percent,
    rounded,
    visible,
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

    `label` is its name, short enough for a row. `judged` is None for a saved result. `best` is the
    best case of its unjudged documents; None without any, or without a pool.
    """

    name: str
    label: str
    scores: Scores
    judged: Judged | None = None
    best: Judged | None = None

    def over(self, queries: IntArray) -> ReportedRun:
        """Return the run over some of its queries, by number."""
        if len(queries) == len(self.scores.queries):
            return self
        best = self.best and part_of(self.best, queries)
        judged = self.judged and part_of(self.judged, queries)
        return replace(self, scores=self.scores.over(queries), judged=judged, best=best)

    @property
    def judged_share(self) -> float:
        """The judged share of the documents down to `CUTOFF`; NaN if there are none."""
        return self.judged.share_judged(CUTOFF) if self.judged else math.nan


def reported_runs(
    names: Sequence[str], scores: Sequence[Scores], evaluated: Evaluations | None
) -> list[ReportedRun]:
    """Reduce runs to their shared queries; nothing is `evaluated` for saved results."""
    labels = short_names([visible(name) for name in names], _LONGEST_LABEL)
    runs = [ReportedRun(*run) for run in zip(names, labels, scores, strict=True)]
    if evaluated:
        runs = [
            replace(run, judged=one.plain, best=best_case(evaluated.session, one.hits, CUTOFF))
            for run, one in zip(runs, evaluated.values(), strict=True)
        ]
    common = set.intersection(*(set(run.scores.queries) for run in runs))
    return [
        run.over(np.flatnonzero([query in common for query in run.scores.queries])) for run in runs
    ]


@dataclass(frozen=True)
class Decision:
    """The result of the test of all pairs by a metric over all queries.

    `p` is corrected for all pairs, (R, R); `claims` are about every run but the best, by name.
    """

    claims: Mapping[str, Claim]
    p: FloatArray
    sentences: Sequence[str]
    explanation: Sequence[str]


def decisions(
    runs: Sequence[ReportedRun],
    metrics: Sequence[Metric],
    procedure: Procedure,
    judging: Judging | None,
) -> dict[str, Decision]:
    """Decide as ``ragkpi compare --all-pairs`` does, by name of the metrics that decide."""
    metrics = [metric for metric in metrics if metric.is_comparable]
    metrics = metrics if procedure.family == "all" else metrics[:1]
    if len(runs) < 2 or not metrics:
        return {}
    labels = {run.name: run.label for run in runs}
    pairs = compare_all(list(labels), [only(run.scores, metrics) for run in runs], procedure)
    doubts = {labels[name]: doubt for name, doubt in doubts_of(pairs, judging).items()}
    labelled = replace(pairs, names=list(labels.values()))
    explanation = explained(labelled)
    decided = {}
    for one in pairs.claims:
        verdict = sentences(replace(labelled, by_metric=[one]), doubts)
        decided[one.metric.name] = Decision(beaten_by_best(pairs, one), one.p, verdict, explanation)
    return decided


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
    finite = [x for x in itertools.chain(*numbers) if math.isfinite(x)] or [0.0]
    low, high = min(finite), max(finite)
    wide = (high - low) or 1.0

    def share(number: float) -> float:
        """Return the position of a number between the minimum and the maximum, from 0 to 1."""
        return (number - low) / wide if math.isfinite(number) else math.nan

    ahead = {
        d.run: rounded(d.difference, style, signed=True) for d in differences.get(order[0], ())
    }

    def cells(number: int) -> dict[str, Any]:
        name, (low, value, high) = runs[number].name, numbers[number]
        judged = runs[number].judged_share
        return {
            "run": number,
            "value": rounded(value, style),
            "interval": [] if math.isnan(low) else [rounded(low, style), rounded(high, style)],
            "judged": NOT_AVAILABLE if math.isnan(judged) else percent(judged),
            "shares": [as_json(share(x), "decimal", 4) for x in numbers[number]],
            **({"difference": ahead[name]} if name in ahead else {}),
            **({"claim": decision.claims[name]} if decision and name in decision.claims else {}),
        }

    def pairs(baseline: int) -> dict[str, list[str]]:
        others = (number for number in range(len(runs)) if number != baseline)
        p = decision.p[baseline] if decision else [None] * len(runs)
        of_runs = zip(others, differences[baseline], strict=True)
        return {str(other): _pair_text(d, p[other], limit) for other, d in of_runs}

    return {
        "verdict": decision.sentences if decision else [_description(runs, metric)],
        "rows": [cells(number) for number in order],
        "ticks": [
            [as_json(share(at), "decimal", 4), f"{at:.4g}"] for at in _ticks(low, low + wide)
        ],
        "pairs": {str(baseline): pairs(baseline) for baseline in differences},
    }


def _ticks(low: float, high: float) -> list[float]:
    """Return some round numbers from the minimum to the maximum of an axis."""
    slack = 1e-9 * (high - low)
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step *= next((factor for factor in (1, 2, 5) if (high - low) / (factor * step) <= 6), 10)
    first, last = math.ceil((low - slack) / step), math.floor((high + slack) / step)
    return [count * step for count in range(first, last + 1)]


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
    style = d.metric.measure.style
    change, *bounds = (rounded(x, style, signed=True) for x in (d.difference, *d.interval))
    outcomes = f"wins on {counted(d.wins, 'query', 'queries')}, ties on {d.ties}, loses on"
    text = f"{outcomes} {d.losses}: {change} [{', '.join(bounds)}] for this pair alone"
    if p is None:
        return ["described", text]
    claim = d.decided(p, limit).decision
    return [claim, f"{text}; {CLAIM_WORDS[claim][0]}, {p_text(p)} for all pairs"]


def more_queries(
    runs: Sequence[ReportedRun], metric: Metric, decision: Decision | None, procedure: Procedure
) -> str:
    """Advise on more queries if the best run and the next do not differ significantly; else "".

    It gives the difference that these queries detect, whatever they show.
    """
    two = [runs[number] for number in best_first(runs, metric, decision)[:2]]
    alone = all(run.scores.seeds == 1 for run in two)
    if not alone or decision is None or decision.claims[two[1].name] != "undecided":
        return ""
    names, scores = [run.name for run in two], [only(run.scores, [metric]) for run in two]
    (sample,) = comparable_samples(names, scores, procedure)
    if sample.units < FEWEST_IN_PILOT:
        return (
            f"Add queries: {sample.units} are too few to plan with; with {FEWEST_IN_PILOT} or "
            "more, ragkpi power computes how many you need."
        )
    try:
        (noise,) = noise_of_runs(sample, procedure.bootstrap)
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
    part: Mapping[str, Any],
    main: Metric,
    more: str,
    bounds: HoleBounds | None,
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
