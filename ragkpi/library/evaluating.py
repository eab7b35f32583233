"""`evaluate`: what ``ragkpi eval`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from ragkpi.errors import UsageError
from ragkpi.evaluation import Evaluation
from ragkpi.library.arguments import Evaluating, one_of, qrels_of, run_of, runs_of, session, whole
from ragkpi.library.result import Result
from ragkpi.library.session import IN_PYTHON
from ragkpi.library.wording_in_python import speaks_python
from ragkpi.measures.scores import Scores
from ragkpi.studies.evaluate.evaluation_report import EvaluatedRun, EvaluationReport
from ragkpi.wording import decoded

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ragkpi.reports.signature import Signature
    from ragkpi.statistics.bootstrap import Interval, Method


@speaks_python
def evaluate(
    qrels: Any, run: Any, measures: str | Sequence[str] = (), **how: Unpack[Evaluating]
) -> RunResult | RunResults:
    """Evaluate a run, or several, with the numbers that ``ragkpi eval`` prints.

    Parameters
    ----------
    qrels, run
        A path; ``{query: {document: number}}``; an iterable of rows, (query, document, number) or
        those of a TREC file; or a data frame of pandas, polars or pyarrow, whose columns are found
        by their names (``query_id``, ``qid``, ``docno``, ``relevance``, ``score``, …). The number
        is a level or a score. Ids are str, bytes or int. Qrels may be those of `read_qrels`, and
        `run` several runs: a mapping by their names, or a list. Several are evaluated over all
        judged queries unless `missing` says otherwise.
    measures
        As for ``-m``; the official ones if none is named.
    how
        See `Evaluating`: ``corpus_size``, ``missing``, ``relevance_level``, ``pool``, …

    Returns
    -------
    RunResult or RunResults
        What may mislead its reader is warned of with `RagkpiWarning`.

    Raises
    ------
    RagkpiError
        With a text of one line: `UsageError`, `InputError`, `DataError` or
        `NothingInCommonError`.

    Examples
    --------
    >>> import ragkpi
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.9}, "q2": {"d3": 1.5, "d9": 0.1}}
    >>> result = ragkpi.evaluate(qrels, run, ["recip_rank", "P.1", "bor.1"], corpus_size=1000)
    >>> result.mean
    {'recip_rank': 0.75, 'P_1': 0.5, 'bor_1': 8.965784284662087}
    >>> result.per_query["q1"]
    {'recip_rank': 0.5, 'P_1': 0.0, 'bor_1': -inf}
    >>> result.ci(seed=1)["recip_rank"]
    Interval(low=0.5, high=1.0)
    >>> print(ragkpi.evaluate(qrels, {"mine": run, "better": qrels}, "P.1"))
    run          P_1
    ────────────────
    mine      0.5000
    better   1.0000*
    over 2 queries
    * best of its column
    """
    asked = session(measures, how)
    metrics = asked.metrics()
    judged = qrels_of(qrels, asked.rel_info, asked.qrels_format)
    runs = runs_of(run)
    if runs is None:
        evaluation = asked.evaluator(judged, metrics).evaluate(run_of(run), metrics)
        asked.say({"": evaluation})
        return RunResult("run", evaluation, asked.said, asked.signature(qrels, metrics))
    results = asked.evaluate_side_by_side(judged, runs, metrics)
    done = dict(zip(runs, results, strict=True))
    return RunResults(done, asked.said, asked.side_by_side().signature(qrels, metrics))


class RunResult(Result):
    """What came of one run.

    Attributes
    ----------
    scores
        The sufficient statistics of every query, which `ragkpi.statistics` works on.
    """

    def __init__(
        self,
        name: str,
        evaluation: Evaluation,
        notes: Sequence[str],
        signature: Signature | None = None,
    ) -> None:
        self.scores: Scores = evaluation.scores
        report = EvaluationReport([EvaluatedRun(name, self.scores)])
        super().__init__(report, notes=notes, signature=signature)

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
        columns = {name: map(decoded, column) for name, column in self._by_name().items()}
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
        level: float = 0.95,
        method: Method | None = None,
    ) -> dict[str, Interval]:
        """Compute confidence intervals by bootstrap over queries, by printed name.

        Parameters
        ----------
        resamples, seed
            How often the queries are drawn again, and the seed of that.
        level
            The probability that an interval covers the value.
        method
            ``"percentile"`` or ``"bca"``, which corrects for bias and skewness; None resamples
            like the first, but gives rates, and what is computed from them, Wilson's interval.
        """
        from ragkpi.statistics import bootstrap

        one_of("method", method or "percentile", get_args(bootstrap.Method))
        if not isinstance(level, float) or not 0 < level < 1:
            raise UsageError(f"level={level!r}: expected a share such as 0.95")
        how = bootstrap.Bootstrap(
            whole("resamples", resamples, 1),
            whole("seed", seed, 0),
            level,
            method or "percentile",
            "resampled" if method else "wilson",
        )
        few = bootstrap.few_queries_note([self.scores], how.rates)
        if few:
            IN_PYTHON.note(few)
        return bootstrap.intervals(self.scores, how)

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

    def _by_name(self) -> dict[str, list[Any]]:
        return {column.name: column.per_query.tolist() for column in self.scores.printed("query")}


class RunResults(Result):
    """What came of several runs.

    Attributes
    ----------
    runs
        The result of each run by its name.
    """

    def __init__(
        self,
        evaluations: Mapping[str, Evaluation],
        notes: Sequence[str],
        signature: Signature | None = None,
    ) -> None:
        self.runs = {name: RunResult(name, one, (), signature) for name, one in evaluations.items()}
        rows = [EvaluatedRun(name, one.scores) for name, one in evaluations.items()]
        super().__init__(EvaluationReport(rows), notes=notes, signature=signature)

    @property
    def mean(self) -> dict[str, dict[str, Any]]:
        """The values over all queries, by run and printed name."""
        return {name: run.mean for name, run in self.runs.items()}

    def __getitem__(self, name: str) -> RunResult:
        """Return the result of one run."""
        return self.runs[name]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.runs)})"
