"""The inputs of a command: each is hashed, and checked for changes after opening."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ragkpi.errors import InputError, UsageError

UNTOUCHED = "wait until it is complete, and try again"


class Inputs:
    """The inputs of one command; if `hashed`, pipes are hashed as they are copied."""

    def __init__(self, hashed: bool) -> None:
        self.hashed = hashed
        self._states: dict[str, os.stat_result] = {}
        self._hashes: dict[str, str] = {}

    def note(self, path: str, status: os.stat_result) -> None:
        """Record an input that is open here, or that another process will open.

        Raises `UsageError` if a pipe, a terminal or standard input is opened twice, and
        `InputError` if a file has changed since it was first opened.
        """
        before = self._states.setdefault(path, status)
        if before is status:
            return
        if path == "-" or not stat.S_ISREG(status.st_mode):
            name = "standard input" if path == "-" else f"{path} is a pipe, which"
            raise UsageError(f"{name} can be read once; expected a file where it is read again")
        if not same_state(before, status):
            raise InputError(path, None, "changed while it was read", UNTOUCHED)

    def keep_hash(self, path: str, digest: str) -> None:
        self._hashes[path] = digest

    def sha256(self, path: str) -> str | None:
        """Return the SHA-256 of an unchanged input; None for a pipe that was not hashed."""
        if path in self._hashes:
            return self._hashes[path]
        before = self._states.get(path)
        if path == "-" or (before is not None and not stat.S_ISREG(before.st_mode)):
            return None
        if before is None and not os.path.exists(path):  # qrels by name
            return None
        digest = new_sha256()
        if os.path.isdir(path):  # a folder of parquet files
            parts = sorted(part for part in self._states if os.path.dirname(part) == path)
            digest.update("\n".join(self.sha256(part) or "" for part in parts).encode())
            return str(digest.hexdigest())
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
            now = os.fstat(file.fileno())
        if before is not None and not same_state(before, now):
            raise InputError(path, None, "changed after it was read", UNTOUCHED)
        self._hashes[path] = digest.hexdigest()
        return self._hashes[path]

    def refuse_replacing(self, path: str, option: str) -> None:
        """Raise `UsageError` if an output would replace an input."""
        try:
            target = os.stat(path)
        except OSError:  # nothing to replace
            return
        for name, status in self._states.items():
            if stat.S_ISREG(target.st_mode) and os.path.samestat(target, status):
                raise UsageError(
                    f"{option} {path}: would replace {name}, which is read; give another file"
                )


def new_sha256() -> Any:
    """Return a new hash; importing `hashlib` takes as long as reading a small run."""
    import hashlib

    return hashlib.sha256()


def same_state(before: os.stat_result, now: os.stat_result) -> bool:
    """Return whether this is the same, unchanged file."""
    return os.path.samestat(before, now) and (before.st_size, before.st_mtime_ns) == (
        now.st_size,
        now.st_mtime_ns,
    )


_of_command: Inputs | None = None


def inputs() -> Inputs:
    """Return the inputs of the running command; outside a command, a new record."""
    return _of_command or Inputs(hashed=True)


@contextmanager
def noted_inputs() -> Iterator[Inputs]:
    """Record the inputs of a command while it runs."""
    global _of_command
    before, _of_command = _of_command, Inputs(hashed=False)
    try:
        yield _of_command
    finally:
        _of_command = before
