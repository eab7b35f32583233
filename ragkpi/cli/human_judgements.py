"""`--human FILE` of eval and compare: few human judgements, and another judge's of everything."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragkpi.cli.evaluation_options import EvaluationOptions
from ragkpi.cli.option_groups import option
from ragkpi.cli.output_options import Labels, Output
from ragkpi.cli.run_files import by_path
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.statistics.corrections import CorrectionName
    from ragkpi.studies.agree.correction_study import Of

HUMAN = option(
    "--human QRELS",
    "People's judgements of some queries, a random sample, where QRELS are a model's of "
    "all: estimate what people would say over all (prediction-powered inference).",
)


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
    from ragkpi.library.agreeing import correct

    result = correct(
        *judges,
        by_path(paths),
        options.requests,
        of=of,
        confidence=level,
        correction=correction,
        **options.named(labels.names),
    )
    output.write(result.report)
