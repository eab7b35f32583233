"""Tables of scores of any kind: a row per query and system, with numbers from other programs.

A table is long (a row per query and system, a column per measure; or columns ``measure`` and
``value``) or wide (a row per query, a column per system). Lines of ``trec_eval -q``, and
pytrec_eval's dictionaries ``{query: {measure: number}}``, are tables of one system.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from ragkpi.errors import DataError, InputError, UsageError
from ragkpi.files.column_names import QUERY, plain_name, shown_names
from ragkpi.files.in_memory import names_of
from ragkpi.files.inputs import inputs
from ragkpi.files.query_files import QueryLabels
from ragkpi.files.records import MEASURE, VALUE, query_column, records_of
from ragkpi.files.trec import MISSING
from ragkpi.interface import spell
from ragkpi.library.ground import Signature
from ragkpi.library.options import By, Estimating, Evaluating, Measures
from ragkpi.library.runs import run_path, systems
from ragkpi.library.session import Session
from ragkpi.library.stored import Scored
from ragkpi.measures.measure import UNPROVEN, Better, Measure, Metric, MetricScores, Scores
from ragkpi.measures.registry import metric_of
from ragkpi.reports.names import run_names
from ragkpi.version import __version__
from ragkpi.wording import counted, did_you_mean, listed, named, octets, visible

# The names of columns by role.
_NAMES = {
    "system": ("system", "run", "model", "method", "retriever", "config", "experiment", "name"),
    "seed": ("seed", "replicate", "fold", "trial", "repeat"),
    "measure": MEASURE,
    "value": VALUE,
}
_TRUTHS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}

# The default measures of a trec_eval table, which also has counts of documents.
_REPORTED = ("map", "ndcg_cut_10", "recip_rank", "recall_100")
# Words in names of numbers for which smaller can be better.
_COSTS = frozenset(
    ("latency", "cost", "price", "time", "duration", "seconds", "ms", "error", "loss", "wer", "cer")
)
# Arguments of an evaluation that scores have too, or, as the names of runs, that a line always has.
_OF_SCORES = ("missing", "doubts", "names")

Key = tuple[str, str]  # a system and a seed
How = TypeVar("How", bound=Estimating)


class _Number(NamedTuple):
    """A number with its file and line; NaN for a missing one."""

    place: str
    number: float


class ScoreTable:
    """Scores of systems, and labels of queries, from tables by name.

    The name is the system of a table without systems. A table is a path, a data frame, rows as
    mappings, columns, or nested mappings ``{query: {measure: number}}`` or
    ``{system: {query: {measure: number}}}``.

    Parameters
    ----------
    measures
        The columns to take, in this order; by default all with numbers.
    better
        Which values are better, by measure, or for all under ``""``; by default as for ragkpi's
        measure of this name, else ``"higher"``, with a note for latency and the like.
    common
        Whether queries without a number of some system are left out; else they are refused.
    map_scores
        The names of columns by role; else their names tell the roles.

    Attributes
    ----------
    scores
        By system; of systems with several seeds, the means over seeds (`library.runs`).
    labels
        The columns without numbers: the places of each label, by column and query.
    notes
        Omissions, and values read differently than written, each once.
    """

    def __init__(
        self,
        tables: Mapping[str, Any],
        measures: Sequence[str],
        better: Mapping[str, Better],
        common: bool,
        map_scores: Mapping[str, str],
    ) -> None:
        self.labels: dict[str, dict[bytes, dict[str, str]]] = {}
        self.notes: dict[str, None] = {}
        self._numbers: dict[tuple[Key, str, str], _Number] = {}  # by query and measure
        for name, table in tables.items():
            self._collect(name, table, map_scores, alone=len(tables) == 1)
        chosen = self._chosen(measures)
        self.scores = self._scores(self._metrics(chosen, better), common)
        files = [os.fspath(of) for of in tables.values() if isinstance(of, str | os.PathLike)]
        digests = (f"sha256:{inputs().sha256(path) or 'stream'}" for path in files)
        of = ",".join(digests) or "memory"
        self.signature = Signature(
            {"ragkpi": __version__, "scores": of, "columns": ",".join(chosen)}
        )

    def scored(self, session: Session, order: Sequence[str] = ()) -> Scored:
        """Return the scores as those of runs, some in an `order`, and note what to know of them."""
        for text in self.notes:
            session.note(text)
        names = {name: name for name in (*order, *self.scores)}
        return Scored({name: self.scores[name] for name in names}, names, self.signature)

    def columns(self, by: By, how: How) -> tuple[By, How]:
        """Put columns of the table in the place of `by` and ``cluster`` that name them."""
        if isinstance(by, str) and by in self.labels:
            by = cast(By, self._labels_of(by))
        cluster = how.get("cluster")
        if isinstance(cluster, str) and cluster in self.labels:
            how = cast(How, {**how, "cluster": self._labels_of(cluster)[cluster]})
        return by, how

    def _labels_of(self, by: str) -> QueryLabels:
        """Return a column of labels; `DataError` if a query has two."""
        for query, places in self.labels[by].items():
            if len(places) > 1:
                before, (label, place) = next(iter(places)), list(places.items())[1]
                fault = f"{visible(by)} of query {named(query)} is {visible(label)}"
                expected = "expected one label for each query"
                raise DataError(f"{place}: {fault}, before {visible(before)}; {expected}")
        return {by: {query: next(iter(places)) for query, places in self.labels[by].items()}}

    def _collect(
        self, name: str, table: Any, map_scores: Mapping[str, str], *, alone: bool
    ) -> None:
        """Add the numbers and the labels of a table, `alone` or one of several."""
        file = os.fspath(table) if isinstance(table, str | os.PathLike) else name
        rows: list[tuple[int, Mapping[str, Any]]] = []
        for line, row in records_of(table, spell("scores")):
            by_query = {query: of for query, of in row.items() if isinstance(of, Mapping)}
            system = row.get(QUERY[0], name)  # of {system: {query: …}}
            nested = [{"system": system, "query": q, **of} for q, of in by_query.items()]
            rows += [(line, one) for one in nested or [row]]
        if not rows:
            expected = "expected a row per query and system, or the lines of trec_eval -q"
            raise InputError(file, None, "no scores", expected)
        line, first = rows[0]
        roles = _roles(file, line, list(first), map_scores)
        others = [column for column in first if column not in roles.values()]
        numbers = [
            column
            for column in ([roles["value"]] if "value" in roles else others)
            if not all(math.isnan(_parsed(row.get(column))) for _, row in rows)
        ]
        labels = [column for column in others if column not in numbers]
        if labels:
            self.notes[f"columns taken as labels: {', '.join(map(visible, labels))}"] = None
        if not numbers:
            raise InputError(file, None, "no numbers", "expected scores")
        unnamed = "system" not in roles and alone
        if unnamed and ("value" in roles or len(numbers) < 2):
            fault = f"one system ({shown_names(numbers)})"
            expected = "expected a column 'system', a column per system, or another table"
            raise InputError(file, None, fault, expected)
        for line, cells in rows:
            place = f"{file}:{line}"
            ids = {role: str(cells.get(of, "")).strip() for role, of in roles.items()}
            for role, of in roles.items():
                if role != "value" and ids[role].lower() in MISSING - {"-", "na"}:
                    raise InputError(place, None, f"no {visible(of)}", "expected one in each row")
            query, seed, system = ids["query"], ids.get("seed", ""), ids.get("system", name)
            for column in numbers:
                key = (column if unnamed else system), seed
                measure = "score" if unnamed else ids.get("measure", column)
                self._add(place, key, query, measure, cells.get(column))
            for column in labels:
                if (label := cells.get(column)) not in (None, ""):
                    of_query = self.labels.setdefault(column, {}).setdefault(octets(query), {})
                    of_query.setdefault(str(label), place)

    def _add(self, place: str, key: Key, query: str, measure: str, cell: Any) -> None:
        """Add a number; `InputError` for a text, `DataError` for one that is there already."""
        number, text = _parsed(cell), str(cell).strip()
        if text.endswith("%") and not math.isnan(number):
            self.notes[f"percentages of {visible(measure)} are shares: 85% is 0.85"] = None
        if math.isinf(number) or (math.isnan(number) and text.lower() not in MISSING):
            fault = f"{visible(measure)} {visible(text)} is not a finite number"
            expected = "expected a number, true or false, or a percentage"
            raise InputError(place, None, fault, expected)
        own = _Number(place, number)
        first = self._numbers.setdefault((key, query, measure), own)
        if first is not own:
            again = f"query {visible(query)} of {visible(key[0])} again"
            expected = "expected it once, or a column 'seed' that tells the rows apart"
            raise DataError(f"{place}: {again}, first at {first.place}; {expected}")

    def _chosen(self, measures: Sequence[str]) -> list[str]:
        """Return the requested measures, else the most reported ones, else all comparable ones."""
        every = list(dict.fromkeys(measure for _, _, measure in self._numbers))
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
            self.notes[f"{left} more {are} in the table; {spell('measures')} chooses"] = None
        return chosen

    def _metrics(self, chosen: Sequence[str], better: Mapping[str, Better]) -> dict[str, Metric]:
        """Return columns as metrics: a rate if every number is 0 or 1."""
        for name in better:
            if name and name not in chosen:
                advice = did_you_mean(name, chosen, f"expected one of {shown_names(chosen)}")
                raise UsageError(f"{spell('better')} {name}: no such measure; {advice}")
        metrics = {}
        for name in chosen:
            known = metric_of(name)
            direction = better.get(name, better.get("", known.measure.better if known else None))
            if direction is None and _COSTS & {*plain_name(name).split("_")}:
                lower = spell("better", f"{name}=lower")
                note = f"{visible(name)}: higher values count as better; {lower} if lower ones are"
                self.notes[note] = None
            numbers = {one.number for (_, _, of), one in self._numbers.items() if of == name}
            is_rate = {number for number in numbers if not math.isnan(number)} <= {0.0, 1.0}
            measure = Measure(
                name,
                _share if is_rate else _number,
                better=direction or "higher",
                bounds=UNPROVEN,
                ties="unproven",
                question="counts",
                rate="always" if is_rate else "never",
            )
            metrics[name] = Metric(measure, name, {})
        return metrics

    def _scores(self, metrics: Mapping[str, Metric], common: bool) -> dict[str, Scores]:
        """Return the scores of systems over the queries for which every one has every number."""
        of = {at: one for at, one in self._numbers.items() if at[2] in metrics}
        keys = dict.fromkeys(key for key, _, _ in of)
        every = dict.fromkeys(query for _, query, _ in of)
        needed = [(key, query, name) for query in sorted(every) for name in metrics for key in keys]
        lacking = [at for at in needed if at not in of or math.isnan(of[at].number)]
        without = list(dict.fromkeys(query for _, query, _ in lacking))
        if lacking and not common:
            (system, _), query, name = lacking[0]
            place = f"{of[lacking[0]].place}: " if lacking[0] in of else ""
            lack = counted(len(without), "query lacks", "queries lack")
            raise DataError(
                f"{place}{lack} a number ({len(lacking):,} missing), such as {visible(name)} of "
                f"{visible(system)} for {visible(query)}; expected one for each, or "
                f"{spell('missing', 'common')} for the {len(every) - len(without)} others"
            )
        kept = sorted((octets(query), query) for query in every.keys() - without)
        if not kept:
            raise DataError("no query has a number of every system; are the queries the same?")
        if without:
            left_out = counted(len(without), "query", "queries")
            listed_ = listed(list(map(octets, without)), 3)
            self.notes[f"without {left_out} that some system lacks ({listed_})"] = None
        seeds: dict[str, list[Scores]] = {}
        for key in keys:
            columns = [
                MetricScores(
                    metric,
                    np.array([[of[key, query, name].number] for _, query in kept]),
                    len(kept),
                )
                for name, metric in metrics.items()
            ]
            seed = Scores(octets(key[0]), [id_ for id_, _ in kept], columns, len(kept))
            seeds.setdefault(key[0], []).append(seed)
        return systems(seeds)


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
    requests = [measures] if isinstance(measures, str) else list(measures)
    common = how.get("missing") == "common"
    directions, columns = _directions(better or {}), dict(_pairs(map_scores or {}))
    if odd := columns.keys() - {"query", *_NAMES}:
        expected = f"expected ROLE=COLUMN, of query, {', '.join(_NAMES)}"
        raise UsageError(f"{spell('map_scores')} {visible(min(odd))}: {expected}")
    return ScoreTable(_named_tables(scores), requests, directions, common, columns)


def _roles(
    file: str, line: int, names: Sequence[str], map_scores: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns by role, as a map says or by their names; `InputError` for no query."""
    roles = {"query": query_column(names) or "", **map_scores}
    for column in roles.values():
        if column not in names:
            fault = f"no column {visible(column)}" if column else "no query among the columns"
            expected = f"expected its name in {spell('map_scores', 'query=COLUMN')}"
            raise InputError(file, line, fault, f"{expected}, one of {shown_names(names)}")
    for role, known in _NAMES.items():
        for name in names:
            if role not in roles and name not in roles.values() and plain_name(name) in known:
                roles[role] = name
    if not {"measure", "value"} <= roles.keys():  # a score alone is a measure
        roles = {role: name for role, name in roles.items() if role not in ("measure", "value")}
    return roles


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


def _directions(better: str | Mapping[str, str]) -> dict[str, Better]:
    """Read ``lower``, or ``latency=lower,cost=lower``; `UsageError` for other words."""
    directions = dict(_pairs(better))
    if not {*directions.values()} <= {"higher", "lower"}:
        expected = "expected lower, higher, or NAME=lower"
        raise UsageError(f"{spell('better')} {better}: {expected}")
    return cast(dict[str, Better], directions)


def _pairs(text: str | Mapping[str, str]) -> list[tuple[str, str]]:
    """Read ``NAME=WORD, …``; a word alone has the name ""."""
    if not isinstance(text, str):
        return list(text.items())
    parts = (part.rpartition("=") for part in text.split(","))
    return [(name.strip(), word.strip()) for name, _, word in parts]


def _named_tables(tables: Any) -> dict[str, Any]:
    """Name one table or several: paths by file, or as in ``NAME=PATH``."""
    if isinstance(tables, Mapping) and any(map(names_of, tables.values())):
        return {str(system): frame for system, frame in tables.items()}
    some = tables if isinstance(tables, list | tuple) else [tables]
    if not some or not all(isinstance(table, str | os.PathLike) for table in some):
        return {"scores": tables}
    paths = list(map(run_path, map(os.fspath, some)))
    return dict(zip(run_names(paths), paths, strict=True))
