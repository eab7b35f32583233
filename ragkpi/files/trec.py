"""Runs and qrels as columns, and the readers of TREC and other whitespace-separated files.

A TREC run has lines ``query Q0 document rank score run_id``; trec_eval ignores its ranks.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from shlex import quote
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import (
    InputError,
    MapChoice,
    RagkpiNote,
    RagkpiWarning,
    SeparateRankingsError,
    UnsettledError,
)
from ragkpi.files.column_names import (
    LEVEL,
    ORDER,
    ScoreKind,
    is_score,
    meaning,
    plain_name,
    shown_names,
)
from ragkpi.files.lines import (
    Block,
    LineColumns,
    LineShape,
    Tokens,
    blocks,
    scan,
    spans,
    table_of,
)
from ragkpi.files.opening import Source
from ragkpi.interface import spell
from ragkpi.wording import counted, decoded, listed, named, shown, visible

RUN_LINE = LineShape(
    ("query", "Q0", "document", "rank", "score", "run_id"),
    extra="ignored",
    comments="first_word",
    mistaken={
        3: " (--run-format msmarco reads query, document and rank)",
        4: " (qrels have 4; they come first)",
    },
    maps=(
        "map_run",
        {
            3: ("query=1, doc=2, score=3",),
            4: ("query=1, doc=2, score=4",),
            6: ("query=1, doc=3, score=5",),
        },
    ),
)
_MOST_OTHERS = 5  # in a message
NONE: Mapping[Any, Any] = {}
_HEAD = 1 << 12  # bytes; enough for the first line, or for its first ten documents


class NumberError(InputError):
    """A score or a level is not a number, or out of range."""


class Origin(NamedTuple):
    """The location of documents and their numbers in a file without fixed columns."""

    documents: str = ""  # the path to a list of documents, or their column
    # As a user maps it: score=…, distance=…, scores=…, rank=…, level=… or `ORDER`.
    map: str = "score=score"


def part_of(map_: str) -> str:
    """Return the meaning of numbers in a map, such as ``rank``."""
    return map_.rpartition("=")[0].split()[-1]


def path_of(map_: str) -> str:
    """Return the path to the numbers of a map, or their meaning in a file without names."""
    path = map_.rpartition("=")[2]
    return part_of(map_) if path.isdigit() else path


LEVELS = Origin("", "level=level")


class RunLayout(NamedTuple):
    """The names of a run's columns.

    Ranks become negative scores; without numbers, the order of rows counts. Without a run id, the
    run is named after its file.
    """

    query: str
    document: str
    number: str | None
    run_id: str | None = None
    origin: Origin = Origin()
    others: Mapping[str, str] = NONE  # by the map that would read them


TREC = RunLayout("query", "document", "score", "run_id")


MSMARCO = RunLayout("query", "document", "rank", origin=Origin(map="query=1, doc=2, rank=3"))


class Ranking(NamedTuple):
    """The documents of one query, best first, with their scores."""

    query: bytes
    documents: list[bytes]
    scores: list[float]


class RunColumns(NamedTuple):
    """Lines of a run as columns of n rows, in file order, grouped by query."""

    file: str  # the name of the run in messages
    query: Tokens  # (G,), the id of each group of neighbouring lines with one query
    starts: IntArray  # (G+1,), group g is the rows starts[g]:starts[g + 1]
    document: Tokens
    score: FloatArray
    line: IntArray  # physical line numbers
    run_id: bytes  # of the last row
    by_rank: BoolArray  # which scores are negative ranks
    origin: Origin = Origin()
    # Numbers of the documents that are not read, by the map that would read them; NaN for none.
    others: Mapping[str, FloatArray] = NONE

    @classmethod
    def of_rankings(
        cls, query: Tokens, starts: IntArray, document: Tokens, score: FloatArray, run_id: bytes
    ) -> RunColumns:
        """Return rankings, best first, for writing."""
        row = np.arange(len(score))
        return cls("", query, starts, document, score, row + 1, run_id, row < 0)

    def group(self) -> IntArray:
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))

    def query_of_rows(self) -> Tokens:
        return self.query.take(self.group())

    def ranks(self) -> IntArray:
        """Return the position of each row among the rows of its query, from 1."""
        return np.arange(1, len(self.score) + 1) - self.starts[self.group()]

    def each(self) -> Iterator[Ranking]:
        documents, scores = self.document.tolist(), self.score.tolist()
        for query, (start, end) in zip(self.query, pairwise(self.starts.tolist()), strict=True):
            yield Ranking(query, documents[start:end], scores[start:end])

    def pieces(self, most: int = 1 << 16) -> Iterator[RunColumns]:
        """Yield pieces of at most `most` rows, or of one query with more."""
        return (self.groups(*bounds) for bounds in spans(self.starts, most))

    def kept(self, rows: IntArray) -> RunColumns:
        """Keep some rows, in ascending order; a query that loses all rows stays, empty."""
        return self.with_rows(rows, np.searchsorted(rows, self.starts))

    @classmethod
    def joined(cls, parts: list[RunColumns]) -> RunColumns:
        """Join neighbouring blocks; a query can continue from one to the next."""
        if len(parts) == 1:
            return parts[0]
        query = Tokens.joined([part.query for part in parts])
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        first = query.changes()
        no_number = [np.full(len(part.line), np.nan) for part in parts]
        others = {
            map_: np.concatenate(
                [part.others.get(map_, none) for part, none in zip(parts, no_number, strict=True)]
            )
            for map_ in {map_: None for part in parts for map_ in part.others}
        }
        return cls(
            parts[0].file,
            query.take(first[:-1]),
            np.append(0, np.cumsum(sizes))[first],
            Tokens.joined([part.document for part in parts]),
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.line for part in parts]),
            parts[-1].run_id,
            np.concatenate([part.by_rank for part in parts]),
            parts[0].origin,
            others,
        )

    @property
    def for_kernel(self) -> tuple[Any, ...]:
        """Return the arguments of `kernel.Run.add`."""
        return self.query.column, self.starts, self.document.column, self.score, self.line

    def groups(self, first: int, last: int) -> RunColumns:
        rows = slice(int(self.starts[first]), int(self.starts[last]))
        starts = self.starts[first : last + 1] - rows.start
        return self.with_rows(rows, starts)._replace(query=self.query.take(slice(first, last)))

    def with_rows(self, rows: slice | IntArray, starts: IntArray) -> RunColumns:
        """Keep some rows, with groups starting at `starts`."""
        return self._replace(
            starts=starts,
            document=self.document.take(rows),
            score=self.score[rows],
            line=self.line[rows],
            by_rank=self.by_rank[rows],
            others={map_: number[rows] for map_, number in self.others.items()},
        )


def refuse_carriage_returns(source: Source) -> None:
    """Refuse lines that end in a bare carriage return: trec_eval would read one document."""
    line = source.peek(_HEAD).split(b"\n", 1)[0]
    words = line.split(None, 12)
    if b"\r" in line.rstrip() and len(words) >= 2 * len(RUN_LINE.columns) and words[0][:1] != b"#":
        fault = "a carriage return inside a line"
        raise InputError(source.name, 1, fault, "expected lines that end with a newline")


def stream_run(source: Source) -> Iterator[RunColumns]:
    """Read a TREC run in blocks; a query can continue from one to the next."""
    refuse_carriage_returns(source)
    for block in blocks(source):
        if len(lines := scan(block, RUN_LINE)):
            parse_scores(block.file, lines.column(4), lines.line)
            if len(rows := rows_with_space(lines)):
                text = lines.text[lines.start[rows[0], 0] : lines.stop[rows[0]]].tobytes()
                raise id_with_space(block.file, int(lines.line[rows[0]]), text)
            yield _run_of_lines(block.file, lines, RUN_LINE, TREC)


def rows_with_space(lines: LineColumns) -> IntArray:
    """Return the rows of a run with more than six words and a non-numeric rank."""
    longer = np.flatnonzero(lines.stop > lines.end[:, -1])
    rank = Tokens(lines.text, lines.start[longer, 3], lines.end[longer, 3])
    odd = longer[np.isnan(rank.numbers())]
    rests = Tokens(lines.text, lines.end[odd, -1], lines.stop[odd])
    more: IntArray = odd[np.array([bool(rest.strip()) for rest in rests], bool)]
    return more


def id_with_space(file: str, line: int, text: bytes) -> InputError:
    """Return the error for a line of a run whose document has several words."""
    words = text.split()
    fault = f"{len(words)} columns ({shown(text)}), and rank {shown(words[3])} is no number"
    expected = "expected 6: TREC's ids have no spaces"
    if text.count(b"\t") == len(RUN_LINE.columns) - 1:
        map_ = MapChoice("query=1, doc=3, score=5", "columns between tabs")
        return UnsettledError(file, fault, expected, "map_run", [map_], line)
    advice = "write CSV or JSON, or another character in their place"
    return InputError(file, line, fault, f"{expected}; {advice}")


def stream_msmarco(source: Source, shape: object = None) -> Iterator[RunColumns]:
    """Read lines of query, document and rank, without a shape; errors as in `stream_run`."""
    return columns_of_blocks(blocks(source), LineShape(("query", "document", "rank")), MSMARCO)


def columns_of_blocks(
    texts: Iterable[Block], line: LineShape, layout: RunLayout
) -> Iterator[RunColumns]:
    """Turn blocks of lines into columns, like `stream_run`."""
    for block in texts:
        if len(lines := scan(block, line)):
            yield _run_of_lines(block.file, lines, line, layout)


def _run_of_lines(file: str, lines: LineColumns, line: LineShape, layout: RunLayout) -> RunColumns:
    columns = {name: lines.column(place) for place, name in enumerate(line.columns)}
    return run_of_columns(file, columns, columns, lines.line, layout)


class NumberColumn(Protocol):
    """Numbers of rows, NaN for other texts, and the text of each."""

    def __len__(self) -> int: ...
    def numbers(self) -> FloatArray: ...
    def __getitem__(self, row: int, /) -> bytes: ...


def run_of_columns(
    file: str,
    texts: Mapping[str, Tokens],
    numbers: Mapping[str, NumberColumn],
    line: IntArray,
    layout: RunLayout,
) -> RunColumns:
    """Read columns of at least one row; without numbers, the order of rows counts."""
    run_id, map_ = run_id_of(file), layout.origin.map
    by_rank = layout.number is not None and part_of(map_) == "rank"
    number = -line.astype(np.float64)
    if layout.number is not None and by_rank:
        number = -parse_ranks(file, numbers[layout.number], line)
    elif layout.number is not None:
        number = parse_scores(file, numbers[layout.number], line)
    if layout.run_id is not None:
        run_id = texts[layout.run_id][len(line) - 1]
    others = {of: numbers[name].numbers() for of, name in layout.others.items()}
    starts = texts[layout.query].changes()
    query, document = texts[layout.query].take(starts[:-1]), texts[layout.document]
    ranks = np.full(len(line), by_rank)
    return RunColumns(
        file, query, starts, document, number, line, run_id, ranks, layout.origin, others
    )


def refuse_systems(
    file: str,
    ids: tuple[Tokens, Tokens],
    run_ids: Tokens,
    line: IntArray,
    name: str,
    place: int | None,
) -> None:
    """Raise `InputError` if a column separates runs that retrieve the same documents.

    `name` is that of the column, `place` its number from 1 in lines.
    """
    of_run = run_ids.first_rows()
    if not of_run.any():
        return
    first = ids[1].first_rows(ids[0].first_rows())
    for row in np.flatnonzero(of_run != of_run[first])[:1].tolist():
        systems = run_ids.take(np.unique(of_run)).tolist()
        fault = f"{shown_names([name])} tells {len(systems)} runs apart ({listed(systems)})"
        expected = "expected the rows of one"
        if place is not None:
            rows = quote(f'NR == 1 || ${place} == "{visible(decoded(systems[0]))}"')
            separator = "\\t" if file.endswith((".tsv", ".txt")) else ","
            expected += f": awk -F'{separator}' {rows} {quote(visible(file))} > run.csv"
        raise InputError(file, int(line[row]), fault, expected)


def whole_queries(parts: Iterable[RunColumns], *, held: bool = False) -> Iterator[RunColumns]:
    """Regroup blocks so that no query continues from one to the next.

    If the lines of a query are scattered, the whole run must be `held`.
    """
    if held and (all_parts := list(parts)):
        parts = [regrouped(RunColumns.joined(all_parts))]
    open_: list[RunColumns] = []
    for part in parts:
        count = len(part.query)
        if open_ and (count > 1 or part.query[0] != open_[-1].query[-1]):
            same = int(part.query[0] == open_[-1].query[-1])
            yield RunColumns.joined([*open_, part.groups(0, same)] if same else open_)
            part, open_ = part.groups(same, count), []
            count -= same
        if count > 1:
            yield part.groups(0, count - 1)
            part = part.groups(count - 1, count)
        if count:
            open_.append(part)
    if open_:
        yield RunColumns.joined(open_)


def regrouped(run: RunColumns) -> RunColumns:
    """Bring the rows of each query together, queries in order of first appearance."""
    first, number = np.unique(run.query.first_rows(), return_inverse=True)
    of_rows = np.repeat(number, np.diff(run.starts))
    order = np.argsort(of_rows, kind="stable")
    starts = np.searchsorted(of_rows[order], np.arange(len(first) + 1))
    return run.with_rows(order, starts)._replace(query=run.query.take(first))


def refuse_empty(file: str, ids: Tokens, line: IntArray, what: str) -> None:
    """Raise `InputError` for an empty id."""
    empty = np.flatnonzero(ids.start == ids.end)
    if len(empty):
        expected = "an id in each row, also of merged cells" if what == "query id" else "an id"
        raise InputError(file, int(line[empty[0]]), f"an empty {what}", f"expected {expected}")


def run_id_of(file: str) -> bytes:
    """Return the file's name, without suffixes and whitespace, for a run without a run id."""
    name = os.path.basename(file).split(".")[0]
    return b"_".join(os.fsencode(name).split()) if name.strip(" -") else b"run"


def no_results(file: str) -> InputError:
    """Return the error for a run without a single line."""
    return InputError(file, None, "contains no results", "expected at least one document")


_DIGITS = 16  # of 2 ** 53


def parse_ranks(file: str, text: NumberColumn, line: IntArray) -> FloatArray:
    """Read ranks, whole numbers from 0; programs write a column with gaps as 1.0, 2.0."""
    rank = text.numbers()
    with np.errstate(invalid="ignore"):
        whole = (rank >= 0) & (rank == np.floor(rank)) & (rank < 2.0**53)
    for row in np.flatnonzero(~whole)[:1].tolist():
        expected = f"expected a whole number from 1, or {spell('map_run')} 'score=…'"
        raise NumberError(file, int(line[row]), f"rank {shown(text[row])}", expected)
    return rank


DECIMAL = "expected a decimal number, such as 0.91"


def parse_scores(file: str, text: NumberColumn, line: IntArray) -> FloatArray:
    """Read scores, (n,); `InputError` with the line for a non-number."""
    score = text.numbers()
    wrong = np.flatnonzero(np.isnan(score))
    if len(wrong):
        row = int(wrong[0])
        raise NumberError(file, int(line[row]), f"score {shown(text[row])}", DECIMAL)
    return score


def descending(file: str, line: int, rank: bytes) -> bytes:
    """Return, as text, a score that falls as the rank rises; errors as in `parse_ranks`."""
    rank = rank.strip()
    if rank.isdigit() and len(rank) < _DIGITS:  # nearly always
        return b"-" + rank
    return b"-%d" % parse_ranks(file, Tokens.from_strings([rank]), np.array([line]))[0]


def refuse_ranked_twice(columns: RunColumns) -> None:
    """Raise `SeparateRankingsError` if one of some whole queries is ranked twice."""
    group, score = columns.group(), columns.score
    rises = (group[1:] == group[:-1]) & (score[1:] >= score[:-1])
    if not columns.by_rank.any() or (columns.by_rank.all() and not rises.any()):  # nearly always
        return
    order = np.lexsort((columns.line, score, group))
    again = (group[order[1:]] == group[order[:-1]]) & (score[order[1:]] == score[order[:-1]])
    again &= columns.by_rank[order[1:]] & columns.by_rank[order[:-1]]
    rows, first = order[1:][again], order[:-1][again]
    what = "rank {rank:.0f} of query {query}"
    if not len(rows):
        of_group = columns.starts[:-1][group]
        rows = np.flatnonzero(columns.by_rank != columns.by_rank[of_group])
        first, what = of_group[rows], "query {query} with and without scores"
    if not len(rows):
        return
    earliest = int(np.lexsort((rows, columns.line[rows]))[0])
    row, line = int(rows[earliest]), int(columns.line[first[earliest]])
    text = what.format(rank=abs(score[row]), query=named(columns.query[int(group[row])]))
    raise SeparateRankingsError(
        columns.file,
        int(columns.line[row]),
        f"{text} again, first at line {line}",
        "expected one ranking of each query",
    )


def best_first(blocks: Iterable[RunColumns], scores: ScoreKind) -> Iterator[RunColumns]:
    """Negate distances, as declared by the user, a map or a column name."""
    for block in blocks:
        part, path = part_of(block.origin.map), path_of(block.origin.map)
        by_name = scores == "distance" or meaning(path) == "distance"
        negated = part == "distance" or (part in ("score", "scores") and by_name)
        yield block._replace(score=-block.score) if negated else block


def ranked(blocks: Iterable[RunColumns]) -> Iterator[RunColumns]:
    """Check whole queries: each is ranked once, and unread numbers agree with the order.

    Raises `UnsettledError` if they disagree, and only warns of whole numbers of unknown meaning,
    levels and positions.
    """
    warned = False
    for block in blocks:
        refuse_ranked_twice(block)
        rises = {map_: _first_ascent(block, map_, of) for map_, of in block.others.items()}
        against = {map_: row for map_, row in rises.items() if row is not None}
        refused = [map_ for map_ in against if _must_agree(path_of(map_), block.others[map_])]
        if refused or (against and not warned):
            maps = [block.origin.map, *(refused or against)][: _MOST_OTHERS + 1]
            names = [
                "the order of the file" if map_ == ORDER else shown_names([path_of(map_)])[1:-1]
                for map_ in maps
            ]
            row = against[maps[1]]
            line, query = int(block.line[row]), named(block.query[int(block.group()[row])])
            fault = f"{', '.join(names[:-1])} and {names[-1]} order query {query} differently"
            if refused:
                choices = _choices(maps)
                expected = " or ".join(spell("map_run", one.map) for one in choices)
                raise UnsettledError(
                    block.file, fault, f"expected one of {expected}", "map_run", choices, line
                )
            warned = True
            text = f"{block.file}:{line}: {fault}; {names[0]} counts"
            warnings.warn(text, RagkpiWarning, stacklevel=2)
        yield block


def _must_agree(name: str, number: FloatArray) -> bool:
    """Whether numbers must agree with the order: fractions, scores and ranks, but no levels."""
    words = {*plain_name(name).split("_")}
    is_fractional = np.isfinite(number) & (number != np.floor(number))
    by_name = is_score(name) and words.isdisjoint(LEVEL)
    return by_name or words == {"rank"} or bool(is_fractional.any())


def _first_ascent(block: RunColumns, map_: str, number: FloatArray) -> int | None:
    """Return a row whose number is better than that of a better row of its query, or None."""
    rows = np.flatnonzero(~np.isnan(number))
    better = number[rows] * (-1 if meaning(path_of(map_)) in ("distance", "rank") else 1)
    group, score = block.group()[rows], block.score[rows]
    order = np.lexsort((-better, -score, group))
    rises = (better[order[1:]] > better[order[:-1]]) & (group[order[1:]] == group[order[:-1]])
    return int(rows[order[1:][rises][0]]) if rises.any() else None


def _choices(maps: Sequence[str]) -> list[MapChoice]:
    """Return a map for each number that may be the one that counts."""
    choices = []
    for map_ in maps:
        path, what = path_of(map_), meaning(path_of(map_))
        is_small = {what, part_of(map_)} & {"distance", "rank"}
        choice = f"{path}: {'small' if is_small else 'large'} is better"
        choices.append(MapChoice(map_, "" if map_ == ORDER else choice))
        if what == "unknown" and map_ not in (ORDER, maps[0]):
            choices.append(MapChoice(f"distance={path}", f"{path}: small is better"))
    return choices


QRELS_LINE = LineShape(
    ("query", "iteration", "document", "level"),
    mistaken={
        3: " (awk '{print $1, 0, $2, $3}' puts an iteration between query and document)",
        6: " (a run has 6; the qrels come first)",
    },
    maps=(
        "map_qrels",
        {3: ("query=1, doc=2, level=3", "query=1, doc=3"), 4: ("query=1, doc=3, level=4",)},
    ),
)


_EXACT = 2.0**53  # doubles hold smaller whole numbers exactly
_INTEGER = re.compile(rb"([+-]?)0*([0-9]{1,19})")
_WHOLE = "expected a whole number such as 0, 1, 2 or -1"

_TRUTHS = {
    **dict.fromkeys((b"true", b"yes", b"relevant", b"accept"), 1),
    **dict.fromkeys((b"false", b"no", b"irrelevant", b"reject"), 0),
    **dict.fromkeys((b"not relevant", b"non relevant", b"nonrelevant"), 0),
}
# Spellings of a missing number.
MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "<na>", "-"))
_MOST_WORDS = 12  # of a scale
_LEVEL_NAMES: ContextVar[Mapping[bytes, int]] = ContextVar("levels", default=NONE)


@contextmanager
def named_levels(levels: Mapping[bytes, int]) -> Iterator[None]:
    """Read qrels in which words and letters stand for levels."""
    token = _LEVEL_NAMES.set(levels)
    try:
        yield
    finally:
        _LEVEL_NAMES.reset(token)


Numbers = Literal["levels", "gains"]
"""Whether judgements must be whole numbers or may be real numbers."""


class QrelsColumns(NamedTuple):
    """Judgements as columns of n rows, in file order.

    If any number is fractional, `gain` holds all numbers, and `level` is 0 for a judged and -1 for
    an unjudged document.
    """

    file: str
    query: Tokens
    iteration: Tokens  # the assessor (judgment group) in formats with several
    document: Tokens
    level: IntArray  # negative: in the pool but unjudged
    line: IntArray
    gain: FloatArray | None = None
    origin: Origin = LEVELS
    empty: Sequence[bytes] = ()  # queries whose list of judgements is empty

    def read_as(self, numbers: Numbers) -> QrelsColumns:
        """Return these qrels; `InputError` for a fractional number if levels are expected."""
        if numbers == "levels" and self.gain is not None:
            row, advice = self.fractional_row, f"{spell('gains')} reads others"
            raise fractional(self.file, int(self.line[row]), self.gain[row], advice)
        return self

    @property
    def fractional_row(self) -> int:
        assert self.gain is not None
        return int(np.flatnonzero(self.gain != np.floor(self.gain))[0])

    def judgements(self) -> Iterator[tuple[bytes, bytes, int]]:
        return zip(self.query, self.document, self.level.tolist(), strict=True)


def fractional(file: str, line: int, level: float, advice: str) -> InputError:
    """Return the error for a fractional level where levels must be whole."""
    return NumberError(file, line, f"level '{float(level)!r}'", f"{_WHOLE}; {advice}")


def read_qrels(path: str) -> QrelsColumns:
    """Read a qrels file; errors as in `qrels_of`."""
    with Source(path) as source:
        return qrels_of(source)


def qrels_of(source: Source, numbers: Numbers = "levels") -> QrelsColumns:
    """Read the rest of a source as TREC qrels; `InputError` with the line for anything else."""
    table = table_of(source, QRELS_LINE)
    query, iteration, document, level_text = map(table.column, range(4))
    level, gain = parse_numbers(source.name, level_text, table.line, numbers=numbers)
    return QrelsColumns(source.name, query, iteration, document, level, table.line, gain)


def parse_numbers(
    file: str,
    text: NumberColumn,
    line: IntArray,
    truth: bool = False,
    numbers: Numbers = "gains",
) -> tuple[IntArray, FloatArray | None]:
    """Read judged levels, (n,), and gains if any is fractional, as in `QrelsColumns`.

    ``2.0`` is 2. With `truth`, true, yes and relevant, in any case, are 1, false, no and irrelevant
    are 0, and an empty text, NaN, null and n/a are unjudged, level -1, with a note.
    """
    value, names = text.numbers(), _LEVEL_NAMES.get()
    with np.errstate(invalid="ignore"):
        readable = np.abs(value) < _EXACT
    whole = readable & (value == np.floor(value))
    level = np.where(whole, value, 0).astype(np.int64)
    unrated: list[int] = []
    plain = whole if numbers == "levels" else readable
    for row in range(len(text)) if names else np.flatnonzero(~plain).tolist():
        word = text[row].strip()
        of_word = names.get(word)
        if of_word is None and truth:
            of_word = _TRUTHS.get(re.sub(rb"[-_]", b" ", word.lower()))
            if of_word is None and decoded(word).lower() in MISSING:
                of_word = -1
                unrated.append(row)
        if of_word is not None:
            level[row] = value[row] = of_word
            whole[row] = True
        elif readable[row] and not plain[row]:
            raise fractional(file, int(line[row]), value[row], f"{spell('gains')} reads others")
        elif not plain[row]:
            integer = _INTEGER.fullmatch(word)
            number = int(b"".join(integer.groups())) if integer else 2**63
            if not -(2**63) <= number < 2**63:
                expected = _expected_level(text, value)
                raise NumberError(file, int(line[row]), f"level {shown(text[row])}", expected)
            level[row] = number
    if unrated:
        warn_of_unrated(file, len(unrated), int(line[unrated[0]]), text[unrated[0]])
    if (whole | ~readable).all():
        return level, None
    return judged_or_not(value), value


def warn_of_unrated(file: str, count: int, line: int, word: bytes = b"") -> None:
    """Say that documents without a rating are unjudged, and what says otherwise."""
    are, whose = ("is", "its document is") if count == 1 else ("are", "their documents are")
    text = (
        f"{file}: {counted(count, 'rating')} {are} {shown(word) if word else 'empty'}, first at "
        f"line {line}: {whose} unjudged; {spell('levels', decoded(word) + '=0')} makes that level 0"
    )
    warnings.warn(text, RagkpiNote, stacklevel=2)


def _expected_level(text: NumberColumn, value: FloatArray) -> str:
    """Return what is expected of levels, with the words of the column if they are a scale."""
    words = {decoded(text[row].strip()) for row in np.flatnonzero(np.isnan(value)).tolist()}
    words = {word for word in words if word.lower() not in MISSING}
    if not 0 < len(words) <= _MOST_WORDS or any(re.search(r"[=,]|^[-+]?[0-9]", w) for w in words):
        return _WHOLE
    levels = ",".join(f"{visible(word)}=?" for word in sorted(words))
    return f"{_WHOLE}, or {spell('levels', levels)} with a level for each word"


def plain_qrels(
    file: str,
    query: Tokens,
    document: Tokens,
    level: IntArray,
    line: IntArray,
    gain: FloatArray | None,
    origin: Origin = LEVELS,
) -> QrelsColumns:
    """Return qrels of a format without iterations."""
    iteration = Tokens.repeated(b"0", len(line))
    return QrelsColumns(file, query, iteration, document, level, line, gain, origin)


def levels_of(number: FloatArray) -> tuple[IntArray, FloatArray | None]:
    """Return levels, and gains if any is fractional, as in `QrelsColumns`."""
    if (number == np.floor(number)).all():
        return number.astype(np.int64), None
    return judged_or_not(number), number


def judged_or_not(gain: FloatArray) -> IntArray:
    """Return levels for gains: 0 for a judged document, -1 for a negative gain."""
    return np.where(gain < 0, -1, 0)
