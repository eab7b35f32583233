"""Read an ordinary command line by the declarations alone.

typer takes as long to import as numpy, or longer. So the command lines that people usually type
are read here. Anything else (mistakes, abbreviations, ``--``) is left to typer, which words the
mistake; a test holds that both read the same.
"""

import os
from collections.abc import Sequence
from typing import Any

from ragkpi.cli.option_groups import REQUIRED, Declaration
from ragkpi.errors import UsageError


def values_of(options: Sequence[Declaration], words: Sequence[str]) -> dict[str, Any] | None:
    """Return the value of every option and argument; None if typer has to read the words."""
    try:
        texts = _texts(options, words)
        return {option.name: _value(option, texts.get(option.name)) for option in options}
    except (LookupError, StopIteration, ValueError, UsageError):
        return None


def _texts(options: Sequence[Declaration], words: Sequence[str]) -> dict[str, list[str]]:
    """Return the texts of the options and arguments that are present, none for a flag."""
    by_name = {name: option for option in options for name in option.names}
    texts: dict[str, list[str]] = {}
    files: list[str] = []
    remaining = iter(words)
    for word in remaining:
        if word[:1] != "-" or word == "-":
            files.append(word)
            continue
        name, equals, text = word.partition("=")
        if word[:2] != "--":
            # Short flags may be joined, and the last may be an option with its value.
            name, text = word[:2], word[2:]
            while text and by_name[name].type is bool:
                texts[by_name[name].name] = []
                name, text = f"-{text[0]}", text[1:]
            equals = text
        option = by_name[name]
        values = texts.setdefault(option.name, [])
        if option.type is bool:
            if equals:
                raise ValueError
            continue
        if not equals:
            text = next(remaining)
            if text[:1] == "-" and text != "-":
                raise ValueError
        values.append(text)
    for argument in options:
        if not argument.names and files:
            count = len(files) if argument.many else 1
            texts[argument.name], files = files[:count], files[count:]
    if files:
        raise ValueError
    return texts


def _value(option: Declaration, texts: list[str] | None) -> Any:
    if texts is None and option.envvar and os.environ.get(option.envvar):
        texts = [os.environ[option.envvar]]
    if texts is None:
        if option.default is REQUIRED:
            raise LookupError
        return list(option.default) if option.many else option.default
    if option.type is bool:
        return True
    values = [option.value_of(text) for text in texts]
    return values if option.many else values[-1]
