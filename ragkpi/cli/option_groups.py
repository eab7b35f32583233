"""How options are declared, and how commands share them.

Declarations are plain data. `command_line` reads a command line by them before anything heavy is
imported, `typer_commands` makes typer's parameters of them, `help_pages` explains them.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from ragkpi.records import NamedTuple


class Declaration(NamedTuple):
    """What is declared about one option or argument, in ``Annotated[type, option(...)]``.

    Attributes
    ----------
    names
        ``("-l", "--level")``; empty for an argument.
    help, metavar
        What it does; what stands for its value in the help text.
    min, max
        Bounds of a number.
    envvar
        The environment variable that gives its value where the command line does not.
    parse
        What reads its text, if that is not the type.
    complete
        From the beginning of a value to the values that a shell may offer.
    heading
        The group of the help text that it stands in.
    """

    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    min: float | None = None
    max: float | None = None
    envvar: str | None = None
    parse: Callable[[str], Any] | None = None
    complete: Callable[[str], Sequence[str]] | None = None
    heading: str = "Options"


def option(*names: str, help: str, **facts: Any) -> Declaration:
    """Declare an option."""
    return Declaration(names, help, **facts)


def argument(metavar: str, help: str, **facts: Any) -> Declaration:
    """Declare arguments."""
    return Declaration((), help, metavar, **facts)


class Parameter(NamedTuple):
    """An option or argument of a command, with what is declared about it.

    Attributes
    ----------
    type
        ``bool`` for a flag, else what its text is read as.
    choices
        The only texts that it takes; empty for any.
    values
        Whether it takes one, or is a list.
    default
        What it is where nothing is given; `REQUIRED` if that is an error.
    """

    name: str
    type: type
    choices: tuple[str, ...]
    values: Literal["one", "many"]
    default: Any
    declared: Declaration


REQUIRED = inspect.Parameter.empty


def parameters_of(command: Callable[..., None]) -> list[Parameter]:
    """Return the options and arguments of a command, in the order of its help text."""
    return [_parameter(parameter) for parameter in inspect.signature(command).parameters.values()]


def _parameter(parameter: inspect.Parameter) -> Parameter:
    annotated, declared = get_args(parameter.annotation)
    choices: tuple[str, ...] = ()
    values: Literal["one", "many"] = "one"
    if get_origin(annotated) not in (None, list, Literal):  # or None
        (annotated,) = (kind for kind in get_args(annotated) if kind is not NoneType)
    if get_origin(annotated) is list:
        values, (annotated,) = "many", get_args(annotated)
    if get_origin(annotated) is Literal:
        choices, annotated = get_args(annotated), str
    return Parameter(parameter.name, annotated, choices, values, parameter.default, declared)


class OptionGroup(NamedTuple):
    """Options that several commands share, and the function that makes one value of them.

    Attributes
    ----------
    heading
        What the help text calls them.
    read
        The function; its parameters are the options. One that is declared as
        ``Annotated[type, group]`` stands for the options of another group, under their heading.
    settled
        The options that a command does not offer, and what they are.
    """

    heading: str
    read: Callable[..., Any]
    settled: Mapping[str, Any]

    def without(self, **settled: Any) -> "OptionGroup":
        """Return the group without options that mean nothing to a command."""
        return self._replace(settled={**self.settled, **settled})

    def parameters(self) -> list[inspect.Parameter]:
        """Return the options that are offered, under the heading."""
        offered: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(self.read).parameters.items():
            inner = _group_of(parameter)
            if inner is not None:
                offered += inner.parameters()
            elif name not in self.settled:
                offered.append(_under(self.heading, parameter))
        return offered

    def take(self, given: dict[str, Any]) -> Any:
        """Take the values of the options out of those that are given; return what they make."""
        chosen = dict(self.settled)
        for name, parameter in inspect.signature(self.read).parameters.items():
            inner = _group_of(parameter)
            if inner is not None:
                chosen[name] = inner.take(given)
            elif name not in chosen:
                chosen[name] = given.pop(name)
        return self.read(**chosen)


def option_group(heading: str) -> Callable[[Callable[..., Any]], OptionGroup]:
    """Make a group of the options that a function takes."""
    return lambda read: OptionGroup(heading, read, {})


def takes(**groups: OptionGroup) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of groups.

    ``@takes(options=evaluation)`` replaces the command's parameter ``options`` by the options of
    the group `evaluation`; what the group's function returns for them is passed as ``options``.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        shared = [parameter for group in groups.values() for parameter in group.parameters()]
        own = [
            parameter
            for name, parameter in inspect.signature(command).parameters.items()
            if name not in groups
        ]

        def run(**given: Any) -> None:
            made = {name: group.take(given) for name, group in groups.items()}
            command(**given, **made)

        run.__doc__ = command.__doc__
        run.__signature__ = _signature([*own, *shared])  # type: ignore[attr-defined]
        return run

    return decorate


def _signature(parameters: Sequence[inspect.Parameter]) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature([parameter.replace(kind=keyword) for parameter in parameters])


def _group_of(parameter: inspect.Parameter) -> OptionGroup | None:
    declared = get_args(parameter.annotation)[1]
    return declared if isinstance(declared, OptionGroup) else None


def _under(heading: str, parameter: inspect.Parameter) -> inspect.Parameter:
    type_, declared = get_args(parameter.annotation)
    annotation: Any = Annotated[type_, declared._replace(heading=heading)]
    return parameter.replace(annotation=annotation)
