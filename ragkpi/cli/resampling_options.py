"""Options of confidence intervals and tests."""

from typing import Any, Literal

from ragkpi.cli.option_groups import Annotated, option, option_group
from ragkpi.errors import UsageError

Arguments = dict[str, Any]  # of a function of `ragkpi`, by name

Resamples = Annotated[
    int | None,
    option(
        "--resamples",
        metavar="N",
        min=1,
        max=1_000_000,
        help="How often queries are drawn again for an interval. Default: 5000.",
    ),
]
Seed = Annotated[
    int | None,
    option(
        "--seed",
        metavar="N",
        min=0,
        help="Of the random numbers; the same seed, the same digits. Default: 7.",
    ),
]
Confidence = Annotated[
    float | None,
    option(
        "--confidence",
        metavar="SHARE",
        help="Probability that an interval covers the value. Default: 0.95.",
    ),
]


@option_group("Intervals")
def intervals(
    ci: Annotated[
        bool, option("--ci", help="Add confidence intervals, by bootstrap over queries.")
    ] = False,
    ci_method: Annotated[
        Literal["percentile", "bca"] | None,
        option(
            "--ci-method",
            metavar="percentile|bca",
            help="bca corrects for bias and skewness. Given, rates are resampled too; else they "
            "have Wilson's interval. Default: percentile.",
        ),
    ] = None,
    resamples: Resamples = None,
    seed: Seed = None,
    confidence: Confidence = None,
) -> Arguments:
    """Read whether and how intervals are computed."""
    given = {
        "--ci-method": ci_method,
        "--resamples": resamples,
        "--seed": seed,
        "--confidence": confidence,
    }
    if not ci:
        for name, value in given.items():
            if value is not None:
                raise UsageError(f"{name} {value}: no interval is options for; give --ci with it")
        return {}
    return {"ci": True, "ci_method": ci_method, **resampled(resamples, seed, confidence)}


@option_group("Comparison")
def comparing(
    test: Annotated[
        Literal["randomization", "bootstrap", "t", "wilcoxon", "sign"],
        option(
            "--test",
            metavar="TEST",
            help="Where p-values come from: randomization (swaps run and baseline on queries), "
            "bootstrap or t test a difference of means; wilcoxon (symmetry around 0) and sign "
            "(wins against losses) do not.",
        ),
    ] = "randomization",
    correction: Annotated[
        Literal["holm", "benjamini-hochberg", "none"],
        option(
            "--correction",
            metavar="NAME",
            help="What becomes of many p-values in one call: holm, benjamini-hochberg or none.",
        ),
    ] = "holm",
    family: Annotated[
        Literal["metric", "all"],
        option(
            "--family",
            metavar="metric|all",
            help="Which p-values are corrected together: those of the runs by one metric, or all "
            "of the call.",
        ),
    ] = "metric",
    trials: Annotated[
        int,
        option(
            "--trials",
            metavar="N",
            min=1,
            max=10_000_000,
            help="Random swaps or resamples behind a p-value.",
        ),
    ] = 10_000,
    resamples: Resamples = None,
    seed: Seed = None,
    confidence: Confidence = None,
) -> Arguments:
    """Read how runs are compared."""
    return {
        "test": test,
        "correction": correction,
        "family": family,
        "trials": trials,
        **resampled(resamples, seed, confidence),
    }


def resampled(
    resamples: Resamples = None, seed: Seed = None, confidence: Confidence = None
) -> Arguments:
    """Read how queries are resampled; what is not given keeps its default."""
    if confidence is not None and not 0 < confidence < 1:
        raise UsageError(f"--confidence {confidence:g}: expected a share such as 0.95")
    given = {"resamples": resamples, "seed": seed, "confidence": confidence}
    return {name: value for name, value in given.items() if value is not None}


resampling = option_group("Intervals")(resampled)
