"""`Panel`: the levels that several judges gave the same documents, a column per judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.formats.tokens import IntArray, Tokens
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
        The names of the judges; the first is the reference.
    queries : list of bytes, length Q
        All judged queries, in byte order.
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
        """Return which documents two judges both judged, (n,)."""
        return np.asarray((self.given[:, [first, second]] >= 0).all(axis=1))

    def alone(self, judge: int, other: int) -> BoolArray:
        """Return which documents a judge judged and the other did not, (n,)."""
        return np.asarray((self.given[:, judge] >= 0) & (self.given[:, other] < 0))

    def levels(self, *judges: int) -> IntArray:
        """Return the levels that some judges give, ascending."""
        given = self.given[:, judges] if judges else self.given
        return np.unique(given[given >= 0])


def panel(names: Sequence[str], judges: Sequence[Judgements]) -> Panel:
    """Join the judgements of several judges by document; negative levels are no judgements.

    Raises
    ------
    NothingInCommonError
        If another judge judged no document that the first one judged.
    InputError
        If a judge gave gains and no levels.
    """
    for judge in judges:
        judge.refuse_gains("judges are compared by whole levels")
    queries = sorted(set().union(*(judge.queries for judge in judges)))
    number = {query: row for row, query in enumerate(queries)}
    rows: list[IntArray] = []  # for each judge the panel's row of every judgement; -1: none
    query: list[IntArray] = []
    documents: list[Tokens] = []
    count = 0
    for judge in judges:
        row = np.full(len(judge.level), -1, dtype=np.int64)
        for other, rows_of_other in zip(judges, rows, strict=False):  # those before this one
            numbers = [other.index.get(name, -1) for name in judge.queries]
            mine, theirs = other.find(np.array(numbers, np.int64), judge.starts, judge.document)
            row[mine] = rows_of_other[theirs]
        new = np.flatnonzero((row < 0) & (judge.level >= 0))
        row[new] = count + np.arange(len(new))
        count += len(new)
        rows.append(row)
        numbers = [number[name] for name in judge.queries]
        query.append(np.array(numbers, np.int64)[judge.query[new]])
        documents.append(judge.document.take(new))
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


def difference_lines(panel: Panel) -> Iterator[bytes]:
    """Yield a line for every document to which the judges did not all give the same level.

    Tab-separated: query, document, and the level of each judge, empty where there is none; the
    first line names the columns.
    """
    names = [visible(name).encode("utf-8", "backslashreplace") for name in panel.names]
    yield b"\t".join([b"query", b"document", *names]) + b"\n"
    differing = np.flatnonzero((panel.given != panel.given[:, :1]).any(axis=1))
    for row in differing.tolist():
        levels = [b"" if level < 0 else b"%d" % level for level in panel.given[row].tolist()]
        yield b"\t".join([panel.queries[panel.query[row]], panel.document[row], *levels]) + b"\n"


def scales_differ(panel: Panel) -> str:
    """Warn that a judge may use another scale than the reference; empty if none does."""
    ends = []
    for judge in range(len(panel.names)):
        levels = panel.levels(judge)
        ends.append(f"{levels[0]} to {levels[-1]}")
    for end, name in zip(ends, panel.names, strict=True):
        if end != ends[0]:
            return (
                f"{panel.names[0]} gives levels {ends[0]}, {name} {end}; if "
                "these are different scales, give --map-levels or --map-other"
            )
    return ""


def shared_queries(judges: Sequence[Judgements]) -> list[Judgements]:
    """Reduce judgements to the queries that all judges have, so that values can be compared.

    Raises
    ------
    NothingInCommonError
        If there is no such query.
    """
    shared = sorted(set(judges[0].queries).intersection(*(judge.queries for judge in judges[1:])))
    if not shared:
        raise NothingInCommonError("no query was judged by all judges; runs cannot be compared")
    return [judge.of_queries([judge.index[query] for query in shared]) for judge in judges]


def mapped(judge: Judgements, levels: Mapping[int, int], option: str) -> Judgements:
    """Map a judge's levels to another scale; an empty map changes nothing.

    Raises
    ------
    UsageError
        If the map lacks a level; it may lack negative ones, which are unjudged.
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
    mapping: dict[int, int] = {}
    for item in text.split(","):
        level, _, becomes = item.partition("=")
        if not (level.removeprefix("-").isdecimal() and becomes.isdecimal()):
            raise UsageError(
                f"{option} {text}: '{item}' is not LEVEL=LEVEL; expected a list such as "
                "0=0,1=0,2=1,3=2"
            )
        if int(level) in mapping:
            raise UsageError(f"{option} {text}: level {level} is given twice")
        mapping[int(level)] = int(becomes)
    return mapping
