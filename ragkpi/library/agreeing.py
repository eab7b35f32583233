"""Judges: `agree`, and `correct` by few human judgements; what their commands call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragkpi.errors import UsageError
from ragkpi.evaluation import Run
from ragkpi.library.answers import Answered, QrelsGiven
from ragkpi.library.arguments import (
    Evaluating,
    bootstrap_of,
    in_one_order,
    named_runs,
    one_of,
    qrels_of,
    session,
    whole,
)
from ragkpi.library.result import Result
from ragkpi.library.session import Session
from ragkpi.library.voice import speaks_python
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.relevance import READERS
from ragkpi.reports.answer import Answer
from ragkpi.reports.run_names import run_names

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ragkpi.measures.scores import Scores
    from ragkpi.statistics.corrections import CorrectionName
    from ragkpi.statistics.paired import Procedure
    from ragkpi.statistics.significance import TestName
    from ragkpi.studies.agree.correction_study import Of
    from ragkpi.studies.agree.panel import Panel

JUDGED = ("ndcg_cut.10",)
LevelMap = Mapping[int, int]


def panel_of(
    asked: Session,
    judges: Mapping[str, QrelsGiven],
    map_levels: LevelMap | None = None,
    map_other: LevelMap | None = None,
) -> tuple[Panel, list[Judgements]]:
    """Read judges, the reference first, each on the common scale, and put them side by side."""
    from ragkpi.studies.agree.panel import mapped, panel, scales_differ

    given = []
    for place, qrels in enumerate(judges.values()):
        read = READERS["qrels"](qrels, asked.qrels_format) if isinstance(qrels, str) else qrels
        levels, option = (map_other, "--map-other") if place else (map_levels, "--map-levels")
        given.append(mapped(read.judgements, levels or {}, option))
    together = panel(list(judges), given)
    doubt = scales_differ(together)
    if doubt and not (map_levels or map_other):
        asked.warn(doubt)
    return together, given


def answer_agree(
    asked: Session,
    judges: tuple[Panel, Sequence[Judgements]],
    runs: Mapping[str, Run],
    procedure: Procedure,
    per_query: Literal["hidden", "shown"],
) -> Answered:
    """Say whether judges agree, and order runs alike; `judges` as `panel_of` returns them."""
    from ragkpi.studies.agree.agree_answer import agree_answer
    from ragkpi.studies.agree.agree_charts import agree_charts
    from ragkpi.studies.agree.agree_study import agree, evaluators

    together, given = judges
    scores = []
    if runs:
        metrics = asked.metrics(JUDGED)
        for evaluator in evaluators(given, asked.settings):
            results = asked.evaluate_every(evaluator, runs, metrics)
            scores.append([result.scores for result in results])
    found = agree(together, run_names(list(runs)), scores, procedure)
    return agree_answer(found, per_query), lambda: agree_charts(found)


def answer_corrected(
    asked: Session,
    judges: Mapping[str, QrelsGiven],
    runs: Mapping[str, Run],
    names: Callable[[Sequence[Scores]], Sequence[str]],
    of: Of,
    level: float,
    correction: CorrectionName = "holm",
) -> Answer:
    """Estimate what people would say over all queries.

    Parameters
    ----------
    asked
        What is measured, and how.
    judges
        People, who judged some queries, and the other judge, by name.
    runs, names
        The runs, and a function that names them.
    of, level, correction
        As `ragkpi.studies.agree.correction_study.correct` has them.
    """
    from ragkpi.studies.agree.correction_answer import correction_answer, doubts
    from ragkpi.studies.agree.correction_study import correct as corrected

    settings = asked.settings
    if settings.missing == "intersection":  # every run over the same queries
        asked = replace(asked, settings=replace(settings, missing="zero"))
    metrics = asked.metrics(JUDGED)
    (people, by_people), (model, by_model) = judges.items()
    other = asked.evaluate_every(asked.evaluator(by_model, metrics), runs, metrics)
    # Nothing is said about the queries that people did not judge: that is why one is here.
    evaluator = asked.evaluator(by_people, metrics)
    read = asked.read(evaluator, runs, evaluator.needs(metrics))
    human = asked.done(list(runs), evaluator.score(read, metrics))
    scored = [[one.scores for one in of_judge] for of_judge in (human, other)]
    found = corrected(scored[0], scored[1], of, level, correction)
    doubt = doubts(found)
    if doubt:
        asked.warn(doubt)
    question = "eval" if of == "values" else "compare"
    return correction_answer(found, question, names(scored[1]), (people, model))


@speaks_python
def agree(
    qrels: Any,
    other: Any,
    runs: Any = None,
    measures: str | Sequence[str] = (),
    *,
    map_levels: LevelMap | None = None,
    map_other: LevelMap | None = None,
    per_query: bool = False,
    test: TestName = "randomization",
    correction: CorrectionName = "holm",
    trials: int = 10_000,
    resamples: int = 5000,
    seed: int = 7,
    confidence: float = 0.95,
    **how: Unpack[Evaluating],
) -> Result:
    """Answer "may I trust these judgements?", as ``ragkpi agree``.

    Parameters
    ----------
    qrels, other
        The reference and the judge in question, as `evaluate` takes qrels; for several judges in
        question a mapping by their names: ``{"umbrela": qrels, "mine": more}`` of paths or of what
        `ragkpi.read_qrels` returns.
    runs, measures, how
        As `evaluate` takes them; without runs, documents alone are compared.
    map_levels, map_other
        From levels to levels of a common scale, for the reference and for the others.
    per_query
        Whether each query has a row, the one that the judges disagree on most first.
    test, correction, trials
        How differences of runs are tested, as `compare` has it.
    resamples, seed, confidence
        Of the intervals.

    Examples
    --------
    >>> import ragkpi
    >>> people = {"q1": {"d1": 0, "d2": 1, "d3": 2}, "q2": {"d1": 1, "d4": 0}}
    >>> model = {"q1": {"d1": 0, "d2": 2, "d3": 2}, "q2": {"d1": 1, "d4": 1}}
    >>> found = ragkpi.agree(people, model)
    >>> found.findings["pairs"][0]["confusion"]
    [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    """
    from ragkpi.statistics.corrections import CorrectionName
    from ragkpi.statistics.paired import Procedure
    from ragkpi.statistics.significance import TestName

    asked = session(measures, in_one_order(how))
    procedure = Procedure(
        test=one_of("test", test, get_args(TestName)),
        correction=one_of("correction", correction, get_args(CorrectionName)),
        trials=whole("trials", trials, 1),
        bootstrap=bootstrap_of(resamples, seed, confidence),
    )
    judges = panel_of(asked, _judges(qrels, other), map_levels, map_other)
    named = {} if runs is None else named_runs(runs)
    shown: Literal["hidden", "shown"] = "shown" if per_query else "hidden"
    report, charts = answer_agree(asked, judges, named, procedure, shown)
    return Result(report, charts, tuple(asked.said))


@speaks_python
def correct(
    human: Any,
    qrels: Any,
    runs: Any,
    measures: str | Sequence[str] = (),
    *,
    of: Of = "values",
    correction: CorrectionName = "holm",
    confidence: float = 0.95,
    **how: Unpack[Evaluating],
) -> Result:
    """Estimate what people would say over all queries, as ``ragkpi eval --human``.

    Parameters
    ----------
    human
        People's judgements of some queries, a random sample of at least ten.
    qrels
        Another judge's of all of them.
    runs, measures, how
        As `evaluate` takes them.
    of
        The ``"values"`` of runs, or ``"differences"`` from the first, as ``compare --human``.
    correction
        What becomes of the p-values of many differences.
    confidence
        Of the intervals.
    """
    from ragkpi.statistics.corrections import CorrectionName
    from ragkpi.studies.agree.correction_study import Of

    asked = session(measures, how)
    named = named_runs(runs)
    kind = one_of("of", of, get_args(Of))
    if kind == "differences" and len(named) < 2:
        raise UsageError("one run is given; expected a baseline and others")
    report = answer_corrected(
        asked,
        {"human": qrels_of(human), "qrels": qrels_of(qrels)},
        named,
        lambda _: list(named),
        kind,
        bootstrap_of(1, 0, confidence).level,
        one_of("correction", correction, get_args(CorrectionName)),
    )
    return Result(report, None, tuple(asked.said))


def _judges(qrels: Any, other: Any) -> dict[str, QrelsGiven]:
    """Name judges: by their files, or `qrels` and `other`; several others by their own names."""
    if isinstance(other, Mapping) and all(_is_whole(judge) for judge in other.values()):
        return {"qrels": qrels_of(qrels)} | {str(k): qrels_of(v) for k, v in other.items()}
    given = {"qrels": qrels, "other": other}
    if all(isinstance(judge, str | os.PathLike) for judge in given.values()):
        given = dict(
            zip(run_names([os.fspath(j) for j in given.values()]), (qrels, other), strict=True)
        )
    return {name: qrels_of(judge) for name, judge in given.items()}


def _is_whole(judge: Any) -> bool:
    return isinstance(judge, str | os.PathLike) or hasattr(judge, "judgements")
