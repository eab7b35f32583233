"""Options that say what runs have to reach: --fail-under, --fail-under-baseline, --margin."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from ragkpi.cli.option_groups import option, option_group
from ragkpi.errors import GateFailedError, UsageError

if TYPE_CHECKING:
    from ragkpi.measures.scores import Scores
    from ragkpi.statistics.gates import Gate, Margin


class Gates(NamedTuple):
    """What runs have to reach: limits, and what a baseline reaches but for a margin."""

    limits: "Sequence[Gate]"
    baseline: str | None
    margin: "Margin | None"

    @property
    def files(self) -> list[str]:
        """The runs that are needed besides those that have to reach something."""
        return [] if self.baseline is None else [self.baseline]

    def missed(
        self, names: Sequence[str], runs: "Sequence[Scores]", baselines: "Sequence[Scores]"
    ) -> list[GateFailedError]:
        """Find what every run falls short of; `baselines` are the scores of `files`."""
        if not self.limits and not baselines:
            return []
        from ragkpi.statistics.gates import shortfalls, shortfalls_of_baseline

        found = []
        for run in zip(names, runs, strict=True):
            found += shortfalls(*run, self.limits)
            if self.margin is not None:
                for baseline in zip(self.files, baselines, strict=False):  # it may have failed
                    found += shortfalls_of_baseline(baseline, run, self.margin)
        return [GateFailedError(str(shortfall)) for shortfall in found]


@option_group("Gates")
def gates(
    fail_under: Annotated[
        list[str],
        option(
            "--fail-under",
            metavar="NAME=LIMIT",
            help="Exit with status 3 if a value, e.g. ndcg_cut_10=0.35, is worse; repeatable.",
        ),
    ] = [],  # noqa: B006 - typer copies defaults
    fail_under_baseline: Annotated[
        str | None,
        option(
            "--fail-under-baseline",
            metavar="RUN",
            help="Exit with status 3 if any value is worse than that of RUN.",
        ),
    ] = None,
    margin: Annotated[
        str | None,
        option(
            "--margin",
            metavar="AMOUNT",
            help="How much worse than the baseline is still good, e.g. 0.01 or 2%.",
        ),
    ] = None,
) -> Gates:
    """Read what runs have to reach."""
    if fail_under_baseline is None and margin is not None:
        raise UsageError(f"--margin {margin}: no baseline; give --fail-under-baseline RUN with it")
    if not fail_under and fail_under_baseline is None:
        return Gates([], None, None)
    from ragkpi.statistics.gates import Margin, parse_gate, parse_margin

    allowed = None
    if fail_under_baseline is not None:
        allowed = Margin(0) if margin is None else parse_margin(margin)
    return Gates([parse_gate(text) for text in fail_under], fail_under_baseline, allowed)
