"""From functions to typer commands: shared groups of options, and the options of public functions.

A command is a typer function. Two kinds of its parameters stand for several options:

- one whose type is a dataclass is a group: the fields are options, and the command gets the object;
- ``**arguments`` stands for the options that a public function declares, its groups
  (``**how: Unpack[Evaluating]``) included; the command gets those that the line gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature, getdoc, signature
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

from typer import Context

from ragkpi.cli.configuration import note_project, with_project_qrels
from ragkpi.cli.pages import Version, show_common
from ragkpi.cli.process import limit_memory
from ragkpi.cli.terminal import hide_notes
from ragkpi.errors import InputError, UsageError
from ragkpi.library.options import Declared, Flags, arguments_of, declared, less_common, names_of

_OF_JUDGES = ("agree", "correct")  # commands whose first two files are qrels
_OF_SHELL = {"names": "file"}  # defaults of a line that differ from Python's
PUBLIC = "arguments"  # the name of the parameter for the options of a public function
_SECTION = re.compile(r"\n\n\w+\n-+\n")  # of a docstring


class _Option(NamedTuple):
    """An option of the line, and the argument of a parameter that it sets."""

    parameter: Parameter
    owner: str  # the parameter of the command
    argument: str
    value: str | None = None  # of a flag
    always: bool = False  # whether the command also gets the default


def command(
    public: Callable[..., Any] | None = None,
    without: Collection[str] = (),
    *,
    examples: Sequence[str],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a typer command, with the options of a public function `without` some.

    `without` names arguments, or single flags of one. The docstring of the public function, up to
    its parameters, is the help, and three `examples`, which run in the folder ``fixtures``, end it.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        parameters = signature(function, eval_str=True).parameters
        groups = {name: of.annotation for name, of in parameters.items() if _is_group(of)}
        options = [
            option
            for option in _options(parameters, public)
            if not {option.argument, option.parameter.name} & {*without}
        ]

        def run(context: Context, **values: Any) -> None:
            arguments = _arguments(context, options, values, [*groups, PUBLIC, ""])
            of_groups = {name: group(**arguments[name]) for name, group in groups.items()}
            files = list(values.get("files") or ()) if context.info_name not in _OF_JUDGES else []
            try:
                function(**arguments[""], **of_groups, **arguments[PUBLIC])
            except InputError as problem:
                from ragkpi.cli.advice import advised  # only errors need it

                raise advised(problem, context.obj, files) from None

        every = {option.parameter.name: option.parameter for option in options}
        context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=Context)
        run.__signature__ = Signature([context, *every.values(), *_OF_ALL])  # type: ignore[attr-defined]
        run.__annotations__ = {}
        text = _SECTION.split(getdoc(public or function) or "")[0]
        run.__doc__ = text.replace("``", "").replace("`", "")
        run.__module__ = function.__module__
        run.examples = examples  # type: ignore[attr-defined]
        return run

    return decorate


def _arguments(
    context: Context, options: Collection[_Option], values: Mapping[str, Any], owners: list[str]
) -> dict[str, dict[str, Any]]:
    """Return the arguments from the line and the project, by parameter."""
    arguments: dict[str, dict[str, Any]] = {owner: {} for owner in owners}
    project: list[str] = []
    for option in options:
        name, of_owner = option.parameter.name, arguments[option.owner]
        source = context.get_parameter_source(name)
        if option.value is not None:
            if values[name]:
                _refuse_two(option, of_owner, options)
                of_owner[option.argument] = option.value
        elif option.always or (source is not None and source.name != "DEFAULT"):
            of_owner[option.argument] = values[name]
            project += [name] if source and source.name == "DEFAULT_MAP" else []
    files = arguments[""].get("files")
    if files and (own := with_project_qrels(files)) != files:
        arguments[""]["files"] = own
        project.append("qrels")
    note_project(project)
    return arguments


def _is_group(parameter: Parameter) -> bool:
    return is_dataclass(parameter.annotation)


def _options(
    parameters: Mapping[str, Parameter], public: Callable[..., Any] | None
) -> Iterator[_Option]:
    if public is not None and PUBLIC in parameters:
        for argument, of, default in _public_arguments(public):
            yield from _of_argument(PUBLIC, argument, of, default)
    for name, parameter in parameters.items():
        if _is_group(parameter):
            hints = get_type_hints(parameter.annotation, include_extras=True)
            for field in fields(parameter.annotation):
                default = Parameter.empty if field.default is MISSING else field.default
                yield from _of_argument(name, field.name, declared(hints[field.name]), default)
        elif name != PUBLIC:
            yield from _of_argument("", name, declared(parameter.annotation), parameter.default)


def _public_arguments(public: Callable[..., Any]) -> Iterator[tuple[str, Declared, Any]]:
    for name, parameter in signature(public, eval_str=True).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            (group,) = get_args(parameter.annotation)
            for argument, of in arguments_of(group).items():
                yield argument, of, _OF_SHELL.get(argument)
        else:
            yield name, declared(parameter.annotation), parameter.default


def _of_argument(owner: str, argument: str, of: Declared, default: Any) -> Iterator[_Option]:
    if isinstance(of.option, Flags):
        for value, flag in of.option.items():
            name = next(one for one in names_of(flag, argument) if one.startswith("--"))
            name = name.strip("-").replace("-", "_")
            yield _Option(_parameter(name, bool, flag, False), owner, argument, value)
    elif of.option is not None:
        if default is not Parameter.empty and not default:
            default = False if of.shell is bool else default or None
        always = owner == PUBLIC and argument in _OF_SHELL
        yield _Option(
            _parameter(argument, of.shell, of.option, default), owner, argument, always=always
        )


def _parameter(name: str, kind: Any, option: Any, default: Any) -> Parameter:
    annotation: Any = Annotated[kind if default is not None else kind | None, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _refuse_two(option: _Option, given: Mapping[str, Any], options: Collection[_Option]) -> None:
    """Refuse two flags that give one argument different values."""
    if option.argument in given:
        two = [
            names_of(get_args(one.parameter.annotation)[1], one.argument)[0]
            for one in options
            if one.argument == option.argument
            and one.value in (option.value, given[option.argument])
        ]
        raise UsageError(f"{' with '.join(two)}: they contradict each other; expected one of them")


# Options of every command.
_OF_ALL = [
    _parameter(
        "short_help",
        bool,
        less_common(
            "-h",
            is_eager=True,
            expose_value=False,
            callback=show_common,
            help="Show the common options and stop.",
        ),
        False,
    ),
    _parameter("version", bool, Version, False),
    _parameter(
        "quiet",
        bool,
        less_common(
            "--quiet",
            expose_value=False,
            callback=hide_notes,
            help="Hide notes and the progress bar; warnings and errors remain.",
        ),
        False,
    ),
    _parameter(
        "max_memory",
        str,
        less_common(
            "--max-memory",
            metavar="SIZE",
            expose_value=False,
            callback=limit_memory,
            help="Fail rather than use more memory, such as 512M or 4G. Default: 75%.",
        ),
        None,
    ),
]
