"""Qrels and runs read once, to be used again, and written in other formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkpi.errors import UsageError
from ragkpi.library.arguments import one_of, qrels_of
from ragkpi.library.voice import speaks_python
from ragkpi.ranking.relevance import READERS, Relevance

if TYPE_CHECKING:
    from ragkpi.formats.file_formats import Kind


@speaks_python
def read_qrels(qrels: Any, *, rel_info: str = "qrels", file_format: str | None = None) -> Relevance:
    """Read qrels once, for evaluation after evaluation, as a training loop needs them.

    Parameters
    ----------
    qrels
        A path, or whatever `evaluate` takes.
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


@speaks_python
def read_run(
    run: str | os.PathLike[str], *, file_format: str | None = None
) -> dict[str, dict[str, float]]:
    """Read a run of any format as ``{query: {document: score}}``, best documents first.

    Raises
    ------
    InputError, DataError
        As ``ragkpi convert`` has them.

    Examples
    --------
    >>> import ragkpi
    >>> ragkpi.read_run("fixtures/reranked.run")["hd-01"]["kb_0268#3"]
    4.8546
    """
    from ragkpi.conversion import Conversion
    from ragkpi.formats.file_formats import find_format
    from ragkpi.formats.opening import Source
    from ragkpi.wording import decoded

    if file_format is not None:
        find_format("run", file_format, "file_format")
    with Source(os.fspath(run)) as source:
        return {
            decoded(ranking.query): dict(
                zip(map(decoded, ranking.documents), ranking.scores, strict=True)
            )
            for ranking in Conversion(source, "run", file_format).rankings()
        }


@speaks_python
def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    from_: str | None = None,
    kind: str | None = None,
) -> Path:
    """Write a run or qrels in another format; `target` is replaced at once or not at all.

    Parameters
    ----------
    source, target
        Paths. Without `to`, the suffix of the target says the format.
    to, from_
        Names of formats, as ``ragkpi convert --list`` describes them; without `from_` the format
        is recognised.
    kind
        ``"run"`` or ``"qrels"``; None recognises it.

    Returns
    -------
    Path
        The target.
    """
    from ragkpi.library.converting import convert_file

    if os.fspath(target) == "-":
        raise UsageError("target='-': expected the path of a file")
    known: Kind | None = None if kind is None else one_of("kind", kind, ("run", "qrels"))
    convert_file(os.fspath(source), os.fspath(target), to, from_, known)
    return Path(target)
