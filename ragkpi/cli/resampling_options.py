"""Options of confidence intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.statistics.bootstrap import Bootstrap
    from ragkpi.statistics.paired import Procedure

Resamples = Annotated[
    int | None,
    typer.Option(
        "--resamples",
        metavar="N",
        min=1,
        help="How often queries are drawn again for an interval. Default: 5000.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="Of the random numbers; the same seed, the same digits. Default: 7.",
    ),
]
Confidence = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        metavar="SHARE",
        help="Probability that an interval covers the value. Default: 0.95.",
    ),
]


def intervals(
    ci: Annotated[
        bool, typer.Option("--ci", help="Add confidence intervals, by bootstrap over queries.")
    ] = False,
    ci_method: Annotated[
        str | None,
        typer.Option(
            "--ci-method",
            metavar="percentile|bca",
            help="bca corrects for bias and skewness. Default: percentile.",
        ),
    ] = None,
    resamples: Resamples = None,
    seed: Seed = None,
    confidence: Confidence = None,
) -> Bootstrap | None:
    """Read how intervals are computed; None if there are to be none."""
    given = {
        "--ci-method": ci_method,
        "--resamples": resamples,
        "--seed": seed,
        "--confidence": confidence,
    }
    if not ci:
        for option, value in given.items():
            if value is not None:
                raise UsageError(f"{option} {value}: no interval is asked for; give --ci with it")
        return None
    if ci_method not in (None, "percentile", "bca"):
        raise UsageError(f"--ci-method {ci_method}: no such method; expected percentile or bca")
    from ragkpi.statistics.bootstrap import Bootstrap

    method = {} if ci_method is None else {"method": ci_method}
    return Bootstrap(**_chosen(resamples, seed, confidence), **method)  # type: ignore[arg-type]


def resampling(
    resamples: Resamples = None, seed: Seed = None, confidence: Confidence = None
) -> Bootstrap:
    """Read how queries are resampled."""
    from ragkpi.statistics.bootstrap import Bootstrap

    return Bootstrap(**_chosen(resamples, seed, confidence))


def comparing(
    test: Annotated[
        str,
        typer.Option(
            "--test",
            metavar="TEST",
            help="Where p-values come from: randomization (swaps run and baseline on queries), "
            "bootstrap, t, wilcoxon or sign.",
        ),
    ] = "randomization",
    correction: Annotated[
        str,
        typer.Option(
            "--correction",
            metavar="NAME",
            help="What becomes of many p-values in one call: holm, benjamini-hochberg or none.",
        ),
    ] = "holm",
    trials: Annotated[
        int,
        typer.Option(
            "--trials", metavar="N", min=1, help="Random swaps or resamples behind a p-value."
        ),
    ] = 10_000,
    resamples: Resamples = None,
    seed: Seed = None,
    confidence: Confidence = None,
) -> Procedure:
    """Read how runs are compared."""
    from ragkpi.statistics.corrections import CORRECTIONS
    from ragkpi.statistics.paired import Procedure
    from ragkpi.statistics.significance import TESTS

    chosen_test = _one_of("--test", test, TESTS)
    chosen_correction = _one_of("--correction", correction, CORRECTIONS)
    bootstrap = resampling(resamples, seed, confidence)
    return Procedure(chosen_test, chosen_correction, trials, bootstrap)


def _one_of(option: str, name: str, known: Mapping[Any, object]) -> Any:
    if name not in known:
        raise UsageError(f"{option} {name}: there is no such; expected {', '.join(known)}")
    return name


def _chosen(resamples: int | None, seed: int | None, confidence: float | None) -> dict[str, Any]:
    """Return what was given, so that all else keeps its default."""
    if confidence is not None and not 0 < confidence < 1:
        raise UsageError(f"--confidence {confidence:g}: expected a share such as 0.95")
    given = {"resamples": resamples, "seed": seed, "level": confidence}
    return {name: value for name, value in given.items() if value is not None}
