"""How options are declared, and how commands share them.

Declarations are plain data. `command_line` reads a command line by them before anything heavy is
imported, `typer_commands` makes typer's parameters of them, `help_pages` explains them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from ragkpi.records import NamedTuple

if TYPE_CHECKING:
    from typing import Annotated as Annotated
else:

    class Annotated:
        """``Annotated[type, declared]`` is that pair; `typing` takes two milliseconds for them."""

        def __class_getitem__(cls, pair: tuple[Any, Any]) -> tuple[Any, Any]:
            return pair


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
    arguments
        The arguments of Python that it stands for, where the name of the parameter is not that.
    """

    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    min: float | None = None
    max: float | None = None
    envvar: str | None = None
    parse: Callable[[str], Any] | None = None
    complete: Callable[[str], Sequence[str]] | None = None
    arguments: tuple[str, ...] = ()


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
    heading
        The group of the help text that it stands in.
    """

    name: str
    type: type
    choices: tuple[str, ...]
    values: Literal["one", "many"]
    default: Any
    declared: Declaration
    heading: str


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


def parameters_of(command: Callable[..., None]) -> Sequence[Parameter]:
    """Return the options and arguments of a command, in the order of its help text."""
    parameters: Sequence[Parameter] = getattr(command, "parameters", ())  # of `takes`
    return parameters


def _declared(
    function: Callable[..., Any], heading: str = "Options", but: Collection[str] = ()
) -> "dict[str, Parameter | OptionGroup]":
    """Return what is declared of the parameters of a function, by name, `but` for some.

    `inspect.signature` would say the same, in a millisecond.
    """
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = function.__defaults__ or ()
    defaults = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
    defaults |= function.__kwdefaults__ or {}
    declared: dict[str, Parameter | OptionGroup] = {}
    for name in names:
        if name not in but:
            annotated, said = function.__annotations__[name]
            default = defaults.get(name, REQUIRED)
            declared[name] = (
                said
                if isinstance(said, OptionGroup)
                else Parameter(name, *_kind(annotated), default, said, heading)
            )
    return declared


def _kind(annotated: Any) -> tuple[type, tuple[str, ...], Literal["one", "many"]]:
    """Return what the text of a parameter is read as, its choices, and whether it is a list."""
    values: Literal["one", "many"] = "one"
    origin = get_origin(annotated)
    if origin not in (None, list, Literal):  # or None
        (annotated,) = (kind for kind in get_args(annotated) if kind is not NoneType)
        origin = get_origin(annotated)
    if origin is list:
        values, (annotated,) = "many", get_args(annotated)
        origin = get_origin(annotated)
    return (str, get_args(annotated), values) if origin is Literal else (annotated, (), values)


class OptionGroup(NamedTuple):
    """Options that several commands share, and the function that makes one value of them.

    Attributes
    ----------
    heading
        What the help text calls them.
    read
        The function; its parameters are the options. One that is declared as
        ``Annotated[type, group]`` stands for the options of another group, under their heading.
    options
        These options and groups, by the name of the parameter.
    settled
        The options that a command does not offer, and what they are.
    """

    heading: str
    read: Callable[..., Any]
    options: "Mapping[str, Parameter | OptionGroup]"
    settled: Mapping[str, Any]

    def without(self, **settled: Any) -> "OptionGroup":
        """Return the group without options that mean nothing to a command."""
        return self._replace(settled={**self.settled, **settled})

    def parameters(self) -> list[Parameter]:
        """Return the options that are offered, under the heading."""
        offered: list[Parameter] = []
        for name, option in self.options.items():
            if isinstance(option, OptionGroup):
                offered += option.parameters()
            elif name not in self.settled:
                offered.append(option)
        return offered

    def take(self, given: dict[str, Any]) -> Any:
        """Take the values of the options out of those that are given; return what they make."""
        chosen = dict(self.settled)
        for name, option in self.options.items():
            if isinstance(option, OptionGroup):
                chosen[name] = option.take(given)
            elif name not in chosen:
                chosen[name] = given.pop(name)
        return self.read(**chosen)


def option_group(heading: str) -> Callable[[Callable[..., Any]], OptionGroup]:
    """Make a group of the options that a function takes."""
    return lambda read: OptionGroup(heading, read, _declared(read, heading), {})


def takes(**groups: OptionGroup) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command what is declared of its parameters, and the options of groups.

    ``@takes(options=evaluation)`` replaces the command's parameter ``options`` by the options of
    the group `evaluation`; what the group's function returns for them is passed as ``options``.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        shared = [parameter for group in groups.values() for parameter in group.parameters()]
        own = OptionGroup("Options", command, _declared(command, but=groups), {}).parameters()

        def run(**given: Any) -> None:
            made = {name: group.take(given) for name, group in groups.items()}
            command(**given, **made)

        run.__doc__ = command.__doc__
        run.parameters = [*own, *shared]  # type: ignore[attr-defined]
        return run

    return decorate


# What declarations give as `complete`: from the beginning of a value to values that begin so.


def measure_names(beginning: str) -> list[str]:
    """Return the measures and nicknames that begin so, behind those that a comma ends."""
    from ragkpi.measures.registry import NICKNAMES, all_measures

    done, comma, last = beginning.rpartition(",")
    names = [*all_measures(), *NICKNAMES]
    return [done + comma + name for name in names if name.startswith(last)]


def grade_map_names(beginning: str) -> list[str]:
    """Return the grade maps that begin so."""
    from ragkpi.ranking.grade_maps import GRADE_MAPS

    return [name for name in GRADE_MAPS if name.startswith(beginning)]


def file_formats(beginning: str) -> list[str]:
    """Return the formats of files that begin so."""
    from ragkpi.formats.format_registry import FILE_FORMATS

    names = {**FILE_FORMATS["run"], **FILE_FORMATS["qrels"]}
    return [name for name in names if name.startswith(beginning)]


def formats_and_shapes(beginning: str) -> list[str]:
    """Return the formats of files, and the shapes of what is in them, that begin so."""
    from ragkpi.formats.shapes import SHAPES

    names = dict.fromkeys([*file_formats(""), *SHAPES["run"], *SHAPES["qrels"], "map"])
    return [name for name in names if name.startswith(beginning)]
