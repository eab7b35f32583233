"""`Panel`: what several judges said about the same documents, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.interface import option
from ragkpi.ranking.judged import BoolArray
from ragkpi.ranking.judgements import Judgements
from ragkpi.records import dataclass, replace
from ragkpi.wording import listed, visible

UNJUDGED = -1


@dataclass(frozen=True, eq=False)
class Panel:
    """Every document that at least one of J judges gave a level, n of them.

    Attributes
    ----------
    names
        What the judges are called; the first is the reference.
    queries : list of bytes, length Q
        All that were judged, in byte order.
    query, document : length n
        The number of each document's query, and its id; ordered by query.
    given : (n, J)
        The level that each judge gave it; `UNJUDGED` for none.
    """

    names: Sequence[str]
    queries: list[bytes]
    query: IntArray
    document: Tokens
    given: IntArray

    def both(self, first: int, second: int) -> BoolArray:
        """Say which documents two judges both judged, (n,)."""
        return np.asarray((self.given[:, [first, second]] >= 0).all(axis=1))

    def alone(self, judge: int, other: int) -> BoolArray:
        """Say which documents a judge judged and the other did not, (n,)."""
        return np.asarray((self.given[:, judge] >= 0) & (self.given[:, other] < 0))

    def levels(self, *judges: int) -> IntArray:
        """Return the levels that some judges give, ascending."""
        given = self.given[:, judges] if judges else self.given
        return np.unique(given[given >= 0])


def panel(names: Sequence[str], judges: Sequence[Judgements]) -> Panel:
    """Bring the judgements of several judges together; negative levels are no judgements.

    Raises
    ------
    NothingInCommonError
        If no document was judged by the first judge and another one.
    UsageError
        If a judge gave gains and no levels.
    """
    for judge in judges:
        judge.refuse_gains("judges are compared by whole levels")
    queries = sorted(set().union(*(judge.queries for judge in judges)))
    number = {query: row for row, query in enumerate(queries)}
    rows: list[IntArray] = []  # of every judge's judgements the row in the panel
    query: list[IntArray] = []
    documents: list[Tokens] = []
    count = 0
    for before, judge in enumerate(judges):
        row = np.full(len(judge.level), -1, dtype=np.int64)
        for other, known in zip(judges[:before], rows, strict=True):
            mine, theirs = _found(other, judge)
            row[mine] = known[theirs]
        new = np.flatnonzero((row < 0) & (judge.level >= 0))
        row[new] = count + np.arange(len(new))
        of_judge = np.array([number[name] for name in judge.queries], dtype=np.int64)
        query.append(of_judge[judge.query[new]])
        documents.append(judge.document.take(new))
        rows.append(row)
        count += len(new)
    given = np.full((count, len(judges)), UNJUDGED, dtype=np.int64)
    for column, (judge, row) in enumerate(zip(judges, rows, strict=True)):
        valid = judge.level >= 0
        given[row[valid], column] = judge.level[valid]
    all_queries = np.concatenate(query)
    order = np.argsort(all_queries, kind="stable")
    panel = Panel(
        names, queries, all_queries[order], Tokens.joined(documents).take(order), given[order]
    )
    for column in range(1, len(judges)):
        if not panel.both(0, column).any():
            raise NothingInCommonError(
                f"{names[0]} and {names[column]} judged no document for the same query "
                f"({names[0]}: {listed(judges[0].queries, 3)}; "
                f"{names[column]}: {listed(judges[column].queries, 3)})"
            )
    return panel


def _found(among: Judgements, judge: Judgements) -> tuple[IntArray, IntArray]:
    """Return which rows of a judge are judged by another one too, and in which rows of theirs."""
    numbers = np.array([among.index.get(query, -1) for query in judge.queries], dtype=np.int64)
    return among.find(numbers, judge.starts, judge.document)


def difference_lines(panel: Panel) -> Iterator[bytes]:
    """Yield a line for every document that not all judges gave the same level.

    Tab-separated: query, document, and the level of each judge, nothing where there is none; the
    first line names the columns.
    """
    yield b"\t".join([b"query", b"document", *(_field(name) for name in panel.names)]) + b"\n"
    differing = np.flatnonzero((panel.given != panel.given[:, :1]).any(axis=1))
    for row in differing.tolist():
        levels = [b"" if level < 0 else b"%d" % level for level in panel.given[row].tolist()]
        yield b"\t".join([panel.queries[panel.query[row]], panel.document[row], *levels]) + b"\n"


def _field(name: str) -> bytes:
    return visible(name).encode("utf-8", "backslashreplace")


def scales_differ(panel: Panel) -> str:
    """Say which two judges may not be on one scale: one goes beyond the other's levels."""
    ends = []
    for judge, name in enumerate(panel.names):
        levels = panel.levels(judge)
        ends.append((int(levels[0]), int(levels[-1]), name))
    low, high, reference = ends[0]
    for other_low, other_high, name in ends[1:]:
        if (other_low, other_high) != (low, high):
            return (
                f"{reference} gives levels {low} to {high}, {name} {other_low} to {other_high}; if "
                f"these are different scales, give {option('map_levels')} or {option('map_other')}"
            )
    return ""


def shared_queries(judges: Sequence[Judgements]) -> list[Judgements]:
    """Reduce judgements to the queries that all judges have, for values that can be compared."""
    shared = set(judges[0].queries).intersection(*(judge.queries for judge in judges[1:]))
    return [_of_queries(judge, shared) for judge in judges]


def _of_queries(judge: Judgements, wanted: set[bytes]) -> Judgements:
    if len(wanted) == len(judge.queries):
        return judge
    kept = np.array([query in wanted for query in judge.queries], dtype=bool)
    rows = kept[judge.query]
    queries = [query for query in judge.queries if query in wanted]
    counts = np.diff(judge.starts)[kept]
    return replace(
        judge,
        queries=queries,
        starts=np.concatenate([[0], np.cumsum(counts)]),
        document=judge.document.take(rows),
        level=judge.level[rows],
        index={query: row for row, query in enumerate(queries)},
    )


def mapped(judge: Judgements, levels: Mapping[int, int], option: str) -> Judgements:
    """Put a judge's levels on another scale; an empty map leaves them.

    Raises
    ------
    UsageError
        If the map lacks a level; negative ones, unjudged, it may lack.
    """
    if not levels:
        return judge
    present = np.unique(judge.level).tolist()
    unknown = [level for level in present if level >= 0 and level not in levels]
    if unknown:
        raise UsageError(
            f"{option}: {judge.file} has level {unknown[0]}, which the map lacks; expected every "
            f"level of it ({', '.join(str(level) for level in present if level >= 0)})"
        )
    table = np.array([levels.get(level, level) for level in present], dtype=np.int64)
    return replace(judge, level=table[np.searchsorted(present, judge.level)])


def parse_level_map(text: str, option: str) -> Mapping[int, int]:
    """Read a list such as ``0=0,1=0,2=1,3=2``: judged level = level on the common scale."""
    becomes_of: dict[int, int] = {}
    for item in text.split(","):
        level, _, becomes = item.partition("=")
        if not (level.removeprefix("-").isdecimal() and becomes.isdecimal()):
            raise UsageError(
                f"{option} {text}: '{item}' is not LEVEL=LEVEL; expected a list such as "
                "0=0,1=0,2=1,3=2"
            )
        if int(level) in becomes_of:
            raise UsageError(f"{option} {text}: level {level} is given twice")
        becomes_of[int(level)] = int(becomes)
    return becomes_of
