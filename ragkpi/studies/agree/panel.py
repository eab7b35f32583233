"""`Panel`: the levels that several judges gave the same documents, a column per judge."""

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
    query = np.concatenate(
        [
            np.array([number[name] for name in judge.queries], dtype=np.int64)[judge.query]
            for judge in judges
        ]
    )
    level = np.concatenate([judge.level for judge in judges])
    column = np.repeat(np.arange(len(judges)), [len(judge.level) for judge in judges])
    valid = np.flatnonzero(level >= 0)
    documents = Tokens.joined([judge.document for judge in judges]).take(valid)
    query = query[valid]
    first, row = np.unique(documents.first_rows(query), return_inverse=True)
    given = np.full((len(first), len(judges)), UNJUDGED, dtype=np.int64)
    given[row, column[valid]] = level[valid]
    order = np.argsort(query[first], kind="stable")
    first = first[order]
    panel = Panel(names, queries, query[first], documents.take(first), given[order])
    for other in range(1, len(judges)):
        if not panel.both(0, other).any():
            raise NothingInCommonError(
                f"{names[0]} and {names[other]} judged no document for the same query "
                f"({names[0]}: {listed(judges[0].queries, 3)}; "
                f"{names[other]}: {listed(judges[other].queries, 3)})"
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
                f"these are different scales, give {option('map_levels')} or {option('map_other')}"
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
    return [
        judge.of_queries(np.array([judge.index[query] for query in shared])) for judge in judges
    ]


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
