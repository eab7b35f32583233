"""What typer finds wrong with a command line, in the words of all other errors."""

import re

from typer import TyperException

# What typer says of the value of an option, and how it is said here: found; expected.
_WORDS = {
    r"'(.*)' is not a valid (?:int|integer)(?: range)?": r"\1: no whole number; expected one",
    r"'(.*)' is not a valid float(?: range)?": r"\1: no number; expected one",
    r"(\S+) is not in the range x>=(\S+)": r"\1: too small; expected \2 or more",
    r"(\S+) is not in the range (\S+)<=x<=(\S+)": r"\1: out of range; expected \2 to \3",
}
_OF_OPTION = re.compile(r"Invalid value for '(\S+?)'[^:(]*(?:\(env var: \S*\))?: (.*)", re.DOTALL)
_CHOICE = re.compile(r"'(.*?)' is not one of '(.*)'", re.DOTALL)


def usage_text(problem: TyperException) -> str:
    """Return the one line for what is wrong."""
    what = problem.format_message().rstrip(".")
    of_option = _OF_OPTION.fullmatch(what)
    if of_option is None:
        context = getattr(problem, "ctx", None)
        command = "ragkpi COMMAND" if context is None else context.command_path
        return f"{what}; '{command} -h' shows what there is"
    option, found = of_option.groups()
    choice = _CHOICE.fullmatch(found)
    if choice is not None:
        *others, last = choice[2].split("', '")
        known = f"{', '.join(others)} or {last}" if others else last
        return f"{option} {choice[1]}: no such choice; expected {known}"
    for pattern, words in _WORDS.items():
        found = re.sub(pattern, words, found, flags=re.DOTALL)
    return f"{option} {found}"
