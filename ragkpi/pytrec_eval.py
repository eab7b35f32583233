"""pytrec_eval's interface on ragkpi: ``import ragkpi.pytrec_eval as pytrec_eval``.

If a package imports pytrec_eval itself (BEIR, MTEB, ir_measures), first replace pytrec_eval by this
module: ``sys.modules["pytrec_eval"] = ragkpi.pytrec_eval``.

Keys, values and `supported_measures` are pytrec_eval's; ragkpi's other measures are available by
name. Differences: values are those of trec_eval 10.0, where pytrec_eval wraps 9.0 (recall
points, scores in single precision); a negative relevance level is refused; documents whose score is
NaN rank last, with a warning, where pytrec_eval ranks them arbitrarily; an empty ranking has
``11pt_avg`` 0, not NaN, and its ``num_rel``; if several are requested, keys keep parameters that
pytrec_eval drops (``set_F_2``); measures whose summary is not the mean of their queries (``bor``,
``ef``) cannot be aggregated from their values.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import Any, TypeVar

from ragkpi.errors import NothingInCommonError, RagkpiError, RagkpiWarning, UsageError
from ragkpi.library.session import Session, read_qrels
from ragkpi.measures.measure import Metric, MetricScores
from ragkpi.measures.registry import NICKNAMES, find_metrics
from ragkpi.ranking.judged import Missing, Settings
from ragkpi.ranking.reading import NOTHING_RETRIEVED, Hits, RunInMemory
from ragkpi.wording import counted, decoded

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

Number = TypeVar("Number", int, float)

__version__ = "0.5.11"  # of pytrec_eval; ir_measures reads it

# trec_eval 10 added these to all_trec; pytrec_eval's users get their usual keys.
_NEW_IN_ALL_TREC = {"rbp", "rbp_resid", "unj"}
_MEMBERS = {
    name: [
        member
        for member in members
        if name != "all_trec" or member.partition(".")[0] not in _NEW_IN_ALL_TREC
    ]
    for name, members in NICKNAMES.items()
}
# pytrec_eval's own set, which users pass whole; ragkpi's other measures are available by name.
supported_measures = {member.partition(".")[0] for member in _MEMBERS["all_trec"]}
supported_nicknames = {
    name: {member.partition(".")[0] for member in members}
    for name, members in _MEMBERS.items()
    if supported_measures.issuperset(member.partition(".")[0] for member in members)
}


class RelevanceEvaluator:
    """Qrels and measures, reusable for many runs.

    Parameters
    ----------
    query_relevance
        ``{query: {document: level}}``, with str ids and int levels; queries without documents are
        left out.
    measures
        Names as for ``-m``, ``"P.5"``, ``"P_5"``, ``"map_cut.10,100"``, or nicknames.
    relevance_level
        Lowest level that is relevant, 1 or more.
    judged_docs_only_flag
        Whether unjudged documents are removed from the rankings.
    corpus_size
        The number of documents in the corpus, for ``bor`` and related measures.

    Raises
    ------
    ValueError
        If a measure is unknown.
    TypeError
        If the qrels are not dictionaries of whole numbers, or the level is not from 1 upwards.

    Examples
    --------
    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"recip_rank", "P.1"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.9}, "q2": {"d1": 1.0}})
    {'q1': {'recip_rank': 0.5, 'P_1': 0.0}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
        *,
        corpus_size: int | None = None,
    ) -> None:
        if not isinstance(query_relevance, Mapping):
            raise TypeError("query_relevance is not a mapping; expected {query: {document: level}}")
        try:
            metrics = find_metrics(
                [member for name in measures for member in _MEMBERS.get(name, [name])]
            )
        except UsageError as problem:
            raise ValueError(f"unsupported measure: {problem}") from None
        for metric in metrics:
            if metric.measure.reads not in ("qrels", "any"):
                raise ValueError(f"unsupported measure {metric.name}: it is not for plain qrels")
        metrics.sort(key=lambda metric: metric.printed_place)  # sets are unordered
        self._metrics = [_renamed(metric, metrics) for metric in metrics]
        if not 1 <= index(relevance_level) < 1 << 31:
            raise TypeError(f"relevance_level={relevance_level}: expected a number from 1")
        self._settings = Settings(
            index(relevance_level),
            unjudged="removed" if index(judged_docs_only_flag) else "kept",
            corpus_size=corpus_size,
        )
        judged = {query: levels for query, levels in query_relevance.items() if len(levels)}
        _refuse_other_types("query_relevance", judged, (int,))
        try:
            self._relevance = read_qrels(judged) if judged else None
        except UsageError as problem:
            raise TypeError(str(problem)) from None

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Evaluate a run ``{query: {document: score}}``: query to measure to value.

        Unjudged queries, and judged queries missing from the run, are left out; an empty ranking
        has zeros. Documents whose score is NaN rank last, with a warning. `TypeError` for other
        types.
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise TypeError("Argument object scores should be of type dictionary.")
        _refuse_other_types("scores", scores, (float, int))
        if self._relevance is None:
            return {}
        # Hits exclude rankings without documents, which are evaluated as missing queries.
        missing: Missing = "intersection" if all(scores.values()) else "zero"
        session = Session(self._relevance, replace(self._settings, missing=missing))
        run: Hits | RagkpiError = NOTHING_RETRIEVED
        if any(scores.values()):
            parts = session.needs(self._metrics)
            run = session.read({"run": RunInMemory(scores)}, parts)["run"]
            if isinstance(run, UsageError):  # perhaps because of NaN
                run = session.read({"run": RunInMemory(_with_nan_last(scores))}, parts)["run"]
            if isinstance(run, UsageError):
                raise TypeError(f"Unable to extract query/object scores: {run}") from None
        try:
            result = session.score({"run": run}, self._metrics)["run"].scores
        except NothingInCommonError:
            return {}
        names = [column.name for column in result.columns]
        rows = list(zip(*map(_values, result.columns), strict=True)) or [()] * len(result.queries)
        by_query = dict(zip(map(decoded, result.queries), rows, strict=True))
        return {
            query: dict(zip(names, by_query[query], strict=True))
            for query in scores
            if query in by_query
        }


def _refuse_other_types(what: str, mapping: Mapping[Any, Any], numbers: tuple[type, ...]) -> None:
    """Raise `TypeError` for other types than dictionaries of str, like pytrec_eval's C code."""
    for query, documents in mapping.items():
        if not isinstance(query, str) or not isinstance(documents, dict):
            raise TypeError(f"{what}: {query!r}: expected str with a dictionary for each query")
        ids, values = set(map(type, documents)), set(map(type, documents.values()))
        if not all(issubclass(kind, str) for kind in ids):
            raise TypeError(f"{what}: query {query!r}: expected str for each document")
        if not all(issubclass(kind, numbers) for kind in values):
            expected = " or ".join(kind.__name__ for kind in numbers)
            raise TypeError(f"{what}: query {query!r}: expected {expected} for each document")


def _with_nan_last(scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Rank documents with the score NaN below all others, with a warning."""
    count = sum(score != score for ranking in scores.values() for score in ranking.values())
    if count:
        text = f"{counted(count, 'score')} of the run {'is' if count == 1 else 'are'} NaN; "
        warnings.warn(f"{text}such documents rank last", RagkpiWarning, stacklevel=3)
    return {
        query: {id_: score if score == score else -math.inf for id_, score in ranking.items()}
        for query, ranking in scores.items()
    }


def _renamed(metric: Metric, all_: Sequence[Metric]) -> Metric:
    """Name a metric like pytrec_eval, which drops all parameters except cutoffs."""
    same_measure = [other for other in all_ if other.measure is metric.measure]
    if len(same_measure) > 1 or metric.measure.parameters.numbers != "list":
        return metric
    return replace(metric, name=metric.measure.name)


def _values(column: MetricScores) -> Sequence[float]:
    """Return the values of queries as in pytrec_eval: 0 for a text, 1 for a number of queries."""
    if not column.metric.measure.numeric:
        return [0.0] * len(column.statistics)
    if column.metric.measure.aggregate.kind == "count":
        return [1.0] * len(column.statistics)
    numbers: list[float] = column.per_query.astype(float).tolist()
    return numbers


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Aggregate the values of queries: a sum, a geometric or an arithmetic mean.

    Parameters
    ----------
    measure
        A key of `RelevanceEvaluator.evaluate`.
    values
        Its values; NaN is NA and is left out.

    Raises
    ------
    ValueError
        If the summary of the measure, such as ``bor``, does not follow from its values.

    Examples
    --------
    >>> compute_aggregated_measure("P_5", [0.2, 0.4]), compute_aggregated_measure("num_ret", [3, 4])
    (0.30000000000000004, 7.0)
    """
    numbers = [value for value in values if not math.isnan(value)]
    if measure.startswith("num_"):
        return float(sum(numbers))
    if measure.startswith("gm_"):
        return math.exp(sum(numbers) / len(numbers)) if numbers else math.nan
    try:
        measures = [metric.measure for metric in find_metrics([measure])]
    except UsageError:
        measures = []
    if any(measure.numeric and not measure.is_mean for measure in measures):
        raise ValueError(
            f"{measure} over queries does not follow from its values; ragkpi.evaluate computes it"
        )
    return float(sum(numbers) / len(numbers)) if numbers else math.nan


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a TREC run; `AssertionError` for a repeated document in a query."""
    rows = (line.split() for line in f_run)
    return _by_query((query, document, float(score)) for query, _, document, _, score, _ in rows)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read the lines of TREC qrels; `AssertionError` for a repeated document in a query."""
    rows = (line.split() for line in f_qrel)
    return _by_query((query, document, int(level)) for query, _, document, level in rows)


def _by_query(rows: Iterable[tuple[str, str, Number]]) -> dict[str, dict[str, Number]]:
    of_queries: dict[str, dict[str, Number]] = defaultdict(dict)
    for query, document, number in rows:
        assert document not in of_queries[query], f"document {document} of query {query} again"
        of_queries[query][document] = number
    return of_queries
