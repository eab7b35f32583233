"""What is declared about options, as typer reads it."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

import typer

from ragkpi.cli.option_groups import Declaration


def typer_command(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters are declared as typer reads them."""

    def run(**given: Any) -> None:
        command(**given)

    signature = inspect.signature(command)
    parameters = [_for_typer(parameter) for parameter in signature.parameters.values()]
    run.__doc__ = command.__doc__
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _for_typer(parameter: inspect.Parameter) -> inspect.Parameter:
    if get_origin(parameter.annotation) is not Annotated:
        return parameter
    type_, declared = get_args(parameter.annotation)
    if not isinstance(declared, Declaration):
        return parameter
    facts: dict[str, Any] = {
        "help": declared.help,
        "metavar": declared.metavar,
        "min": declared.min,
        "max": declared.max,
        "parser": declared.parse,
        "autocompletion": declared.complete,
    }
    if not declared.names:
        return parameter.replace(
            annotation=Annotated[type_, typer.Argument(**facts, show_default=False)]
        )
    found = typer.Option(
        *declared.names, **facts, envvar=declared.envvar, rich_help_panel=declared.heading
    )
    return parameter.replace(annotation=Annotated[type_, found])
