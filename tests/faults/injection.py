"""Faults on demand: the n-th open, read, write, thread or allocation of a process fails."""

import builtins
import errno
import io
import os
import threading

import numpy as np

KINDS = {
    "open": errno.EMFILE,
    "read": errno.EIO,
    "write": errno.ENOSPC,
    "thread": errno.EAGAIN,
    "memory": errno.ENOMEM,
}
_ALLOCATING = (
    *("empty", "zeros", "ones", "full", "arange", "array"),
    *("concatenate", "stack", "repeat", "flatnonzero", "cumsum"),
)


class Fault:
    """Fails once, at the n-th call; `reached` is a path that exists from then on."""

    def __init__(self, kind, number, reached):
        self.kind, self.left, self.reached = kind, number, reached

    def due(self):
        self.left -= 1
        if self.left:
            return
        _os_close(_os_open(self.reached, os.O_CREAT | os.O_WRONLY))
        if self.kind == "memory":
            raise MemoryError
        if self.kind == "thread":
            raise RuntimeError("can't start new thread")
        code = KINDS[self.kind]
        raise OSError(code, os.strerror(code))

    def before(self, function):
        def call(*arguments, **named):
            self.due()
            return function(*arguments, **named)

        return call


_os_open, _os_close = os.open, os.close


def inject(kind, number, reached):
    """Make the calls of a kind fail in this process."""
    fault = Fault(kind, number, reached)
    if kind == "memory":
        for name in _ALLOCATING:
            setattr(np, name, fault.before(getattr(np, name)))
    elif kind == "thread":
        threading.Thread.start = fault.before(threading.Thread.start)
    elif kind == "read":
        os.preadv, os.read = fault.before(os.preadv), fault.before(os.read)
    elif kind == "open":
        os.open = fault.before(os.open)
        builtins.open = io.open = fault.before(builtins.open)
    else:
        for name in ("write", "fsync", "replace", "link", "ftruncate"):
            setattr(os, name, fault.before(getattr(os, name)))
        _let_files_fail(fault)


def _let_files_fail(fault):
    plain_open = builtins.open

    class File(io.FileIO):
        def write(self, octets):
            fault.due()
            return super().write(octets)

    def open_(file, mode="r", *arguments, **named):
        if mode in ("wb", "xb"):
            return io.BufferedWriter(File(file, mode))
        return plain_open(file, mode, *arguments, **named)

    builtins.open = open_

    from ragkpi.cli import process

    class StandardOutput(io.FileIO):
        def write(self, octets):
            fault.due()
            return super().write(octets)

    process.StandardOutput.__bases__ = (StandardOutput,)
