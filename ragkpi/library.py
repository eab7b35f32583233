"""Evaluation from Python: `evaluate`, and the `Result` that it returns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.evaluation import Evaluation, Evaluator, Run
from ragkpi.formats.given_columns import octets
from ragkpi.formats.in_memory import qrels_columns
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.rel_info import default_requests
from ragkpi.measures.scores import Scores
from ragkpi.ranking.grade_maps import GRADE_MAPS, GradeMap, parse_grade_map
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.relevance import Qrels, Relevance
from ragkpi.ranking.runs_in_memory import RunInMemory
from ragkpi.ranking.settings import Draws, Missing, PoolUnion, Settings, Unjudged
from ragkpi.wording import decoded

if TYPE_CHECKING:
    from ragkpi.statistics.bootstrap import Interval, Method


def evaluate(
    qrels: Any,
    run: Any,
    measures: str | Sequence[str] = (),
    *,
    corpus_size: int | None = None,
    corpus_sizes: Mapping[str | bytes, int] | None = None,
    relevance_level: int = 1,
    missing: Missing = "intersection",
    unjudged: Unjudged = "kept",
    max_retrieved: int | None = None,
    draws: Draws = "nominal",
    grade_map: str | Mapping[int, int] = "umbrela",
    pool: Any = None,
    pool_depth: int | None = None,
    pool_union: PoolUnion = "pool",
    rel_info: str = "qrels",
) -> Result:
    """Evaluate a run, with the numbers that ``ragkpi eval`` prints.

    Parameters
    ----------
    qrels, run, pool
        A path; ``{query: {document: number}}``; an iterable of rows, (query, document, number) or
        those of a TREC file; or a data frame of pandas, polars or pyarrow, whose columns are found
        by their names (``query_id``, ``qid``, ``docno``, ``relevance``, ``score``, …). The number
        is a level or a score. Ids are str, bytes or int. `pool` is the first stage that the run
        was selected from.
    measures
        As for ``-m``; the official ones if none is named.
    corpus_size, corpus_sizes
        How many documents could have been retrieved (``-N``), and the same for single queries.
    relevance_level
        Lowest judged level that is relevant (``-l``).
    missing
        Judged queries that the run lacks: ``"intersection"`` leaves them out, ``"zero"`` evaluates
        empty rankings (``-c``), ``"error"`` refuses the run (``--strict``).
    unjudged
        ``"removed"`` closes the ranks over unjudged documents (``-J``), ``"kept"`` does not.
    max_retrieved
        Only this many top documents of each query (``-M``).
    draws
        Whether chance draws K documents, ``"nominal"``, or as many as were retrieved, ``"ret"``.
    grade_map
        From levels to the grades 1 to 5: a preset's name, or levels and grades.
    pool_depth, pool_union
        Only so many documents of the pool; whether each run's top K belong to it (``"union"``).
    rel_info
        The format of the file of qrels, as ``-R`` names it.

    Returns
    -------
    Result
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
    """
    settings = Settings(
        relevance_level=_from("relevance_level", relevance_level, 0),
        missing=_one_of("missing", missing, get_args(Missing)),
        unjudged=_one_of("unjudged", unjudged, get_args(Unjudged)),
        max_retrieved=_from("max_retrieved", max_retrieved, 0),
        corpus_size=_from("corpus_size", corpus_size, 0),
        corpus_sizes={octets(query): size for query, size in (corpus_sizes or {}).items()},
        draws=_one_of("draws", draws, get_args(Draws)),
        grade_map=_grade_map(grade_map),
        pool_depth=_from("pool_depth", pool_depth, 1),
        pool_union=_one_of("pool_union", pool_union, get_args(PoolUnion)),
    )
    requests = [measures] if isinstance(measures, str) else list(measures)
    metrics = find_metrics(requests or default_requests(rel_info))
    evaluator = Evaluator(
        _relevance(qrels, rel_info),
        settings,
        rel_info,
        None if pool is None else _run(pool),
    )
    evaluation = evaluator.evaluate(_run(run), metrics)
    for warning in evaluation.warnings:
        warnings.warn(warning, RagkpiWarning, stacklevel=2)
    return Result(evaluation)


class Result:
    """What came of a run.

    Attributes
    ----------
    scores
        The sufficient statistics of every query, which `ragkpi.statistics` works on.
    notes
        What was left out or assumed, a line each.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self.scores: Scores = evaluation.scores
        self.notes: Sequence[str] = evaluation.notes

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
        columns = {name: map(decoded, column) for name, column in self._columns().items()}
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

        _one_of("method", method or "percentile", get_args(bootstrap.Method))
        if not 0 < level < 1:
            raise UsageError(f"level={level!r}: expected a share such as 0.95")
        how = bootstrap.Bootstrap(
            _from("resamples", resamples, 1),
            seed,
            level,
            method or "percentile",
            "resampled" if method else "wilson",
        )
        few = bootstrap.few_queries_note([self.scores], how.rates)
        if few:
            warnings.warn(few, RagkpiWarning, stacklevel=2)
        return bootstrap.intervals(self.scores, how)

    def to_pandas(self) -> Any:
        """Return the values of every query as a pandas DataFrame: a row per query."""
        import pandas

        columns = {name: list(map(decoded, column)) for name, column in self._columns().items()}
        queries = [decoded(query) for query in self.scores.queries]
        return pandas.DataFrame(columns, index=pandas.Index(queries, name="query"))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.mean.items())
        return f"Result({len(self.scores.queries)} queries: {values})"

    def _columns(self) -> dict[str, list[Any]]:
        return {column.name: column.per_query.tolist() for column in self.scores.printed("query")}


def _relevance(qrels: Any, rel_info: str) -> str | Relevance:
    if isinstance(qrels, str | os.PathLike):
        return os.fspath(qrels)
    if rel_info != "qrels":
        raise UsageError(f"rel_info={rel_info!r}: only a path can hold that")
    return Qrels(group_judgements(qrels_columns(qrels)))


def _run(run: Any) -> Run:
    return os.fspath(run) if isinstance(run, str | os.PathLike) else RunInMemory(run)


def _grade_map(grades: str | Mapping[int, int]) -> GradeMap:
    if isinstance(grades, str):
        return parse_grade_map(grades)
    for preset in GRADE_MAPS.values():
        if preset.rubric == grades:
            return preset
    return parse_grade_map(",".join(f"{level}={grade}" for level, grade in grades.items()))


def _one_of(name: str, value: Any, known: Sequence[str]) -> Any:
    if value not in known:
        raise UsageError(f"{name}={value!r}: expected one of {', '.join(map(repr, known))}")
    return value


def _from(name: str, value: Any, least: int) -> Any:
    if value is not None and value < least:
        raise UsageError(f"{name}={value!r}: expected a number from {least}")
    return value
