"""`convert`: files in other formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Unpack, get_args

from ragkpi.conversion import Conversion
from ragkpi.errors import UsageError
from ragkpi.formats.column_names import Kind
from ragkpi.formats.file_formats import Reading, find_format, kind_of_format
from ragkpi.formats.format_registry import FileFormat, find_written_format, written_formats
from ragkpi.formats.opening import Source
from ragkpi.interface import option
from ragkpi.library.arguments import one_of, readings_of
from ragkpi.library.vocabulary import HowRead
from ragkpi.reports.output_files import replacing


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
        Paths; ``-`` is standard input and output. Without `to`, the suffix of the target says the
        format.
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
        conversion = Conversion(opened, conversion.kind, given)
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
