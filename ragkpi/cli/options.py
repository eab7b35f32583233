"""Declarations of options, groups of options that commands share, and the reader of command lines.

A parameter's default declares an option or an argument, or is a group of them that a function
turns into one value. The annotation sets the option's type: a flag (``bool``), a choice
(``Literal``), a list of repeated values (``list[str]``), a number or a text. Without another
default, a flag is False, a list is empty, ``TYPE | None`` is None, and any other type is required.

Declarations are data: this module reads command lines by them, as trec_eval does with getopt, and
`help_pages` makes help and completion from them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from getopt import GetoptError, gnu_getopt
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from ragkpi.errors import UsageError
from ragkpi.wording import did_you_mean

REQUIRED: Any = object()


class Declaration(NamedTuple):
    """An option, or an argument, which has no option names."""

    names: tuple[str, ...]  # help shows them up to the first long name, not the spellings after it
    help: str
    metavar: str  # the placeholder of the value in help
    default: Any  # `REQUIRED` without one
    min: float | None = None
    max: float | None = None
    choices: Sequence[str] = ()  # the permitted values; empty permits any
    use: Literal["common", "usual", "trec_eval"] = "usual"  # -h shows common options
    parse: Callable[[str], Any] | None = None  # reads the text in place of the type
    complete: str = ""  # the kind of names that completion offers (`help_pages`)
    arguments: tuple[str, ...] = ()  # what it sets in Python, if not the argument of its own name
    name: str = ""  # the parameter's name
    type: type = str
    many: bool = False  # whether the option repeats; its value is a list then
    heading: str = ""

    def value_of(self, text: str) -> Any:
        """Convert a text to the option's value; `UsageError` for an invalid text."""
        if self.parse is not None:
            return self.parse(text)
        if self.choices and text not in self.choices:
            *others, last = self.choices
            choices = f"{', '.join(others)} or {last}" if others else last
            raise UsageError(f"{self.names[0]} {text}: no such choice; expected {choices}")
        try:
            value = self.type(text)
        except ValueError:
            kind = "whole number" if self.type is int else "number"
            raise UsageError(f"{self.names[0]} {text}: expected a {kind}") from None
        above = self.max is not None and value > self.max
        if above or (self.min is not None and value < self.min):
            bounds = f"{self.min} or more" if self.max is None else f"{self.min} to {self.max}"
            what = "too small" if self.max is None else "out of range"
            raise UsageError(f"{self.names[0]} {text}: {what}; expected {bounds}")
        return value


def option(usage: str, help: str, default: Any = REQUIRED, **facts: Any) -> Any:
    """Declare an option with its names and metavar: ``option("-o, --output FILE", …)``."""
    names, _, metavar = usage.replace(", ", ",").partition(" ")
    return Declaration(tuple(names.split(",")), help, metavar, default, **facts)


def argument(metavar: str, help: str, **facts: Any) -> Any:
    """Declare an argument."""
    return Declaration((), help, metavar, REQUIRED, **facts)


class OptionGroup(NamedTuple):
    """Options, and the function that turns them into one value: a shared group or a command.

    The function takes the values of its options and nested groups by name. Options that a command
    drops keep their defaults.
    """

    heading: str
    function: Callable[..., Any]
    members: "Mapping[str, Declaration | OptionGroup]"
    left_out: frozenset[str] = frozenset()

    def without(self, *names: str) -> "OptionGroup":
        """Return the group without options that do not apply to a command."""
        return self._replace(left_out=self.left_out.union(names))

    def changed(self, name: str, **facts: Any) -> "OptionGroup":
        """Return the group with one option redeclared."""
        changed = self.members[name]._replace(**facts)
        return self._replace(members={**self.members, name: changed})

    def options(self, left_out: frozenset[str] = frozenset()) -> list[Declaration]:
        """Return the options on offer, those of nested groups last."""
        left_out |= self.left_out
        offered: list[Declaration] = []
        for name, member in self.members.items():
            if name not in left_out:
                offered += [member] if isinstance(member, Declaration) else member.options(left_out)
        return offered

    def call(self, values: Mapping[str, Any]) -> Any:
        """Call the function with its share of `values`, which holds all groups' options by name."""
        return self.function(**self.values(values))

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the share of `values` that the function takes."""
        return {
            name: values.get(name, member.default)
            if isinstance(member, Declaration)
            else member.call(values)
            for name, member in self.members.items()
        }


class ArgumentGroup(OptionGroup):
    """Options that set arguments of public functions, by the names or `arguments` of both.

    An option without effect sets none. The function refuses what does not go together, and may
    return arguments in place of what the options say.
    """

    def call(self, values: Mapping[str, Any]) -> dict[str, Any]:
        by_name = self.values(values)
        arguments: dict[str, Any] = {}
        for name, member in self.members.items():
            if not isinstance(member, Declaration):
                arguments |= by_name[name]
            elif by_name[name] != member.default:
                for argument in member.arguments or [name]:
                    key, equals, fixed = argument.partition("=")
                    arguments[key] = fixed.strip('"') if equals else by_name[name]
        return {**arguments, **(self.function(**by_name) or {})}


def option_group(
    heading: str, kind: type[OptionGroup] = OptionGroup
) -> Callable[[Callable[..., Any]], Any]:
    """Turn a function whose defaults are options and groups into a group."""

    def decorate(function: Callable[..., Any]) -> OptionGroup:
        # Not inspect.signature: importing inspect takes longer than printing a help text.
        kinds = {name: kind for name, kind in function.__annotations__.items() if name != "return"}
        declared = dict(zip(kinds, function.__defaults__ or (), strict=True))
        groups = {name: of for name, of in declared.items() if isinstance(of, OptionGroup)}
        own = {
            name: _read_as(kinds[name], option)._replace(name=name, heading=heading)
            for name, option in declared.items()
            if name not in groups
        }
        return kind(heading, function, {**own, **groups})

    return decorate


argument_group = partial(option_group, kind=ArgumentGroup)
command = option_group("Options")


def _read_as(annotated: Any, option: Declaration) -> Declaration:
    """Complete a declaration with the type that the parameter's annotation gives."""
    default, choices = option.default, option.choices
    if NoneType in get_args(annotated):
        (annotated,) = (kind for kind in get_args(annotated) if kind is not NoneType)
        default = None if default is REQUIRED else default
    many = get_origin(annotated) is list
    if many:
        (annotated,) = get_args(annotated)
    if get_origin(annotated) is Literal:
        annotated, choices = str, get_args(annotated)
    if default is REQUIRED and (many or annotated is bool):
        default = [] if many else False
    return option._replace(type=annotated, many=many, default=default, choices=choices)


def usage_of(program: str, options: Sequence[Declaration]) -> str:
    """Return how a command is called, with its arguments."""
    return " ".join([program, "[OPTIONS]", *(one.metavar for one in options if not one.names)])


def values_of(
    options: Sequence[Declaration], words: Sequence[str], program: str = "ragkpi"
) -> dict[str, Any]:
    """Return the value of every option and argument; `UsageError` for a mistake."""
    by_name = {name: option for option in options for name in option.names}
    texts: dict[str, list[str]] = {}
    pairs, files = _split(by_name, [_unabbreviated(word, by_name) for word in words], program)
    for name, text in pairs:
        texts.setdefault(by_name[name].name, []).append(text)
    for argument in options:
        if not argument.names and files:
            count = len(files) if argument.many else 1
            texts[argument.name], files = files[:count], files[count:]
    if files:
        usage = usage_of(program, options)
        raise UsageError(f"{files[0]}: one file too many; expected {usage}")
    for option in options:
        if option.default is REQUIRED and option.name not in texts:
            name = " ".join([*option.names[:1], option.metavar])
            raise UsageError(f"{name} is missing; expected {usage_of(program, options)}")
    return {option.name: _value(option, texts.get(option.name)) for option in options}


def _split(
    by_name: Mapping[str, Declaration], words: Sequence[str], program: str
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options with their texts, and the files; short flags may be joined."""
    short, long = "", []
    for name, option in by_name.items():
        if name[:2] == "--":
            long.append(name[2:] + ("" if option.type is bool else "="))
        else:
            short += name[1] + ("" if option.type is bool else ":")
    try:
        return gnu_getopt(words, short, long)
    except GetoptError as problem:
        name = f"{'--' if len(problem.opt) > 1 else '-'}{problem.opt}"
        if name not in by_name:
            lists = f"'{program} --help' lists them"
            advice = did_you_mean(name, by_name, lists, 0.85) if len(problem.opt) > 1 else lists
            raise UsageError(f"{name}: no such option; {advice}") from None
        expected = f"{name} {by_name[name].metavar}".rstrip()
        fault = "it takes no value" if by_name[name].type is bool else "its value is missing"
        raise UsageError(f"{name}: {fault}; expected {expected}") from None


def _unabbreviated(word: str, by_name: Mapping[str, Declaration]) -> str:
    """Complete the beginning of a long name; `UsageError` if it begins several.

    Last names of options that have a letter come first, since they are trec_eval's.
    """
    beginning, equals, value = word.partition("=")
    if beginning[:2] != "--" or len(beginning) == 2 or beginning in by_name:
        return word
    names = sorted(name for name in by_name if name.startswith(beginning))
    names = [
        name
        for name in names
        if by_name[name].names[0][1] != "-" and name == by_name[name].names[-1]
    ] or names
    if len(names) > 1:
        raise UsageError(f"option {beginning} is ambiguous: {', '.join(names)}")
    return f"{names[0]}{equals}{value}" if names else word


def _value(option: Declaration, texts: list[str] | None) -> Any:
    if texts is None:
        return list(option.default) if option.many else option.default
    if option.type is bool:
        return True
    values = [option.value_of(text) for text in texts]
    return values if option.many else values[-1]
