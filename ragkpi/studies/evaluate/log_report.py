"""The report on a log: its evaluations as a table, filtered and sorted."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragkpi import __version__
from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.measures.measure import Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.records import dataclass
from ragkpi.reports.layout import Cell, Column, Layout, Table, with_best_marked

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_COMPARISON = re.compile("|".join(_COMPARISONS))


@dataclass(frozen=True)
class History:
    """Records of evaluations, oldest first as in the file unless sorted."""

    records: Sequence[Mapping[str, Any]]

    def where(self, conditions: Sequence[str]) -> History:
        """Keep the records that meet all conditions: ``bor_10>=4``, ``index=2026-11-01``.

        Numbers are compared as numbers, all else as text. A record without the named value, or
        with NA, does not meet the condition.

        Raises
        ------
        UsageError
            If a condition cannot be read, or no record has the value that it names.
        """
        kept = self.records
        for name, holds, wanted in map(self._condition, conditions):
            kept = [record for record in kept if _holds(holds, _field(record, name), wanted)]
        return History(kept)

    def _condition(self, text: str) -> tuple[str, Callable[[Any, Any], bool], str]:
        """Split a condition after the longest known name: names may contain ``=``."""
        signs = list(_COMPARISON.finditer(text))
        names = [text[: sign.start()] for sign in signs]
        if not any(names):
            raise UsageError(
                f"{option('where')} {text}: expected NAME, one of {' '.join(_COMPARISONS)}, "
                f"and a number or "
                "text"
            )
        known = [number for number, name in enumerate(names) if name in self._known()]
        number = known[-1] if known else 0
        self._refuse_unknown(f"{option('where')} {text}", names[number])
        sign = signs[number]
        return names[number], _COMPARISONS[sign[0]], text[sign.end() :]

    def sorted_by(self, name: str) -> History:
        """Sort the best first (texts from A to Z), records without the value last."""
        self._refuse_unknown(f"{option('sort')} {name}", name)
        metric = _metric_of(name)
        descending = metric is None or metric.measure.better != "lower"

        def key(record: Mapping[str, Any]) -> tuple[int, float, str]:
            value = _number(_field(record, name))
            if isinstance(value, str):
                return 1, 0.0, value
            if value is None:
                return 2, 0.0, ""
            return 0, -value if descending else value, ""

        return History(sorted(self.records, key=key))

    def table(self, layout: Layout) -> Table:
        """Lay out a row per record: the time, the run, the user's notes, its values."""
        metas = _union(record.get("meta", {}) for record in self.records)
        metrics = [_column(name) for name in _union(record["values"] for record in self.records)]
        signatures = _what_differs([str(record.get("signature", "")) for record in self.records])
        columns = [
            Column("time"),
            Column("run"),
            *map(Column, metas),
            *metrics,
            *([Column("signature")] if any(signatures) else []),
        ]
        rows = []
        for record, signature in zip(self.records, signatures, strict=True):
            notes = map(record.get("meta", {}).get, metas)
            rows.append(
                [
                    *map(Cell, (record.get("time"), record.get("name"), *notes)),
                    *(_cell(record["values"], column) for column in metrics),
                    *([Cell(signature)] if any(signatures) else []),
                ]
            )
        # Values of different settings are not better or worse than others.
        marked = rows if any(signatures) else with_best_marked(columns, rows)
        return Table(columns, marked)

    def document(self, layout: Layout) -> dict[str, Any]:
        """Return the records as one JSON object."""
        return {"ragkpi": __version__, "runs": list(self.records)}

    def lines(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Yield the records."""
        yield from map(dict, self.records)

    def _known(self) -> list[str]:
        metas = _union(record.get("meta", {}) for record in self.records)
        return [*_FIELDS, *metas, *_union(record["values"] for record in self.records)]

    def _refuse_unknown(self, option: str, name: str) -> None:
        known = self._known()
        if self.records and name not in known:
            raise UsageError(f"{option}: no record has '{name}'; there are {', '.join(known)}")


_FIELDS = {"run": "name", "run_id": "run_id", "time": "time", "signature": "signature"}


def _field(record: Mapping[str, Any], name: str) -> Any:
    """Return a value, a note of --meta, or a field of the run."""
    for values in (record["values"], record.get("meta", {})):
        if name in values:
            return values[name]
    return record.get(_FIELDS.get(name, ""))


def _number(value: Any, null: float | None = None) -> Any:
    """Read numbers, also from texts; return other texts unchanged, and NA as `null`."""
    if value is None:
        return null
    try:
        number = float(value)
    except ValueError:
        return value or None
    return null if math.isnan(number) else number


def _holds(comparison: Callable[[Any, Any], bool], value: Any, wanted: str) -> bool:
    number, limit = _number(value), _number(wanted)
    if number is None:
        return False
    if isinstance(number, float) and isinstance(limit, float):
        return comparison(number, limit)
    return comparison(str(value), wanted)


def _union(mappings: Any) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))


def _metric_of(name: str) -> Metric | None:
    """Find the metric of a printed name; None for an unknown measure."""
    try:
        return next((metric for metric in find_metrics([name]) if metric.name == name), None)
    except UsageError:
        return None


def _column(name: str) -> Column:
    metric = _metric_of(name)
    if metric is None:
        return Column(name, "significant")
    return Column(name, metric.measure.style, metric.measure.better)


def _cell(metrics: Mapping[str, Any], column: Column) -> Cell:
    """Return NA for null, and an empty cell for a metric that was not evaluated."""
    if column.name not in metrics:
        return Cell()
    value = metrics[column.name]
    return Cell(_number(value, math.nan) if column.numeric else value)


def _what_differs(signatures: list[str]) -> list[str]:
    """Reduce signatures to the fields that differ among them."""
    fields = [dict(part.partition(":")[::2] for part in text.split("|")) for text in signatures]
    varying = [
        name for name in _union(fields) if len({fields_.get(name) for fields_ in fields}) > 1
    ]
    return [
        "|".join(f"{name}:{parts[name]}" for name in varying if name in parts) for parts in fields
    ]
