"""Commands that fix a command line: with a map, or with the qrels first."""

import warnings
from collections.abc import Sequence
from shlex import join

from ragkpi.errors import CommandError, InputError, MapChoice, UnsettledError
from ragkpi.files.column_names import ORDER_PARTS
from ragkpi.files.formats import reads_as
from ragkpi.interface import spell


def advised(problem: InputError, words: Sequence[str], files: Sequence[str]) -> InputError:
    """Add commands that fix an error, if there are any.

    Suggest a command with the qrels first if only this order of several `files` is readable: the
    first file as a run, and one other as qrels.
    """
    if isinstance(problem, UnsettledError):  # a map reads the file in its place
        return CommandError(problem, [_mapped(words, problem, of) for of in problem.maps])
    first, *others = files or [""]
    if problem.file not in files or first in others:
        return problem
    with warnings.catch_warnings(action="ignore"):
        qrels = [other for other in others if reads_as("qrels", other)]
        sure = len(qrels) == 1 and reads_as("run", first)
        if not sure or (reads_as("qrels", first) and reads_as("run", qrels[0])):
            return problem
    rest = [word for word in words if word != qrels[0]]
    rest.insert(rest.index(first), qrels[0])
    fault = f"{problem.fault}; the qrels come first"
    fixed = InputError(problem.file, problem.line, fault, "")
    return CommandError(fixed, [f"  {join(['ragkpi', *rest])}"])


def _mapped(words: Sequence[str], problem: UnsettledError, of: MapChoice) -> str:
    """Return a command with a map; it keeps the parts of its own map."""
    name, (first, *others) = spell(problem.argument), words
    pieces = [piece.strip() for piece in of.map.split(",")]
    for place, word in enumerate(others):
        if word == name or word.startswith(f"{name}="):
            earlier = others[place + 1] if word == name else word.partition("=")[2]
            dropped = {piece.partition("=")[0] for piece in pieces} | ORDER_PARTS
            kept = [piece.strip() for piece in earlier.split(",")]
            pieces = [one for one in kept if one.partition("=")[0] not in dropped] + pieces
            del others[place : place + 1 + (word == name)]
            break
    fold = spell("max_passage") if of.fold else ""
    if any(word.partition("=")[0] == fold for word in others):
        fold = ""
    map_ = ", ".join(pieces)
    command = join(["ragkpi", first, name, map_, *((fold, of.fold) if fold else ()), *others])
    return f"  {command}{f'  # {of.choice}' if of.choice else ''}"
