"""`ragkpi correct`: estimates of human-judged values, from few human judgements."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Unpack, get_args

from typer import Argument, Option

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.library.arguments import bootstrap_of, session_of
from ragkpi.library.options import Confidence, Evaluating, Measures, one_of
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Runs, by_path, named_runs
from ragkpi.library.session import judge_names
from ragkpi.questions.correct.answer import Of, correction_answer
from ragkpi.questions.correct.answer import correct as correct_scores

MEASURES = ("ndcg_cut.10",)


def correct(
    human: AnyQrels,
    qrels: AnyQrels,
    runs: Runs,
    measures: Measures = (),
    *,
    of: Annotated[
        Of, Option(help="Estimate the values of runs, or their differences from the first run.")
    ] = "values",
    confidence: Confidence = 0.95,
    **how: Unpack[Evaluating],
) -> Result:
    """Answer "what would people say?", from few human judgements and LLM judgements of every query.

    PEOPLE are judgements of a random sample of the queries, at least ten. The values of runs under
    the LLM's QRELS are corrected by the human judgements of the same queries (prediction-powered
    inference): the interval is narrower than from human judgements alone, and valid whatever the
    LLM's bias. A value is for these queries: its interval shrinks to 0 as people judge nearly all.
    A difference is for queries like these, as in compare. There is no --cluster, because a cluster
    could be partly human-judged. If turns or paraphrases depend on each other, let people judge one
    of each; with more, intervals are too narrow. Without -m: ndcg_cut at 10.

    Parameters
    ----------
    human
        Human judgements of some queries, a random sample of at least ten.
    qrels
        Another judge's judgements of all queries.
    runs, measures, how
        As for `evaluate`.
    """
    session = session_of(qrels, measures, how)
    named = named_runs(runs)
    kind: Of = one_of("of", of, get_args(Of))
    if kind == "differences" and len(named) < 2:
        raise UsageError("only one run; expected a baseline and others")
    level = bootstrap_of({"confidence": confidence}).level
    if session.settings.missing == "intersection":  # every run over the same queries
        session.settings = replace(session.settings, missing="zero")
    metrics = session.metrics(MEASURES)
    people, model = judge_names({"human": human, "qrels": qrels})
    other = session.evaluate(named, metrics)
    # No notes here: the question expects human judgements of only some queries.
    by_people = replace(session, qrels=human)
    of_people = by_people.score(by_people.read(named, by_people.needs(metrics)), metrics)
    people_say = correct_scores(
        other.names, (people, model), of_people.scores, other.scores, kind, level
    )
    return Result(
        correction_answer(people_say), None, tuple(session.notes), session.signed(metrics)
    )


@command(
    correct,
    examples=(
        "ragkpi correct people.txt qrels.llm.txt runs/bm25.run runs/fusion.run",
        "ragkpi correct -m P.10 people.txt qrels.llm.txt reranked.run dense.run",
        "ragkpi correct -m map --explain people.txt qrels.llm.txt runs/bm25.run",
    ),
)
def shell(
    files: Annotated[
        list[str],
        Argument(
            metavar="PEOPLE QRELS RUN...",
            help="Human judgements of some queries, LLM judgements of all, and runs.",
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
