"""Options that say what runs have to reach: --fail-under, --fail-under-baseline, --margin."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ragkpi.cli.option_groups import Annotated, option, option_group
from ragkpi.records import NamedTuple

if TYPE_CHECKING:
    from ragkpi.statistics.gates import DecidedBy


class GateOptions(NamedTuple):
    """What runs have to reach, as `ragkpi.evaluate` takes it by name."""

    fail_under: Sequence[tuple[str, float]]
    fail_under_baseline: str | None
    margin: str | None
    gate_by: "DecidedBy | None"
    gate_confidence: float | None

    @property
    def given(self) -> bool:
        """Whether runs have to reach anything."""
        return bool(self.fail_under) or self.fail_under_baseline is not None


@option_group("Gates")
def gates(
    fail_under: Annotated[
        list[str],
        option(
            "--fail-under",
            metavar="NAME=LIMIT",
            help="Exit with status 3 if a value, e.g. ndcg_cut_10=0.35, is worse, or that of a "
            "slice, lang=de:ndcg_cut_10=0.4 with --by; repeatable.",
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
) -> GateOptions:
    """Read what runs have to reach."""
    limits = []
    if fail_under:
        from ragkpi.statistics.gates import parse_gate

        limits = [(gate.name, gate.limit) for gate in map(parse_gate, fail_under)]
    return GateOptions(limits, fail_under_baseline, margin, gate_by, gate_confidence)
