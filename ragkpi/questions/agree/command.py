"""`ragkpi agree`: agreement of judges on labels, and on the order of runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Unpack

from typer import Argument, Option

from ragkpi.charts.chart import noted
from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.library.arguments import bootstrap_of, in_one_order, session_of
from ragkpi.library.doubts import over_all_orders
from ragkpi.library.options import Estimating, Measures, less_common
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Runs, by_path, named_runs, refuse_equal_names, run_path
from ragkpi.library.session import judge_names, read_qrels
from ragkpi.questions.agree.answer import agree_answer, agree_charts
from ragkpi.questions.agree.study import agree as agree_judges
from ragkpi.questions.agree.study import (
    difference_lines,
    mapped,
    panel,
    shared_queries,
)
from ragkpi.ranking.judged import parse_levels
from ragkpi.ranking.relevance import Qrels
from ragkpi.reports.names import run_names
from ragkpi.reports.output_files import replacing

MEASURES = ("ndcg_cut.10",)
_NO_LEVEL_MAP = "not LEVEL=LEVEL; expected a list such as 0=0,1=0,2=1,3=2"
LevelMap = Mapping[int, int]


def agree(
    qrels: AnyQrels,
    other: AnyQrels | Mapping[str, AnyQrels],
    runs: Runs | None = None,
    measures: Measures = (),
    *,
    map_levels: Annotated[
        LevelMap | str | None,
        Option(
            metavar="MAP",
            help="Map the levels of QRELS to another scale, such as 0=0,1=0,2=1,3=2.",
        ),
    ] = None,
    map_other: Annotated[
        LevelMap | str | None,
        less_common(metavar="MAP", help="Map the levels of OTHER and of each --judge."),
    ] = None,
    reference: str | None = None,
    per_query: Annotated[
        bool,
        Option(
            "-q",
            "--per-query",
            help="Also show a row per query, the largest disagreement first.",
        ),
    ] = False,
    differences: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Write the documents with different levels, or judged by one judge only: "
            "tab-separated query, document, levels.",
        ),
    ] = None,
    **how: Unpack[Estimating],
) -> Result:
    """Answer "may I trust these judgements?".

    Over the documents that both judged: agreement, Cohen's kappa (plain, linear, quadratic, and for
    every level as a threshold), Krippendorff's alpha, and the mean difference of OTHER's level from
    that of QRELS, with bootstrap intervals over queries. With runs: their values under both
    judgements over the shared queries, the rank correlation of their orders (tau-b, tau_AP), and
    the pairs of runs that change places. To estimate human-judged values from OTHER and few human
    judgements, use ragkpi correct. NAME=PATH names a judge. Without -m: ndcg_cut at 10.

    Parameters
    ----------
    qrels, other
        The reference and the judge in question, qrels as for `evaluate`; for several judges in
        question a mapping by name: ``{"umbrela": qrels, "mine": more}`` of paths or of results of
        `ragkpi.read_qrels`.
    runs, measures, how
        As for `evaluate`, at least two runs; without runs, only documents are compared.
    map_levels, map_other
        A mapping from levels to a common scale, for the reference and for the others, or its text.
    reference
        The name of `qrels`; None for their file, or ``"qrels"``.

    Examples
    --------
    >>> import ragkpi
    >>> people = {"q1": {"d1": 0, "d2": 1, "d3": 2}, "q2": {"d1": 1, "d4": 0}}
    >>> model = {"q1": {"d1": 0, "d2": 2, "d3": 2}, "q2": {"d1": 1, "d4": 1}}
    >>> result = ragkpi.agree(people, model)
    >>> result.findings["pairs"][0]["confusion"]
    [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    """
    session = session_of(qrels, measures, in_one_order(how), Estimating)
    bootstrap = bootstrap_of(how, clusters=session.clusters)
    named = {} if runs is None else named_runs(runs)
    if len(named) == 1:
        raise UsageError("a ranking of runs needs two or more; expected two or more, or none")
    judgements = []
    judges = _judges(qrels, other, reference)
    for place, judge in enumerate(judges.values()):
        relevance = read_qrels(judge, reading=session.qrels_format) if place else session.relevance
        levels, argument = (map_other, "map_other") if place else (map_levels, "map_levels")
        if isinstance(levels, str):
            levels = parse_levels(levels, spell(argument), _NO_LEVEL_MAP)
        judgements.append(mapped(relevance.judgements, levels or {}, spell(argument)))
    together = panel(list(judges), judgements)
    names: Sequence[str] = []
    scores, expected = [], []
    metrics = session.metrics(MEASURES) if named else []
    if named:
        # A missing query is an empty ranking, unless it is an error: the judges would compare
        # runs over different queries.
        alike = replace(session, pool=None)
        if session.settings.missing != "error":
            alike.settings = replace(session.settings, missing="zero")
            alike.missing_by = session.missing_by
        for by_judge in shared_queries(judgements):
            evaluated = replace(alike, qrels=Qrels(by_judge)).evaluate(named, metrics)
            scores.append(evaluated.scores)
            expected.append([*over_all_orders(evaluated, metrics).values()] or evaluated.scores)
            names = evaluated.names
    over_ties = [] if expected == scores else expected
    agreement = agree_judges(together, bootstrap, names, scores, per_query, over_ties)
    roles = ["qrels", *(f"other{number or ''}" for number in range(len(judges) - 1))]
    files = dict(zip(roles, judges.values(), strict=True))
    if differences is not None:
        with replacing(differences, spell("differences")) as file:
            file.writelines(difference_lines(together))
    return Result(
        agree_answer(agreement),
        lambda: noted(agree_charts(agreement), [session.signature(metrics, files).short()]),
        tuple(session.notes),
        session.signed(metrics, files),
    )


def _judges(
    qrels: AnyQrels, other: AnyQrels | Mapping[str, AnyQrels], reference: str | None
) -> dict[str, Any]:
    """Name the reference and the judges in question by their keys or files."""
    if isinstance(other, Mapping) and all(
        isinstance(judge, str | os.PathLike) or hasattr(judge, "judgements")
        for judge in other.values()
    ):
        others = {str(name): judge for name, judge in other.items()}
        return {reference or "qrels": qrels} | others
    judges = {reference or "qrels": qrels, "other": other}
    return dict(zip(judge_names(judges), judges.values(), strict=True))


@command(
    agree,
    without=(
        *("pool", "pool_depth", "pool_union", "ties", "gains", "rel_info"),
        *("only_query", "complete", "common"),
    ),
    examples=(
        "ragkpi agree qrels.txt qrels.llm.txt",
        "ragkpi agree qrels.txt qrels.llm.txt runs/bm25.run runs/dense.run",
        "ragkpi agree -q --differences differences.tsv qrels.txt qrels.llm.txt",
    ),
)
def shell(
    files: Annotated[
        list[str],
        Argument(
            metavar="QRELS OTHER [RUN...]",
            help="Reference judgements, such as human ones; judgements to assess; runs.",
        ),
    ],
    output: PlotOutput,
    judge: Annotated[list[str], Option(metavar="QRELS", help="Another judge. Repeatable.")] = [],  # noqa: B006 - typer's way to say that it may be left out
    **arguments: Any,
) -> None:
    """Write how judges agree."""
    expected = "two qrels, then runs: ragkpi agree [options] QRELS OTHER [RUN...]"
    qrels, other, *runs = expect_files(2, files, expected, *judge)
    judges = [run_path(word) for word in (qrels, other, *judge)]
    refuse_equal_names(judges)
    reference, *others = run_names(judges)
    result = agree(
        judges[0],
        dict(zip(others, judges[1:], strict=True)),
        by_path(runs) or None,
        reference=reference,
        **arguments,
    )
    output.write(result.report)
    output.draw(result.charts)
