"""What shells complete: commands, options, and the values and arguments that have names.

A shell calls ``ragkpi`` with the words up to the cursor, and with its own name in the environment
variable `COMPLETE_VARIABLE`. What is offered is read from the declarations, as help texts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragkpi.cli.commands import COMMANDS, function_of
from ragkpi.cli.option_groups import Parameter, parameters_of
from ragkpi.errors import UsageError

Offer = tuple[str, str]  # what may stand there, and what it is

# A shell offers files where nothing is offered here.
_SCRIPTS = {
    "bash": """\
_ragkpi() {
    local IFS=$'\\n'
    COMPREPLY=($(_RAGKPI_COMPLETE=bash "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _ragkpi ragkpi
""",
    "zsh": """\
#compdef ragkpi
_ragkpi() {
    local -a offers
    offers=("${(@f)$(_RAGKPI_COMPLETE=zsh ${words[1]} "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n ${offers[1]} ]]; then _describe ragkpi offers; else _files; fi
}
if [[ ${funcstack[1]} == _ragkpi ]]; then _ragkpi "$@"; else compdef _ragkpi ragkpi; fi
""",
    "fish": """\
function __ragkpi_offers
    set -l words (commandline -opc)
    set -lx _RAGKPI_COMPLETE fish
    set -l last (commandline -ct)
    set -l offers ($words[1] $words[2..-1] "$last" 2>/dev/null)
    if test -n "$offers"
        printf '%s\\n' $offers
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c ragkpi -f -a '(__ragkpi_offers)'
""",
}


def script(shell: str) -> str:
    """Return what makes a shell complete command lines of ragkpi."""
    if shell not in _SCRIPTS:
        raise UsageError(f"--completion {shell}: expected {', '.join(_SCRIPTS)}")
    return _SCRIPTS[shell]


def offers_as_lines(shell: str, words: Sequence[str]) -> str:
    """Return what may stand in the place of the last word, a line each, as a shell wants it."""
    lines = []
    for text, purpose in offers(words):
        if shell == "zsh":
            lines.append(f"{text}:{purpose}" if purpose else text)
        else:
            lines.append(f"{text}\t{purpose}" if shell == "fish" and purpose else text)
    return "".join(f"{line}\n" for line in lines)


def offers(words: Sequence[str]) -> list[Offer]:
    """Return what may stand in the place of the last of the words behind ``ragkpi``."""
    *before, last = words or [""]
    if before in ([], ["help"]):
        purposes = {name: entry.purpose for name, entry in COMMANDS.items()}
        options = {"--help": "", "--version": "", "--completion": "", "help": "Explain a command."}
        return _beginning(last, [*purposes.items(), *([] if before else options.items())])
    if before[0] == "--completion":
        return _beginning(last, [(shell, "") for shell in _SCRIPTS])
    if before[0] not in COMMANDS:
        return []
    parameters = parameters_of(function_of(before[0]))
    options_by_name = {
        name: parameter for parameter in parameters for name in parameter.declared.names
    }
    if before[-1] == "=" or last == "=":  # bash takes --format=j apart
        name = before[-1] if last == "=" else before[-2]
        return _values(options_by_name.get(name), "" if last == "=" else last)
    name, equals, value = last.partition("=")
    if equals and name in options_by_name:
        return [(f"{name}={text}", what) for text, what in _values(options_by_name[name], value)]
    option = options_by_name.get(before[-1])
    if option is not None and option.type is not bool:
        return _values(option, last)
    if last.startswith("-"):
        return _beginning(last, _options(parameters, last))
    arguments = [parameter for parameter in parameters if not parameter.declared.names]
    return [offer for argument in arguments for offer in _values(argument, last)]


def _options(parameters: Iterable[Parameter], beginning: str) -> Iterator[Offer]:
    """Yield the names of options: the first long one of each, and others that are asked for."""
    for parameter in parameters:
        purpose = parameter.declared.help.partition(". ")[0].rstrip(".")
        names = parameter.declared.names
        long = [name for name in names if name.startswith("--")] or list(names)
        matching = [name for name in long if name.startswith(beginning)]
        if matching:
            yield matching[0], purpose


def _values(parameter: Parameter | None, beginning: str) -> list[Offer]:
    if parameter is None:
        return []
    if parameter.choices:
        return _beginning(beginning, [(choice, "") for choice in parameter.choices])
    complete = parameter.declared.complete
    return [] if complete is None else [(text, "") for text in complete(beginning)]


def _beginning(text: str, offers: Iterable[Offer]) -> list[Offer]:
    return [offer for offer in offers if offer[0].startswith(text)]
