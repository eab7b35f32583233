"""The public functions `convert`, `read_run` and `read_qrels`, and the conversion of formats."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Unpack, get_args

import numpy as np

from ragkpi import kernel
from ragkpi.errors import UsageError
from ragkpi.files import lines, opening
from ragkpi.files.formats import (
    HEAD_LENGTH,
    FileReader,
    Reading,
    reader_of,
    recognise_kind,
)
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import Kind, Source
from ragkpi.files.registry import (
    FileFormat,
    find_format,
    find_written_format,
    kind_of_format,
    written_formats,
)
from ragkpi.files.trec import no_results
from ragkpi.files.writing import Ranking, Rankings
from ragkpi.interface import interface, option
from ragkpi.library.arguments import HowRead, one_of, readings_of
from ragkpi.library.call import qrels_of
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.reading import DEEPEST, ScatteredQueryError, pushed, refusals
from ragkpi.ranking.relevance import READERS, Relevance
from ragkpi.reports.output_files import replacing
from ragkpi.wording import counted, decoded, listed


class Conversion:
    """An open file, to convert to another format.

    The first bytes decide its kind and format where these are None.
    """

    def __init__(
        self,
        source: Source,
        kind: Kind | None,
        reading: Reading | str | None,
        guessed: bool = False,
    ) -> None:
        self._source = source
        self.kind: Kind = kind or recognise_kind(source.peek(HEAD_LENGTH))
        self._format = reader_of(self.kind, source, reading)
        if guessed:
            advice = f"{option('kind', 'qrels')} reads numbers as levels"
            self._format = self._format._replace(instead=advice)

    def write(self, to: FileFormat, file: BinaryIO) -> None:
        """Write everything to a seekable file, with rankings in trec_eval's order.

        Write a run block by block, and start again if its queries turn out to be scattered, or if
        its last run id differs from the first.
        """
        if self.kind == "qrels":
            qrels = self._format.read_qrels(self._source)
            group_judgements(qrels)  # refuses documents with two judgements
            to.writers["qrels"](qrels, file)
            return
        self._source.keep_copy()
        begin = file.tell()
        blocks = _Blocks(self._source, self._format)
        while True:
            try:
                to.writers["run"](blocks, blocks.begin(), file)
                if blocks.empty and not to.subsets and self._format.sieve is None:  # no JSON
                    count = counted(len(blocks.empty), "query", "queries")
                    left = f"{count} without documents, which {to.name} cannot hold, left out"
                    interface().note(f"{left} ({listed(blocks.empty, 3)})")
                return
            except ScatteredQueryError:
                blocks.scattered = True
            except _OtherRunIdError as other:
                (blocks.run_id,) = other.args
            file.seek(begin)
            file.truncate()

    def rankings(self) -> Iterator[Ranking]:
        """Yield the rankings of a run in trec_eval's order; the whole run is in memory."""
        blocks = _Blocks(self._source, self._format, scattered=True)
        return (ranking for block in blocks for ranking in block.each())


class _OtherRunIdError(Exception):
    """The last run id, the decisive one, differs from the first."""


class _Blocks:
    """The rankings of a run, block by block; each iteration reads the source from the start."""

    def __init__(self, source: Source, reader: FileReader, *, scattered: bool = False) -> None:
        self._source, self._reader = source, reader
        self._read_before = False
        self._pushed: Iterator[bytes] | None = None
        self.scattered = scattered  # a query's lines are apart, so the whole run is in memory
        self.run_id = b""  # of the last line, if known

    def begin(self) -> bytes:
        """Read the first block, from the start of the source; return the run id to write."""
        if self._read_before:
            self._source.restart()
        self._read_before = True
        self._run = kernel.Run(
            kernel.Documents([], np.zeros(1, dtype=np.int64), *Tokens.from_strings([]).column),
            name_all=True,
            depth=DEEPEST,
            held=self.scattered,
            most_held=opening.MOST_HELD,
            longest_line=lines.LONGEST_LINE,
            **self._reader.treatment,
        )
        self._pushed = pushed(self._source, self._reader, self._run, self.scattered)
        self._named = 0  # number of queries whose rankings were taken
        self.empty: list[bytes] = []
        with refusals(self._source.name):
            first = next(filter(None, self._pushed), b"")
        self.run_id = self.run_id or first
        return self.run_id

    def __iter__(self) -> Iterator[Rankings]:
        if self._pushed is None:
            self.begin()
        pushed_blocks, self._pushed = self._pushed, None
        assert pushed_blocks is not None
        last = self.run_id
        with refusals(self._source.name):
            yield from self._taken()
            for run_id in pushed_blocks:
                last = run_id
                yield from self._taken()
            found = self._run.finish()
            if not found["queries"]:
                raise no_results(self._source.name)
            yield from self._taken()
        if last != self.run_id:
            raise _OtherRunIdError(last)
        if self._reader.sieve is not None:
            self._reader.sieve.say(self._source.name, found["left_out"])

    def _taken(self) -> Iterator[Rankings]:
        """Take the complete rankings out of the kernel."""
        names = self._run.take_names()
        sizes = np.frombuffer(names["size"], np.int64)
        queries = self._run.query_names(self._named, len(sizes))
        self._named += len(sizes)
        self.empty += [queries[number] for number in np.flatnonzero(sizes == 0).tolist()]
        ends = np.frombuffer(names["ends"], np.int64)
        document = Tokens(np.frombuffer(names["text"], np.uint8), np.append(0, ends)[:-1], ends)
        score = np.frombuffer(names["score"], np.float64)
        starts = np.append(0, np.cumsum(sizes))
        yield from Rankings(Tokens.from_strings(queries), starts, document, score).pieces()


def read_qrels(qrels: Any, *, rel_info: str = "qrels", file_format: str | None = None) -> Relevance:
    """Read qrels once, for evaluation after evaluation, as a training loop needs them.

    Parameters
    ----------
    qrels
        A path, or any other form that `evaluate` takes.
    rel_info
        The format as ``-R`` names it.
    file_format
        The format of the file, as ``--qrels-format``; None recognises it.

    Examples
    --------
    >>> import ragkpi
    >>> qrels = ragkpi.read_qrels({"q1": {"d1": 1}})
    >>> [ragkpi.evaluate(qrels, {"q1": {"d1": 1.0}}, "P.1").mean for epoch in range(2)]
    [{'P_1': 1.0}, {'P_1': 1.0}]
    """
    one_of("rel_info", rel_info, list(READERS))
    given = qrels_of(qrels, rel_info)
    return READERS[rel_info](given, file_format) if isinstance(given, str) else given


def read_run(
    run: str | os.PathLike[str], *, file_format: str | None = None
) -> dict[str, dict[str, float]]:
    """Read a run of any format as ``{query: {document: score}}``, best documents first.

    Raises
    ------
    InputError, DataError
        For the same reasons as in ``ragkpi convert``.

    Examples
    --------
    >>> import ragkpi
    >>> ragkpi.read_run("fixtures/reranked.run")["hd-01"]["kb_0268#3"]
    4.8546
    """
    if file_format is not None:
        find_format("run", file_format, "file_format")
    with Source(os.fspath(run)) as source:
        return {
            decoded(ranking.query): dict(
                zip(map(decoded, ranking.documents), ranking.scores, strict=True)
            )
            for ranking in Conversion(source, "run", file_format).rankings()
        }


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    from_: str | None = None,
    kind: Kind | None = None,
    **how: Unpack[HowRead],
) -> Path:
    """Write a run or qrels in another format; `target` is replaced at once or not at all.

    Parameters
    ----------
    source, target
        Paths; ``-`` is standard input and output. Without `to`, the suffix of the target decides
        the format.
    to, from_
        Names of formats, as ``ragkpi formats`` describes them; without `from_` the format is
        recognised.
    kind
        ``"run"`` or ``"qrels"``; None recognises it.
    how
        See `HowRead`: ``map_run``, ``scores``, ``max_passage``, …

    Returns
    -------
    Path
        The target.
    """
    if kind is not None:
        one_of("kind", kind, get_args(Kind))
    reading = readings_of(how)
    with Source(os.fspath(source)) as opened:
        mapped = [of for of in reading if of is not None and of.shape is not None]
        if len(mapped) == 1 and kind is None:
            kind = "qrels" if reading[0] in mapped else "run"
        if from_ is not None and kind is None:
            kind = kind_of_format(from_)
        conversion = Conversion(opened, kind, None)
        of_qrels, of_run = reading
        given = (of_run if conversion.kind == "run" else of_qrels) or Reading()
        if from_ is not None:
            find_format(conversion.kind, from_, option("from"))
            given = given._replace(format=from_)
        conversion = Conversion(opened, conversion.kind, given, kind is None)
        format_ = _target_format(conversion.kind, os.fspath(target), to)
        with replacing(os.fspath(target), "OUT", revocable=True) as file:
            conversion.write(format_, file)
    return Path(target)


def _target_format(kind: Kind, target: str, to: str | None) -> FileFormat:
    if to is not None:
        return find_written_format(kind, to, option("to"))
    suffix = os.path.splitext(target)[1].lower()
    for format_ in written_formats(kind).values():
        if suffix in format_.suffixes:
            return format_
    known = ", ".join(written_formats(kind))
    raise UsageError(
        f"OUT {target}: its suffix names no format of {kind}; expected {option('to')} {known}"
    )
