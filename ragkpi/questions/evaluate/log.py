"""`ragkpi log`, and the log of evaluations that it shows: an append-only file of JSON Lines."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from typing import Annotated, Any, Literal

from typer import Argument, Option

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.errors import DataError, UsageError
from ragkpi.files.json_text import text_of
from ragkpi.files.opening import Source
from ragkpi.interface import interface, spell
from ragkpi.library.evaluation_report import EvaluationReport
from ragkpi.library.ground import cut, differences, ground_of
from ragkpi.library.result import Result
from ragkpi.library.stored import (
    StoredResult,
    objects_of,
    records_of,
    warn_of_torn_line,
)
from ragkpi.measures.registry import metric_of
from ragkpi.reports.layout import Cell, Column, Layout, Report, Table, with_best_marked
from ragkpi.reports.renderers import dump
from ragkpi.version import __version__
from ragkpi.wording import visible

try:
    import fcntl
except ImportError:  # on Windows, O_APPEND has to be enough
    fcntl = None  # type: ignore[assignment]

_LONGEST_WAIT = 60.0  # seconds for a lock
_RETRY = 0.1


def record(
    report: EvaluationReport,
    run: str,
    meta: Mapping[str, str],
    per_query: Literal["hidden", "shown"] = "hidden",
    time: datetime | None = None,
) -> dict[str, Any]:
    """Describe the evaluation of a run as a JSON object, valid under ``schema.json#/$defs/line``.

    `meta` has the user's notes; `time` defaults to now.
    """
    stamp = (time or datetime.now(UTC)).astimezone(UTC)
    return {
        "ragkpi": __version__,
        "kind": "run",
        "time": stamp.strftime("%Y-%m-%dT%H:%M:%SZ"),
        **report.object(run, Layout(per_query=per_query, files="shown")),
        "meta": dict(meta),
    }


def append(path: str, records: Iterable[Mapping[str, Any]]) -> None:
    """Append all records or none, one per line; other processes may append at the same time."""
    text = "".join(dump(record) + "\n" for record in records).encode("utf-8")
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"{spell('log')} {path}: no file that keeps records; give another path")
    try:
        with open(path, "ab+", buffering=0) as file:
            _wait_for_lock(path, file)
            _append_whole(path, file, text)
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(f"{spell('log')} {path}: cannot be appended to: {reason}") from problem


def _append_whole(path: str, file: FileIO, text: bytes) -> None:
    """Append to a file, replacing an incomplete record at its end, or leave it unchanged."""
    begin = end = file.seek(0, os.SEEK_END)
    tail = b""
    while begin and b"\n" not in tail:
        begin = file.seek(max(0, begin - (1 << 16)))
        tail = file.read()
    last = tail.rpartition(b"\n")[2]
    try:
        if last.strip():
            json.loads(last.decode("utf-8", "surrogateescape"))
        text = b"\n" + text if last else text
    except ValueError:
        warn_of_torn_line(path, "removed")
        end = file.truncate(end - len(last))
    try:
        rest = memoryview(text)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except BaseException:
        file.truncate(end)
        raise


def read_records(path: str) -> list[dict[str, Any]]:
    """Read a log, or another saved result; blank lines are skipped."""
    with Source(path) as source:
        text = text_of(source.whole(f"expected a part of {spell('log')}"))
    records = records_of(path, objects_of(path, text, "skipped"))
    for record in records:
        if record.get("per_query") and "seeds" not in record:
            _ = StoredResult(path, record).scores  # refuses edited records
    return records


def _wait_for_lock(path: str, file: FileIO) -> None:
    """Lock a file, with a message if another process has it, and a time limit."""
    if fcntl is None:
        return
    for tried in range(1 + round(_LONGEST_WAIT / _RETRY)):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if not tried:
            interface().note(f"{path}: waiting for another process that has locked it")
        time.sleep(_RETRY)
    raise UsageError(
        f"{spell('log')} {path}: locked by another process for {_LONGEST_WAIT:g} s; end it, "
        "or give another file"
    )


@dataclass(frozen=True)
class History(Report):
    """Log entries, oldest first as in the file unless sorted."""

    records: Sequence[Mapping[str, Any]]

    def sorted_by(self, name: str) -> History:
        """Sort by a measure, the best first, and entries without a value last.

        `DataError` for values with different queries, qrels or settings.
        """
        names = _union(record["values"] for record in self.records)
        if self.records and name not in names:
            expected = f"no record has '{name}'; there are {', '.join(names)}"
            raise UsageError(f"{spell('sort')} {name}: {expected}")
        metric = metric_of(name)
        ranked = [record for record in self.records if record["values"].get(name) is not None]
        for record in ranked:
            grounds = ground_of(ranked[0]), ground_of(record)
            apart = {"qrels": ("not said", "not said")}
            if all(grounds):
                apart = differences(*grounds, [metric] if metric else [])
            for field, (one, other) in apart.items():
                raise DataError(
                    f"{spell('sort')} {name}: {visible(ranked[0].get('name', '?'))} and "
                    f"{visible(record.get('name', '?'))} are not comparable: {field} is {one} of "
                    f"one, {other} of the other; log them to different files"
                )
        sign = -1 if metric is None or metric.measure.better != "lower" else 1

        def key(record: Mapping[str, Any]) -> tuple[bool, float]:
            value = _number(record["values"].get(name))
            return math.isnan(value), sign * (0 if math.isnan(value) else value)

        return History(sorted(self.records, key=key))

    def own_table(self, layout: Layout) -> Table:
        """Lay out a row per entry: the time, the run, the user's notes, its values."""
        metas = _union(record.get("meta", {}) for record in self.records)
        measured = [
            Column(name, metric.measure.style, metric.measure.better)
            if (metric := metric_of(name))
            else Column(name, "significant")
            for name in _union(record["values"] for record in self.records)
        ]
        columns = [*map(Column, ("time", "run", *metas)), *measured]
        rows = []
        for record in self.records:
            notes = map(record.get("meta", {}).get, metas)
            texts = map(Cell, (record.get("time"), record.get("name"), *notes))
            values = record["values"]
            rows.append([*texts, *(_cell(values, column) for column in measured)])
        grounds = [ground_of(record) for record in self.records]
        varying = [one for one in _union(grounds) if len({of.get(one) for of in grounds}) > 1]
        if not varying:
            return Table(columns, with_best_marked(columns, rows) if all(grounds) else rows)
        # Values with different settings are not comparable: a column shows the differences.
        for row, of in zip(rows, grounds, strict=True):
            row.append(Cell("|".join(f"{one}:{cut(of[one])}" for one in varying if one in of)))
        return Table([*columns, Column("signature")], rows)

    def own_document(self, layout: Layout) -> dict[str, Any]:
        """Return the entries as one JSON object."""
        return {"ragkpi": __version__, "runs": list(self.records)}

    def own_lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield the entries."""
        yield from map(dict, self.records)


def _number(value: Any) -> float:
    """Return a value of a record; NaN for null, which is NA, and for a text."""
    try:
        return math.nan if value is None else float(value)
    except ValueError:
        return math.nan


def _union(mappings: Any) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))


def _cell(metrics: Mapping[str, Any], column: Column) -> Cell:
    """Return NA for null, and an empty cell for a metric that was not evaluated."""
    if column.name not in metrics:
        return Cell()
    value = metrics[column.name]
    return Cell(_number(value) if column.numeric else value)


def log(
    path: str | os.PathLike[str],
    sort: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Sort by this measure, the best first; entries must share queries, qrels and "
            "settings. Default: as logged.",
        ),
    ] = None,
) -> Result:
    """Show logged evaluations: a row per run, oldest first.

    The best value of every column is marked if all values have the same settings; otherwise, a
    column shows the differences.

    Parameters
    ----------
    path
        The file written by ``--log`` or `RunResult.log`.
    """
    history = History(read_records(os.fspath(path)))
    return Result(history if sort is None else history.sorted_by(sort))


@command(
    log,
    examples=(
        "ragkpi log record.jsonl",
        "ragkpi log --sort map record.jsonl",
        "ragkpi log --format csv record.jsonl",
    ),
)
def shell(
    file: Annotated[str, Argument(metavar="FILE", help="A log written by --log FILE.")],
    output: Output,
    **arguments: Any,
) -> None:
    """Write logged evaluations."""
    output.write(log(file, **arguments).report)
