"""The command `ragkpi demo`: the files of the examples, and commands to try."""

import shlex
from typing import Annotated

from typer import Argument

from ragkpi.cli.signature import command
from ragkpi.questions.demo.function import demo
from ragkpi.wording import counted

_COMMANDS = """
  cd {folder}
  ragkpi eval -m ndcg_cut.10 qrels.txt runs/bm25.run runs/fusion.run
  ragkpi compare -m ndcg_cut.10 qrels.txt runs/bm25.run runs/fusion.run
  ragkpi eval examples/gold.jsonl examples/retrieved.jsonl
  ragkpi depth -N 5000 qrels.txt first_stage.run
  ragkpi diagnose --pool first_stage.run qrels.txt reranked.run
"""


@command()
def shell(
    folder: Annotated[str, Argument(metavar="[FOLDER]", help="Where to write them.")] = "fixtures",
) -> None:
    """Write the files of the examples into a folder, and print five commands to try.

    A help desk's twelve questions, judged, and the runs of its retrievers. The examples of a
    command's help run in the folder, those of the README beside it. A file that is there already
    is never written; another one of the same name is refused.
    """
    print(f"{counted(len(demo(folder)), 'file')} in {folder}. To try:")
    print(_COMMANDS.format(folder=shlex.quote(folder)), end="")
