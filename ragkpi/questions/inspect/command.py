"""`ragkpi inspect`: the formats and contents of files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from typing import Annotated, Any, Unpack

from typer import Argument

from ragkpi.cli.output import TextOutput
from ragkpi.cli.signature import command
from ragkpi.errors import UsageError
from ragkpi.files.formats import Reading
from ragkpi.files.opening import Kind, parts_of
from ragkpi.library.arguments import readings_of
from ragkpi.library.options import HowRead
from ragkpi.library.result import Result
from ragkpi.questions.inspect.answer import (
    FileContents,
    Shared,
    contents_of,
    inspect_answer,
    shared,
)


@dataclass(frozen=True, eq=False, repr=False)
class InspectResult(Result):
    """The contents of files.

    Attributes
    ----------
    files
        The contents of each file.
    shared
        The ids that each run shares with the first qrels.
    """

    files: Sequence[FileContents] = ()
    shared: Sequence[Shared] = ()


def inspect(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **how: Unpack[HowRead]
) -> InspectResult:
    """Show files: format, how it was recognised, queries, documents, scores and levels.

    The first records are shown as ragkpi reads them. With qrels and runs: the number of shared
    queries and documents, and the option that makes more ids match. Other files are also in the
    table, with the reason below it; a file that cannot be opened is an error.

    Parameters
    ----------
    files
        Paths of runs, qrels and folders of them. A file that is neither is not an error: its notes
        give the reason. `UnreadableError` for a file that cannot be opened.
    how
        See `HowRead`: ``map_run``, ``run_format``, …

    Examples
    --------
    >>> import ragkpi
    >>> (file,) = ragkpi.inspect("fixtures/quality.tsv").files
    >>> file.kind is None
    True
    >>> result = ragkpi.inspect(["fixtures/qrels.txt", "fixtures/reranked.run"])
    >>> [(file.kind, file.queries, file.documents) for file in result.files]
    [('qrels', 12, (36, 43)), ('run', 12, (20, 20))]
    """
    of_qrels, of_run = readings_of(how)
    readings: Mapping[Kind, Reading | None] = {"qrels": of_qrels, "run": of_run}
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    names = [name for path in paths for name in _files_of(os.fspath(path))]
    if not names:
        raise UsageError("no file to inspect; expected paths of files or of folders with files")
    contents = [one for name in names for one in contents_of(name, readings)]
    runs = [file for file in contents if file.kind == "run"]
    of_runs = {file.file for file in runs}
    judged = [file for file in contents if file.kind == "qrels"]
    # A file that can also be a run is the qrels only if there is no other.
    qrels = min(judged, key=lambda file: file.file in of_runs, default=None)
    others = [run for run in runs if qrels and (run.file != qrels.file or len(names) == 1)]
    pairs = [shared(qrels, run) for run in others if qrels]
    return InspectResult(inspect_answer(contents, pairs), files=contents, shared=pairs)


def _files_of(path: str) -> list[str]:
    """Return a file, or the files of a folder by name; a folder of Parquet parts is one file."""
    if not os.path.isdir(path) or parts_of(path):
        return [path]
    folders = path, os.path.join(path, "qrels")  # BEIR's
    inside = [name for of in folders for name in sorted(glob(os.path.join(of, "*")))]
    return [name for name in inside if os.path.isfile(name) or parts_of(name)]


@command(
    inspect,
    examples=(
        "ragkpi inspect qrels.txt reranked.run",
        "ragkpi inspect runs",
        "ragkpi inspect --format json examples/retrieved.jsonl",
    ),
)
def shell(
    files: Annotated[
        list[str], Argument(metavar="FILE...", help="Runs, qrels, and folders of them.")
    ],
    output: TextOutput,
    **arguments: Any,
) -> None:
    """Write the contents of files."""
    output.write(inspect(files, **arguments).report)
