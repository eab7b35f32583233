"""The limit on the memory that a command may use."""

import os

from ragkpi.errors import UsageError

OPTION = "--max-memory"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LEAST = 64 << 20
_CONTROL_GROUP = "/sys/fs/cgroup/memory.max"


def limit_memory(arguments: list[str]) -> list[str]:
    """Take ``--max-memory SIZE`` out of a command line, and limit the memory of this process.

    The default is three quarters of the system's memory. Child processes have the same limit.

    Raises
    ------
    UsageError
        If the text is no size, or a size below 64M.
    """
    rest, size = [], None
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif name == OPTION:
            size = _size(value if equals else next(words, ""))
        else:
            rest.append(word)
    try:
        import resource
    except ImportError:  # not on Windows
        return rest
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = size or _available() * 3 // 4
    known = [bound for bound in (limit, before, most) if bound > 0]  # RLIM_INFINITY is -1
    if known:
        resource.setrlimit(resource.RLIMIT_DATA, (min(known), most))
    return rest


def _size(text: str) -> int:
    number, unit = text.lower().removesuffix("b"), ""
    if number[-1:].isalpha():
        number, unit = number[:-1], number[-1]
    try:
        size = int(float(number) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        size = 0
    if size < _LEAST:
        raise UsageError(f"{OPTION} {text}: expected a size from 64M, such as 512M or 4G")
    return size


def _available() -> int:
    """Return the bytes of memory that the system has for this process, 0 if unknown."""
    try:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
    try:
        with open(_CONTROL_GROUP) as file:
            text = file.read().strip()
    except OSError:
        return available
    return min(available, int(text)) if text.isdecimal() else available
