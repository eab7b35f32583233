"""Options that say what runs have to reach: --fail-under, --fail-under-baseline, --margin."""

from typing import Literal

from ragkpi.cli.option_groups import option, option_group
from ragkpi.cli.resampling_options import Arguments


@option_group("Gates")
def gates(
    fail_under: list[str] = option(
        "--fail-under NAME=LIMIT",
        "Exit with status 3 if a value, such as ndcg_cut_10=0.35, is worse, or that of a "
        "slice, lang=de:ndcg_cut_10=0.4 with --by; repeatable.",
        use="common",
    ),
    fail_under_baseline: str | None = option(
        "--fail-under-baseline RUN",
        "Exit with status 3 if any value is worse than that of RUN, or of a result that "
        "ragkpi stored (--format json, jsonl or --log).",
    ),
    margin: str | None = option(
        "--margin AMOUNT", "How much worse than the baseline is still good, e.g. 0.01 or 2%."
    ),
    gate_by: Literal["value", "worse", "noninferior"] | None = option(
        "--gate-by value|worse|noninferior",
        "What fails a run against the baseline: its value; that it is shown to be worse by "
        "more than the margin; or that it is not shown to be no worse. Default: value, "
        "which fails one of two equal runs half of the time.",
    ),
    gate_confidence: float | None = option(
        "--gate-confidence SHARE",
        "How sure --gate-by worse or noninferior has to be. Default: 0.95.",
    ),
) -> Arguments:
    """Return what runs have to reach, as `ragkpi.evaluate` takes it by name."""
    limits = []
    if fail_under:
        from ragkpi.statistics.gates import parse_gate

        limits = [(gate.name, gate.limit) for gate in map(parse_gate, fail_under)]
    return {
        "fail_under": limits,
        "fail_under_baseline": fail_under_baseline,
        "margin": margin,
        "gate_by": gate_by,
        "gate_confidence": gate_confidence,
    }
