"""`ragkpi depth`: how many passages to retrieve, or tools to show."""

import ragkpi
from ragkpi.cli.evaluation_options import Arguments, intervals, without_pool
from ragkpi.cli.options import argument, argument_group, command, option
from ragkpi.cli.output_options import Output, naming, output_and_plot
from ragkpi.cli.runs import by_path
from ragkpi.cli.terminal import expect_files

_evaluating = without_pool.without("measures", "measure_names")


@argument_group("Options")
def choosing(
    at: str | None = option(
        "--at K,K,...",
        "Depths. Default: 1,2,3,5,10,20,50,100,200,500,1000 and the depth of the runs.",
        use="common",
    ),
    at_least: str = option(
        "--at-least M|SHARE%",
        "Relevant documents that make a success: a number, or a share of them (50%).",
        "1",
        use="common",
    ),
    max_loss: float | None = option(
        "--max-loss BITS",
        "Bits of BoR that the answer may lie below the best depth. Default: any; what one "
        "bit buys is said.",
        min=0,
        use="common",
    ),
    plateau: float = option(
        "--plateau SHARE",
        "Success has plateaued where deeper lists add no more than this.",
        0.02,
        min=0,
        max=1,
    ),
    tokens_per_passage: float | None = option(
        "--tokens-per-passage TOKENS",
        "Also show the cost in tokens.",
        min=0,
        use="common",
    ),
    target: str | None = option(
        "--target NAME=LEAST",
        "The smallest depth where a measure reaches that: recall=0.8, ra_nwg=0.7, success=0.9.",
        use="common",
    ),
    max_tokens: float | None = option(
        "--max-tokens TOKENS",
        "Room for passages, with --tokens-per-passage: no depth that needs more.",
        min=1,
    ),
    relevant: str | None = option(
        "--relevant R[,R...]",
        "Without files: how many of the -N are relevant, a number per query, or a share such as "
        "5%. With --log, R where it is not logged.",
    ),
    log: str | None = option(
        "--log FILE",
        "In place of files: retrieval events, a line each with N, K, R and hit (JSON Lines, CSV).",
    ),
    map_log: str | None = option(
        "--map-log NAME=KEY,...", "Other names of a log's fields: N=corpus,K=shown,R=rel,hit=ok."
    ),
    success: str | None = option(
        "--success RATE[,RATE...]",
        "Without runs: published rates of success, one for each --at, to turn into bits.",
    ),
    quality: str | None = option(
        "--quality FILE",
        "Quality of the answers by depth, to show beside success: lines of K QUALITY, or RUN K "
        "QUALITY.",
        use="common",
    ),
) -> None:
    """How to choose a depth, and what stands in place of runs."""


@command
def depth(
    choosing: Arguments = choosing,
    evaluating: Arguments = _evaluating,
    output: Output = output_and_plot,
    naming: Arguments = naming,
    intervals: Arguments = intervals,
    files: list[str] = argument("[QRELS [RUN...]]", "Qrels and runs, or qrels alone."),
) -> None:
    """Answer "how many passages should I retrieve?", or "how many tools may I show the agent?".

    Deeper lists succeed more often, and so does chance. For each depth K: success (p_obs), chance
    (p_rand), their ratio in bits (bor) and its ceiling (bor_max), recall, RA-nWG, and what the step
    from the depth before changed (dbor) beside what sparse theory predicts (dbor_sparse). --ci adds
    intervals of p_obs and bor.

    The answer is the smallest of: the depth where success has plateaued (--plateau), the last one
    outside the collapse zone, and the deepest one within --max-loss bits of the best. With
    --target it is the one that reaches this; no answer is deeper than --max-tokens allow. A run
    that a random draw would equal gets none. The depth is chosen again on resampled queries: if
    fewer than 90 % of them choose between half and twice the depth, the answer is undecided.

    Without runs it says what chance and a perfect selector do: 'ragkpi depth -N 5183 QRELS', or
    without files 'ragkpi depth -N 58 --relevant 4'. Published rates of success become bits:
    'ragkpi depth -N 8841823 --relevant 1 --at 1000 --success 0.857'. A log of retrieval events is
    set against chance with 'ragkpi depth --log FILE', every K apart.
    """
    paths = expect_files(0, files, "", choosing.get("log"), choosing.get("quality"))
    qrels, runs = paths[0] if paths else None, by_path(paths[1:]) or None
    result = ragkpi.depth(qrels, runs, **choosing, **intervals, **evaluating | naming)
    output.write(result.report, result.charts)
