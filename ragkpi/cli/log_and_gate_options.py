"""Options that keep evaluations: in a record, and above limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ragkpi.errors import GateFailedError, UsageError

if TYPE_CHECKING:
    from ragkpi.measures.scores import Scores
    from ragkpi.statistics.bootstrap import Bootstrap
    from ragkpi.statistics.gates import Gate, Margin
    from ragkpi.studies.evaluate.evaluation_report import EvaluatedRun


class Record(NamedTuple):
    """Where evaluations are written down, and what is said about them."""

    path: str
    meta: Mapping[str, str]

    def append(
        self,
        runs: Sequence[EvaluatedRun],
        paths: Sequence[str],
        bootstrap: Bootstrap | None,
        files: Mapping[str, tuple[str, str | None]],
    ) -> None:
        """Append a line per run; `files` are path and hash of all files but the run's."""
        from ragkpi.reports.signature import file_hash
        from ragkpi.studies.evaluate.evaluation_log import append, record

        append(
            self.path,
            [
                record(run, bootstrap, {**files, "run": (path, file_hash(path))}, self.meta)
                for run, path in zip(runs, paths, strict=True)
            ],
        )


def record(
    log: Annotated[
        str | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="Append a line of JSON per run to FILE: files and their hashes, signature, time, "
            "values. 'ragkpi log FILE' shows it.",
        ),
    ] = None,
    meta: Annotated[
        list[str],
        typer.Option(
            "--meta",
            metavar="KEY=VALUE",
            help="Say it in the record, e.g. index=2026-11-01; repeatable.",
        ),
    ] = [],  # noqa: B006 - typer copies defaults
) -> Record | None:
    """Read where evaluations are written down; None if they are not."""
    if log is None:
        if meta:
            raise UsageError(f"--meta {meta[0]}: nothing is written down; give --log FILE with it")
        return None
    from ragkpi.studies.evaluate.evaluation_log import parse_meta

    return Record(log, parse_meta(meta))


class Gates(NamedTuple):
    """What runs have to reach: limits, and what a baseline reaches but for a margin."""

    limits: Sequence[Gate]
    baseline: str | None
    margin: Margin | None

    @property
    def files(self) -> list[str]:
        """The runs that are needed besides those that have to reach something."""
        return [] if self.baseline is None else [self.baseline]

    def missed(
        self, names: Sequence[str], runs: Sequence[Scores], baselines: Sequence[Scores]
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


def gates(
    fail_under: Annotated[
        list[str],
        typer.Option(
            "--fail-under",
            metavar="NAME=LIMIT",
            help="Exit with status 3 if a value, e.g. ndcg_cut_10=0.35, is worse; repeatable.",
        ),
    ] = [],  # noqa: B006 - typer copies defaults
    fail_under_baseline: Annotated[
        str | None,
        typer.Option(
            "--fail-under-baseline",
            metavar="RUN",
            help="Exit with status 3 if any value is worse than that of RUN.",
        ),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
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
