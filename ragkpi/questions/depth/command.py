"""`ragkpi depth`: the public function, and its command."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, Unpack

from typer import Argument, Option

from ragkpi.charts.chart import noted
from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.library.arguments import bootstrap_of, counts, in_one_order, session_of, shares
from ragkpi.library.options import Ci, CiMethod, Estimating, HowRead, Resampling, whole
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Path, Runs, by_path, named_runs
from ragkpi.library.session import Session
from ragkpi.measures.chance import Needed
from ragkpi.questions.depth.answer import depth_answer, depth_charts
from ragkpi.questions.depth.inputs import (
    curves_of_chance,
    curves_of_events,
    curves_of_runs,
    parse_fields,
    read_events,
)
from ragkpi.questions.depth.study import Limits
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.wording import counted, joined

_in_place_of_runs = partial(Option, rich_help_panel="In place of runs")


def depth(
    qrels: AnyQrels | None = None,
    runs: Runs | None = None,
    *,
    at: Annotated[
        Sequence[int] | str | None,
        Option(
            metavar="K,K,...",
            help="Depths. Default: 1,2,3,5,10,20,50,100,200,500,1000 and the depth of the runs.",
        ),
    ] = None,
    at_least: Annotated[
        int | str,
        Option(
            metavar="M|SHARE%",
            help="Relevant documents needed for a success: a number, or a share of them (50%).",
        ),
    ] = 1,
    max_loss: Annotated[
        float | None,
        Option(
            metavar="BITS",
            min=0,
            help="Maximum loss in bits against the best depth. Default: unlimited.",
        ),
    ] = None,
    tokens_per_passage: Annotated[
        float | None,
        Option(metavar="TOKENS", min=0, help="Tokens per passage; adds a cost column."),
    ] = None,
    relevant: Annotated[
        Sequence[int] | str | None,
        _in_place_of_runs(
            metavar="R[,R...]",
            help="Without files: relevant documents among the -N, a number per query or a "
            "share such as 5%. With --log: R if it is not logged.",
        ),
    ] = None,
    success: Annotated[
        Sequence[float] | str | None,
        _in_place_of_runs(
            metavar="RATE[,RATE...]",
            help="Without runs: published success rates, one per --at, to convert to bits.",
        ),
    ] = None,
    log: Annotated[
        Path | Iterable[Mapping[str, object]] | None,
        _in_place_of_runs(
            metavar="FILE",
            help="Instead of files: retrieval events with N, K, R and hit (JSON Lines, CSV).",
        ),
    ] = None,
    map_log: Annotated[
        str | Mapping[str, str] | None,
        _in_place_of_runs(
            metavar="NAME=KEY,...",
            help="Field names of the log: N=corpus,K=shown,R=rel,hit=ok.",
        ),
    ] = None,
    ci: Ci = False,
    ci_method: CiMethod = None,
    **how: Unpack[Estimating],
) -> Result:
    """Answer "how many passages should I retrieve?", or "how many tools may I show the agent?".

    Deeper lists succeed more often, and so do random draws. For each depth K: success (p_obs),
    success of a random draw (p_rand), their ratio in bits (bor) and its ceiling (bor_max), recall,
    RA-nWG, and the change from the previous depth (dbor) with the prediction of sparse theory
    (dbor_sparse). --ci adds intervals of p_obs and bor.

    The answer is the smallest of: the depth where success has plateaued (within 0.02), the last one
    outside the collapse zone, and the deepest one within --max-loss bits of the best. A run no
    better than a random draw gets none. The depth is chosen again on bootstrap samples of the
    queries: if fewer than 95% choose between half and twice the depth, the answer is undecided.

    Without runs, it shows a random draw and a perfect selector: 'ragkpi depth -N 5183 QRELS', or
    without files 'ragkpi depth -N 58 --relevant 4'. Published rates of success become bits:
    'ragkpi depth -N 8841823 --relevant 1 --at 1000 --success 0.857'. 'ragkpi depth --log FILE'
    compares a log of retrieval events with random draws, separately for every K.

    Parameters
    ----------
    qrels, runs, how
        As for `evaluate`. Qrels without runs show a random draw and a perfect system over
        `corpus_size` documents; `relevant` replaces both.
    log, map_log
        Also mappings: of events, each with N, K, R and hit; and of names, ``{"N": "corpus"}``.

    Examples
    --------
    >>> import ragkpi
    >>> print(ragkpi.depth(relevant=[4], corpus_size=58, at=[5, 10, 20]).rows[0]["bor_max"])
    1.6905...
    >>> bm25 = ragkpi.depth(relevant=[1], corpus_size=8841823, at=[1000], success=[0.857])
    >>> print(bm25.rows[0]["bor"])
    12.8874...
    """
    session = session_of(qrels, (), in_one_order(how), Estimating)
    inputs = {"qrels": qrels, "runs": runs, "log": log, "map_log": map_log, "relevant": relevant}
    options = {"at": at, "success": success, "ci_method": ci_method, "ci": ci or None}
    numbers = {"max_loss": max_loss, "tokens_per_passage": tokens_per_passage}
    form = _form_of({**inputs, **options, **numbers, **how})
    needed = _needed(at_least)
    limits = Limits(needed.m, max_loss, recall=needed.recall)
    resampling = bootstrap_of(how, ci_method, session.clusters)
    among = _relevant(relevant)
    if form == "log":
        return _of_log(session, log, parse_fields(map_log), among, limits, resampling)
    places = None if at is None else counts("at", at)
    rates = {} if success is None else _published(success, places)
    depths = None if places is None else sorted(set(places))
    if form == "runs":
        curves, judged = curves_of_runs(session, named_runs(runs), depths, limits, resampling, ci)
    else:
        curves, judged = curves_of_chance(session, among, depths, limits, rates)
    metrics = [m for m in curves.curves[0].metrics if max(m.cutoffs) in curves.depths]
    return Result(
        depth_answer(curves, tokens_per_passage),
        lambda: noted(depth_charts(curves), session.small_print(metrics, judged)),
        tuple(session.notes),
        session.signed(metrics),
    )


Form = Literal["log", "relevant", "runs", "qrels"]
_OF_RUNS = {"run_format", "map_run", "score_order"}
_FLAGS = {"missing", "unjudged", "doubts"}  # on a command line, each value is an option
_OF_CHANCE = {"at", "success", "max_loss", "tokens_per_passage"}
# The arguments of each form of the question, besides the condition of success.
_USES: Mapping[Form, Collection[str]] = {
    "log": {"log", "map_log", "relevant", "corpus_size", "names", "ci", "ci_method"}
    | Resampling.__annotations__.keys(),
    "relevant": {"relevant", "corpus_size", "names"} | _OF_CHANCE,
    "runs": {"qrels", "runs", "ci", "ci_method"}
    | (_OF_CHANCE - {"success"} | Estimating.__annotations__.keys()),
    "qrels": {"qrels", "corpus_size", "corpus_sizes", "relevance_level", "only_query", "names"}
    | (_OF_CHANCE | HowRead.__annotations__.keys() - _OF_RUNS),
}


def _phrase(form: Form) -> str:
    return {"runs": "runs", "qrels": "qrels without a run"}.get(form) or spell(form)


def _form_of(arguments: Mapping[str, Any]) -> Form:
    """Return the form of the question; `UsageError` for an argument that it does not use."""
    passed = {name: value for name, value in arguments.items() if value is not None}
    for name, value in passed.items():
        if isinstance(value, float) and math.isnan(value):
            raise UsageError(f"{spell(name)} {value}: expected a number")
    form = next((form for form in _USES if form in passed), None)
    if form is None or (form == "runs" and "qrels" not in passed):
        size, relevant = spell("corpus_size"), spell("relevant")
        raise UsageError(
            f"expected qrels and runs, qrels and {size}, {relevant} and {size}, or {spell('log')}"
        )
    if form in ("log", "relevant") and passed.keys() & {"qrels", "runs"}:
        raise UsageError(f"{_phrase(form)} replaces files; expected one or the other")
    for name in [name for name in passed if name not in _USES[form]]:
        others = joined([_phrase(other) for other, used in _USES.items() if name in used])
        argument = spell(name, passed[name] if name in _FLAGS else "")
        raise UsageError(
            f"{_phrase(form)} with {argument}: that is for {others or 'other questions'}; "
            "leave it out"
        )
    for name in ("ci_method", "confidence"):
        if form == "runs" and name in passed and not passed.get("ci"):
            raise UsageError(f"{spell(name)}: no interval; give {spell('ci')} with it")
    return form


def _of_log(
    session: Session,
    log: Path | Iterable[Mapping[str, object]] | None,
    fields: Mapping[str, list[str]],
    relevant: Sequence[int] | float | None,
    limits: Limits,
    resampling: Bootstrap,
) -> Result:
    """Answer from a log of events."""
    if isinstance(relevant, Sequence) and len(relevant) != 1:
        raise UsageError(f"{spell('relevant')}: a log takes one number, for events without R")
    if relevant is not None:
        session.note("R is assumed for events without it, and the bits rest on that")
    read = os.fspath(log) if isinstance(log, str | os.PathLike) else log or ()
    events = read_events(read, fields, limits.needed, session.settings.corpus_size, relevant)
    possible = [event for event in events if limits.m <= event.R]
    if not possible:
        raise UsageError(f"{spell('log')}: no event can succeed")
    if len(possible) < len(events):
        left_out = counted(len(events) - len(possible), "event")
        session.note(f"{left_out} left out, which cannot succeed")
    answer = depth_answer(curves_of_events(possible, limits, resampling))
    return Result(answer, None, tuple(session.notes), session.signed((), {"log": read}))


def _needed(at_least: int | str) -> Needed:
    """Read a number of documents, or a share of the relevant ones such as 50%."""
    if not isinstance(at_least, str):
        return Needed(whole("at_least", at_least, 1))
    if at_least.isdecimal() and int(at_least):
        return Needed(int(at_least))
    return Needed(recall=_share("at_least", at_least, "the relevant ones"))


def _relevant(relevant: Sequence[int] | str | None) -> Sequence[int] | float | None:
    """Read numbers of relevant documents, or a share of all such as 5%."""
    if isinstance(relevant, str) and "%" in relevant:
        return _share("relevant", relevant, spell("corpus_size"))
    return None if relevant is None else counts("relevant", relevant)


def _share(name: str, text: str, whole: str) -> float:
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not text.endswith("%") or not 0 < share <= 1:
        raise UsageError(
            f"{spell(name)} {text}: expected a number of documents such as 3, or a share of "
            f"{whole} such as 50%"
        )
    return share


def _published(success: Sequence[float] | str, at: Sequence[int] | None) -> dict[int, float]:
    """Return published rates by depth."""
    rates, depths = shares("success", success), at or ()
    if len(rates) != len(depths):
        expected = f"expected one for each depth of {spell('at')}"
        raise UsageError(f"{spell('success')}: {counted(len(rates), 'rate')}; {expected}")
    return dict(zip(depths, rates, strict=True))


_POOL = ("pool", "pool_depth", "pool_union")


@command(
    depth,
    without=(*_POOL, "ties", "gains", "rel_info", "measure_names"),
    examples=(
        "ragkpi depth -N 5000 qrels.txt runs/bm25.run",
        "ragkpi depth -N 58 --relevant 4",
        "ragkpi depth --at-least 50% qrels.txt runs/bm25.run runs/dense.run",
    ),
)
def shell(
    output: PlotOutput,
    files: Annotated[
        list[str],
        Argument(metavar="[QRELS [RUN...]]", help="Qrels and runs, or qrels alone."),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    **arguments: Any,
) -> None:
    """Write the depths, and the answer."""
    paths = expect_files(0, files, "", arguments.get("log"))
    qrels, runs = paths[0] if paths else None, by_path(paths[1:]) or None
    result = depth(qrels, runs, **arguments)
    output.write(result.report)
    output.draw(result.charts)
