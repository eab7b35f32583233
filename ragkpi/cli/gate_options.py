"""Options that say what runs have to reach: --fail-under, --fail-under-baseline, --margin."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from ragkpi.cli.messages import tell
from ragkpi.cli.option_groups import option, option_group
from ragkpi.errors import GateFailedError, UsageError
from ragkpi.wording import counted, visible

if TYPE_CHECKING:
    from ragkpi.measures.scores import Scores
    from ragkpi.statistics.gates import BaselineGate, Gate
    from ragkpi.studies.evaluate.stored_result import StoredResult


class Gates(NamedTuple):
    """What runs have to reach: limits, and what a baseline reaches but for a margin."""

    limits: "Sequence[Gate]"
    baseline: str | None
    against_baseline: "BaselineGate | None"
    stored: "StoredResult | None" = None

    @property
    def files(self) -> list[str]:
        """The runs that are needed besides those that have to reach something."""
        return [] if self.baseline is None or self.stored is not None else [self.baseline]

    def missed(
        self, names: Sequence[str], runs: "Sequence[Scores]", baselines: "Sequence[Scores]"
    ) -> list[GateFailedError]:
        """Find what every run falls short of, and say on stderr which runs do not.

        `baselines` are the scores of `files`.
        """
        if not self.limits and not baselines and self.stored is None:
            return []
        from ragkpi.statistics.gates import baseline_verdicts, unmet, verdicts

        errors = []
        for run in zip(names, runs, strict=True):
            found = verdicts(*run, self.limits)
            if self.against_baseline is not None:
                for baseline in zip(self.files, baselines, strict=False):  # it may have failed
                    found += baseline_verdicts(baseline, run, self.against_baseline)
                if self.stored is not None:
                    from ragkpi.studies.evaluate.stored_result import stored_verdicts

                    found += stored_verdicts(self.stored, run, self.against_baseline)
            short = unmet(found)
            errors += [GateFailedError(str(verdict)) for verdict in short]
            if not short:
                tell(f"note: {visible(run[0])}: passed {counted(len(found), 'gate')}")
        return errors


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
            help="Exit with status 3 if any value is worse than that of RUN, or of a result that "
            "ragkpi stored (--format json, jsonl or --log).",
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
    gate_by: Annotated[
        Literal["value", "worse", "noninferior"] | None,
        option(
            "--gate-by",
            metavar="value|worse|noninferior",
            help="What fails a run against the baseline: its value; that it is shown to be worse "
            "by more than the margin; or that it is not shown to be no worse. Default: value, "
            "which fails one of two equal runs half of the time.",
        ),
    ] = None,
    gate_confidence: Annotated[
        float | None,
        option(
            "--gate-confidence",
            metavar="SHARE",
            help="How sure --gate-by worse or noninferior has to be. Default: 0.95.",
        ),
    ] = None,
) -> Gates:
    """Read what runs have to reach."""
    if fail_under_baseline is None:
        given = {"--margin": margin, "--gate-by": gate_by, "--gate-confidence": gate_confidence}
        for name, value in given.items():
            if value is not None:
                raise UsageError(
                    f"{name} {value}: no baseline; give --fail-under-baseline RUN with it"
                )
    if gate_confidence is not None and not 0 < gate_confidence < 1:
        raise UsageError(f"--gate-confidence {gate_confidence:g}: expected a share such as 0.95")
    if not fail_under and fail_under_baseline is None:
        return Gates([], None, None)
    from ragkpi.statistics.gates import BaselineGate, Margin, parse_gate, parse_margin

    against = None
    if fail_under_baseline is not None:
        against = BaselineGate(
            Margin(0) if margin is None else parse_margin(margin),
            gate_by or "value",
            gate_confidence or 0.95,
        )
    stored = None
    if fail_under_baseline is not None:
        from ragkpi.studies.evaluate.stored_result import is_stored_result, read_stored_result

        if is_stored_result(fail_under_baseline):
            stored = read_stored_result(fail_under_baseline)
    limits = [parse_gate(text) for text in fail_under]
    return Gates(limits, fail_under_baseline, against, stored)
