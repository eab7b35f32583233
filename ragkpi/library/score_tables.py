"""Tables of scores of any kind: a row per query and system, with numbers from other programs.

A table is long (a row per query and system, a column per measure; or columns ``measure`` and
``value``) or wide (a row per query, a column per system). Lines of ``trec_eval -q``, and
pytrec_eval's dictionaries ``{query: {measure: number}}``, are tables of one system.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np

from ragkpi.errors import DataError, InputError, UsageError
from ragkpi.files.column_names import QUERY, plain_name, shown_names
from ragkpi.files.in_memory import names_of
from ragkpi.files.inputs import inputs
from ragkpi.files.query_files import QueryLabels
from ragkpi.files.records import MEASURE, VALUE, query_column, records_of
from ragkpi.files.tables import Row
from ragkpi.files.trec import MISSING
from ragkpi.interface import spell
from ragkpi.library.ground import Signature
from ragkpi.library.options import By, Estimating, Evaluating, Measures
from ragkpi.library.runs import run_path
from ragkpi.library.session import Session
from ragkpi.library.stored import Scored
from ragkpi.library.systems import deterministic, systems
from ragkpi.measures.measure import UNPROVEN, Better, Measure, Metric, MetricScores, Scores
from ragkpi.measures.registry import metric_of
from ragkpi.reports.names import DETERMINISTIC, NamedPath, run_names
from ragkpi.version import __version__
from ragkpi.wording import counted, did_you_mean, listed, named, octets, visible

SYSTEM = ("system", "run", "model", "method", "retriever", "config", "experiment", "name")
SEED = ("seed", "replicate", "fold", "trial", "repeat")
_TRUTHS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}

# The default measures of a trec_eval table, which also has counts of documents.
_REPORTED = ("map", "ndcg_cut_10", "recip_rank", "recall_100")
# Words in names of numbers for which smaller can be better.
_COSTS = frozenset(
    ("latency", "cost", "price", "time", "duration", "seconds", "ms", "error", "loss", "wer", "cer")
)
# Arguments of an evaluation that scores have too, or, as the names of runs, that a line always has.
_OF_SCORES = ("missing", "doubts", "names")
_NAMES = {"system": SYSTEM, "seed": SEED, "measure": MEASURE, "value": VALUE}
_ROLES = ("query", *_NAMES)

Key = tuple[str, str]  # a system and a seed
Place = tuple[str, int]  # a file or an argument, and a line


How = TypeVar("How", bound=Estimating)


@dataclass(frozen=True)
class ScoreTable:
    """Scores by system, and labels of queries.

    Attributes
    ----------
    scores
        By system; of systems with several seeds, the means over seeds (`library.systems`).
    labels
        The columns without numbers: the places of each label, by column and query.
    notes
        Omissions, and values read differently than written.
    """

    scores: Mapping[str, Scores]
    labels: Mapping[str, Mapping[bytes, Mapping[str, Place]]]
    signature: Signature
    notes: Sequence[str]

    def labels_of(self, by: str) -> QueryLabels:
        """Return a column of labels; `DataError` if a query has two."""
        for query, places in self.labels[by].items():
            if len(places) > 1:
                (before, _), (label, place), *_ = places.items()
                fault = f"{visible(by)} of query {named(query)} is {visible(label)}"
                expected = "expected one label for each query"
                raise DataError(f"{_shown(place)}: {fault}, before {visible(before)}; {expected}")
        return {by: {query: next(iter(places)) for query, places in self.labels[by].items()}}

    def scored(self, session: Session) -> Scored:
        """Return the scores as those of runs, and note what the session should say of them."""
        for text in self.notes:
            session.note(text)
        return Scored(self.scores, {name: name for name in self.scores}, self.signature)

    def columns(self, by: By, how: How) -> tuple[By, How]:
        """Put columns of the table in the place of `by` and ``cluster`` that name them."""
        if isinstance(by, str) and by in self.labels:
            by = cast(By, self.labels_of(by))
        cluster = how.get("cluster")
        if isinstance(cluster, str) and cluster in self.labels:
            how = cast(How, {**how, "cluster": self.labels_of(cluster)[cluster]})
        return by, how


class _Cell(NamedTuple):
    """A number with its place; NaN for a missing one."""

    place: Place
    number: float


@dataclass
class _Cells:
    """The numbers and labels of all tables."""

    of: dict[tuple[Key, str, str], _Cell] = field(default_factory=dict)  # by query and measure
    labels: dict[str, dict[bytes, dict[str, Place]]] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)  # each once

    def add(self, place: Place, key: Key, query: str, measure: str, cell: Any) -> None:
        """Add a number; `InputError` for a text, `DataError` for one that is there already."""
        number, text = _parsed(cell), str(cell).strip()
        if text.endswith("%") and not math.isnan(number):
            self.notes[f"percentages of {visible(measure)} are shares: 85% is 0.85"] = None
        if math.isinf(number) or (math.isnan(number) and text.lower() not in MISSING):
            fault = f"{visible(measure)} {visible(text)} is not a finite number"
            expected = "expected a number, true or false, or a percentage"
            raise InputError(*place, fault, expected)
        first = self.of.setdefault((key, query, measure), _Cell(place, number)).place
        if first is not place:
            again = f"query {visible(query)} of {visible(key[0])} again"
            expected = "expected it once, or a column 'seed' that tells the rows apart"
            raise DataError(f"{_shown(place)}: {again}, first at {_shown(first)}; {expected}")

    def label(self, place: Place, column: str, query: str, text: str) -> None:
        """Add a label of a query."""
        of_query = self.labels.setdefault(column, {}).setdefault(octets(query), {})
        of_query.setdefault(text, place)


def _shown(place: Place) -> str:
    return f"{place[0]}:{place[1]}"


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
    """Read tables of scores by name; the name is the system of a table without systems.

    Parameters
    ----------
    tables
        Paths, data frames, rows as mappings, columns, or nested mappings
        ``{query: {measure: number}}`` or ``{system: {query: {measure: number}}}``.
    measures
        The columns to take, in this order; by default all with numbers.
    better
        Which values are better, by measure, or for all under ``""``; by default as for ragkpi's
        measure of this name, else ``"higher"``, with a note for latency and the like.
    missing
        Whether queries without a number of some system are refused or left out.
    map_scores
        The names of columns by role: query, system, seed, measure, value.
    """
    cells = _Cells()
    for name, table in tables.items():
        _collect(name, table, len(tables) == 1, map_scores or {}, cells)
    every = list(dict.fromkeys(measure for _, _, measure in cells.of))
    chosen = _chosen(every, measures, cells)
    directions = _directions(better or {}, chosen, cells)
    metrics = {name: _metric(name, cells, directions[name]) for name in chosen}
    scores = _scores(metrics, cells, missing)
    files = [os.fspath(of) for of in tables.values() if isinstance(of, str | os.PathLike)]
    digests = (f"sha256:{inputs().sha256(path) or 'stream'}" for path in files)
    of = ",".join(digests) or "memory"
    signature = Signature({"ragkpi": __version__, "scores": of, "columns": ",".join(chosen)})
    return ScoreTable(scores, cells.labels, signature, list(cells.notes))


def scores_in_place(
    of: tuple[object, object],
    scores: Any,
    measures: Measures,
    better: str | Mapping[str, str] | None,
    how: Estimating,
    map_scores: str | Mapping[str, str] | None,
) -> ScoreTable | None:
    """Read scores that stand in the place of qrels and runs; None without any."""
    if scores is None:
        if better is not None or map_scores is not None:
            option = spell("map_scores" if better is None else "better")
            raise UsageError(f"{option}: it says how scores are read; expected {spell('scores')}")
        return None
    if of != (None, None):
        raise UsageError(f"{spell('scores')}: they stand for qrels and runs; leave those out")
    if how.get("missing") == "zero":
        zero = spell("missing", "zero")
        raise UsageError(f"{zero}: a number that is missing is not 0; leave it out")
    for name, value in how.items():
        if name in Evaluating.__annotations__ and name not in _OF_SCORES:
            option = spell(name, value if isinstance(value, str) else "")
            raise UsageError(f"{option}: it says how runs are evaluated, not scores; leave it out")
    return read_scores(
        named_tables(scores),
        [measures] if isinstance(measures, str) else list(measures),
        parse_better(better or {}),
        "common" if how.get("missing") == "common" else "refused",
        parse_map(map_scores or {}),
    )


def _rows_of(name: str, table: Any) -> Iterator[Row]:
    """Yield the rows of a table; records by system and query become rows."""
    for line, row in records_of(table, spell("scores")):
        by_query = {query: of for query, of in row.items() if isinstance(of, Mapping)}
        for query, of in by_query.items():
            yield line, {SYSTEM[0]: row.get(QUERY[0], name), QUERY[0]: query, **of}
        if not by_query:
            yield line, row


def _collect(
    name: str, table: Any, alone: bool, map_scores: Mapping[str, str], cells: _Cells
) -> None:
    """Add the numbers and the labels of a table, `alone` or one of several."""
    file = os.fspath(table) if isinstance(table, str | os.PathLike) else name
    rows = list(_rows_of(name, table))
    if not rows:
        expected = "expected a row per query and system, or the lines of trec_eval -q"
        raise InputError(file, None, "no scores", expected)
    line, first = rows[0]
    roles = _roles(file, line, list(first), map_scores)
    others = [column for column in first if column not in roles.values()]
    tidy = {"measure", "value"} <= roles.keys()
    numbers = [
        column
        for column in ([roles["value"]] if tidy else others)
        if not all(math.isnan(_parsed(row.get(column))) for _, row in rows)
    ]
    labels = [column for column in others if column not in numbers]
    if labels:
        cells.notes[f"columns taken as labels: {', '.join(map(visible, labels))}"] = None
    if not numbers:
        raise InputError(file, None, "no numbers", "expected scores")
    unnamed = "system" not in roles and alone and not isinstance(name, NamedPath)
    if unnamed and (tidy or len(numbers) < 2):
        fault = f"one system ({shown_names(numbers)})"
        expected = "expected a column 'system', a column per system, or another table"
        raise InputError(file, None, fault, expected)
    own = name.name if isinstance(name, NamedPath) else name
    for line, row in rows:
        place = file, line
        ids = {role: _id_of(place, row, of) for role, of in roles.items() if role != "value"}
        query, seed, system = ids["query"], ids.get("seed", ""), ids.get("system", own)
        for column in numbers:
            key = (column if unnamed else system), seed
            measure = "score" if unnamed else ids.get("measure", column)
            cells.add(place, key, query, measure, row.get(column))
        for column in labels:
            if (label := row.get(column)) not in (None, ""):
                cells.label(place, column, query, str(label))


def _roles(
    file: str, line: int, names: Sequence[str], map_scores: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns by role, as a map says or by their names; `InputError` for no query."""
    roles = {"query": query_column(names), **map_scores}
    for column in roles.values():
        if column not in names:
            fault = f"no column {visible(column)}" if column else "no query among the columns"
            expected = f"expected its name in {spell('map_scores', 'query=COLUMN')}"
            raise InputError(file, line, fault, f"{expected}, one of {shown_names(names)}")
    for role, known in _NAMES.items():
        free = (name for name in names if name not in roles.values())
        roles.setdefault(role, next((name for name in free if plain_name(name) in known), None))
    of_rows = {"measure", "value"}  # in rows of one number each; a score alone is a measure
    left_out = set() if all(roles[role] for role in of_rows) else of_rows
    return {role: of for role, of in roles.items() if of is not None and role not in left_out}


def _id_of(place: Place, row: Mapping[str, Any], column: str) -> str:
    """Return the query, the system or the seed of a row; `InputError` for an empty one."""
    text = str(row.get(column, "")).strip()
    if text.lower() in MISSING - {"-", "na"}:
        raise InputError(*place, f"no {visible(column)}", "expected one in each row")
    return text


def _parsed(cell: Any) -> float:
    """Return a number, of 85% the share; NaN for what is none."""
    if isinstance(cell, int | float | np.number):
        return float(cell)
    text = str(cell).strip().lower()
    try:
        number = _TRUTHS[text] if text in _TRUTHS else float(text.removesuffix("%"))
    except ValueError:
        return math.nan
    return math.nan if "_" in text else number / (100 if text.endswith("%") else 1)


def _chosen(every: Sequence[str], measures: Sequence[str], cells: _Cells) -> list[str]:
    """Return the requested measures, else the most reported ones, else all comparable ones."""
    for name in measures:
        if name not in every:
            advice = did_you_mean(name, every, f"expected one of {shown_names(every)}")
            raise UsageError(f"-m {name}: the scores have no such column; {advice}")
    if measures:
        return list(measures)
    able = [name for name in every if (of := metric_of(name)) is None or of.is_comparable]
    chosen = [name for name in _REPORTED if name in able] or able
    if left := len(every) - len(chosen):
        are = "measure is" if left == 1 else "measures are"
        cells.notes[f"{left} more {are} in the table; {spell('measures')} chooses"] = None
    return chosen


def _directions(
    better: Mapping[str, Better], chosen: Sequence[str], cells: _Cells
) -> dict[str, Better]:
    """Return the better direction by measure: the user's, else the one known for its name."""
    for name in better:
        if name and name not in chosen:
            advice = did_you_mean(name, chosen, f"expected one of {shown_names(chosen)}")
            raise UsageError(f"{spell('better')} {name}: no such measure; {advice}")
    directions: dict[str, Better] = {}
    for name in chosen:
        known, words = metric_of(name), {*plain_name(name).split("_")}
        by_name: Better = known.measure.better if known else "higher"
        directions[name] = better.get(name, better.get("", by_name))
        if better.keys().isdisjoint((name, "")) and not known and _COSTS & words:
            lower = spell("better", f"{name}=lower")
            note = f"{visible(name)}: higher values count as better; {lower} if lower ones are"
            cells.notes[note] = None
    return directions


def _metric(name: str, cells: _Cells, better: Better) -> Metric:
    """Return a column as a metric: a rate if every number is 0 or 1."""
    numbers = {cell.number for (_, _, measure), cell in cells.of.items() if measure == name}
    is_rate = {number for number in numbers if not math.isnan(number)} <= {0.0, 1.0}
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
    metrics: Mapping[str, Metric], cells: _Cells, missing: Literal["refused", "common"]
) -> dict[str, Scores]:
    """Return the scores of systems over the queries for which every one has every number."""
    chosen = {at: cell for at, cell in cells.of.items() if at[2] in metrics}
    keys = dict.fromkeys(key for key, _, _ in chosen)
    every = dict.fromkeys(query for _, query, _ in chosen)
    none = _Cell(("", 0), math.nan)
    lacking = [
        (key, query, name)
        for query in sorted(every)
        for name in metrics
        for key in keys
        if math.isnan(chosen.get((key, query, name), none).number)
    ]
    without = list(dict.fromkeys(query for _, query, _ in lacking))
    if lacking and missing == "refused":
        key, query, name = lacking[0]
        of_query = {at[0]: cell.place for at, cell in chosen.items() if at[1] == query}
        place = of_query.get(key) or next(iter(of_query.values()))
        lack = counted(len(without), "query lacks", "queries lack")
        raise DataError(
            f"{_shown(place)}: {lack} a number ({len(lacking):,} missing), such as "
            f"{visible(name)} of {visible(key[0])} for {visible(query)}; expected one for each, "
            f"or {spell('missing', 'common')} for the {len(every) - len(without)} others"
        )
    kept = sorted((octets(query), query) for query in every.keys() - without)
    if not kept:
        raise DataError("no query has a number of every system; are the queries the same?")
    if without:
        left_out = counted(len(without), "query", "queries")
        listed_ = listed(list(map(octets, without)), 3)
        cells.notes[f"without {left_out} that some system lacks ({listed_})"] = None
    seeds: dict[str, list[Scores]] = {}
    for key in keys:
        columns = []
        for name, metric in metrics.items():
            numbers = np.array([[chosen[key, query, name].number] for _, query in kept])
            columns.append(MetricScores(metric, numbers, len(kept)))
        seed = Scores(octets(key[0]), [id_ for id_, _ in kept], columns, len(kept))
        seeds.setdefault(key[0], []).append(seed)
    only = [system for system, name in keys if name == DETERMINISTIC and len(seeds[system]) == 1]
    return systems(seeds | {system: [deterministic(*seeds[system])] for system in only})


def parse_better(better: str | Mapping[str, str]) -> dict[str, Better]:
    """Read ``lower``, or ``latency=lower,cost=lower``; `UsageError` for other words."""
    directions = dict(_pairs(better))
    if not {*directions.values()} <= {"higher", "lower"}:
        expected = "expected lower, higher, or NAME=lower"
        raise UsageError(f"{spell('better')} {better}: {expected}")
    return cast(dict[str, Better], directions)


def parse_map(names: str | Mapping[str, str]) -> dict[str, str]:
    """Read ``query=frage, system=modell``; `UsageError` for other roles."""
    for role, column in _pairs(names):
        if role not in _ROLES or not column:
            expected = f"expected ROLE=COLUMN, of {', '.join(_ROLES)}"
            raise UsageError(f"{spell('map_scores')} {visible(role)}={visible(column)}: {expected}")
    return dict(_pairs(names))


def _pairs(text: str | Mapping[str, str]) -> list[tuple[str, str]]:
    """Read ``NAME=WORD, …``; a word alone has the name ""."""
    if not isinstance(text, str):
        return list(text.items())
    parts = (part.rpartition("=") for part in text.split(","))
    return [(name.strip(), word.strip()) for name, _, word in parts]


def named_tables(tables: Any) -> dict[str, Any]:
    """Name one table or several: paths by file, or as in ``NAME=PATH``."""
    if isinstance(tables, Mapping) and any(map(names_of, tables.values())):
        return {str(system): frame for system, frame in tables.items()}
    some = tables if isinstance(tables, list | tuple) else [tables]
    if not some or not all(isinstance(table, str | os.PathLike) for table in some):
        return {"scores": tables}
    paths = list(map(run_path, map(os.fspath, some)))
    names = zip(paths, run_names(paths), strict=True)
    return {path if isinstance(path, NamedPath) else name: path for path, name in names}
