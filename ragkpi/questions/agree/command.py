"""`--human FILE` of eval and compare: few human judgements, and another judge's of everything."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragkpi.cli.evaluation_options import EvaluationOptions, without_pool
from ragkpi.cli.options import argument, option, takes
from ragkpi.cli.output_options import Labels, Output, naming, output_and_plot
from ragkpi.cli.resampling_options import Arguments, comparing
from ragkpi.cli.terminal import by_path, expect_files, refuse_standard_input_twice
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.questions.agree.correction import Of
    from ragkpi.statistics.significance import CorrectionName

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
    from ragkpi.questions.agree.function import correct

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


if TYPE_CHECKING:
    from ragkpi.questions.agree.study import Panel


# Runs are always compared over the queries that all judges have.
agree_options = without_pool.without("complete", "common", "debug")


@takes(options=agree_options, output=output_and_plot, labels=naming, procedure=comparing)
def command(
    options: EvaluationOptions,
    output: Output,
    labels: Labels,
    procedure: Arguments,
    files: list[str] = argument(
        "QRELS OTHER [RUN...]", "The reference, such as people; the judgements in question; runs."
    ),
    judge: list[str] = option("--judge QRELS", "One more judge; repeatable.", use="common"),
    judges: str | None = option(
        "--judges NAME,NAME,...", "Call the judges so, not after their files."
    ),
    map_levels: str | None = option(
        "--map-levels MAP",
        "Put the levels of QRELS on another scale, such as 0=0,1=0,2=1,3=2.",
        use="common",
    ),
    map_other: str | None = option("--map-other MAP", "The same for OTHER, and for --judge."),
    per_query: bool = option(
        "-q, --per-query, --query_eval_wanted",
        "Also show what the judges disagree about: a row per query, the worst first.",
        use="common",
    ),
    differences: str | None = option(
        "--differences FILE",
        "Write every document with different levels, or that one judge alone judged: "
        "tab-separated query, document, levels.",
        use="common",
    ),
) -> None:
    """Answer "may I trust these judgements?".

    Over the documents that both judged: agreement, Cohen's kappa (plain, linear, quadratic, and of
    every level as a threshold), Krippendorff's alpha, and by how many levels OTHER is above QRELS,
    with bootstrap intervals over queries. With runs: their values under both judgements, over the
    queries that both judged, how alike the orders are (tau-b, tau_AP, Spearman, Pearson,
    rank-biased overlap), and which pairs of runs change places. What people would say, from OTHER
    and few human judgements: eval --human, compare --human. Without -m: ndcg_cut at 10.
    """
    expected = "two qrels, then runs: ragkpi agree [options] QRELS OTHER [RUN...]"
    qrels, other, *runs = expect_files(2, files, expected)
    refuse_standard_input_twice([qrels, other, *judge, *runs])
    from ragkpi.questions.agree.function import agree
    from ragkpi.questions.agree.study import parse_level_map

    paths = [qrels, other, *judge]
    reference, *others = _names(judges, paths)
    scale, other_scale = (
        None if text is None else parse_level_map(text, name)
        for name, text in (("--map-levels", map_levels), ("--map-other", map_other))
    )
    result = agree(
        qrels,
        dict(zip(others, paths[1:], strict=True)),
        by_path(runs) or None,
        options.requests,
        map_levels=scale,
        map_other=other_scale,
        reference=reference,
        per_query=per_query,
        **procedure,
        **options.named(labels.names),
    )
    _write_differences(result.panel, differences)
    output.write(result.report, result.charts)


def _names(judges: str | None, paths: Sequence[str]) -> list[str]:
    from ragkpi.reports.layout import run_names

    if judges is None:
        return run_names(paths)
    names = judges.split(",")
    if len(names) != len(paths) or len(set(names)) < len(names):
        raise UsageError(f"--judges {judges}: expected {len(paths)} different names")
    return names


def _write_differences(together: "Panel | None", path: str | None) -> None:
    if path is not None and together is not None:
        from ragkpi.questions.agree.study import difference_lines
        from ragkpi.reports.output_files import replacing

        with replacing(path, "--differences") as file:
            file.writelines(difference_lines(together))
