"""`ragkpi convert`: a run or qrels in another format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Unpack, get_args

import numpy as np
from typer import Argument, Option

from ragkpi import kernel
from ragkpi.cli.signature import command
from ragkpi.errors import UsageError
from ragkpi.files import lines, opening
from ragkpi.files.formats import HEAD_LENGTH, Reading, reader_of, reading_for, recognise_kind
from ragkpi.files.lines import Tokens
from ragkpi.files.opening import Kind, Source
from ragkpi.files.registry import FILE_FORMATS, FileFormat, find_format
from ragkpi.files.trec import Ranking, RunColumns, no_results
from ragkpi.interface import interface, spell
from ragkpi.library import session
from ragkpi.library.arguments import readings_of
from ragkpi.library.options import HowRead, complete_format, one_of
from ragkpi.library.runs import AnyQrels
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.reading import DEEPEST, ScatteredQueryError, pushed, refusals
from ragkpi.ranking.relevance import Qrels
from ragkpi.reports.output_files import replacing
from ragkpi.wording import counted, decoded, listed


class Conversion:
    """An open file, to read or to write in another format; iterable over the blocks of a run.

    `instead` is the advice if the numbers of a run look like levels.
    """

    def __init__(
        self, source: Source, kind: Kind, reading: Reading | str | None, instead: str = ""
    ) -> None:
        self._source, self._kind = source, kind
        self._reader = reader_of(kind, source, reading)._replace(instead=instead)
        self._held = False
        self._empty: list[bytes] = []  # queries without documents
        self._left_out: Any = None  # documents that the sieve left out

    def write(self, to: FileFormat, file: BinaryIO) -> None:
        """Write everything to a seekable file, with rankings in trec_eval's order.

        Write a run block by block, and start again if its queries are scattered.
        """
        if self._kind == "qrels":
            qrels = self._reader.read_qrels(self._source)
            group_judgements(qrels)  # refuses documents with two judgements
            to.writers["qrels"](qrels, file)
            return
        begin = file.tell()
        try:
            to.writers["run"](self, file)
        except ScatteredQueryError:
            self._held = True
            file.seek(begin)
            file.truncate()
            to.writers["run"](self, file)
        if self._reader.sieve is not None:
            self._reader.sieve.say(self._source.name, self._left_out)
        elif self._empty and not to.empty:
            count = counted(len(self._empty), "query", "queries")
            left = f"{count} without documents, which {to.name} cannot hold, left out"
            interface().note(f"{left} ({listed(self._empty, 3)})")

    def rankings(self) -> Iterator[Ranking]:
        """Yield the rankings of a run in trec_eval's order; the whole run is in memory."""
        self._held = True
        return (ranking for block in self for ranking in block.each())

    def __iter__(self) -> Iterator[RunColumns]:
        """Read a run from its start; yield complete rankings, with the run id up to there."""
        self._source.restart()
        run = kernel.Run(
            kernel.Documents([], np.zeros(1, dtype=np.int64), Tokens.from_strings([]).column),
            name_all=True,
            depth=DEEPEST,
            held=self._held,
            most_held=opening.MOST_HELD,
            longest_line=lines.LONGEST_LINE,
            **self._reader.treatment,
        )
        self._empty, run_id = [], b""
        with refusals(self._source.name):
            for run_id in pushed(self._source, self._reader, run, self._held):
                yield from self._complete(run, run_id)
            end = run.finish()
            if not end["queries"]:
                raise no_results(self._source.name)
            self._left_out = end["left_out"]
            yield from self._complete(run, run_id)

    def _complete(self, run: kernel.Run, run_id: bytes) -> Iterator[RunColumns]:
        """Remove the complete rankings from the kernel."""
        names = run.take_names()
        sizes = np.frombuffer(names["size"], np.int64)
        queries = names["queries"]
        self._empty += [queries[number] for number in np.flatnonzero(sizes == 0).tolist()]
        ends = np.frombuffer(names["ends"], np.int64)
        document = Tokens(np.frombuffer(names["text"], np.uint8), np.append(0, ends)[:-1], ends)
        score = np.frombuffer(names["score"], np.float64)
        starts = np.append(0, np.cumsum(sizes))
        query = Tokens.from_strings(queries)
        yield from RunColumns.of_rankings(query, starts, document, score, run_id).pieces()


def read_qrels(
    qrels: AnyQrels,
    *,
    file_format: str | None = None,
    map_qrels: str | Mapping[str, str] | None = None,
) -> Qrels:
    """Read qrels once for many evaluations, as in a training loop: ``{query: {document: level}}``.

    Parameters
    ----------
    qrels
        A path, or any other form of qrels for `evaluate`.
    file_format
        The format of the file, as for ``--qrels-format``; None recognises it.
    map_qrels
        The meaning of keys or columns, as for ``--map-qrels``; None recognises it.

    Examples
    --------
    >>> import ragkpi
    >>> qrels = ragkpi.read_qrels({"q1": {"d1": 1}})
    >>> [ragkpi.evaluate(qrels, {"q1": {"d1": 1.0}}, "P.1").mean for epoch in range(2)]
    [{'P_1': 1.0}, {'P_1': 1.0}]
    >>> dict(qrels)
    {'q1': {'d1': 1}}
    """
    read: Any = session.read_qrels(qrels, "qrels", _reading("qrels", file_format, map_qrels))
    one_judgement_each: Qrels = read
    return one_judgement_each


def _reading(kind: Kind, file_format: str | None, map_: str | Mapping[str, str] | None) -> Reading:
    if file_format is not None:
        find_format(kind, file_format, "file_format")
    return reading_for(kind, file_format, map_)


def read_run(
    run: str | os.PathLike[str],
    *,
    file_format: str | None = None,
    map_run: str | Mapping[str, str] | None = None,
) -> dict[str, dict[str, float]]:
    """Read a run of any format as ``{query: {document: score}}``, best documents first.

    `file_format` and `map_run` are as in `convert`.

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
    reading = _reading("run", file_format, map_run)
    with Source(os.fspath(run)) as source:
        return {
            decoded(ranking.query): dict(
                zip(map(decoded, ranking.documents), ranking.scores, strict=True)
            )
            for ranking in Conversion(source, "run", reading).rankings()
        }


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    to: Annotated[
        str | None,
        Option(
            metavar="FORMAT",
            help="Format of OUT. Default: by its suffix.",
            autocompletion=complete_format,
        ),
    ] = None,
    from_: Annotated[
        str | None,
        Option(
            "--from",
            metavar="FORMAT",
            help="Format of IN. Default: detected.",
            autocompletion=complete_format,
        ),
    ] = None,
    kind: Annotated[
        Kind | None,
        Option(
            help="Content of IN. Default: detected; JSON documents and binary tables are read "
            "as runs."
        ),
    ] = None,
    **how: Unpack[HowRead],
) -> Path:
    """Write a run or qrels in another format; OUT is replaced atomically.

    'ragkpi formats' describes the formats, and the suffixes of OUT that select them.

    Documents are written in ranking order: by score, equal scores by id, as in trec_eval. Ids keep
    their bytes, even if they are not UTF-8; scores read back as the same numbers. In msmarco,
    which has no scores, negative ranks replace them.

    Parameters
    ----------
    source, target
        Paths; ``-`` is standard input and output.
    how
        See `HowRead`: ``map_run``, ``score_order``, ``max_passage``, …

    Returns
    -------
    Path
        The target.
    """
    if kind is not None:
        one_of("kind", kind, get_args(Kind))
    of_qrels, of_run = readings_of(how)
    reading: Mapping[Kind, Reading | None] = {"qrels": of_qrels, "run": of_run}
    with Source(os.fspath(source)) as opened:
        mapped = [of for of, choices in reading.items() if choices and choices.shape]
        if kind is None and len(mapped) == 1:
            kind = mapped[0]
        elif kind is None and from_ is not None:
            kinds = [of for of, formats in FILE_FORMATS.items() if from_ in formats]
            kind = kinds[0] if len(kinds) == 1 else None
        instead = "" if kind else f"{spell('kind', 'qrels')} reads numbers as levels"
        kind = kind or recognise_kind(opened.peek(HEAD_LENGTH))
        choices = reading[kind] or Reading()
        if from_ is not None:
            find_format(kind, from_, spell("from"))
            choices = choices._replace(format=from_)
        conversion = Conversion(opened, kind, choices, instead)
        format_ = _target_format(kind, os.fspath(target), to)
        with replacing(os.fspath(target), "OUT", revocable=True) as file:
            conversion.write(format_, file)
    return Path(target)


def _target_format(kind: Kind, target: str, to: str | None) -> FileFormat:
    formats = {name: of for name, of in FILE_FORMATS[kind].items() if kind in of.writers}
    if to in formats:
        return formats[to]
    if to is not None:
        fault = f"{spell('to')} {to}: unknown {kind} format"
        raise UsageError(f"{fault}; expected one of {', '.join(formats)}")
    suffix = os.path.splitext(target)[1].lower()
    for format_ in formats.values():
        if suffix in format_.suffixes:
            return format_
    expected = f"{spell('to')} {', '.join(formats)}"
    raise UsageError(f"OUT {target}: no format for {kind} has its suffix; expected {expected}")


# --from names the format of IN, a run or qrels.
@command(
    convert,
    without=("qrels_format", "run_format"),
    examples=(
        "ragkpi convert reranked.run reranked.jsonl",
        "ragkpi convert --to csv qrels.txt -",
        "ragkpi convert --from trec --to jsonl reranked.run -",
    ),
)
def shell(
    source: Annotated[str, Argument(metavar="IN", help="Run or qrels; - is standard input.")],
    target: Annotated[str, Argument(metavar="OUT", help="File; - is standard output.")],
    **arguments: Any,
) -> None:
    """Write a file in another format."""
    convert(source, target, **arguments)
