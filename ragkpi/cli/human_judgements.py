"""`--human FILE` of eval and compare: few human judgements, and another judge's of everything."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from ragkpi.cli.evaluation_options import EvaluationOptions
from ragkpi.cli.option_groups import option
from ragkpi.cli.output_options import Labels, Output
from ragkpi.cli.run_files import Results, evaluate_every, read_runs
from ragkpi.errors import RagkpiWarning, UsageError

if TYPE_CHECKING:
    from ragkpi.statistics.corrections import CorrectionName
    from ragkpi.studies.agree.correction_study import Of

_DEFAULT = ("ndcg_cut.10",)

Human = Annotated[
    str | None,
    option(
        "--human",
        metavar="QRELS",
        help="People's judgements of some queries, a random sample, where QRELS are a model's of "
        "all: estimate what people would say over all (prediction-powered inference).",
    ),
]


def refuse_beside_human(given: Mapping[str, bool]) -> None:
    """Raise `UsageError` for the first option that is given and means nothing with --human."""
    for name, is_given in given.items():
        if is_given:
            raise UsageError(f"--human with {name}: an estimate has none; expected one of the two")


def write_corrected(
    of: "Of",
    options: EvaluationOptions,
    judges: tuple[str, str],
    paths: Sequence[str],
    output: Output,
    labels: Labels,
    level: float = 0.95,
    correction: "CorrectionName" = "holm",
) -> None:
    """Evaluate runs under both judgements, estimate, and write the answer.

    Parameters
    ----------
    of
        Whether values of runs are estimated (eval), or differences from the first (compare).
    judges
        Files of people's judgements and of the other judge's.
    """
    from ragkpi.reports.run_names import run_names
    from ragkpi.studies.agree.correction_answer import correction_answer, doubts
    from ragkpi.studies.agree.correction_study import correct

    if options.settings.missing == "intersection":  # every run over the same queries
        options = replace(options, settings=replace(options.settings, missing="zero"))
    metrics = options.values(_DEFAULT)
    other = evaluate_every(options.evaluator(judges[1], metrics), paths, metrics)
    # Nothing is said about the queries that people did not judge: that is why one is here.
    evaluator = options.evaluator(judges[0], metrics)
    read = read_runs(evaluator, paths, evaluator.needs(metrics))
    human = Results(paths, evaluator.score(read, metrics)).every()
    scored = [[one.scores for one in of_judge] for of_judge in (human, other)]
    found = correct(scored[0], scored[1], of, level, correction)
    doubt = doubts(found)
    if doubt:
        warnings.warn(doubt, RagkpiWarning, stacklevel=2)
    people, model = run_names(judges)
    question = "eval" if of == "values" else "compare"
    output.write(correction_answer(found, question, labels.of(paths, scored[1]), (people, model)))
