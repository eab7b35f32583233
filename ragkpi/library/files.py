"""`read_qrels` and `read_run`: read once, for several evaluations."""

from __future__ import annotations

import os
from typing import Any

from ragkpi.library.arguments import one_of
from ragkpi.library.session import qrels_of
from ragkpi.ranking.relevance import READERS, Relevance


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
