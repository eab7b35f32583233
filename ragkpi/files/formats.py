"""Choose the reader of a file: by the user's format, or else by the first bytes.

A file that could be TREC is TREC.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragkpi.errors import InputError, RagkpiError
from ragkpi.files import column_names as fields
from ragkpi.files import trec
from ragkpi.files.column_names import ScoreKind
from ragkpi.files.lines import PRINTED
from ragkpi.files.opening import Kind, Source
from ragkpi.files.roles import RunRole, falling, refuse_scores, refuse_twice
from ragkpi.files.shapes import TEXTS, Shape, parse_map, shape_of_map
from ragkpi.files.trec import Numbers, Origin, QrelsColumns, RunColumns, ranked, whole_queries
from ragkpi.interface import spell
from ragkpi.wording import visible

if TYPE_CHECKING:
    from ragkpi.files.sieve import Sieve

HEAD_LENGTH = 1 << 13

Match = Literal["id", "text"]
"""What identifies documents: their ids, or the words of their texts."""

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}


def recognise_run(head: bytes) -> str:
    """Return the name of a run's format, from its first `HEAD_LENGTH` bytes."""
    name = _recognise(head, _is_trec_run, (fields.QUERY, fields.DOCUMENT))
    rows = [line.split() for line in _data_lines(head)] if name == "trec" else []
    first = [row for row in rows if row[0] == rows[0][0]]
    # A score read as a rank would reverse the ranking, so ranks must count from 1.
    ranked = all(row[2:] == [b"%d" % rank] for rank, row in enumerate(first, start=1))
    return "msmarco" if rows and ranked and {*map(len, rows)} == {3} else name


def recognise_qrels(head: bytes) -> str:
    """Return the name of the format of qrels, from their first `HEAD_LENGTH` bytes.

    Two words with a tab between them are a query and a relevant document. But a number next to a
    unique name is a value of the query, such as a grade or a latency.
    """
    name = _recognise(head, _is_trec_qrels, (fields.QUERY, fields.DOCUMENT, fields.LEVEL_OR_SCORE))
    lines = list(_data_lines(head)) if name == "trec" else []
    if not lines or not all(re.fullmatch(rb"\S+\t\S+\s*", line) for line in lines):
        return name
    queries, documents = zip(*(line.split() for line in lines), strict=True)
    values = all(map(is_number, documents)) and not all(map(_is_integer, queries + documents))
    return name if values and len({*queries}) == len(lines) else "tsv"


# First bytes of files that are neither run nor qrels, with advice; {} is the file.
_FOREIGN = [
    (rb"\xff\xfe|\xfe\xff", "UTF-16 text", "expected UTF-8: iconv -f UTF-16 -t UTF-8 {}"),
    (
        rb"(---\s*)?([^\s:{}\[\],]+:[ \t]*(\r?\n\s*(- |[^\s:]+:\s)|\[)|- [\w-]+:\s)",
        "YAML",
        'expected JSON: {{"query": ["document", …]}}',
    ),
    (
        rb'\s*\{.*"ragkpi"\s*:\s*"[0-9]',
        "a saved result of ragkpi",
        "expected the run or qrels that it evaluates",
    ),
    (
        rb"\x80[\x02-\x05]",
        "a pickle, which runs code when it is loaded",
        "expected JSON",
    ),
    (rb"PK\x03\x04", "a zip archive or a workbook (.xlsx)", "expected CSV, exported from it"),
    (
        rb"SQLite format 3\0",
        "a SQLite database",
        "expected CSV: sqlite3 -csv -header {} 'SELECT …'",
    ),
    (
        # In a run with JSON in its last column, the fourth word is a rank.
        rb"(?!\s*(\S+\s+){3}[-+]?[0-9]+\s)\[?[^\s{}\[\]\"',;|][^\n\t{}]*[ :]\{\"[^\n]*\}\s*(\n|$)",
        "text before the JSON of each line",
        "expected lines of JSON alone",
    ),
    (
        rb"( +[A-Za-z_]\w*)+ *\r?\n *0 +\S|[^\n]*\n *-+( +-+)+ *\r?\n",
        "columns between spaces",
        "expected CSV: df.to_csv('table.csv', index=False) or sqlite3 -csv -header",
    ),
    (
        rb"(#[^\n]*\n|\s)*\S+[ \t]+qid:\S*[ \t]+\S*:",
        "features of documents (svmlight), which have no ids",
        "expected the ranking: query, document and score",
    ),
    (
        rb"(#[^\n]*\n|\s)*\d+\t\d+(\t(?=[^\t\n]*\S )[^\t\n]*){2}(\n|$)",
        "candidates with their texts (MS MARCO top1000), which have no order",
        "expected them ranked: query, document and rank",
    ),
]


def refuse_foreign(file: str, head: bytes) -> None:
    """Raise `InputError` for a file that is neither run nor qrels."""
    for pattern, kind, expected in _FOREIGN:
        if re.match(pattern, head, re.DOTALL):
            raise InputError(file, None, kind, expected.format(quote(visible(file))))


def recognise_layout(head: bytes) -> str:
    """Return the layout, such as json or csv, of a file whose columns a map names."""
    name = _by_magic(head) or _json_layout(head)
    return name or ("tsv" if b"\t" in _first_line(head) else "csv")


def recognise_kind(head: bytes) -> Literal["run", "qrels"]:
    """Return the kind of a file; a JSON object of numbers and a binary table count as runs."""
    name = recognise_qrels(head)
    line = _first_line(head)
    if name == "trec":
        return "qrels" if _is_trec_qrels(line.split()) else "run"
    if name in _MAGIC.values():
        return "run"
    of_json = name in ("json", "jsonl")
    words = re.findall(rb'"([\w-]+)"\s*:', line) if of_json else re.split(rb"[\t,;|]", line)
    names = _names(words)
    beir = names == ["query_id", "corpus_id", "score"]
    return "qrels" if beir or {*fields.LEVEL, *fields.JUDGED} & set(names) else "run"


def _recognise(
    head: bytes, is_trec: Callable[[list[bytes]], bool], columns: Sequence[Sequence[str]]
) -> str:
    # Binary bytes up to a newline can look like four words and a number, but text has no NUL.
    name = _by_magic(head)
    if name and b"\0" in head:
        return name
    lines = list(islice(_data_lines(head), 2))
    if not lines or is_trec(lines[0].split()):
        return "trec"
    if PRINTED.match(head):
        return "csv"
    return name or _json_layout(head) or _delimited(lines, columns) or "trec"


def _delimited(lines: list[bytes], columns: Sequence[Sequence[str]]) -> str | None:
    """Recognise a table by the names of its columns, or by equal numbers of values in two lines.

    Words with tabs between them are not a table unless one of them names a column.
    """
    usual = {*fields.QUERY, *fields.QUERY_TEXT, *fields.DOCUMENT, *fields.RETRIEVED, "id"}
    for name, separator in (("tsv", b"\t"), ("csv", b","), ("csv", b";"), ("csv", b"|")):
        words = lines[0].split(separator)
        names = set(_names(words))
        widths = {re.sub(rb'"[^"]*"', b"", line).count(separator) for line in lines}
        is_named = not usual.isdisjoint(names)
        alike = len(widths) == 1 and widths != {0} and (is_named or len(lines[0].split()) != 6)
        if is_named and lines[-1].count(b'"') % 2:
            alike = separator in lines[0]  # a quoted value spans lines
        if name == "tsv":
            alike = alike and is_named and not any(map(is_number, words))
        if alike or not any(map(names.isdisjoint, columns)):
            return name
    return None


def _by_magic(head: bytes) -> str | None:
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def _json_layout(head: bytes) -> str | None:
    """Return "jsonl" for several objects, one per line, "json" for other JSON."""
    text = head.lstrip()
    if text.startswith(b"["):
        # "[1 Q0 d1 1 2.5 me" is TREC, which was ruled out before.
        return "json"
    if not re.match(rb'\{\s*["}]', text):
        return None
    line, newline, rest = text.partition(b"\n")
    alone = not newline or not rest.strip()
    return "json" if alone or line.rstrip()[-1:] in (b"{", b"[", b",", b":") else "jsonl"


def _data_lines(head: bytes) -> Iterator[bytes]:
    """Yield the complete lines that are neither blank, comments nor Excel's separator."""
    lines = head.split(b"\n")
    if len(head) >= HEAD_LENGTH:
        lines = lines[:-1] or lines
    return (line for line in lines if line.strip() and not line.startswith((b"#", b"sep=")))


def _first_line(head: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment; empty without one."""
    return next(_data_lines(head), b"")


def _is_trec_run(words: list[bytes]) -> bool:
    return len(words) >= 6 and _is_integer(words[3]) and is_number(words[4])


def _is_trec_qrels(words: list[bytes]) -> bool:
    return len(words) == 4 and _is_integer(words[3])


def _is_integer(word: bytes) -> bool:
    return word.lstrip(b"+-").isdigit()


def is_number(word: bytes) -> bool:
    """Return whether a word looks like a number; readers of numbers are stricter."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _map_of_scores(head: bytes) -> str:
    """Return the map of runs of ColBERT and Tevatron: scores behind two or three columns."""
    rows = [line.split(b"\t") for line in _data_lines(head)]
    scores = [row[-1].strip() for row in rows if len(row) == len(rows[0]) in (3, 4)]
    if not rows or len(scores) < len(rows) or not all(map(is_number, scores)):
        return ""
    is_whole = all(map(_is_integer, scores))  # perhaps ranks or levels
    return "" if is_whole else f"query=1, doc=2, score={len(rows[0])}"


def _names(words: Iterable[bytes]) -> list[str]:
    """Return the plain names of columns, quoted or not."""
    return [fields.plain_name(word.decode("utf-8", "replace")) for word in words]


class Reading(NamedTuple):
    """The user's choices for reading a file; without a format, its first bytes decide."""

    format: str | None = None  # the name of the format
    shape: Shape | None = None  # the meaning of keys or columns (--map-run, --map-qrels)
    scores: ScoreKind = "similarity"  # "distance" if smaller scores are better
    sieve: Sieve | None = None  # leaves documents out or folds them before ranking
    levels: Mapping[bytes, int] = trec.NONE  # the levels of words and letters

    def of_pool(self) -> Reading:
        """Return the choices for the run's pool, whose format can differ."""
        return Reading(sieve=self.sieve)


RECOGNISED = Reading()


class FileReader(NamedTuple):
    """The reader of an opened file."""

    name: str  # of the file's format
    read: Callable[[Source], Any]  # returns the blocks of a run, or qrels
    scores: ScoreKind = "similarity"
    sieve: Sieve | None = None
    numbers: Literal["checked", "believed"] = "checked"  # by a map
    instead: str = ""  # the advice if the numbers of a run look like levels
    judged: tuple[str, Origin] | None = None  # the qrels of a run, and the path in them
    levels: Mapping[bytes, int] = trec.NONE

    def stream_run(self, source: Source, *, held: bool = False) -> Iterator[RunColumns]:
        """Read the documents of a run that the kernel needs, checked as in `trec.ranked`."""
        blocks = self.stream_columns(source)
        if self.numbers == "checked" and self.scores == "similarity" and self.name != "trec":
            blocks = falling(blocks)
        if self.sieve is not None and not self.sieve.in_kernel:
            blocks = self.sieve.folded(blocks)
        return blocks if self.name == "trec" else ranked(whole_queries(blocks, held=held))

    def stream_columns(self, source: Source) -> Iterator[RunColumns]:
        """Read all documents of a run; `InputError` at the end if they are judgements.

        The caller applies `trec.ranked` to complete queries.
        """
        return trec.best_first(self._of_run(source), self.scores)

    def _of_run(self, source: Source) -> Iterator[RunColumns]:
        role, levels, map_ = RunRole(), "", ""
        for block in self.read(source):
            if self.numbers == "checked":
                levels = role.levels_with(block)
                map_ = block.origin.map
                if self.judged is not None:
                    refuse_twice(block, *self.judged)
            yield block
        if levels:
            fault = f"contains {levels}, not rankings"
            advice = self.instead or f"{spell('map_run', map_)} reads numbers as scores"
            raise InputError(source.name, None, fault, f"expected a run ({advice})")

    def read_qrels(self, source: Source) -> QrelsColumns:
        """Read qrels; the sieve folds passages into documents."""
        with trec.named_levels(self.levels):
            columns: QrelsColumns = self.read(source)
        if self.numbers == "checked":
            refuse_scores(columns)
        return self.sieve.qrels(columns) if self.sieve else columns

    @property
    def is_fed(self) -> bool:
        """Whether the kernel reads the text itself, instead of columns."""
        return self.name == "trec" and (self.sieve is None or self.sieve.in_kernel)

    @property
    def treatment(self) -> dict[str, Any]:
        """Return arguments of `kernel.Run` for the treatment of documents and scores."""
        treated = self.sieve.treatment if self.sieve else {}
        return {**treated, "distance": self.is_fed and self.scores == "distance"}


def reader_of(kind: Kind, source: Source, reading: Reading | str | None = None) -> FileReader:
    """Choose the reader of an opened file by the user's choices or the file's first bytes."""
    choices = reading if isinstance(reading, Reading) else Reading(reading)
    head = source.peek(HEAD_LENGTH)
    name, shape = choices.format, choices.shape
    if name is None and shape is None:
        refuse_foreign(source.name, head)
        name = recognise_run(head) if kind == "run" else recognise_qrels(head)
        if name == "trec" and kind == "run" and (map_ := _map_of_scores(head)):
            name, shape = "tsv", parse_map(map_, kind, spell("map_run"))
    if name == "trec":
        read: Callable[[Source], Any]
        read = trec.stream_run if kind == "run" else trec.qrels_of
        return FileReader(name, read, choices.scores, choices.sieve, levels=choices.levels)
    formats = registry().FILE_FORMATS[kind]
    if name is None:  # a map, in a file of any layout
        name = recognise_layout(head)
    numbers: Any = "believed" if shape is not None and shape.says_numbers else "checked"
    read = partial(formats[name].readers[kind], shape=shape)
    return FileReader(name, read, choices.scores, choices.sieve, numbers, levels=choices.levels)


def registry() -> Any:
    """Import the readers of other formats, which takes 15 ms; most files are TREC."""
    from ragkpi.files import registry as of_formats

    return of_formats


def reads_as(kind: Kind, path: str) -> bool:
    """Return whether a regular file is readable as a whole in a role."""
    if not os.path.isfile(path):
        return False
    try:
        with Source(path) as source:
            reader = reader_of(kind, source)
            if kind == "qrels":
                reader.read_qrels(source)
            else:
                deque(reader.stream_columns(source), maxlen=0)
    except RagkpiError:
        return False
    return True


def read_any_qrels(
    path: str, reading: Reading | str | None = None, numbers: Numbers = "levels"
) -> QrelsColumns:
    """Read qrels of any format.

    TREC qrels never have fractional levels; other formats can if `numbers` is ``"gains"``. A path
    can be the name of a data set, ``irds:DATASET``.
    """
    if path.startswith("irds:"):
        from ragkpi.files.datasets import read_dataset

        qrels = read_dataset(path)
        sieve = reading.sieve if isinstance(reading, Reading) else None
        return sieve.qrels(qrels) if sieve else qrels
    with Source(path) as source:
        return reader_of("qrels", source, reading).read_qrels(source).read_as(numbers)


def reading_for(
    kind: Kind,
    format_name: str | None = None,
    map_: str | Mapping[str, str] | None = None,
    scores: ScoreKind = "similarity",
    sieve: Sieve | None = None,
    match: Match = "id",
) -> Reading:
    """Turn a user's options into a `Reading`; `UsageError` for a wrong option."""
    shape = None
    if format_name is not None:
        registry().find_format(kind, format_name, spell(f"{kind}_format"))
    if isinstance(map_, str):
        shape = parse_map(map_, kind, spell(f"map_{kind}"))
    elif map_ is not None:
        shape = shape_of_map(map_, kind)
    elif match == "text" and format_name is None:
        shape = TEXTS[kind]
    return Reading(format_name, shape, scores, sieve)
