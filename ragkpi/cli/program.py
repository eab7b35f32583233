"""The program: prepare the process, run one command line, and report each failure in one line."""

import gc
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from mmap import mmap
from shlex import join
from typing import Any

from ragkpi.cli.commands import COMMANDS, command_of
from ragkpi.cli.configuration import PROJECT, with_project_options
from ragkpi.cli.options import values_of
from ragkpi.cli.runs import run_path
from ragkpi.cli.terminal import CommandLine, Finished, bar, end_bar, held_notes, hold, tell
from ragkpi.errors import (
    CommandError,
    InputError,
    MapChoice,
    MissingPartError,
    RagkpiError,
    RagkpiNote,
    RagkpiWarning,
    Stopped,
    UnreadableError,
    UnsettledError,
    UsageError,
)
from ragkpi.files.column_names import ORDERS
from ragkpi.files.inputs import noted_inputs
from ragkpi.files.opening import Kind
from ragkpi.interface import interface, spell, using
from ragkpi.wording import did_you_mean, visible

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

_OPTION = "--max-memory"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LEAST = 64 << 20
_TO_START = 80 << 20  # numpy maps this much; without it, OpenBLAS ends the process its own way
_CONTROL_GROUP = "/sys/fs/cgroup/memory.max"
_MATCH_TEXT = "--match text"
_MOST_FILES = 2000  # among which a mistyped one is looked for
_MEMORY = "there is not enough memory for this input (--max-memory SIZE says how much may be used)"

_SIGPIPE_STATUS = 141
_INTERRUPT_STATUS = 130
_BUG_STATUS = 70


class _OutputError(RagkpiError):
    """Standard output is not writable."""


class StandardOutput(io.FileIO):
    """Standard output: writing removes the progress bar, and errors become `_OutputError`."""

    def write(self, octets: Any, /) -> int:
        end_bar()
        try:
            return super().write(octets) or 0
        except BrokenPipeError:
            raise
        except OSError as problem:
            raise _OutputError(f"standard output cannot be written ({problem.strerror})") from None


class _StandardError(io.FileIO):
    """Standard error: a failed write loses the message, but never the result or the status."""

    def write(self, octets: Any, /) -> int:
        try:
            return super().write(octets) or len(octets)
        except OSError:
            return len(octets)


def run() -> None:
    """Run the command line of this process, and end it."""
    # Idle BLAS threads burn 70 ms of processor time at every start; forking for a big run is safe
    # only without them; and sums must not depend on their number.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    gc.set_threshold(100_000)  # imports make no garbage, and collecting takes 7 ms
    _open_standard_streams()
    status = main(sys.argv[1:], _prepare)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        status = status or _SIGPIPE_STATUS
    except (OSError, RagkpiError):
        status = status or 1
    os._exit(status)  # freeing every object takes longer than a small evaluation


def _open_standard_streams() -> None:
    """Report errors of standard output and ignore those of standard error.

    A closed stream becomes /dev/null, so that no input file gets its descriptor.
    """
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            # Read-only: writing to a closed standard output is an error.
            os.open(os.devnull, os.O_RDWR if stream == 2 else os.O_RDONLY)
    encoding = "utf-8" if sys.stdout is None else sys.stdout.encoding
    raw = StandardOutput(1, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=raw.isatty()
    )
    errors = io.BufferedWriter(_StandardError(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(errors, encoding, "backslashreplace", line_buffering=True)


def _prepare(arguments: list[str]) -> list[str]:
    """Install signal handlers and limit memory; return the command line without --max-memory."""
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup it is ignored
            signal.signal(number, _stop)
    rest, size = [], 0
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif name == _OPTION:
            size = _size_of(value if equals else next(words, ""))
        else:
            rest.append(word)
    if resource is not None:
        before, most = resource.getrlimit(resource.RLIMIT_DATA)
        sizes = (size or _available() * 3 // 4, before, most)
        limits = [limit for limit in sizes if limit > 0]  # RLIM_INFINITY is -1
        if limits:
            resource.setrlimit(resource.RLIMIT_DATA, (min(limits), most))
    if not _has_room():
        raise MemoryError
    return rest


def _has_room() -> bool:
    """Return whether `ulimit -v`, if there is one, lets a process start."""
    if resource is None or resource.getrlimit(resource.RLIMIT_AS)[0] < 0:
        return True
    try:
        mmap(-1, _TO_START).close()
    except OSError:
        return False
    return True


def _stop(number: int, _: object) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second signal ends the process at once
    raise Stopped(number)


def _size_of(text: str) -> int:
    number, unit = text.lower().removesuffix("b"), ""
    if number[-1:].isalpha():
        number, unit = number[:-1], number[-1]
    try:
        size = int(float(number) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        size = 0
    if size < _LEAST:
        raise UsageError(f"{_OPTION} {text}: expected a size from 64M, such as 512M or 4G")
    return size


def _available() -> int:
    """Return the bytes of memory available to this process; 0 if unknown."""
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


def main(
    arguments: list[str], prepare: Callable[[list[str]], list[str]] = lambda arguments: arguments
) -> int:
    """Run one command line; return its exit status.

    `prepare` sets up the process for a command; help texts do not need it.
    """
    try:
        text = _page(arguments)
        if text is not None:
            sys.stdout.write(text)
        status = _run(prepare(arguments)) if text is None else 0
        sys.stdout.flush()
        return status
    except _OutputError as problem:
        _drop_output()
        return _fail(str(problem), problem.exit_status)
    except RagkpiError as problem:
        status = _fail(str(problem), problem.exit_status)
        if isinstance(problem, CommandError):
            sys.stderr.writelines(f"{visible(command)}\n" for command in problem.commands)
        return status
    except BrokenPipeError:
        # The reader has closed the pipe, so no more output is possible, not even at exit.
        _drop_output()
        return _SIGPIPE_STATUS
    except MemoryError:
        return _fail(_MEMORY, InputError.exit_status)
    except KeyboardInterrupt:
        return _fail("interrupted", _INTERRUPT_STATUS)
    except Stopped as stop:
        _drop_output()
        return _fail(stop.words, stop.status)
    except Exception as problem:
        return _fail_unforeseen(problem)


def _page(words: Sequence[str]) -> str | None:
    """Return a help page or completions; None if the line requests neither."""
    shell = os.environ.get("_RAGKPI_COMPLETE")
    if words[:1] == ["help"] and shell is None:
        words = [*words[1:2], "--help"]
    name = words[0] if words and words[0][:1] != "-" else ""
    help_words = {"-h", "--help"} & set(words)
    has_own = name == "eval" and len(words) > 2  # which may explain the measures of -m
    if shell is None and words and (not help_words or has_own):
        return None
    if shell is None and name and name not in COMMANDS:
        raise UsageError(_unknown(name))
    from ragkpi.cli.help_pages import help_page, offers_as_lines

    if shell is not None:
        return offers_as_lines(shell, words)
    return help_page(name, "all" if "--help" in help_words else "common")


def _run(arguments: Sequence[str]) -> int:
    in_order: list[str] = []
    with noted_inputs() as inputs, using(CommandLine()), warnings.catch_warnings():
        warnings.simplefilter("always", RagkpiWarning)
        warnings.showwarning = _show_warning
        try:
            with bar(arguments[0] if arguments else ""):
                run_command(arguments)
            return 0
        except Finished as end:
            return end.status
        except InputError as problem:
            from ragkpi.files.formats import map_of_texts, reads_as

            roles = dict(inputs.roles)  # before other roles are tried
            in_order = _in_order(arguments, problem, reads_as)
            if not in_order:
                raise _advised(problem, arguments, roles, map_of_texts) from None
            held_notes()  # they are of files in the wrong order
        finally:
            for text in held_notes():
                tell(text)
    return _run(in_order)


def _in_order(
    arguments: Sequence[str], problem: InputError, reads_as: Callable[[Kind, str], bool]
) -> list[str]:
    """Return the words with the qrels before the runs if they surely stand behind; else none.

    That is sure if only this order can be read: each file holds what the other was given as.
    """
    name, *words = arguments
    values = values_of(command_of(name).options(), words)
    files = values.get("files", [])
    if name in ("agree", "correct") or len(set(files)) < max(len(files), 2) or "-" in files:
        return []  # of these commands, the first two are qrels
    if any(values.get(gate) for gate in ("fail_under", "fail_under_baseline", "fail_if")):
        return []  # no gate is passed by a line that says something else
    if isinstance(problem, UnsettledError):
        return []  # a map reads the file in its place
    first, *runs = [run_path(file) for file in files]
    if problem.file not in (first, *runs[: len(runs) == 1]):  # later runs may have printed values
        return []
    with warnings.catch_warnings(action="ignore"):
        qrels = [file for file in files[1:] if reads_as("qrels", run_path(file))]
        sure = len(qrels) == 1 and words.count(qrels[0]) == 1 and reads_as("run", first)
        if not sure or (reads_as("qrels", first) and reads_as("run", run_path(qrels[0]))):
            return []
    words.remove(qrels[0])
    words.insert(words.index(files[0]), qrels[0])
    hold(f"note: {qrels[0]} holds judgements, {files[0]} does not: read in the order QRELS RUN")
    return [name, *words]


def _advised(
    problem: InputError,
    arguments: Sequence[str],
    roles: Mapping[str, Kind],
    map_of_texts: Callable[[Kind, str], list[str] | None],
) -> InputError:
    """Add the command with each map, where no known name settles how a file is read.

    Or the command that matches texts, where documents have no ids.
    """
    if isinstance(problem, UnreadableError) and not os.path.exists(problem.file):
        return _mistyped(problem, arguments)
    if isinstance(problem, UnsettledError):
        return CommandError(problem, [_mapped(arguments, problem, of) for of in problem.maps])
    file = problem.file
    if file not in roles or file not in arguments or "--match" in arguments:
        return problem
    if not isinstance(problem, MissingPartError):
        return problem
    unread: dict[str, Kind] = {
        word: "run"
        for before, word in pairwise(arguments)
        if before[:1] != "-" and os.path.isfile(word)
    }
    maps = {path: map_of_texts(kind, path) for path, kind in {**unread, **roles}.items()}
    bare = next((path for path, texts in maps.items() if texts is None), None)
    if None not in (bare, maps[file]):
        expected = f"expected ids as in {bare}; texts match only texts ({_MATCH_TEXT})"
        return InputError(file, problem.line, problem.fault, expected)
    if bare is not None:
        return problem
    first, *words = arguments
    options = chain.from_iterable(filter(None, maps.values()))
    command = join(["ragkpi", first, *_MATCH_TEXT.split(), *options, *words])
    return CommandError(problem, [f"  {command}"])


def _mistyped(problem: InputError, arguments: Sequence[str]) -> InputError:
    """Guess which file was meant by a name that no file has, or say that a flag takes no value."""
    folder, paths = os.path.dirname(problem.file), []
    with suppress(OSError):
        paths = [os.path.join(folder, file) for file in os.listdir(folder or ".")[:_MOST_FILES]]
    before = "".join(one for one, file in pairwise(arguments) if file == problem.file)
    options = command_of(arguments[0]).options()
    flags = {name for option in options if option.type is bool for name in option.names}
    otherwise = f"{before} takes no value" if before in flags else problem.expected
    expected = did_you_mean(problem.file, paths, otherwise, 0.85)
    return InputError(problem.file, None, problem.fault, expected)


def _mapped(arguments: Sequence[str], problem: UnsettledError, of: MapChoice) -> str:
    """Return a command with a map; it keeps the parts of the map that the command had."""
    name, (first, *words) = spell(problem.argument), arguments
    pieces = [piece.strip() for piece in of.map.split(",")]
    for place, word in enumerate(words):
        if word == name or word.startswith(f"{name}="):
            earlier = words[place + 1] if word == name else word.partition("=")[2]
            dropped = {piece.partition("=")[0] for piece in pieces} | ORDERS
            kept = [piece.strip() for piece in earlier.split(",")]
            pieces = [one for one in kept if one.partition("=")[0] not in dropped] + pieces
            del words[place : place + 1 + (word == name)]
            break
    fold = spell("max_passage") if of.fold else ""
    offered = (declaration.name for declaration in command_of(first).options())
    if "max_passage" not in offered or any(word.partition("=")[0] == fold for word in words):
        fold = ""
    map_ = ", ".join(pieces)
    command = join(["ragkpi", first, name, map_, *((fold, of.fold) if fold else ()), *words])
    return f"  {command}{f'  # {of.choice}' if of.choice else ''}"


def run_command(arguments: Sequence[str]) -> None:
    """Read a command's options, and call it."""
    name, words = "", arguments
    if arguments == ["version"]:
        words = ["--version"]
    elif arguments and arguments[0][:1] != "-":
        name, *words = arguments
    if name and name not in COMMANDS:
        raise UsageError(_unknown(name))
    command = command_of(name)
    values, project = with_project_options(
        values_of(command.options(), words, f"ragkpi {name}".rstrip())
    )
    PROJECT.set(project)
    if project:
        interface().note(project)
    command.call(values)


def _unknown(name: str) -> str:
    advice = did_you_mean(name, COMMANDS, "'ragkpi -h' lists them")
    if os.path.exists(name):
        advice = "to evaluate files: ragkpi eval QRELS RUN"
    return f"no command is named '{name}'; {advice}"


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _fail(text: str, status: int) -> int:
    tell(text)
    return status


def _fail_unforeseen(problem: Exception) -> int:
    """Turn an unexpected error into one line that asks for a report."""
    if os.environ.get("RAGKPI_DEBUG") == "1":
        sys.__excepthook__(type(problem), problem, problem.__traceback__)
    short = isinstance(problem, ImportError) and "annot allocate memory" in str(problem)
    if short or not _has_room():
        return _fail(_MEMORY, InputError.exit_status)
    if isinstance(problem, OSError):
        about = f"{problem.filename}: " if problem.filename else ""
        return _fail(f"{about}the system refuses ({problem.strerror or problem})", 1)
    return _fail(
        f"internal error ({type(problem).__name__}: {problem}); please report it, with what "
        "RAGKPI_DEBUG=1 prints above this line",
        _BUG_STATUS,
    )


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    kind = "warning" if issubclass(category, RagkpiWarning) else "internal"
    hold(f"{'note' if issubclass(category, RagkpiNote) else kind}: {message}")
