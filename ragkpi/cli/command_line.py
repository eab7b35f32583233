"""A usual command line, read by the declarations alone.

typer takes as long to import as numpy. So what people usually type is read here; for anything else
(mistakes, abbreviations) the answer is None, and typer reads the line again and says
what is wrong. A test holds that both read the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragkpi.cli.commands import COMMANDS, function_of
from ragkpi.cli.option_groups import REQUIRED, Parameter, parameters_of

Texts = Mapping[str, Sequence[str]]


class _UnusualError(Exception):
    """Something that is for typer to read."""


def command_and_values(
    arguments: Sequence[str],
) -> tuple[Callable[..., None], dict[str, Any]] | None:
    """Return a command and what to call it with; None for what typer has to read."""
    if not arguments or arguments[0] not in COMMANDS:
        return None
    command = function_of(arguments[0])
    values = values_of(parameters_of(command), arguments[1:])
    return None if values is None else (command, values)


def values_of(parameters: Sequence[Parameter], words: Sequence[str]) -> dict[str, Any] | None:
    """Return the value of every parameter; None for what typer has to read."""
    try:
        texts, files = _split(parameters, words)
        texts |= _shared_out(
            files, [parameter for parameter in parameters if not parameter.declared.names]
        )
        return {parameter.name: _value(parameter, texts) for parameter in parameters}
    except _UnusualError:
        return None


def _split(
    parameters: Sequence[Parameter], words: Sequence[str]
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the texts of each option, none for a flag, and what belongs to no option."""
    options = {name: parameter for parameter in parameters for name in parameter.declared.names}
    texts: dict[str, list[str]] = {}
    rest = []
    following = iter(words)
    for word in following:
        if word[:1] != "-" or word == "-":
            rest.append(word)
            continue
        name, equals, value = word.partition("=")
        given: str | None = value if equals else None
        if name[:2] != "--":
            # Short flags may be joined, and the last may be an option with its value.
            name, given = word[:2], word[2:] or None
            while given is not None and _is_flag(options.get(name)):
                texts.setdefault(options[name].name, [])
                name, given = f"-{given[0]}", given[1:] or None
        option = options.get(name)
        if option is None:
            raise _UnusualError
        read = texts.setdefault(option.name, [])
        if _is_flag(option):
            if given is not None:
                raise _UnusualError
            continue
        if given is None:
            given = next(following, "-?")
            if given[:1] == "-" and given != "-":
                raise _UnusualError
        read.append(given)
    return texts, rest


def _is_flag(option: Parameter | None) -> bool:
    return option is not None and option.type is bool


def _shared_out(files: list[str], arguments: Sequence[Parameter]) -> dict[str, list[str]]:
    """Give each argument one of the files, or to a list, which is the last, those that remain."""
    texts = {}
    for argument in arguments:
        many = argument.values == "many"
        taken = files if many else files[:1]
        files = files[len(taken) :]
        if taken:
            texts[argument.name] = taken
    if files:
        raise _UnusualError
    return texts


def _value(parameter: Parameter, texts: Texts) -> Any:
    read = texts.get(parameter.name)
    variable = parameter.declared.envvar
    if read is None and variable is not None and os.environ.get(variable):
        read = [os.environ[variable]]
    if read is None:
        if parameter.default is REQUIRED:
            raise _UnusualError
        return (
            list(parameter.default)
            if parameter.values == "many" and parameter.default is not None
            else parameter.default
        )
    if parameter.type is bool:
        return True
    if parameter.values == "many":
        return [_converted(parameter, text) for text in read]
    return _converted(parameter, read[-1])


def _converted(parameter: Parameter, text: str) -> Any:
    declared = parameter.declared
    if parameter.choices and text not in parameter.choices:
        raise _UnusualError
    try:
        value = (declared.parse or parameter.type)(text)
    except Exception:
        raise _UnusualError from None  # the same happens to typer, which says so
    below = declared.min is not None and value < declared.min
    if below or (declared.max is not None and value > declared.max):
        raise _UnusualError
    return value
