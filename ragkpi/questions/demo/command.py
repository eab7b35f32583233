"""`ragkpi demo`: the files of the examples, and commands to try."""

import shlex

import ragkpi
from ragkpi.cli.options import argument, command
from ragkpi.wording import counted

_COMMANDS = """
  cd {folder}
  ragkpi eval -m ndcg_cut.10 qrels.txt runs/bm25.run runs/fusion.run
  ragkpi compare -m ndcg_cut.10 qrels.txt runs/bm25.run runs/fusion.run
  ragkpi eval examples/gold.jsonl examples/retrieved.jsonl
  ragkpi depth -N 5000 qrels.txt first_stage.run
  ragkpi diagnose --pool first_stage.run qrels.txt reranked.run
"""


@command
def demo(
    folder: str | None = argument("[FOLDER]", "Where to write them. Default: fixtures."),
) -> None:
    """Write the files of the examples into a folder, and print five commands to try.

    A help desk's twelve questions, judged, and the runs of its retrievers. The examples of a
    command's help run in the folder, those of the README beside it. A file that is there already
    is never written; another one of the same name is refused.
    """
    folder = folder or "fixtures"
    print(f"{counted(len(ragkpi.demo(folder)), 'file')} in {folder}. To try:")
    print(_COMMANDS.format(folder=shlex.quote(folder)), end="")
