"""`ragkpi demo`: the files of the examples, and commands to try."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument

from ragkpi.cli.signature import command
from ragkpi.errors import UsageError
from ragkpi.reports.output_files import replacing
from ragkpi.wording import counted

# The package holds a copy of the checkout's fixtures (setup.py).
_PACKAGE = Path(__file__).parents[2]
_FOLDERS = (_PACKAGE / "fixtures", _PACKAGE.parent / "fixtures")
_SUFFIXES = (".txt", ".tsv", ".run", ".jsonl")


def demo(folder: str | os.PathLike[str] = "fixtures") -> list[Path]:
    """Write the files of the README's examples, as ``ragkpi demo``: 12 questions of a help desk.

    Parameters
    ----------
    folder
        The destination, created if it does not exist. Existing files are never overwritten.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    UsageError
        If the folder holds another file of one of the names, or cannot be written.
    """
    source = next(filter(Path.is_dir, _FOLDERS))
    names = sorted(path for path in source.rglob("*") if path.suffix in _SUFFIXES)
    files = {Path(folder, path.relative_to(source)): path.read_bytes() for path in names}
    for path, octets in files.items():
        if path.exists() and path.read_bytes() != octets:
            raise UsageError(f"{path} exists with other contents; choose another folder")
    for path in [path for path in files if not path.exists()]:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            reason = f"cannot be written: {problem.strerror or problem}"
            raise UsageError(f"{folder}: {reason}; choose another folder") from None
        with replacing(str(path), "FOLDER") as file:
            file.write(files[path])
    return list(files)


_COMMANDS = """
  ragkpi eval -m ndcg_cut.10 {0}/qrels.txt {0}/runs/bm25.run {0}/runs/fusion.run
  ragkpi compare -m ndcg_cut.10 {0}/qrels.txt {0}/runs/bm25.run {0}/runs/fusion.run
  ragkpi eval {0}/examples/gold.jsonl {0}/examples/retrieved.jsonl
  ragkpi depth -N 5000 {0}/qrels.txt {0}/first_stage.run
  ragkpi diagnose --pool {0}/first_stage.run {0}/qrels.txt {0}/reranked.run
"""


@command(
    examples=(
        "ragkpi demo",
        "ragkpi demo helpdesk",
        "ragkpi demo /tmp/ragkpi-demo",
    ),
)
def shell(
    folder: Annotated[str, Argument(metavar="[FOLDER]", help="Folder to create.")] = "fixtures",
) -> None:
    """Write the files of the examples into a folder, and print five commands to try.

    The files are twelve judged questions of a help desk, and the runs of its retrievers. Run the
    examples of a command's help inside the folder, those of the README next to it. Existing files
    are never overwritten; a different file of the same name is an error.
    """
    print(f"{counted(len(demo(folder)), 'file')} in {folder}. To try:")
    print(_COMMANDS.format(shlex.quote(folder)), end="")
