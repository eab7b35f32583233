"""What `ragkpi eval` found, as lines or as a report, and what it depends on."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragkpi.cli.messages import tell
from ragkpi.records import dataclass

if TYPE_CHECKING:
    from ragkpi.cli.evaluation_options import EvaluationOptions
    from ragkpi.cli.output_options import Labels, Output
    from ragkpi.measures.measure import Metric
    from ragkpi.measures.scores import Scores
    from ragkpi.reports.signature import Signature
    from ragkpi.reports.trec_lines import Lines
    from ragkpi.statistics.bootstrap import Bootstrap, Interval
    from ragkpi.studies.evaluate.evaluation_report import EvaluationReport


class Origin(NamedTuple):
    """What numbers depend on besides the run: the signature; path and hash of files, by role."""

    signature: "Signature"
    files: Mapping[str, tuple[str, str | None]]

    @staticmethod
    def is_shown(output: "Output", labels: "Labels") -> bool:
        """Say whether a result carries its signature, for which files are read again."""
        return labels.signature != "none" or output.format in ("json", "jsonl")

    @classmethod
    def of(
        cls,
        options: "EvaluationOptions",
        metrics: "Sequence[Metric]",
        paths: Mapping[str, str | None],
    ) -> "Origin":
        """Hash the files by role (None: not given) and the pool, and collect the settings."""
        from ragkpi.formats.inputs import inputs
        from ragkpi.reports.signature import signature_of

        given = {**paths, "pool": options.pool}
        files = {
            role: (path, inputs().sha256(path)) for role, path in given.items() if path is not None
        }
        hashes = {role: digest for role, (_, digest) in files.items()}
        return cls(signature_of(options.settings, metrics, hashes), files)


@dataclass(eq=False, repr=False)
class Findings:
    """What runs scored.

    Attributes
    ----------
    paths, names, scored
        The runs' files, what they are called, and their scores.
    bootstrap
        How intervals are computed; None if there are none.
    origin
        None if nobody wants to know.
    """

    paths: Sequence[str]
    names: Sequence[str]
    scored: "Sequence[Scores]"
    bootstrap: "Bootstrap | None"
    origin: "Origin | None"

    @cached_property
    def bounds(self) -> "list[dict[str, Interval]]":
        """The intervals of every run by the names of metrics, none if nobody asked for them."""
        if self.bootstrap is None:
            return [{} for _ in self.scored]
        from ragkpi.statistics.bootstrap import intervals

        return [intervals(scores, self.bootstrap) for scores in self.scored]

    @cached_property
    def report(self) -> "EvaluationReport":
        """All of it as a report."""
        from ragkpi.studies.evaluate.evaluation_report import EvaluatedRun, EvaluationReport

        signature = None if self.origin is None else self.origin.signature
        rows = zip(self.names, self.scored, self.bounds, strict=True)
        return EvaluationReport(
            [EvaluatedRun(name, scores, found, signature) for name, scores, found in rows],
            self.bootstrap,
        )

    def write_lines(
        self,
        output: "Output",
        labels: "Labels",
        per_query: "Lines",
        summary: "Lines",
        metrics: Literal["plain", "standardized"],
    ) -> None:
        """Write the only run as trec_eval does; what the bounds are is said on stderr."""
        from ragkpi.reports.output_files import opened
        from ragkpi.reports.trec_lines import NAME_WIDTH, write_trec

        width = NAME_WIDTH + (metrics == "standardized")
        with opened(output.path) as file:
            write_trec(
                self.scored[0], file, per_query, summary, width, output.digits, self.bounds[0]
            )
            if self.origin is not None and labels.signature != "none":
                signature = self.origin.signature
                text = signature.long() if labels.signature == "long" else signature.short()
                file.write(f"{'signature':<{NAME_WIDTH}}\tall\t{text}\n".encode())
        if self.bootstrap is not None:
            from ragkpi.studies.evaluate.evaluation_report import interval_notes

            for note in interval_notes(self.bootstrap, self.scored):
                tell(f"note: {note}")
