"""`ragkpi correct`: what people would say, from few of their judgements."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Unpack, get_args

from typer import Argument, Option

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.library.arguments import bootstrap_of, call_of
from ragkpi.library.call import named_judges
from ragkpi.library.options import Confidence, Correction, Evaluating, Measures, one_of
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Runs, by_path, named_runs
from ragkpi.questions.correct.answer import Of, correction_answer, correction_doubt
from ragkpi.questions.correct.answer import correct as correct_scores
from ragkpi.statistics.decisions import CorrectionName

MEASURES = ("ndcg_cut.10",)


def correct(
    human: AnyQrels,
    qrels: AnyQrels,
    runs: Runs,
    measures: Measures = (),
    *,
    of: Annotated[
        Of, Option(help="Estimate the values of runs, or how they differ from the first.")
    ] = "values",
    correction: Correction = "holm",
    confidence: Confidence = 0.95,
    **how: Unpack[Evaluating],
) -> Result:
    """Answer "what would people say?", from few of their judgements and a model's of everything.

    PEOPLE are judgements of a random sample of the queries, ten at least. The values of runs under
    the model's QRELS are corrected by what people say of the same queries (prediction-powered
    inference): the interval is narrower than that of people alone, and right whatever the model's
    bias. There is no --cluster: people judge single queries, so that a cluster would lie on both
    sides. Where turns or paraphrases depend on each other, let people judge one of each; intervals
    of more are too narrow. Without -m: ndcg_cut at 10.

    Parameters
    ----------
    human
        People's judgements of some queries, a random sample of at least ten.
    qrels
        Another judge's judgements of all queries.
    runs, measures, how
        As `evaluate` takes them.
    """
    call = call_of(measures, how)
    named = named_runs(runs)
    kind: Of = one_of("of", of, get_args(Of))
    if kind == "differences" and len(named) < 2:
        raise UsageError("one run is given; expected a baseline and others")
    level = bootstrap_of({"confidence": confidence}).level
    chosen = one_of("correction", correction, get_args(CorrectionName))
    if call.settings.missing == "intersection":  # every run over the same queries
        call = replace(call, settings=replace(call.settings, missing="zero"))
    metrics = call.metrics(MEASURES)
    (people, by_people), (model, by_model) = named_judges({"human": human, "qrels": qrels}).items()
    other = call.evaluate(by_model, named, metrics)
    # No notes here: the question expects that people judged only some queries.
    evaluator = call.evaluator(by_people, metrics)
    of_people = call.read(by_people, evaluator, named, evaluator.needs(metrics)).scored(metrics)
    people_say = correct_scores(
        other.names, (people, model), of_people.scores, other.scores, kind, level, chosen
    )
    doubt = correction_doubt(people_say)
    if doubt:
        call.warn(doubt)
    return Result(
        correction_answer(people_say), None, other.notes, call.signed(metrics, qrels=qrels)
    )


@command(correct)
def shell(
    files: Annotated[
        list[str],
        Argument(
            metavar="PEOPLE QRELS RUN...",
            help="People's judgements of some queries, a model's of all, and runs.",
        ),
    ],
    output: Output,
    **arguments: Any,
) -> None:
    """Write the corrected values."""
    expected = "people's qrels, a model's, and runs: ragkpi correct PEOPLE QRELS RUN..."
    people, qrels, *runs = expect_files(3, files, expected)
    result = correct(people, qrels, by_path(runs), **arguments)
    output.write(result.report)
