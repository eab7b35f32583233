"""How a command takes options that it shares with others."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Collection
from typing import Annotated, Any, get_args


def takes(**groups: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of groups: functions from options to one argument of its.

    ``@takes(asked=evaluation)`` replaces the command's parameter ``asked`` by the options that
    `evaluation` declares; what `evaluation` returns for them is passed as ``asked``. The help
    text has them under the group's name. ``asked=partial(evaluation, measure=[])`` leaves out
    the option that is settled.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        shared = {
            name: [_under(_heading(group), option) for option in _options(group)]
            for name, group in groups.items()
        }
        parameters = [option for options in shared.values() for option in options]
        parameters += _options(command, but=groups)

        @functools.wraps(command)
        def run(**given: Any) -> None:
            for name, options in shared.items():
                chosen = {option.name: given.pop(option.name) for option in options}
                given[name] = groups[name](**chosen)
            command(**given)

        # What typer reads: the signature, and the annotations behind it.
        del run.__wrapped__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        )
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _options(function: Callable[..., Any], but: Collection[str] = ()) -> list[inspect.Parameter]:
    """Return the parameters of a function with their annotations evaluated."""
    if isinstance(function, functools.partial):
        return _options(function.func, but=function.keywords)
    return [
        parameter.replace(annotation=eval(parameter.annotation, function.__globals__))
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in but
    ]


def _heading(group: Callable[..., Any]) -> str:
    function = group.func if isinstance(group, functools.partial) else group
    return str(function.__name__).capitalize()


def _under(heading: str, option: inspect.Parameter) -> inspect.Parameter:
    type_, declared = get_args(option.annotation)
    declared = copy.copy(declared)
    declared.rich_help_panel = heading
    return option.replace(annotation=Annotated[type_, declared])
