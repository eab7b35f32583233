"""Arguments that the public functions share, and the checks that turn them into settings."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from operator import index
from types import NoneType
from typing import Any, Literal, Protocol, TypedDict, get_args, get_origin

from ragkpi.errors import UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.column_names import RETRIEVED, ScoreKind
from ragkpi.files.formats import RECOGNISED, Match, Reading, reading_for, sieve_for
from ragkpi.files.opening import Inputs, inputs
from ragkpi.files.query_files import read_query_ids
from ragkpi.interface import option
from ragkpi.library.call import Call, MeasureNames, Names
from ragkpi.ranking.judged import (
    GRADE_MAPS,
    Doubts,
    Draws,
    GradeMap,
    Missing,
    PoolUnion,
    Settings,
    TieOrder,
    Unjudged,
    parse_grade_map,
)
from ragkpi.ranking.reading import RunInMemory
from ragkpi.ranking.relevance import READERS
from ragkpi.reports.names import NamedPath, run_names
from ragkpi.statistics.bootstrap import Bootstrap, Method
from ragkpi.statistics.decisions import CorrectionName, Family, TestName
from ragkpi.statistics.units import Clusters
from ragkpi.wording import octets, parse_size

Ranking = Mapping[str, float] | Mapping[int, float] | Mapping[bytes, float] | list[Any]
"""Documents with their scores, or best first."""
Queries = Mapping[str, Ranking] | Mapping[int, Ranking] | Mapping[bytes, Ranking]


class Frame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any: ...


class ColumnNames(Protocol):
    """A table of pyarrow."""

    @property
    def column_names(self) -> Any: ...


Run = str | os.PathLike[str] | Queries | Frame | ColumnNames | Iterable[tuple[Any, ...]]


class HowRead(TypedDict, total=False):
    """How to read files, frames and rows.

    Attributes
    ----------
    qrels_format, run_format
        Formats or shapes of files, as ``ragkpi formats`` lists them; None recognises each.
    map_qrels, map_run
        The keys or columns to read, ``"query=question, doc=chunk.id, score=distance"`` or the
        same as a mapping, as ``ragkpi formats map`` explains; for paths, frames and rows.
    subset
        The ranking to read from a dump with several rankings of a query: ``"en"``, or
        ``"en/test"`` (MTEB's subset and split).
    scores
        ``"distance"`` if smaller scores are better.
    max_passage
        Folds chunks into documents: ``"#"``, ``"/REGEX/"`` or ``"@FILE"``.
    match
        ``"text"`` where there are no ids: a document is the words of its text, exact but for
        Unicode's form, case, white space and quotes.
    query_ids
        The path of a file (``--queries``) with the id and the text of each query; runs and
        qrels may name a query by its text, or by its place there.
    ignore_identical_ids, exclude
        Whether to leave out documents with the id of their query, and the path of a list of
        documents to leave out.
    """

    qrels_format: str | None
    run_format: str | None
    map_qrels: str | Mapping[str, str] | None
    map_run: str | Mapping[str, str] | None
    subset: str | None
    scores: ScoreKind
    max_passage: str | None
    match: Match
    query_ids: str | os.PathLike[str] | None
    ignore_identical_ids: bool
    exclude: str | os.PathLike[str] | None


class Evaluating(HowRead, total=False):
    """How to evaluate runs; every function that evaluates takes these by name.

    Attributes
    ----------
    corpus_size, corpus_sizes
        The number of documents that could have been retrieved (``-N``), for all and for single
        queries; the default is the environment variable ``RAGKPI_CORPUS_SIZE``.
    relevance_level
        The lowest relevant level (``-l``).
    missing
        How to treat judged queries that a run lacks: ``"zero"``, the default, evaluates empty
        rankings (``-c``), ``"intersection"`` leaves them out, ``"common"`` all that some run
        lacks (``--common``), and ``"error"`` refuses the run (``--strict``). In `evaluate`,
        ``"trec_eval"`` leaves them out if there is one run, a TREC file.
    unjudged
        ``"removed"`` closes the ranks over unjudged documents (``-J``), ``"kept"`` does not.
    max_retrieved
        The most documents of each query to evaluate (``-M``).
    ties
        ``"expected"`` takes the expected value over all orders of equal scores, in `evaluate` and
        `compare`; ``"id"`` ranks them by their ids, as trec_eval does.
    gains
        Gains that replace levels in the dcg family, G and rbp, in `evaluate` and `compare`: in any
        form of qrels, with real numbers. Qrels with fractional levels are gains themselves.
    draws
        Whether chance draws K documents, ``"nominal"``, or as many as were retrieved, ``"ret"``.
    grade_map
        The map from levels to the grades 1 to 5: a preset's name, or levels and grades.
    pool
        The first stage that the runs were selected from, in any form of a run.
    pool_depth, pool_union
        The depth of the pool; whether each run's top K belong to it (``"union"``).
    rel_info
        The format of the qrels file, as ``-R`` names it.
    only_query
        The only query to evaluate (``-D 0.QID``).
    doubts
        Whether a cause to doubt all values of a run is ``"said"`` in a warning or ``"refused"``, as
        by ``--strict``.
    names
        The names of runs in a result: as ``"given"``, after the ``"file"``, or the ``"runid"``.
    measure_names
        The names of measures: ``"trec"``, as trec_eval prints them, or as ``"given"``.

    `HowRead` has the arguments of reading: ``run_format``, ``map_run``, ``scores``, …
    """

    corpus_size: int | None
    corpus_sizes: Mapping[Any, int] | str | os.PathLike[str] | None
    relevance_level: int
    missing: Missing
    unjudged: Unjudged
    max_retrieved: int | None
    ties: TieOrder
    gains: Any
    draws: Draws
    grade_map: str | Mapping[int, int]
    pool: Any
    pool_depth: int | None
    pool_union: PoolUnion
    rel_info: str
    only_query: str | bytes | None
    doubts: Doubts
    names: Names
    measure_names: MeasureNames


class Resampling(TypedDict, total=False):
    """How to resample queries, for intervals.

    Attributes
    ----------
    resamples, seed
        The number of resamples, 5,000, and the seed of the random numbers, 7: the same seed, the
        same digits.
    confidence
        The probability that an interval covers the value, 0.95.
    cluster
        The cluster of each query, where queries depend on each other, such as turns of a
        conversation: a path, ``{query: cluster}``, or the name of a column of `by`. Tests and
        intervals take whole clusters.
    """

    resamples: int
    seed: int
    confidence: float
    cluster: Any


class Estimating(Evaluating, Resampling, total=False):
    """How to evaluate runs and how to resample their queries: `Evaluating` and `Resampling`."""


class Comparing(Estimating, total=False):
    """How to compare runs: `Estimating`, and tests.

    Attributes
    ----------
    test, trials
        The test behind p-values, ``"t"``, and its number of random trials, 10,000.
    correction, family
        The correction of p-values, ``"holm"``, and the measures that decide: the ``"first"``, over
        all runs, while the others are described; or ``"all"``, over all runs and measures.
    """

    test: TestName
    trials: int
    correction: CorrectionName
    family: Family


_LEAST = {
    "relevance_level": 0,
    "max_retrieved": 0,
    "pool_depth": 1,
    "resamples": 1,
    "seed": 0,
    "trials": 1,
}
_SETTINGS = [one.name for one in fields(Settings)]


def refuse_unknown(arguments: Mapping[str, Any], group: type) -> None:
    """Refuse arguments that a group does not have, as Python does."""
    unknown = sorted(arguments.keys() - group.__annotations__)
    if unknown:
        expected = ", ".join(group.__annotations__)
        raise TypeError(f"unexpected argument {unknown[0]!r}; expected {expected}")


def checked(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are whole numbers or choices, or refuse them."""
    values: dict[str, Any] = {}
    kind: Any
    for name, kind in Comparing.__annotations__.items():
        if name in arguments and get_origin(kind) is Literal:
            values[name] = one_of(name, arguments[name], get_args(kind))
        elif name in arguments and name in _LEAST:
            optional = arguments[name] is None and NoneType in get_args(kind)
            values[name] = None if optional else whole(name, arguments[name], _LEAST[name])
    return values


def _slices() -> Any:
    """Import what reads labels, sizes and gains by query, which few calls need."""
    from ragkpi.library import slices

    return slices


def call_of(
    measures: str | Sequence[str],
    arguments: Evaluating,
    group: type[Evaluating] = Evaluating,
    by: Any = None,
) -> Call:
    """Begin a call that takes a group of arguments and labels of queries, or refuse wrong ones."""
    refuse_unknown(arguments, group)
    groups, cluster = {}, arguments.get("cluster")
    if by is not None or cluster is not None:
        groups = _slices().groups_of(by, cluster)._asdict()
    values = checked(arguments)
    of_qrels, of_run = readings_of(arguments)
    pool = arguments.get("pool")
    return Call(
        [measures] if isinstance(measures, str) else list(measures),
        _settings(
            arguments, of_qrels, {name: values[name] for name in _SETTINGS if name in values}
        ),
        one_of("rel_info", arguments.get("rel_info", "qrels"), list(READERS)),
        None if pool is None else run_of(pool),
        of_qrels,
        of_run,
        values.get("names", "given"),
        values.get("measure_names", "trec"),
        "missing" in arguments,
        **groups,
    )


def _settings(arguments: Evaluating, of_qrels: Reading, values: Mapping[str, Any]) -> Settings:
    only_query, gains = arguments.get("only_query"), arguments.get("gains")
    sizes = arguments.get("corpus_sizes") or {}
    if sizes or gains is not None:
        gains = None if gains is None else _slices().given_gains(gains, of_qrels)
        sizes = _slices().sizes_of(sizes)
        sizes = {query: whole("corpus_sizes", size, 0) for query, size in sizes.items()}
    # Asked for one query, a run without it has no value, and not 0.
    alone: Missing = "zero" if only_query is None else "intersection"
    return Settings(
        corpus_size=_corpus_size(arguments.get("corpus_size")),
        corpus_sizes=sizes,
        gains=gains,
        grade_map=_grade_map(arguments.get("grade_map", "umbrela")),
        only_query=None if only_query is None else octets(only_query),
        **{"missing": alone, **values},
    )


def in_one_order(arguments: Evaluating) -> Evaluating:
    """Refuse gains and ``ties="expected"``, for a question that needs levels and one order."""
    if arguments.get("gains") is not None:
        raise UsageError("gains=: this looks at levels; expected no gains")
    if arguments.get("ties", "id") != "id":
        raise UsageError(f"ties={arguments['ties']!r}: this looks at one order; expected ties='id'")
    return arguments


def readings_of(arguments: HowRead) -> tuple[Reading, Reading]:
    """Return how to read qrels and runs."""
    if not HowRead.__annotations__.keys() & arguments.keys():
        return RECOGNISED, RECOGNISED

    scores = one_of("scores", arguments.get("scores", "similarity"), get_args(ScoreKind))
    exclude, queries = arguments.get("exclude"), arguments.get("query_ids")
    match = one_of("match", arguments.get("match", "id"), get_args(Match))
    sieve = sieve_for(
        arguments.get("max_passage"),
        arguments.get("ignore_identical_ids", False),
        None if exclude is None else os.fspath(exclude),
        match,
        None if queries is None else read_query_ids(os.fspath(queries)),
    )
    of_qrels, of_run = arguments.get("qrels_format"), arguments.get("run_format")
    maps, subset = [arguments.get("map_qrels"), arguments.get("map_run")], arguments.get("subset")
    return (
        reading_for("qrels", of_qrels, maps[0], sieve=sieve, match=match),
        reading_for("run", of_run, maps[1], scores, sieve, subset, match),
    )


def run_of(run: Any) -> RunOrPath:
    """Convert a run to the form that an `Evaluator` takes: a path, or a run in memory."""
    if isinstance(run, str | os.PathLike):
        return os.fspath(run)

    return run if isinstance(run, RunInMemory) else RunInMemory(run)


def runs_of(runs: Any) -> dict[str, RunOrPath] | None:
    """Name the runs in a mapping or a list; None for a single run."""
    if isinstance(runs, Mapping):
        first = next((value for value in runs.values() if _filled(value)), None)
        named = ((name if isinstance(name, str) else str(name), of) for name, of in runs.items())
        return {name: run_of(run) for name, run in named} if _is_run(first) else None
    if isinstance(runs, list | tuple) and runs and all(map(_is_run, runs)):
        paths = [os.fspath(run) if _is_path(run) else f"run{n}" for n, run in enumerate(runs, 1)]
        return dict(zip(run_names(paths), map(run_of, runs), strict=True))
    return None


def named_runs(runs: Any) -> dict[str, RunOrPath]:
    """Name one run or several."""
    several = runs_of(runs)
    return named_run(runs) if several is None else several


def named_run(run: Any) -> dict[str, RunOrPath]:
    """Name one run after its file, or ``"run"``."""
    if isinstance(run, NamedPath):
        return {run: run}
    return {run_names([os.fspath(run)])[0] if _is_path(run) else "run": run_of(run)}


def note_files(runs: Iterable[RunOrPath]) -> Inputs:
    """Note the files of runs before reading, so that hashes later cover the same bytes."""
    noted = inputs()
    for run in runs:
        if isinstance(run, str):
            noted.note_file(run)
    return noted


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _filled(value: Any) -> bool:
    return not isinstance(value, Mapping) or any(map(_filled, value.values()))


def _is_run(value: Any) -> bool:
    """Return whether a value is a whole run, not a ranking that maps documents to scores."""
    if isinstance(value, Mapping):
        key, first = next(iter(value.items()), (None, None))
        # A retriever's {"documents": […]} is a ranking, {query: […]} is a run.
        return isinstance(first, Mapping) or (isinstance(first, list) and key not in RETRIEVED)
    of_frames = ("columns", "column_names", "blocks")
    return _is_path(value) or any(hasattr(value, name) for name in of_frames)


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number; `UsageError` for other values and for less than `least`."""
    try:
        number = index(value)
    except TypeError:
        raise UsageError(f"{name}={value!r}: expected a whole number from {least}") from None
    if number < least:
        raise UsageError(f"{name}={value!r}: expected a number from {least}")
    return number


def shares(name: str, values: Iterable[float] | str) -> list[float]:
    """Return numbers from 0 to 1, which a text has between commas; `UsageError` for others."""
    items = values.replace("_", "?").split(",") if isinstance(values, str) else values
    try:
        numbers = [float(item) for item in items]
    except (TypeError, ValueError):
        numbers = [math.nan]
    if not all(0 <= share <= 1 for share in numbers):
        raise UsageError(f"{option(name)} {values}: expected numbers from 0 to 1, between commas")
    return numbers


def counts(name: str, values: Iterable[int] | str) -> list[int]:
    """Return whole numbers from 1, which a text has between commas; `UsageError` for others."""
    if not isinstance(values, str):
        return [whole(name, value, 1) for value in values]
    items = values.split(",")
    if not all(item.isdecimal() and int(item) for item in items):
        expected = "expected whole numbers from 1, with commas between"
        raise UsageError(f"{option(name)} {values}: {expected}")
    return [int(item) for item in items]


def one_of(name: str, value: Any, choices: Sequence[str]) -> Any:
    """Return one of the `choices`; `UsageError` for any other value."""
    if not isinstance(value, str) or value not in choices:
        raise UsageError(f"{name}={value!r}: expected one of {', '.join(map(repr, choices))}")
    return value


def _corpus_size(size: Any) -> int | None:
    text = os.environ.get("RAGKPI_CORPUS_SIZE", "")
    if size is not None or not text:
        return None if size is None else whole("corpus_size", size, 0)
    try:
        return parse_size(text)
    except UsageError:
        raise UsageError(
            f"RAGKPI_CORPUS_SIZE={text}: expected a number of documents such as 5000 or 5k"
        ) from None


def _grade_map(grades: str | Mapping[int, int]) -> GradeMap:
    if isinstance(grades, str):
        return parse_grade_map(grades)
    for preset in GRADE_MAPS.values():
        if preset.rubric == grades:
            return preset
    return parse_grade_map(",".join(f"{level}={grade}" for level, grade in grades.items()))


def bootstrap_of(
    arguments: Resampling, method: Method | None = None, clusters: Clusters | None = None
) -> Bootstrap:
    """Return the choices of intervals, or refuse wrong arguments."""
    confidence, values = arguments.get("confidence", Bootstrap.level), checked(arguments)
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise UsageError(f"confidence={confidence!r}: expected a share such as 0.95")
    return Bootstrap(
        values.get("resamples", Bootstrap.resamples),
        values.get("seed", Bootstrap.seed),
        confidence,
        one_of("method", method or Bootstrap.method, get_args(Method)),
        clusters,
    )
