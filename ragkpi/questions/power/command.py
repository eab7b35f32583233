"""`ragkpi power`: how many queries a comparison needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Unpack

from typer import Argument, Option

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.library.arguments import bootstrap_of, counts, session_of
from ragkpi.library.options import Estimating, Measures
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Runs, by_path, named_runs
from ragkpi.library.stored import is_result, scored_runs, with_results
from ragkpi.questions.power.answer import plan_answer
from ragkpi.statistics.paired import Procedure, comparable_samples
from ragkpi.statistics.power import Noise, noise_of
from ragkpi.statistics.replicates import systems_of

DIFFERENCES = (0.01, 0.02, 0.05, 0.1)


def power(
    qrels: AnyQrels | None = None,
    runs: Runs | None = None,
    measures: Measures = (),
    *,
    difference: Annotated[
        float | str | Sequence[float],
        str,
        Option(
            metavar="D,D,...",
            help="Differences that would matter.",
        ),
    ] = DIFFERENCES,
    sample_size: Annotated[
        int | str | Sequence[int] | None,
        str,
        Option(metavar="N,N,...", help="Show which difference so many queries detect instead."),
    ] = None,
    power: Annotated[
        float,
        Option(metavar="P", min=0.5, max=0.999, help="Probability of detecting the difference."),
    ] = 0.8,
    sd: Annotated[
        float | None,
        Option(
            metavar="SD",
            min=0,
            help="Standard deviation of the queries' differences, instead of a pilot.",
        ),
    ] = None,
    **how: Unpack[Estimating],
) -> Result:
    """Answer "how many queries do I need?".

    From a pilot, two runs on at least 20 queries, and the smallest difference that matters: the
    number of queries that detect it. The standard deviation of the queries' differences is taken at
    its upper 80% bound, the larger of the chi-squared and the bootstrap bound, because the pilot's
    own is too small half of the time. The pilot's own difference is never used: a small pilot
    exaggerates it, and the power at an observed difference only restates its p-value. With
    --sample-size: the difference that this many queries detect. With --cluster, the queries of a
    cluster count as dependent. Without files, --sd gives the standard deviation. Without -m:
    ndcg_cut at 10.

    Parameters
    ----------
    qrels, runs, measures
        As for `compare`: two runs, the pilot; the first measure counts. None with `sd`.
    how
        See `Estimating`: ``confidence`` (1 - alpha), ``resamples`` and ``seed`` of the bootstrap,
        ``cluster``.

    Examples
    --------
    >>> import ragkpi
    >>> plan = ragkpi.power(difference=0.1, sd=0.26)
    >>> plan.rows[0]["queries"]
    56
    """
    session = session_of(qrels, measures, how, Estimating)
    bootstrap = bootstrap_of(how, clusters=session.clusters)
    if not 0.5 <= power < 1:
        raise UsageError(f"{spell('power')} {power}: expected a probability from 0.5, below 1")
    if (sd is None) == (runs is None):
        expected = f"expected two runs on at least 20 queries, or {spell('sd')}"
        raise UsageError(
            f"{'no pilot' if runs is None else 'a pilot and a standard deviation'}; {expected}"
        )
    pilot = None
    if sd is not None:
        if not 0 < sd < math.inf:
            raise UsageError(f"{spell('sd')} {sd:g}: expected a number above 0")
        noise = Noise(sd)
    else:
        named = with_results(named_runs(runs, "taken"))
        scores = scored_runs(session, named, ("ndcg_cut.10",)).scores
        if len(scores) != 2:
            raise UsageError(f"a pilot of {len(scores)} runs; expected two")
        procedure = Procedure(bootstrap=bootstrap)
        sample = comparable_samples(list(scores), list(scores.values()), procedure)[0]
        one, other = systems_of(sample)[0]
        noise = noise_of(one, other, sample.queries, bootstrap)
        pilot = sample.metrics[0].name, sample.queries, sample.units
    differences: Sequence[float] = []
    sizes: Sequence[int] = []
    if sample_size is None:
        differences = _differences(difference)
    else:
        sizes = counts(
            "sample_size", [sample_size] if isinstance(sample_size, int) else sample_size
        )
        if min(sizes) < 2:
            raise UsageError(f"{spell('sample_size')} {sample_size}: expected 2 queries or more")
    answer = plan_answer(noise, power, 1 - bootstrap.level, differences, sizes, pilot)
    return Result(answer, None, tuple(session.notes))


def _differences(value: float | str | Sequence[float]) -> list[float]:
    """Return positive numbers, or read them from a text; `UsageError` for others."""
    items = value.split(",") if isinstance(value, str) else value
    try:
        numbers = [float(item) for item in ([items] if isinstance(items, float | int) else items)]
    except (TypeError, ValueError):
        numbers = [0.0]
    if not numbers or not all(0 < number < float("inf") for number in numbers):
        raise UsageError(f"{spell('difference')} {value}: expected numbers above 0, between commas")
    return numbers


@command(
    power,
    examples=(
        "ragkpi power --sd 0.26 --difference 0.05,0.1",
        "ragkpi power --sd 0.26 --sample-size 50,100,200",
        "ragkpi power --sd 0.26 --power 0.9",
    ),
)
def shell(
    output: Output,
    files: Annotated[
        list[str],
        Argument(metavar="[QRELS RUN RUN]", help="A pilot: qrels and two runs, or two results."),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    **arguments: Any,
) -> None:
    """Write the plan."""
    qrels, runs = None, None
    if files:
        results = is_result(files[0])
        expected = "a pilot of two runs: ragkpi power [options] QRELS RUN RUN"
        paths = expect_files(2 if results else 3, files, expected, arguments.get("cluster"))
        qrels, runs = (None, paths) if results else (paths[0], paths[1:])
    result = power(qrels, None if runs is None else by_path(runs), **arguments)
    output.write(result.report)
