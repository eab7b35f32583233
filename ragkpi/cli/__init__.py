"""The command line: `ragkpi COMMAND …`; errors become one line and an exit status."""

from __future__ import annotations

import gc
import os
import sys
import warnings

from ragkpi.errors import InputError, RagkpiError, RagkpiWarning, UsageError

_SIGPIPE_STATUS = 141
_INTERRUPT_STATUS = 130


def entry() -> None:
    """Run as a program: what the `ragkpi` script calls."""
    # Idle BLAS threads spin through 70 ms of processor time at every start, forking for a big run
    # is safe only while there are none, and sums must not depend on how many there are.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    gc.set_threshold(100_000)  # importing makes objects, not garbage: looking for it takes 7 ms
    status = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        status = status or _SIGPIPE_STATUS
    except OSError:
        status = status or 1
    os._exit(status)  # taking the interpreter down object by object costs more than a small run


def main(arguments: list[str]) -> int:
    """Run one command; return its exit status."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", RagkpiWarning)
        warnings.showwarning = _show_warning
        try:
            status = _run(arguments)
            sys.stdout.flush()
            return status
        except RagkpiError as problem:
            return _fail(str(problem), problem.exit_status)
        except BrokenPipeError:
            # Whoever reads has enough. Nothing more can be written, not even at the exit.
            _drop_output()
            return _SIGPIPE_STATUS
        except OSError as problem:
            _drop_output()
            return _fail(f"standard output cannot be written ({problem.strerror})", 1)
        except MemoryError:
            return _fail("there is not enough memory for this input", InputError.exit_status)
        except KeyboardInterrupt:
            return _fail("interrupted", _INTERRUPT_STATUS)


def _run(arguments: list[str]) -> int:
    from typer import TyperException

    from ragkpi.cli.commands import group

    try:
        status = group().main(arguments, prog_name="ragkpi", standalone_mode=False)
    except TyperException as problem:
        from ragkpi.cli.usage_errors import usage_text

        return _fail(usage_text(problem), UsageError.exit_status)
    except SystemExit as stop:  # what typer makes of a closed pipe
        raise stop.__context__ or stop from None
    if status == _INTERRUPT_STATUS:  # and of an interrupt
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _fail(text: str, status: int) -> int:
    print("ragkpi:", " ".join(text.split("\n")), file=sys.stderr)
    return status


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    label = "ragkpi: warning:" if issubclass(category, RagkpiWarning) else "ragkpi: internal:"
    print(label, message, file=sys.stderr)
