"""The program: run one command line, and report each failure in one line."""

import gc
import os
import sys
import warnings
from collections.abc import Sequence
from shlex import quote

import typer

from ragkpi.cli.app import mistake_in, take
from ragkpi.cli.process import (
    MEMORY,
    OutputError,
    catch_signals,
    drop_output,
    has_room,
    open_standard_streams,
)
from ragkpi.cli.terminal import bar, exit_with, held_notes, hold, tell
from ragkpi.errors import (
    CommandError,
    InputError,
    RagkpiError,
    RagkpiNote,
    RagkpiWarning,
    Stopped,
    UsageError,
)
from ragkpi.files.inputs import noted_inputs
from ragkpi.interface import Interface, using
from ragkpi.wording import visible

_SIGPIPE_STATUS = 141
_INTERRUPT_STATUS = 130
_BUG_STATUS = 70


class CommandLine(Interface):
    """The interface of the command line: option names, notes on stderr, one line per problem."""

    def spell(self, argument: str, value: str) -> str:
        """Return the option declared for an argument, or one made from the argument's name."""
        from ragkpi.library.options import (  # imports numpy, which 'ragkpi --help' does not need
            Comparing,
            Flags,
            Gating,
            Measures,
            arguments_of,
            declared,
            names_of,
        )

        shared = {**arguments_of(Comparing), **arguments_of(Gating), "measures": declared(Measures)}
        of = shared.get(argument)
        option = None if of is None else of.option
        if isinstance(option, Flags):
            flag = option.get(value) or next(iter(option.values()))
            return names_of(flag, argument)[0]
        name = names_of(option, argument)[0] if option else f"--{argument.replace('_', '-')}"
        return f"{name} {quote(value)}" if value else name

    def system_text(self, name: str, runs: Sequence[str]) -> str:
        return quote(f"{name}={','.join(runs)}")

    def note(self, text: str) -> None:
        hold(f"note: {text}")

    def warn(self, text: str) -> None:
        warnings.warn(text, RagkpiWarning, stacklevel=2)

    def refuse(self, problems: Sequence[RagkpiError]) -> None:
        exit_with(problems)


def run() -> None:
    """Run the command line of this process, and end it."""
    # Idle BLAS threads cost 70 ms of processor time at every start; forking for a big run is safe
    # only without them; and sums must not depend on their number.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    gc.set_threshold(100_000)  # imports make no garbage, and collecting takes 7 ms
    open_standard_streams()
    catch_signals()
    status = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        status = status or _SIGPIPE_STATUS
    except (OSError, RagkpiError):
        status = status or 1
    os._exit(status)  # freeing every object takes longer than a small evaluation


def main(words: Sequence[str]) -> int:
    """Run one command line; return its exit status."""
    try:
        status = _run(words)
        sys.stdout.flush()
        return status
    except OutputError as problem:
        drop_output()
        return _fail(str(problem), problem.exit_status)
    except RagkpiError as problem:
        status = _fail(str(problem), problem.exit_status)
        if isinstance(problem, CommandError):
            sys.stderr.writelines(f"{visible(command)}\n" for command in problem.commands)
        return status
    except typer.TyperException as problem:
        return _fail(mistake_in(problem), UsageError.exit_status)
    except BrokenPipeError:
        # The pipe is closed, so no more output is possible, not even at exit.
        drop_output()
        return _SIGPIPE_STATUS
    except MemoryError:
        return _fail(MEMORY, InputError.exit_status)
    except KeyboardInterrupt:
        tell("interrupted")
        return _INTERRUPT_STATUS
    except Stopped as stop:
        drop_output()
        tell(stop.words)
        return stop.status
    except Exception as problem:
        return _fail_unforeseen(problem)


def _run(words: Sequence[str]) -> int:
    with noted_inputs(), using(CommandLine()), warnings.catch_warnings():
        warnings.simplefilter("always", RagkpiWarning)
        warnings.showwarning = _show_warning
        try:
            with bar(words[0] if words else ""):
                take(words)
            return 0
        except typer.Exit as end:
            return end.exit_code
        except SystemExit as end:  # typer's, after completions
            return int(end.code or 0)
        finally:
            for text in held_notes():
                tell(text)


def _fail(text: str, status: int) -> int:
    tell(f"error: {text}")
    return status


def _fail_unforeseen(problem: Exception) -> int:
    """Turn an unexpected error into one line that asks for a report."""
    if os.environ.get("RAGKPI_DEBUG") == "1":
        sys.__excepthook__(type(problem), problem, problem.__traceback__)
    short = isinstance(problem, ImportError) and "annot allocate memory" in str(problem)
    if short or not has_room():
        return _fail(MEMORY, InputError.exit_status)
    if isinstance(problem, OSError):
        about = f"{problem.filename}: " if problem.filename else ""
        return _fail(f"{about}the system refuses ({problem.strerror or problem})", 1)
    return _fail(
        f"a bug in ragkpi ({type(problem).__name__}: {problem}); please report it, with what "
        "RAGKPI_DEBUG=1 prints above this line",
        _BUG_STATUS,
    )


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    kind = "warning" if issubclass(category, RagkpiWarning) else "internal"
    hold(f"{'note' if issubclass(category, RagkpiNote) else kind}: {message}")
