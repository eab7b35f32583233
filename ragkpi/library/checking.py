"""Files of runs read for everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragkpi.errors import InputError, UsageError
from ragkpi.formats.file_formats import Reading, read_any_qrels
from ragkpi.formats.opening import Source
from ragkpi.formats.recognition import HEAD_LENGTH, recognise_kind
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.settings import Settings
from ragkpi.studies.check.checked_file import CheckedFile
from ragkpi.studies.check.finding import Asked
from ragkpi.studies.check.inspection import Inspection, inspect_file

CHECKED = ("P.10", "recall.10,100", "success.10", "ndcg_cut.10", "recip_rank")


def inspect_files(
    runs: Sequence[str],
    qrels: str | None,
    measures: Sequence[str],
    relevance_level: int,
    max_hits: int | None,
    qrels_format: Reading | None = None,
    run_format: Reading | None = None,
) -> Iterator[tuple[CheckedFile, Inspection]]:
    """Check run after run for everything in the catalogue; a run is open until the next one.

    Parameters
    ----------
    runs, qrels
        Paths; None without qrels.
    measures
        Ties are looked for at their cutoffs; `CHECKED` if there are none.
    relevance_level, max_hits
        Lowest level that is relevant; most documents of a query.
    qrels_format, run_format
        How the files are to be read; None recognises each one's format.
    """
    metrics = find_metrics(list(measures) or list(CHECKED))
    judgements = None if qrels is None else _read_qrels(qrels, runs[0], qrels_format)
    asked = Asked(judgements, metrics, Settings(relevance_level=relevance_level), max_hits)
    for run in runs:
        with Source(run) as source:
            checked = CheckedFile(source, run_format)
            yield checked, inspect_file(checked, asked)


def _read_qrels(path: str, run: str, reading: Reading | None) -> Judgements:
    """Read the qrels; where they are none but the first run is, say that the two are swapped."""
    try:
        return group_judgements(read_any_qrels(path, reading))
    except InputError as problem:
        if _is_qrels(run):
            raise UsageError(
                f"{problem}; {run} holds qrels, so the two are swapped: ragkpi check {run} {path}"
            ) from None
        raise


def _is_qrels(path: str) -> bool:
    try:
        with Source(path) as source:
            return recognise_kind(source.peek(HEAD_LENGTH)) == "qrels"
    except InputError:
        return False
