"""`ragkpi` without a command: its version, and what makes shells complete command lines.

A shell calls ``ragkpi`` with the words up to the cursor, and with its own name in the environment
variable ``_RAGKPI_COMPLETE``. The declarations of options say what it may offer.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from ragkpi.cli.commands import COMMANDS, command_of
from ragkpi.cli.help_pages import help_page, purpose_of
from ragkpi.cli.options import Declaration, option, takes
from ragkpi.version import __version__

Offer = tuple[str, str]  # a word, and what it means

# A shell offers files where nothing is offered here.
SCRIPTS = {
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


@takes()
def command(
    version: bool = option("--version", "Print the version and stop.", use="common"),
    completion: Literal["bash", "zsh", "fish"] | None = option(
        "--completion SHELL", "Print a script for bash, zsh, fish.", use="common"
    ),
) -> None:
    """trec_eval's numbers, and the ones that retrieval for language models needs.

    'ragkpi eval QRELS RUN' prints what trec_eval prints; 'ragkpi help COMMAND' explains a command
    with examples, 'ragkpi measures NAME' a measure. eval "$(ragkpi --completion bash)" (zsh; in
    fish: ragkpi --completion fish | source) makes a shell complete commands, options and names.

    With every command, --max-memory SIZE (512M, 4G) says how much memory may be used; what would
    need more is refused. Default: three quarters of what the system has.

    Exit status: 0 done, 1 usage, 2 input unreadable or malformed, 3 a gate was missed or check
    found errors, 4 inconsistent data, 7 no query in common, 70 an error of ragkpi itself, 130
    interrupted, 141 nobody reads the output.
    """
    if version:
        from ragkpi.kernel import READER

        print(f"ragkpi {__version__} ({READER} reader)")
    elif completion is not None:
        print(SCRIPTS[completion], end="")
    else:
        print(help_page("", "common"), end="")


def offers_as_lines(shell: str, words: Sequence[str]) -> str:
    """Return the offers for the last word, a line each, as a shell wants them."""
    separator = {"zsh": ":", "fish": "\t"}.get(shell)
    return "".join(
        f"{text}{separator}{purpose}\n" if separator and purpose else f"{text}\n"
        for text, purpose in offers(words)
    )


def offers(words: Sequence[str]) -> list[Offer]:
    """Return what may replace the last of the words behind ``ragkpi``."""
    *before, last = words or [""]
    purposes = {name: entry.purpose for name, entry in COMMANDS.items()}
    if before == ["help"]:
        return _matching(last, purposes.items())
    if not before:
        purposes |= {"--help": "", "help": "Explain a command."}
        return [*_matching(last, purposes.items()), *_names(command_of("").options(), last)]
    if before[0] not in COMMANDS and before[0][0] != "-":
        return []
    options = command_of(before[0] if before[0] in COMMANDS else "").options()
    by_name = {name: option for option in options for name in option.names}
    if before[-1] == "=" or last == "=":  # bash splits --format=j at the sign
        name = before[-1] if last == "=" else before[-2]
        return _values(by_name.get(name), "" if last == "=" else last)
    name, equals, value = last.partition("=")
    if equals and name in by_name:
        return [(f"{name}={text}", purpose) for text, purpose in _values(by_name[name], value)]
    option = by_name.get(before[-1])
    if option is not None and option.type is not bool:
        return _values(option, last)
    if last.startswith("-"):
        return _names(options, last)
    arguments = [option for option in options if not option.names]
    return [offer for argument in arguments for offer in _values(argument, last)]


def _names(options: Iterable[Declaration], beginning: str) -> list[Offer]:
    """Return one name of each option, the first long one that matches."""
    offered = []
    for declared in options:
        names = [name for name in declared.names if name.startswith("--")] or declared.names
        offered += _matching(beginning, [(name, purpose_of(declared)) for name in names])[:1]
    return offered


def _values(option: Declaration | None, beginning: str) -> list[Offer]:
    if option is None:
        return []
    names = _names_of_kind(option.complete) if option.complete else option.choices
    done, comma, _ = beginning.rpartition(",") if option.many else ("", "", "")
    return _matching(beginning, [(done + comma + name, "") for name in names])


def _names_of_kind(kind: str) -> Iterable[str]:
    """Return names of a measure or nickname, a format of files, a format or shape, a grade map."""
    from ragkpi.files.registry import FILE_FORMATS
    from ragkpi.files.shapes import SHAPES
    from ragkpi.measures.registry import NICKNAMES, all_measures
    from ragkpi.ranking.judged import GRADE_MAPS

    formats = [*FILE_FORMATS["run"], *FILE_FORMATS["qrels"]]
    kinds: dict[str, Iterable[str]] = {
        "measure": [*all_measures(), *NICKNAMES],
        "format": formats,
        "format or shape": [*formats, *SHAPES["run"], *SHAPES["qrels"], "map"],
        "grade map": GRADE_MAPS,
    }
    return dict.fromkeys(kinds[kind])


def _matching(beginning: str, offers: Iterable[Offer]) -> list[Offer]:
    return [offer for offer in offers if offer[0].startswith(beginning)]
