"""Conversion of public arguments to settings, file readings and choices of intervals."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args

from ragkpi.errors import UsageError
from ragkpi.files.formats import RECOGNISED, Reading, reading_for
from ragkpi.interface import spell
from ragkpi.library.options import (
    Evaluating,
    HowRead,
    Resampling,
    checked,
    one_of,
    refuse_unknown,
    whole,
)
from ragkpi.library.runs import run_of
from ragkpi.library.session import Session
from ragkpi.ranking.judged import GRADE_MAPS, GradeMap, Settings, parse_grade_map
from ragkpi.statistics.decisions import Method
from ragkpi.wording import octets, parse_size

if TYPE_CHECKING:  # few calls have intervals or clusters
    from ragkpi.statistics.bootstrap import Bootstrap
    from ragkpi.statistics.units import Clusters


def _slices() -> Any:
    """Import the readers of labels, sizes and gains by query, which few calls need."""
    from ragkpi.library import slices

    return slices


def session_of(
    qrels: Any,
    measures: str | Sequence[str],
    arguments: Evaluating,
    group: type[Evaluating] = Evaluating,
    by: Any = None,
) -> Session:
    """Begin a call with a group of arguments and labels of queries; refuse wrong ones."""
    refuse_unknown(arguments, group)
    groups: dict[str, Any] = {}
    cluster = arguments.get("cluster")
    if by is not None or cluster is not None:
        groups = _slices().groups_of(by, cluster)
    of_qrels, of_run = readings_of(arguments)
    values = checked(arguments)
    _refuse_together(values)
    if "corpus_size" not in values:
        values["corpus_size"] = _corpus_size_of_all_calls()
    if "gains" in values:
        values["gains"] = _slices().gains_of(values["gains"], of_qrels)
    if "corpus_sizes" in values:
        sizes = _slices().sizes_of(values["corpus_sizes"])
        checked_sizes = {query: whole("corpus_sizes", size, 0) for query, size in sizes.items()}
        values["corpus_sizes"] = checked_sizes
    if "grade_map" in values:
        values["grade_map"] = _grade_map(values["grade_map"])
    if "only_query" in values:
        # With one requested query, a run without it has no value instead of 0.
        values.setdefault("missing", "intersection")
        values["only_query"] = octets(values["only_query"])
    reading: dict[str, Any] = {}  # which saved results record
    for name in (*HowRead.__annotations__, "gains", "corpus_sizes"):
        value: Any = arguments.get(name)
        value = os.fspath(value) if isinstance(value, os.PathLike) else value
        if value and isinstance(value, str | bool):
            reading[name] = value
    pool = arguments.get("pool")
    return Session(
        qrels,
        Settings(**{one.name: values[one.name] for one in fields(Settings) if one.name in values}),
        [measures] if isinstance(measures, str) else list(measures),
        values.get("rel_info", "qrels"),
        None if pool is None else run_of(pool),
        of_qrels,
        of_run,
        values.get("names", "given"),
        values.get("measure_names", "trec"),
        "user" if "missing" in arguments else "default",
        reading=reading,
        **groups,
    )


def _refuse_together(values: Mapping[str, Any]) -> None:
    """Raise `UsageError` for arguments that exclude or need each other."""
    if values.get("qrels_format", "trec") != "trec" and values.get("rel_info", "qrels") != "qrels":
        raise UsageError(
            f"{spell('qrels_format', values['qrels_format'])}: "
            f"{spell('rel_info', values['rel_info'])} is read only from TREC's columns; expected "
            "one of the two"
        )
    for name in ("pool_union", "pool_depth"):
        value = values.get(name, "pool")
        if value != "pool" and "pool" not in values:
            raise UsageError(
                f"{spell(name, str(value))}: no pool; expected {spell('pool', 'RUN')} with it"
            )


def in_one_order(arguments: Evaluating) -> Evaluating:
    """Refuse gains and ``ties="expected"`` in a question that needs levels and one order."""
    if arguments.get("gains") is not None:
        raise UsageError("gains= is not supported here: it uses levels; leave it out")
    if arguments.get("ties", "id") != "id":
        raise UsageError(f"ties={arguments['ties']!r}: not supported here; expected ties='id'")
    return arguments


def readings_of(arguments: HowRead) -> tuple[Reading, Reading]:
    """Return how to read qrels and runs."""
    if not HowRead.__annotations__.keys() & arguments.keys():
        return RECOGNISED, RECOGNISED
    values = checked(arguments, HowRead)
    scores, match = values.get("score_order", "similarity"), values.get("match", "id")
    exclude, queries = arguments.get("exclude"), arguments.get("query_ids")
    from ragkpi.files.sieve import sieve_for  # which imports the readers of JSON

    ids_of_queries = None
    if queries is not None:
        from ragkpi.files.query_files import read_query_ids  # few calls have texts of queries

        ids_of_queries = read_query_ids(os.fspath(queries))
    sieve = sieve_for(
        arguments.get("max_passage"),
        arguments.get("ignore_identical_ids", False),
        None if exclude is None else os.fspath(exclude),
        match,
        ids_of_queries,
    )
    of_qrels, of_run = arguments.get("qrels_format"), arguments.get("run_format")
    map_qrels, map_run = arguments.get("map_qrels"), arguments.get("map_run")
    qrels = reading_for("qrels", of_qrels, map_qrels, sieve=sieve, match=match)
    run = reading_for("run", of_run, map_run, scores, sieve, match)
    return qrels._replace(levels=_levels(arguments.get("levels") or {})), run


def _levels(levels: str | Mapping[str, int]) -> Mapping[bytes, int]:
    """Return levels by their words; `UsageError` for anything else."""
    pairs: Iterable[tuple[Any, Any]]
    pairs = (
        levels.items()
        if isinstance(levels, Mapping)
        else (item.rpartition("=")[::2] for item in levels.split(","))
    )
    named: dict[bytes, int] = {}
    for word, level in pairs:
        text, key = str(level).strip(), octets(word).strip()
        if not re.fullmatch("[+-]?[0-9]{1,9}", text) or named.setdefault(key, int(text)) != int(
            text
        ):
            expected = "expected a level for each word, such as E=3,S=2,C=1,I=0"
            raise UsageError(f"{spell('levels')} {word or level}: {expected}")
    return named


def shares(name: str, values: Iterable[float] | str) -> list[float]:
    """Return numbers from 0 to 1, or read them from a text; `UsageError` for others."""
    items = values.replace("_", "?").split(",") if isinstance(values, str) else values
    try:
        numbers = [float(item) for item in items]
    except (TypeError, ValueError):
        numbers = [math.nan]
    if not all(0 <= share <= 1 for share in numbers):
        raise UsageError(f"{spell(name)} {values}: expected numbers from 0 to 1, between commas")
    return numbers


def counts(name: str, values: Iterable[int] | str) -> list[int]:
    """Return whole numbers from 1, or read them from a text; `UsageError` for others."""
    if not isinstance(values, str):
        return [whole(name, value, 1) for value in values]
    items = values.split(",")
    if not all(item.isdecimal() and int(item) for item in items):
        expected = "expected whole numbers from 1, with commas between"
        raise UsageError(f"{spell(name)} {values}: {expected}")
    return [int(item) for item in items]


def _corpus_size_of_all_calls() -> int | None:
    text = os.environ.get("RAGKPI_CORPUS_SIZE", "")
    try:
        return parse_size(text) if text else None
    except UsageError as problem:
        raise UsageError(f"RAGKPI_CORPUS_SIZE={text}: {problem}") from None


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
    from ragkpi.statistics.bootstrap import Bootstrap

    values = checked(arguments, Resampling)
    return Bootstrap(
        values.get("resamples", Bootstrap.resamples),
        values.get("seed", Bootstrap.seed),
        values.get("confidence", Bootstrap.level),
        one_of("method", method or Bootstrap.method, get_args(Method)),
        clusters,
    )
