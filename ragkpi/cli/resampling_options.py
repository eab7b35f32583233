"""Options of confidence intervals and tests."""

from typing import Any, Literal

from ragkpi.cli.options import option, option_group
from ragkpi.errors import UsageError

Arguments = dict[str, Any]  # of a function of `ragkpi`, by name


@option_group("Intervals")
def resampling(
    resamples: int | None = option(
        "--resamples N",
        "How often queries are drawn again for an interval. Default: 5000.",
        min=1,
        max=1_000_000,
    ),
    seed: int | None = option(
        "--seed N", "Of the random numbers; the same seed, the same digits. Default: 7.", min=0
    ),
    confidence: float | None = option(
        "--confidence SHARE", "Probability that an interval covers the value. Default: 0.95."
    ),
) -> Arguments:
    """Return how queries are resampled, without what keeps its default."""
    if confidence is not None and not 0 < confidence < 1:
        raise UsageError(f"--confidence {confidence:g}: expected a share such as 0.95")
    values = {"resamples": resamples, "seed": seed, "confidence": confidence}
    return {name: value for name, value in values.items() if value is not None}


@option_group("Intervals", resampling=resampling)
def intervals(
    resampling: Arguments,
    ci: bool = option("--ci", "Add confidence intervals, by bootstrap over queries.", use="common"),
    ci_method: Literal["percentile", "bca"] | None = option(
        "--ci-method percentile|bca",
        "bca corrects for bias and skewness. Given, rates are resampled too; else they have "
        "Wilson's interval. Default: percentile.",
    ),
) -> Arguments:
    """Return whether and how intervals are computed; nothing without ``--ci``."""
    if ci:
        return {"ci": True, "ci_method": ci_method, **resampling}
    for name, value in {"ci-method": ci_method, **resampling}.items():
        if value is not None:
            raise UsageError(f"--{name} {value}: no interval is options for; give --ci with it")
    return {}


@option_group("Comparison", resampling=resampling)
def comparing(
    resampling: Arguments,
    test: Literal["randomization", "bootstrap", "t", "wilcoxon", "sign"] = option(
        "--test TEST",
        "Where p-values come from: randomization (swaps run and baseline on queries), "
        "bootstrap or t test a difference of means; wilcoxon (symmetry around 0) and sign "
        "(wins against losses) do not.",
        "randomization",
        use="common",
    ),
    correction: Literal["holm", "benjamini-hochberg", "none"] = option(
        "--correction NAME",
        "What becomes of many p-values in one call: holm, benjamini-hochberg or none.",
        "holm",
    ),
    family: Literal["metric", "all"] = option(
        "--family metric|all",
        "Which p-values are corrected together: those of the runs by one metric, or all of "
        "the call.",
        "metric",
    ),
    trials: int = option(
        "--trials N", "Random swaps or resamples behind a p-value.", 10_000, min=1, max=10_000_000
    ),
) -> Arguments:
    """Return how runs are compared."""
    return {
        "test": test,
        "correction": correction,
        "family": family,
        "trials": trials,
        **resampling,
    }
