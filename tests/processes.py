"""Command lines in processes that begin as copies of this one, where all is imported already.

A new process takes 0.1 to 0.2 s before it begins; a copy begins at once.
"""

import functools
import importlib
import os
import pkgutil
import resource
import sys
import tempfile

import ragkpi

LATE = ["scipy.special", "rich.box", "rich.console", "rich.table", "rich.text", "typer.rich_utils"]


@functools.cache
def preload():
    """Import what commands import, which copies of this process then have."""
    modules = [module.name for module in pkgutil.walk_packages(ragkpi.__path__, "ragkpi.")]
    for name in [*modules, *LATE]:
        if not name.endswith("__main__"):
            importlib.import_module(name)


def begin(words, folder, environment, stdout, stderr, stdin=0, limits=()):
    """Run `ragkpi` with these words in a copy of this process; return its number."""
    preload()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.chdir(folder)
        os.environ.update(environment)
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.closerange(3, 1 << 12)  # as in a new process: a pipe ends when its writer does
        sys.stdin = os.fdopen(0, closefd=False)
        for kind, most in limits:
            resource.setrlimit(kind, (most, most))
        sys.argv = ["ragkpi", *map(str, words)]
        from ragkpi.cli import entry

        entry()
    finally:
        os._exit(70)


def finished(pid):
    """Wait for a process, and return its exit status."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def outputs(words, folder, stdin=0, limits=(), **environment):
    """Return exit status, standard output and standard error of a command line."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        streams = (out.fileno(), err.fileno(), stdin, limits)
        status = finished(begin(words, folder, environment, *streams))
        out.seek(0)
        err.seek(0)
        return status, out.read(), err.read()


def on_a_terminal(words, folder, terminal, **environment):
    """Return exit status, what the other end of a terminal (`openpty`) gets, and standard error."""
    ours, theirs = terminal
    with tempfile.TemporaryFile() as err:
        pid = begin(words, folder, environment, theirs, err.fileno())
        os.close(theirs)
        text = all_of(ours)
        status = finished(pid)
        err.seek(0)
        return status, text, err.read()


def all_of(terminal):
    """Read what is written to a terminal until nobody writes any more."""
    text = b""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:  # Linux: nobody writes any more
            piece = b""
        if not piece:
            os.close(terminal)
            return text.replace(b"\r\n", b"\n")
        text += piece
