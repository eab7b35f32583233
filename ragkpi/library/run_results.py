"""Results of `evaluate`: `RunResult` for one run, `RunResults` for several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragkpi.errors import RagkpiError
from ragkpi.formats.inputs import Inputs, inputs
from ragkpi.interface import interface
from ragkpi.library.arguments import bootstrap_of
from ragkpi.library.result import Result
from ragkpi.measures.scores import Scores
from ragkpi.records import dataclass, field
from ragkpi.studies.evaluate.evaluation_report import EvaluationReport
from ragkpi.wording import decoded

if TYPE_CHECKING:
    from ragkpi.library.session import Hashes
    from ragkpi.statistics.bootstrap import Interval, Method
    from ragkpi.statistics.gates import Verdict


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationResult(Result):
    """The values of runs.

    Attributes
    ----------
    files
        By role (``"qrels"``, ``"pool"``) path and hash of what was read besides the runs.
    paths
        Of the runs, in the order of the report; None of what was in memory.
    verdicts
        The gates of each run, and whether it passed.
    problems
        What is wrong with runs that are not in the report, and which limits were missed; empty
        unless ``problems="kept"`` was asked for.
    """

    files: Hashes = field(default_factory=dict)
    paths: Sequence[str | None] = ()
    verdicts: Sequence[Verdict] = ()
    problems: Sequence[RagkpiError] = ()
    inputs: Inputs = field(default_factory=inputs)

    @property
    def evaluation(self) -> EvaluationReport:
        """The report on all queries."""
        report = getattr(self.report, "whole", self.report)  # of slices
        assert isinstance(report, EvaluationReport)
        return report

    @property
    def passed(self) -> dict[str, int]:
        """How many limits each run keeps that misses none."""
        missing = {verdict.run for verdict in self.verdicts if not verdict.passed}
        held = Counter(verdict.run for verdict in self.verdicts)
        return {run: number for run, number in held.items() if run not in missing}

    def plot(self) -> Any:
        """Draw runs with their intervals, or one run query by query, as a figure of matplotlib."""
        from ragkpi.charts.picture import figure_of
        from ragkpi.studies.evaluate.evaluation_charts import evaluation_charts

        return figure_of(evaluation_charts(self.evaluation.runs, self.evaluation.bootstrap))

    def log(self, path: str, meta: Mapping[str, str] | None = None) -> None:
        """Append a line of JSON per run to a file, as ``ragkpi eval --log``.

        Parameters
        ----------
        path
            Of the record, which `ragkpi.log` shows.
        meta
            What there is to say about the runs: ``{"index": "2026-11-01"}``.

        Raises
        ------
        UsageError
            If the file cannot be written.
        InputError
            If a run's file has changed since it was evaluated.
        """
        from ragkpi.studies.evaluate.evaluation_log import append, record

        records = []
        for run, of_run in zip(self.evaluation.runs, self.paths, strict=True):
            own = {} if of_run is None else {"run": (of_run, self.inputs.sha256(of_run))}
            files = {**self.files, **own}
            records.append(record(run, self.evaluation.bootstrap, files, meta or {}))
        append(path, records)


class RunResult(EvaluationResult):
    """The values of one run."""

    @property
    def scores(self) -> Scores:
        """The sufficient statistics of every query, which `ragkpi.statistics` works on."""
        return self.evaluation.runs[0].scores

    @cached_property
    def mean(self) -> dict[str, Any]:
        """The values over all queries by printed name; NaN for NA.

        What ``ragkpi eval`` prints for ``all``: a mean for most measures, a sum for counts, the
        logarithm of a ratio of means for bor.
        """
        return {column.name: decoded(column.summary) for column in self.scores.printed("summary")}

    @cached_property
    def per_query(self) -> dict[str, dict[str, Any]]:
        """The values of every query, by query and printed name."""
        columns = {
            column.name: map(decoded, column.per_query.tolist())
            for column in self.scores.printed("query")
        }
        rows = zip(*columns.values(), strict=True) if columns else ([] for _ in self.scores.queries)
        return {
            decoded(query): dict(zip(columns, row, strict=True))
            for query, row in zip(self.scores.queries, rows, strict=True)
        }

    def ci(
        self,
        *,
        resamples: int = 5000,
        seed: int = 7,
        confidence: float = 0.95,
        method: Method | None = None,
    ) -> dict[str, Interval]:
        """Compute confidence intervals by bootstrap over queries, by printed name.

        Parameters
        ----------
        resamples, seed
            How often the queries are drawn again, and the seed of that.
        confidence
            The probability that an interval covers the value.
        method
            ``"percentile"`` or ``"bca"``, which corrects for bias and skewness; None resamples
            like the first, but gives rates, and what is computed from them, Wilson's interval.
        """
        from ragkpi.statistics.bootstrap import few_queries_note, intervals, resampled

        how = bootstrap_of(resamples, seed, confidence, method)
        few = few_queries_note(resampled([self.scores], how), how)
        if few:
            interface().note(few)
        return intervals(self.scores, how)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row per query: ``query``, then the values by printed name."""
        return [{"query": query, **values} for query, values in self.per_query.items()]

    def to_pandas(self) -> Any:
        """Return the values of every query as a pandas DataFrame: a row per query, its index."""
        return super().to_pandas().set_index("query")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.mean.items())
        return f"{type(self).__name__}({len(self.scores.queries)} queries: {values})"


class RunResults(EvaluationResult):
    """The values of several runs."""

    @cached_property
    def runs(self) -> dict[str, RunResult]:
        """The result of each run by its name."""
        return {
            run.name: RunResult(
                EvaluationReport([run], self.evaluation.bootstrap),
                signature=self.signature,
                files=self.files,
                paths=[path],
                inputs=self.inputs,
            )
            for run, path in zip(self.evaluation.runs, self.paths, strict=True)
        }

    @property
    def mean(self) -> dict[str, dict[str, Any]]:
        """The values over all queries, by run and printed name."""
        return {name: run.mean for name, run in self.runs.items()}

    def __getitem__(self, name: str) -> RunResult:
        """Return the result of one run."""
        return self.runs[name]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(run.name for run in self.evaluation.runs)})"


@dataclass(frozen=True, eq=False, repr=False)
class ZScores(Result):
    """Means and deviations over runs, per query and measure.

    Attributes
    ----------
    lines
        ``query measure mean deviation``, the numbers with all their digits, as trec_eval reads
        them.
    """

    lines: Sequence[bytes] = ()

    def save(self, path: str | None) -> None:
        """Write the lines to a file, which is replaced at once or not at all."""
        from ragkpi.reports.output_files import opened

        with opened(path) as file:
            file.writelines(self.lines)
