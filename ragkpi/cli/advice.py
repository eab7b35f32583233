"""Commands that read a file whose parts no known name settles."""

import os
import warnings
from collections.abc import Sequence
from itertools import chain, pairwise
from shlex import join

from ragkpi.errors import CommandError, InputError, MapChoice, MissingPartError, UnsettledError
from ragkpi.files.column_names import ORDERS
from ragkpi.files.formats import map_of_texts, reads_as
from ragkpi.files.inputs import Inputs
from ragkpi.files.opening import Kind
from ragkpi.interface import spell

_MATCH_TEXT = "--match text"


def advised(problem: InputError, words: Sequence[str], inputs: Inputs) -> InputError:
    """Add the command with the qrels first, with each map, or the one that matches texts."""
    if isinstance(problem, UnsettledError):  # a map reads the file in its place
        return CommandError(problem, [_mapped(words, problem, of) for of in problem.maps])
    file, roles = problem.file, dict(inputs.roles)  # before other roles are tried
    if file in roles and (in_order := _in_order(words, file)):
        fault = f"{problem.fault}; the qrels come first"
        return CommandError(InputError(file, problem.line, fault, ""), [in_order])
    if file not in roles or file not in words or "--match" in words:
        return problem
    if not isinstance(problem, MissingPartError):
        return problem
    unread: dict[str, Kind] = {
        word: "run"
        for before, word in pairwise(words)
        if before[:1] != "-" and os.path.isfile(word)
    }
    maps = {path: map_of_texts(kind, path) for path, kind in {**unread, **roles}.items()}
    bare = next((path for path, texts in maps.items() if texts is None), None)
    if None not in (bare, maps[file]):
        expected = f"expected ids as in {bare}; texts match only texts ({_MATCH_TEXT})"
        return InputError(file, problem.line, problem.fault, expected)
    if bare is not None:
        return problem
    first, *others = words
    options = chain.from_iterable(filter(None, maps.values()))
    command = join(["ragkpi", first, *_MATCH_TEXT.split(), *options, *others])
    return CommandError(problem, [f"  {command}"])


def _in_order(words: Sequence[str], file: str) -> str:
    """Return the line with the qrels before the runs, if they surely stand behind one.

    That is sure if only this order can be read: each file holds what the other was given as.
    """
    first, *others = [word for word in words[1:] if os.path.isfile(word)] or [""]
    if words[0] in ("agree", "correct") or file not in (first, *others) or first in others:
        return ""  # of these commands, the first two are qrels
    with warnings.catch_warnings(action="ignore"):
        qrels = [other for other in others if reads_as("qrels", other)]
        sure = len(qrels) == 1 and reads_as("run", first)
        if not sure or (reads_as("qrels", first) and reads_as("run", qrels[0])):
            return ""
    rest = [word for word in words if word != qrels[0]]
    rest.insert(rest.index(first), qrels[0])
    return f"  {join(['ragkpi', *rest])}"


def _mapped(words: Sequence[str], problem: UnsettledError, of: MapChoice) -> str:
    """Return a command with a map; it keeps the parts of the map that the command had."""
    name, (first, *others) = spell(problem.argument), words
    pieces = [piece.strip() for piece in of.map.split(",")]
    for place, word in enumerate(others):
        if word == name or word.startswith(f"{name}="):
            earlier = others[place + 1] if word == name else word.partition("=")[2]
            dropped = {piece.partition("=")[0] for piece in pieces} | ORDERS
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
