"""Arguments that the public functions share, and the checks that turn them into settings."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from operator import index
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar, get_args, get_origin

from ragkpi.errors import UsageError
from ragkpi.evaluation import RunOrPath
from ragkpi.files.column_names import RETRIEVED, ScoreKind
from ragkpi.files.formats import RECOGNISED, Match, Reading, reading_for, registry
from ragkpi.interface import spell
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
from ragkpi.ranking.relevance import REL_INFO, Relevance
from ragkpi.reports.names import NamedPath, run_names
from ragkpi.statistics.bootstrap import Bootstrap, Method
from ragkpi.statistics.decisions import TESTS, CorrectionName, Family, TestName
from ragkpi.statistics.units import Clusters
from ragkpi.wording import octets, parse_size

if TYPE_CHECKING:  # few calls have gates
    from ragkpi.statistics.gates import DecidedBy

T = TypeVar("T")
Path = str | os.PathLike[str]
ById = Mapping[str, T] | Mapping[int, T] | Mapping[bytes, T]
"""Values by the ids of queries or documents."""
Ranking = ById[float] | list[Any]
"""Documents with their scores, or best first."""
Queries = ById[Ranking]


class Frame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> object: ...


class ColumnNames(Protocol):
    """A table of pyarrow."""

    @property
    def column_names(self) -> object: ...


Run = Path | Queries | Frame | ColumnNames | Iterable[tuple[object, ...]]
Runs = Run | Mapping[str, Run] | Sequence[Path | Queries | Frame | ColumnNames]
AnyQrels = Run | Relevance
Labels = Path | Mapping[str, ById[str]]
Measures = str | Sequence[str]


class HowRead(TypedDict, total=False):
    """How to read files, frames and rows.

    Arguments have the names of options: `max_passage` is ``--max-passage``, which ``ragkpi eval
    --help`` explains, and `query_ids` is ``--queries``. Formats and maps are for frames and rows,
    too, and a map may be a mapping.
    """

    qrels_format: str | None
    run_format: str | None
    map_qrels: str | Mapping[str, str] | None
    map_run: str | Mapping[str, str] | None
    scores: ScoreKind
    max_passage: str | None
    match: Match
    query_ids: Path | None
    ignore_identical_ids: bool
    exclude: Path | None


class Evaluating(HowRead, total=False):
    """How to evaluate runs; every function that evaluates takes these by name.

    Like those of `HowRead`, they have the names of options, which ``ragkpi eval --help`` explains.
    Several options, or none, set these:

    Attributes
    ----------
    missing
        How to treat judged queries that a run lacks: ``"zero"``, the default, evaluates empty
        rankings (``-c``), ``"intersection"`` leaves them out, ``"common"`` all that some run
        lacks (``--common``), and ``"error"`` refuses the run (``--strict``). In `evaluate`,
        ``"trec_eval"`` leaves them out if there is one run, a TREC file.
    unjudged
        ``"removed"`` closes the ranks over unjudged documents (``-J``), ``"kept"`` does not.
    pool_union
        Whether each run's top K belong to the pool: ``"union"``, or ``"pool"`` alone.
    only_query
        The only query to evaluate (``-D 0.QID``).
    doubts
        Whether a cause to doubt all values of a run is ``"said"`` in a warning or ``"refused"``, as
        by ``--strict``.
    names, measure_names
        The names of runs and measures in a result: as ``"given"``; of runs after the ``"file"``, or
        the ``"runid"``; of measures as ``"trec"`` prints them.
    corpus_size, corpus_sizes, gains, pool, grade_map
        Also from the environment variable ``RAGKPI_CORPUS_SIZE``; sizes by query, gains in any form
        of qrels, a pool in any form of a run, and levels with grades in memory, too. Qrels with
        fractional levels are gains themselves.
    """

    corpus_size: int | None
    corpus_sizes: ById[int] | Path | None
    relevance_level: int
    missing: Missing
    unjudged: Unjudged
    max_retrieved: int | None
    ties: TieOrder
    gains: AnyQrels | None
    draws: Draws
    grade_map: str | Mapping[int, int]
    pool: Run | None
    pool_depth: int | None
    pool_union: PoolUnion
    rel_info: str
    only_query: str | bytes | None
    doubts: Doubts
    names: Names
    measure_names: MeasureNames


class Resampling(TypedDict, total=False):
    """How to resample queries, for intervals: ``--resamples``, ``--seed`` and ``--confidence``.

    `cluster` (``--cluster``) may also be ``{query: cluster}``.
    """

    resamples: int
    seed: int
    confidence: float
    cluster: ById[str] | Path | None


class Estimating(Evaluating, Resampling, total=False):
    """How to evaluate runs and how to resample their queries: `Evaluating` and `Resampling`."""


class Comparing(Estimating, total=False):
    """How to compare runs: `Estimating`, and the options of tests of ``ragkpi compare``."""

    test: TestName
    trials: int
    correction: CorrectionName
    family: Family


class Gating(TypedDict, total=False):
    """What runs must pass: ``--fail-under`` and ``--fail-under-baseline`` of ``ragkpi eval``.

    Attributes
    ----------
    fail_under
        The limits of values: ``{"ndcg_cut_10": 0.35}``.
    fail_under_baseline
        A run, or a result that was stored, that runs may not be worse than by more than `margin`:
        an amount such as ``0.01``, or a share such as ``"2%"``.
    gate_by, gate_confidence
        What fails a run against the baseline: that `compare` says it is ``"worse"`` (None);
        that it is not shown to be ``"noninferior"``; or its ``"value"`` alone, which fails one of
        two equal runs half of the time; and how sure the first two have to be.
    """

    fail_under: Mapping[str, float] | Iterable[tuple[str, float] | str]
    fail_under_baseline: Run | None
    margin: float | str | None
    gate_by: "DecidedBy | None"
    gate_confidence: float | None


def refuse_unknown(arguments: Mapping[str, Any], group: type) -> None:
    """Refuse arguments that a group does not have, as Python does."""
    unknown = sorted(arguments.keys() - group.__annotations__)
    if unknown:
        expected = ", ".join(group.__annotations__)
        raise TypeError(f"unexpected argument {unknown[0]!r}; expected {expected}")


def _slices() -> Any:
    """Import what reads labels, sizes, gains and ids by query, which few calls need."""
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
    of_qrels, of_run = readings_of(arguments)
    values = checked(arguments)
    if "corpus_size" not in values:
        values["corpus_size"] = _corpus_size_of_all_calls()
    if arguments.get("gains") is not None:
        values["gains"] = _slices().gains_of(arguments["gains"], of_qrels)
    if "only_query" in values:
        # Asked for one query, a run without it has no value, and not 0.
        values.setdefault("missing", "intersection")
    pool = arguments.get("pool")
    return Call(
        [measures] if isinstance(measures, str) else list(measures),
        Settings(**{one.name: values[one.name] for one in fields(Settings) if one.name in values}),
        values.get("rel_info", "qrels"),
        None if pool is None else run_of(pool),
        of_qrels,
        of_run,
        values.get("names", "given"),
        values.get("measure_names", "trec"),
        "missing" not in arguments,
        reading=_reading(arguments),
        **groups,
    )


def _reading(arguments: Evaluating) -> dict[str, Any]:
    """Return the arguments that say how files are read, for a stored result to say it again."""
    reading = {}
    for name in (*HowRead.__annotations__, "gains", "corpus_sizes"):
        value: Any = arguments.get(name)
        value = os.fspath(value) if _is_path(value) else value
        if value and isinstance(value, str | bool):
            reading[name] = value
    return reading


def clusters_of(cluster: Any, queries: Sequence[bytes]) -> Clusters | None:
    """Read clusters of evaluated queries; `DataError` if a query has none."""
    if cluster is None:
        return None
    clusters: Clusters = _slices().groups_of(None, cluster).clusters or {}
    _slices().refuse_alone(queries, clusters)
    return clusters


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
    sieve = registry().sieve_for(
        arguments.get("max_passage"),
        arguments.get("ignore_identical_ids", False),
        None if exclude is None else os.fspath(exclude),
        match,
        None if queries is None else _slices().query_ids_of(queries),
    )
    of_qrels, of_run = arguments.get("qrels_format"), arguments.get("run_format")
    map_qrels, map_run = arguments.get("map_qrels"), arguments.get("map_run")
    return (
        reading_for("qrels", of_qrels, map_qrels, sieve=sieve, match=match),
        reading_for("run", of_run, map_run, scores, sieve, match),
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
        raise UsageError(f"{spell(name)} {values}: expected numbers from 0 to 1, between commas")
    return numbers


def counts(name: str, values: Iterable[int] | str) -> list[int]:
    """Return whole numbers from 1, which a text has between commas; `UsageError` for others."""
    if not isinstance(values, str):
        return [whole(name, value, 1) for value in values]
    items = values.split(",")
    if not all(item.isdecimal() and int(item) for item in items):
        expected = "expected whole numbers from 1, with commas between"
        raise UsageError(f"{spell(name)} {values}: {expected}")
    return [int(item) for item in items]


def one_of(name: str, value: Any, choices: Sequence[str]) -> Any:
    """Return one of the `choices`; `UsageError` for any other value."""
    if not isinstance(value, str) or value not in choices:
        raise UsageError(f"{name}={value!r}: expected one of {', '.join(map(repr, choices))}")
    return value


def _corpus_size_of_all_calls() -> int | None:
    text = os.environ.get("RAGKPI_CORPUS_SIZE", "")
    try:
        return parse_size(text) if text else None
    except UsageError:
        raise UsageError(
            f"RAGKPI_CORPUS_SIZE={text}: expected a number of documents such as 5000 or 5k"
        ) from None


def _corpus_sizes(sizes: Any) -> Mapping[bytes, int]:
    by_query = _slices().sizes_of(sizes)
    return {query: whole("corpus_sizes", size, 0) for query, size in by_query.items()}


def _grade_map(grades: str | Mapping[int, int]) -> GradeMap:
    if isinstance(grades, str):
        return parse_grade_map(grades)
    for preset in GRADE_MAPS.values():
        if preset.rubric == grades:
            return preset
    return parse_grade_map(",".join(f"{level}={grade}" for level, grade in grades.items()))


def _share(name: str, value: Any) -> float:
    if not isinstance(value, float) or not 0 < value < 1:
        raise UsageError(f"{name}={value!r}: expected a share such as 0.95")
    return value


_GROUP: Mapping[str, Any] = Comparing.__annotations__
# Of all groups: the function that returns the value of an argument for a call, or refuses it.
_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    **{
        name: partial(one_of, name, choices=get_args(kind))
        for name, kind in _GROUP.items()
        if get_origin(kind) is Literal
    },
    "rel_info": partial(one_of, "rel_info", choices=tuple(REL_INFO)),
    "test": partial(one_of, "test", choices=tuple(TESTS)),
    "corpus_size": partial(whole, "corpus_size", least=0),
    "corpus_sizes": _corpus_sizes,
    "grade_map": _grade_map,
    "only_query": octets,
    "relevance_level": partial(whole, "relevance_level", least=0),
    "max_retrieved": partial(whole, "max_retrieved", least=0),
    "pool_depth": partial(whole, "pool_depth", least=1),
    "resamples": partial(whole, "resamples", least=1),
    "seed": partial(whole, "seed", least=0),
    "trials": partial(whole, "trials", least=1),
    "confidence": partial(_share, "confidence"),
}


def checked(arguments: Mapping[str, Any], names: Iterable[str] = _CHECKS) -> dict[str, Any]:
    """Return arguments of a group by name, without those that None leaves open, or refuse wrong."""
    return {
        name: _CHECKS[name](arguments[name])
        for name in names
        if name in arguments
        and (arguments[name] is not None or NoneType not in get_args(_GROUP[name]))
    }


def bootstrap_of(
    arguments: Resampling, method: Method | None = None, clusters: Clusters | None = None
) -> Bootstrap:
    """Return the choices of intervals, or refuse wrong arguments."""
    values = checked(arguments, ("resamples", "seed", "confidence"))
    return Bootstrap(
        values.get("resamples", Bootstrap.resamples),
        values.get("seed", Bootstrap.seed),
        values.get("confidence", Bootstrap.level),
        one_of("method", method or Bootstrap.method, get_args(Method)),
        clusters,
    )
