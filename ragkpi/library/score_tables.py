"""Tables of scores of any kind: a row per query and system, with numbers that others computed.

A table is long (a row per query and system, a column per measure; or columns ``measure`` and
``value``) or wide (a row per query, a column per system). Lines of ``trec_eval -q``, and
pytrec_eval's dictionaries ``{query: {measure: number}}``, are tables of one system.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from ragkpi.errors import DataError, InputError, UsageError
from ragkpi.files.column_names import QUERY, QUERY_ID, QUERY_TEXT, find, plain_name, shown_names
from ragkpi.files.formats import is_number
from ragkpi.files.inputs import inputs
from ragkpi.files.lines import blocks
from ragkpi.files.opening import Source
from ragkpi.files.query_files import QueryLabels, read_records
from ragkpi.interface import spell
from ragkpi.library.ground import Signature
from ragkpi.library.runs import run_path
from ragkpi.library.systems import systems
from ragkpi.measures.measure import UNPROVEN, Better, Measure, Metric, MetricScores, Scores
from ragkpi.measures.registry import metric_of
from ragkpi.reports.names import NamedPath, run_names
from ragkpi.statistics.units import Clusters
from ragkpi.version import __version__
from ragkpi.wording import counted, did_you_mean, listed, octets, visible

SYSTEM = ("system", "run", "model", "method", "retriever", "config", "experiment", "name")
SEED = ("seed", "replicate", "fold", "trial", "repeat")
_MEASURE, _VALUE = ("measure", "metric"), ("value", "score", "result")
_TEXTS = (b"runid", b"relstring")  # of trec_eval
_MISSING = {"", "na", "n/a", "nan", "null", "none", "-"}
_TRUTHS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}

# What a table of trec_eval is compared by, which also has counts of documents.
_REPORTED = ("map", "ndcg_cut_10", "recip_rank", "recall_100")
# Words in the names of numbers of which smaller ones may be better.
_COSTS = frozenset(
    ("latency", "cost", "price", "time", "duration", "seconds", "ms", "error", "loss", "wer", "cer")
)
_ROLES = ("query", "system", "seed", "measure", "value")

Row = tuple[str, dict[str, Any]]  # its place, "file:line", and its values by column
Key = tuple[str, str]  # a system and a seed


@dataclass(frozen=True)
class ScoreTable:
    """Scores by system, and what else the table holds.

    Attributes
    ----------
    scores
        By system; of systems with several seeds, the means over seeds (`library.systems`).
    labels
        The columns that hold no numbers, by name and query: what `by` and `cluster` may name.
    notes
        What was left out or read otherwise than written.
    differing
        Where a query has two labels of a column, in words.
    """

    scores: Mapping[str, Scores]
    labels: QueryLabels
    signature: Signature
    notes: Sequence[str]
    differing: Mapping[str, str]

    def labels_of(self, by: str) -> QueryLabels:
        """Return a column of labels; `UsageError` without it."""
        if by not in self.labels:
            advice = did_you_mean(by, self.labels, f"expected one of {shown_names(self.labels)}")
            raise UsageError(f"{spell('by')} {by}: the scores have no such column; {advice}")
        if by in self.differing:
            raise DataError(f"{self.differing[by]}; expected one label for each query")
        return {by: self.labels[by]}

    def clusters_of(self, name: str) -> Clusters:
        """Return the clusters of a column."""
        return self.labels_of(name)[name]


class _Numbers(NamedTuple):
    """The numbers of a column, by system and seed and by query, with their places."""

    values: dict[Key, dict[str, float]]
    places: dict[tuple[Key, str], str]


def _number(judged: object) -> object:
    """A number per query that another program computed.

    Range:      any number
    Source:     a table of scores
    """
    raise NotImplementedError


def _share(judged: object) -> object:
    """A 0 or 1 per query that another program computed.

    Range:      0 to 1
    Source:     a table of scores
    """
    raise NotImplementedError


def read_scores(
    tables: Mapping[str, Any],
    measures: Sequence[str] = (),
    better: Mapping[str, Better] | None = None,
    missing: Literal["refused", "common"] = "refused",
    map_scores: Mapping[str, str] | None = None,
) -> ScoreTable:
    """Read tables of scores, by their names, which are those of systems where a table names none.

    Parameters
    ----------
    tables
        Paths, data frames, rows as mappings, columns, or nested mappings
        ``{query: {measure: number}}`` or
        ``{system: {query: {measure: number}}}``.
    measures
        The columns to take, in this order; all that hold numbers if empty.
    better
        Which values are better, by measure, or for all under ``""``; the default is that of a
        measure of ours with this name, else ``"higher"``, with a note for latency and the like.
    missing
        Whether queries that lack a number of some system are refused or left out.
    map_scores
        The names of columns by role: query, system, seed, measure, value.
    """
    notes: list[str] = []
    columns: dict[str, _Numbers] = {}
    labels: dict[str, dict[bytes, str]] = {}
    differing: dict[str, str] = {}
    for name, table in tables.items():
        rows = list(_tidy(_mapped(_rows_of(name, table), map_scores or {}), name))
        if not rows:
            raise InputError(name, None, "no scores", "expected a row per query and system")
        _collect(name, rows, len(tables) > 1, columns, labels, differing, notes)
    chosen = _chosen(columns, measures, notes)
    directions = _directions(better or {}, chosen, notes)
    metrics = {name: _metric(name, columns[name], directions[name]) for name in chosen}
    scores = _scores(metrics, columns, missing, notes)
    files = {n: t for n, t in tables.items() if isinstance(t, str | os.PathLike)}
    digests = [inputs().sha256(os.fspath(path)) or "stream" for path in files.values()]
    of = ",".join(f"sha256:{digest}" for digest in digests) or "memory"
    signature = Signature({"ragkpi": __version__, "scores": of, "columns": ",".join(chosen)})
    return ScoreTable(scores, labels, signature, notes, differing)


def _rows_of(name: str, table: Any) -> Iterator[Row]:
    """Yield the rows of a table with their places."""
    if isinstance(table, str | os.PathLike):
        path = os.fspath(table)
        with Source(path) as source:
            if _is_trec_eval(source):
                yield from _of_trec_eval(path, source)
            else:
                for line, record in read_records(source):
                    yield f"{path}:{line}", record
        return
    if any(getattr(getattr(table, "index", None), "names", ())):
        table = table.reset_index()  # of pandas
    columns = list(table.values()) if isinstance(table, Mapping) else []
    if columns and all(isinstance(of, list | tuple | np.ndarray) for of in columns):
        if len(set(map(len, columns))) > 1:
            raise UsageError(f"{spell('scores')}: columns of several lengths; expected one")
        records: Iterable[Any] = (
            dict(zip(map(str, table), cells, strict=True)) for cells in zip(*columns, strict=True)
        )
    elif isinstance(table, Mapping):
        records = (
            {QUERY[0]: str(query), **of} for query, of in table.items() if isinstance(of, Mapping)
        )
    elif hasattr(table, "to_pylist"):
        records = table.to_pylist()
    elif hasattr(table, "to_dicts"):
        records = table.to_dicts()
    elif hasattr(table, "to_dict"):
        records = table.to_dict("records")
    else:
        records = table
    if not isinstance(records, Iterable):
        expected = "expected a path, a data frame, rows with names, or dictionaries by query"
        raise UsageError(f"{spell('scores')}: {type(table).__name__}; {expected}")
    for number, row in enumerate(records, start=1):
        if not isinstance(row, Mapping):
            kind = type(row).__name__
            raise UsageError(f"{spell('scores')}: row {number} is {kind}; expected names and cells")
        yield f"{name}, row {number}", dict(row)


def _mapped(rows: Iterable[Row], names: Mapping[str, str]) -> Iterator[Row]:
    """Give columns the names of the roles that a map says; `InputError` for a row without one."""
    roles = {column: role for role, column in names.items()}
    for place, row in rows:
        if lacking := next((column for column in roles if column not in row), None):
            raise _input_error(place, f"no column {visible(lacking)}", shown_names(row))
        others = {key: of for key, of in row.items() if key in roles or key not in names}
        yield place, {roles.get(key, key): of for key, of in others.items()}


def _input_error(place: str, fault: str, expected: str) -> InputError:
    """Return an error at a place, "file:line"."""
    file, _, line = place.rpartition(":")
    if file and line.isdecimal():
        return InputError(file, int(line), fault, f"expected {expected}")
    return InputError(place, None, fault, f"expected {expected}")


def _id_of(place: str, row: Mapping[str, Any], column: str) -> str:
    """Return the query, the system or the seed of a row; `InputError` for an empty one."""
    text = str(row.get(column, "")).strip()
    if text.lower() in _MISSING - {"-", "na"}:
        raise _input_error(place, f"no {visible(column)}", "one in each row")
    return text


def _is_trec_eval(source: Source) -> bool:
    """Whether an input begins with lines of measure, query and value."""
    lines = source.peek(1 << 12).splitlines()[:3]
    words = [line.split() for line in lines if line.strip()]
    return bool(words) and all(
        len(of) == 3 and (is_number(of[2]) or of[0] in _TEXTS) for of in words
    )


def _of_trec_eval(path: str, source: Source) -> Iterator[Row]:
    """Yield a row per query of ``trec_eval -q``; texts and summaries are left out."""
    rows: dict[str, dict[str, Any]] = {}
    places: dict[str, int] = {}
    for line, text in chain.from_iterable(block.lines() for block in blocks(source)):
        words = text.decode("utf-8", "surrogateescape").split()
        if not words:
            continue
        if len(words) != 3:
            expected = "expected lines of measure, query and value, as trec_eval -q prints them"
            raise InputError(path, line, counted(len(words), "column"), expected)
        measure, query, value = words
        if query == "all" or measure.encode() in _TEXTS:
            continue
        row = rows.setdefault(query, {QUERY[0]: query})
        if measure in row:
            fault = f"{visible(measure)} of query {visible(query)} again"
            raise InputError(path, line, fault, "expected the lines of one run")
        row[measure] = value
        places.setdefault(query, line)
    if not rows:
        expected = "expected the lines of trec_eval -q, which has values of queries"
        raise InputError(path, None, "no values of single queries", expected)
    yield from ((f"{path}:{places[query]}", row) for query, row in rows.items())


def _tidy(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """Gather rows of one number each, under ``measure`` and ``value``; unnest those of systems."""
    gathered: dict[tuple[str, ...], Row] = {}
    for place, row in rows:
        measure, value = find(row, _MEASURE), find(row, _VALUE)
        if measure is not None and value is not None:
            rest = {key: of for key, of in row.items() if key not in (measure, value)}
            known = gathered.setdefault(tuple(map(str, rest.values())), (place, rest))[1]
            if str(row[measure]) in known:
                raise DataError(f"{place}: {visible(str(row[measure]))} again; expected it once")
            known[str(row[measure])] = row[value]
        elif any(isinstance(of, Mapping) for of in row.values()):
            system = str(row[QUERY[0]]) if QUERY[0] in row else name
            for query, of in row.items():
                if isinstance(of, Mapping):
                    yield place, {"system": system, QUERY[0]: query, **of}
        else:
            yield place, row
    yield from gathered.values()


def _collect(
    name: str,
    rows: Sequence[Row],
    several: bool,
    columns: dict[str, _Numbers],
    labels: dict[str, dict[bytes, str]],
    differing: dict[str, str],
    notes: list[str],
) -> None:
    """Add the numbers and the labels of a table to those of the others."""
    place, first = rows[0]
    keys = list(first)
    query = find(first, QUERY_ID) or next((k for k in keys if plain_name(k) in QUERY), None)
    query = query or find(first, QUERY_TEXT)  # a text tells queries apart, too
    if query is None:
        fault = f"no query among the columns {shown_names(first)}"
        raise _input_error(place, fault, f"its name in {spell('map_scores', 'query=COLUMN')}")
    system, seed = (
        next((k for k in keys if plain_name(k) in names and k != query), None)
        for names in (SYSTEM, SEED)
    )
    own = name.name if isinstance(name, NamedPath) else name
    numbers, texts = _split(rows, [k for k in keys if k not in (query, system, seed)], notes)
    is_wide = system is None and not several and not isinstance(name, NamedPath)
    if not numbers:
        raise InputError(place.rpartition(":")[0] or place, None, "no numbers", "expected scores")
    if is_wide and len(numbers) < 2:
        fault = f"one system ({shown_names(numbers)})"
        expected = "expected a column 'system', a column per system, or another table"
        raise InputError(name, None, fault, expected)
    for place, row in rows:
        id_ = _id_of(place, row, query)
        of_seed = "" if seed is None else _id_of(place, row, seed)
        of_system = own if system is None else _id_of(place, row, system)
        for column in numbers:
            key, measure = (
                ((column, of_seed), "score") if is_wide else ((of_system, of_seed), column)
            )
            of = columns.setdefault(measure, _Numbers({}, {}))
            if (key, id_) in of.places:
                again = f"query {visible(id_)} of {visible(key[0])} again"
                expected = "expected it once, or a column 'seed' that tells the rows apart"
                raise DataError(f"{place}: {again}, first at {of.places[key, id_]}; {expected}")
            of.places[key, id_] = place
            of.values.setdefault(key, {})[id_] = _value_of(place, column, row.get(column), notes)
        for column in texts:
            text = row.get(column)
            if text not in (None, ""):
                before = labels.setdefault(column, {}).setdefault(octets(id_), str(text))
                if before != str(text):
                    differing.setdefault(
                        column,
                        f"{place}: {visible(column)} of query "
                        f"{visible(id_)} is {visible(str(text))}, before {visible(before)}",
                    )


def _split(
    rows: Sequence[Row], names: Sequence[str], notes: list[str]
) -> tuple[list[str], list[str]]:
    """Part columns that hold numbers from those that hold texts alone."""
    numbers: list[str] = []
    texts: list[str] = []
    for name in names:
        values = [row.get(name) for _, row in rows]
        is_number = any(not math.isnan(_parsed(value)[0]) for value in values)
        (numbers if is_number else texts).append(name)
    if texts:
        notes.append(f"columns without numbers are labels: {', '.join(map(visible, texts))}")
    return numbers, texts


def _parsed(value: Any) -> tuple[float, bool]:
    """Return a number, and whether it was a percentage; NaN for what is none."""
    if isinstance(value, bool):
        return float(value), False
    if isinstance(value, int | float | np.number):
        return float(value), False
    text = str(value).strip().lower()
    if text in _TRUTHS:
        return _TRUTHS[text], False
    try:
        return float(text.removesuffix("%").replace("_", "x")), text.endswith("%")
    except ValueError:
        return math.nan, False


def _value_of(place: str, column: str, value: Any, notes: list[str]) -> float:
    """Return the number of a cell, NaN where it is empty; `InputError` for a text."""
    number, is_percentage = _parsed(value)
    if is_percentage:
        text = f"percentages of {visible(column)} are shares: 85% is 0.85"
        notes += [text] if text not in notes else []
        number /= 100
    if math.isinf(number) or (math.isnan(number) and str(value).strip().lower() not in _MISSING):
        fault = f"{visible(column)} {visible(str(value))} is not a finite number"
        raise _input_error(place, fault, "a number, true or false, or a percentage")
    return number


def _chosen(
    columns: Mapping[str, _Numbers], measures: Sequence[str], notes: list[str]
) -> list[str]:
    """Return the requested columns, else those reported most, else all that can be compared."""
    for name in measures:
        if name not in columns:
            advice = did_you_mean(name, columns, f"expected one of {shown_names(columns)}")
            raise UsageError(f"-m {name}: the scores have no such column; {advice}")
    if measures:
        return list(measures)
    able = [n for n in columns if (of := metric_of(n)) is None or of.is_comparable]
    chosen = [name for name in _REPORTED if name in able] or able
    if left := len(columns) - len(chosen):
        are = "measure is" if left == 1 else "measures are"
        notes.append(f"{left} more {are} in the table; {spell('measures')} chooses")
    return chosen


def _directions(
    better: Mapping[str, Better], chosen: Sequence[str], notes: list[str]
) -> dict[str, Better]:
    """Return what is better by measure: as the user says, else as known of its name."""
    for name in better:
        if name and name not in chosen:
            advice = did_you_mean(name, chosen, f"expected one of {shown_names(chosen)}")
            raise UsageError(f"{spell('better')} {name}: no such measure; {advice}")
    directions: dict[str, Better] = {}
    for name in chosen:
        known = metric_of(name)
        directions[name] = known.measure.better if known else "higher"
        if name in better or "" in better:
            directions[name] = better.get(name, better.get("", "higher"))
        elif known is None and _COSTS & {*plain_name(name).split("_")}:
            lower = spell("better", f"{name}=lower")
            notes.append(
                f"{visible(name)}: greater values count as better; {lower} if smaller ones are"
            )
    return directions


def _metric(name: str, numbers: _Numbers, better: Better) -> Metric:
    """Return a column as a metric: a rate where every number is 0 or 1."""
    values = {x for of in numbers.values.values() for x in of.values() if not math.isnan(x)}
    is_rate = values <= {0.0, 1.0}
    measure = Measure(
        name,
        _share if is_rate else _number,
        better=better,
        bounds=UNPROVEN,
        ties="unproven",
        question="counts",
        rate="always" if is_rate else "never",
    )
    return Metric(measure, name, {})


def _scores(
    metrics: Mapping[str, Metric],
    columns: Mapping[str, _Numbers],
    missing: Literal["refused", "common"],
    notes: list[str],
) -> dict[str, Scores]:
    """Return the scores of systems over the queries for which every one has every number."""
    keys = dict.fromkeys(chain.from_iterable(columns[name].values for name in metrics))
    every = {q for name in metrics for of in columns[name].values.values() for q in of}

    def lacks(query: str) -> list[tuple[str, Key]]:
        return [
            (name, key)
            for name in metrics
            for key in keys
            if math.isnan(columns[name].values.get(key, {}).get(query, math.nan))
        ]

    lacking = {query: of for query in sorted(every) if (of := lacks(query))}
    if lacking and missing == "refused":
        query, ((name, key), *_) = next(iter(lacking.items()))
        places = [
            at for one in columns.values() for (_, of), at in one.places.items() if of == query
        ]
        own = [at for one in columns.values() if (at := one.places.get((key, query)))]
        lack = counted(len(lacking), "query lacks", "queries lack")
        raise DataError(
            f"{(own or places)[0]}: {lack} a number "
            f"({sum(map(len, lacking.values())):,} missing), such as {visible(name)} of "
            f"{visible(key[0])} for {visible(query)}; expected one for each, "
            f"or {spell('missing', 'common')} for the {len(every) - len(lacking)} others"
        )
    kept = sorted((octets(query), query) for query in every if query not in lacking)
    if not kept:
        raise DataError("no query has a number of every system; are these the same queries?")
    if lacking:
        notes.append(
            f"without {counted(len(lacking), 'query', 'queries')} that some system lacks "
            f"({listed(list(map(octets, lacking)), 3)})"
        )
    seeds: dict[str, list[Scores]] = {}
    for key in keys:
        statistics = (
            np.array([[columns[name].values[key][query]] for _, query in kept]) for name in metrics
        )
        of_metrics = [
            MetricScores(metric, rows, len(kept))
            for metric, rows in zip(metrics.values(), statistics, strict=True)
        ]
        seed = Scores(octets(key[0]), [id_ for id_, _ in kept], of_metrics, len(kept))
        seeds.setdefault(key[0], []).append(seed)
    return systems(seeds)


def parse_better(better: str | Mapping[str, str]) -> dict[str, Better]:
    """Read ``lower``, or ``latency=lower,cost=lower``; `UsageError` for other words."""
    items = (
        better.split(",") if isinstance(better, str) else [f"{k}={v}" for k, v in better.items()]
    )
    directions: dict[str, Better] = {}
    for item in items:
        name, _, word = item.rpartition("=")
        if word not in ("higher", "lower"):
            expected = "expected lower, higher, or NAME=lower"
            raise UsageError(f"{spell('better')} {better}: {expected}")
        directions[name] = "lower" if word == "lower" else "higher"
    return directions


def parse_map(names: str | Mapping[str, str] | None) -> dict[str, str]:
    """Read ``query=frage, system=modell``; `UsageError` for other roles."""
    if isinstance(names, str):
        parts = [part.partition("=") for part in names.split(",")]
        names = {role.strip(): column.strip() for role, _, column in parts}
    for role, column in (names or {}).items():
        if role not in _ROLES or not column:
            expected = f"expected ROLE=COLUMN, of {', '.join(_ROLES)}"
            raise UsageError(f"{spell('map_scores')} {visible(role)}={visible(column)}: {expected}")
    return dict(names or {})


def named_tables(tables: Any) -> dict[str, Any]:
    """Name one table or several: paths after their files, or as ``NAME=PATH`` says."""
    if isinstance(tables, Mapping) and any(
        hasattr(of, "columns") or hasattr(of, "column_names") for of in tables.values()
    ):
        return {str(system): frame for system, frame in tables.items()}
    if (
        not isinstance(tables, list | tuple)
        or not tables
        or not all(isinstance(table, str | os.PathLike) for table in tables)
    ):
        path = tables if isinstance(tables, str | os.PathLike) else ""
        return {path if isinstance(path, NamedPath) else str(path) or "scores": tables}
    paths = list(map(run_path, map(os.fspath, tables)))
    names = zip(paths, run_names(paths), strict=True)
    return {path if isinstance(path, NamedPath) else name: path for path, name in names}
