"""Help pages and shell completion, both built from the list of commands and declared options.

``-h`` shows the common options on one screen, ``--help`` all of them. To complete a line, a shell
calls ``ragkpi`` with the words up to the cursor, and puts its own name into the environment
variable ``_RAGKPI_COMPLETE``.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from shutil import get_terminal_size
from typing import Literal

from ragkpi.cli.commands import COMMANDS, TASKS, command_of
from ragkpi.cli.options import REQUIRED, Declaration, command, option, usage_of
from ragkpi.kernel import READER
from ragkpi.version import __version__
from ragkpi.wording import text_lines

HelpPage = Literal["common", "all"]
Rows = list[tuple[str, str]]

_HELP = [("-h", "Show the common options and exit."), ("--help", "Show all options and exit.")]
_TREC_EVAL = "Of trec_eval, for its scripts"
_NARROWEST, _WIDEST = 50, 100
_NAMES = 30  # characters; longer names get their own line
Offer = tuple[str, str]  # a word and its meaning

# Without an offer from here, the shell offers files.
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


@command
def ragkpi(
    version: bool = option("--version", "Print the version and stop.", use="common"),
    completion: Literal["bash", "zsh", "fish"] | None = option(
        "--completion SHELL", "Print a script for bash, zsh, fish.", use="common"
    ),
) -> None:
    """trec_eval's numbers, and those that retrieval for language models needs.

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
        print(f"ragkpi {__version__} ({READER} reader)")
    elif completion is not None:
        print(SCRIPTS[completion], end="")
    else:
        print(help_page("", "common"), end="")


def help_page(name: str, page: HelpPage = "all") -> str:
    """Return the help page of a command; "" returns the list of commands."""
    program, command = f"ragkpi {name}".rstrip(), command_of(name)
    options = command.options()
    usage = usage_of(program, options) if name else f"{program} [OPTIONS] COMMAND [ARGS]..."
    paragraphs = (command.function.__doc__ or "").strip().split("\n\n")
    if page == "common":
        paragraphs = paragraphs[:1]
        common = [option for option in options if option.use == "common"]
        groups = {"Options": [(_names_of(option), purpose_of(option)) for option in common]}
    else:
        groups = _explained(options)
    for task, heading in TASKS.items() if not name else ():
        listed = [(other, one.purpose) for other, one in COMMANDS.items() if one.task == task]
        groups[heading] = listed
    lines = list(_lines(usage, paragraphs, groups))
    if name:
        lines += [f"\n{_bold('Examples:')}\n", *(f"  {line}\n" for line in COMMANDS[name].examples)]
    if page == "common":
        lines += [f"\nMore, with all options: {program} --help\n"]
    return "".join(lines)


def purpose_of(option: Declaration) -> str:
    """Return the first sentence of an option's help."""
    return option.help.partition(". ")[0].rstrip(".") + "."


def _explained(options: Sequence[Declaration]) -> dict[str, Rows]:
    """Return names and help of options and arguments by heading, those of trec_eval last."""
    groups: dict[str, Rows] = {"Options": []}
    for one in sorted(options, key=lambda one: one.use == "trec_eval"):
        heading = _TREC_EVAL if one.use == "trec_eval" else one.heading
        row = (_names_of(one), f"{one.help}{_facts(one)}")
        groups.setdefault(heading, []).append(row)
    if not any("--help" in option.names for option in options):
        groups["Options"] += _HELP
    return groups


def _names_of(option: Declaration) -> str:
    """Return the shown names and the metavar, without alternative spellings."""
    others = [name for name in option.names if name[:2] == "--"][1:]
    names = ", ".join(name for name in option.names if name not in others)
    return f"{names} {option.metavar}".strip()


def _facts(option: Declaration) -> str:
    """Return the declared bounds and default."""
    facts = []
    if option.default is REQUIRED:
        facts.append("required")
    elif option.default not in (None, False, [], ""):
        facts.append(f"default: {str(option.default).replace(',', ', ')}")
    if option.max is not None:
        facts.append(f"{option.min} to {option.max}")
    elif option.min is not None:
        facts.append(f"{option.min} or more")
    return f" [{'; '.join(facts)}]" if facts and option.names else ""


def _lines(usage: str, paragraphs: Sequence[str], groups: dict[str, Rows]) -> Iterator[str]:
    width = max(min(get_terminal_size().columns, _WIDEST) - 2, _NARROWEST)
    yield f"{_bold('Usage:')} {usage}\n"
    for paragraph in paragraphs:
        yield "\n"
        yield from (f"  {line}\n" for line in text_lines(" ".join(paragraph.split()), width - 2))
    for heading, rows in groups.items():
        if rows:
            yield f"\n{_bold(heading + ':')}\n"
        indent = min(max((len(names) for names, _ in rows), default=0), _NAMES) + 2
        for names, text in rows:
            first, *others = text_lines(text, width - 2 - indent)
            if len(names) > _NAMES:
                yield f"  {_bold(names)}\n  {'':{indent}}{first}\n"
            else:
                yield f"  {_bold(names)}{'':{indent - len(names)}}{first}\n"
            yield from (f"  {'':{indent}}{line}\n" for line in others)


def _bold(text: str) -> str:
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR")
    return text if plain else f"\x1b[1m{text}\x1b[0m"


def offers_as_lines(shell: str, words: Sequence[str]) -> str:
    """Return the offers for the last word, one per line, in the shell's own format."""
    separator = {"zsh": ":", "fish": "\t"}.get(shell)
    return "".join(
        f"{text}{separator}{purpose}\n" if separator and purpose else f"{text}\n"
        for text, purpose in offers(words)
    )


def offers(words: Sequence[str]) -> list[Offer]:
    """Return completions for the last word after ``ragkpi``."""
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
    if before[-1] == "=" or last == "=":  # bash splits --format=j at the equals sign
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
    """Return the first matching long name of each option."""
    offered = []
    for one in options:
        names = [name for name in one.names if name.startswith("--")] or one.names
        offered += _matching(beginning, [(name, purpose_of(one)) for name in names])[:1]
    return offered


def _values(option: Declaration | None, beginning: str) -> list[Offer]:
    if option is None:
        return []
    names = _names_of_kind(option.complete) if option.complete else option.choices
    done, comma, _ = beginning.rpartition(",") if option.many else ("", "", "")
    return _matching(beginning, [(done + comma + name, "") for name in names])


def _names_of_kind(kind: str) -> Iterable[str]:
    """Return the names of one kind: measures and nicknames, formats or grade maps."""
    from ragkpi.files import registry
    from ragkpi.measures.registry import NICKNAMES, all_measures
    from ragkpi.ranking.judged import GRADE_MAPS

    formats = [*registry.FILE_FORMATS["run"], *registry.FILE_FORMATS["qrels"]]
    kinds: dict[str, Iterable[str]] = {
        "measure": [*all_measures(), *NICKNAMES],
        "format": formats,
        "format or topic": [*formats, "map", "names"],
        "grade map": GRADE_MAPS,
    }
    return dict.fromkeys(kinds[kind])


def _matching(beginning: str, offers: Iterable[Offer]) -> list[Offer]:
    return [offer for offer in offers if offer[0].startswith(beginning)]
