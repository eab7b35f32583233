"""The log of evaluations: a file of JSON Lines that only grows."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from ragkpi import __version__
from ragkpi.errors import InputError, RagkpiWarning, UsageError
from ragkpi.formats.inputs import inputs
from ragkpi.interface import option
from ragkpi.reports.json_output import dump
from ragkpi.reports.layout import Layout
from ragkpi.reports.output_files import screened
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.studies.evaluate.evaluation_report import EvaluatedRun, run_object
from ragkpi.wording import shown

# The types of the values in these fields of a record.
_KINDS: Mapping[str, tuple[type, ...]] = {
    "values": (int, float, str, type(None)),
    "meta": (str,),
    "files": (dict,),
}


def record(
    run: EvaluatedRun,
    bootstrap: Bootstrap | None,
    files: Mapping[str, tuple[str, str | None]],
    meta: Mapping[str, str],
    time: datetime | None = None,
) -> dict[str, Any]:
    """Describe one evaluation as a JSON object, valid under ``schema.json#/$defs/line``.

    Parameters
    ----------
    run, bootstrap
        The evaluated run, and the choices behind its intervals.
    files
        By role (``"qrels"``, ``"run"``, ``"pool"``) the path and the SHA-256, None if not known.
    meta
        The user's notes on the run: index snapshot, hash of a configuration, …
    time
        The time of the evaluation; None for now.
    """
    stamp = (time or datetime.now(UTC)).astimezone(UTC)
    return {
        "ragkpi": __version__,
        "kind": "run",
        "time": stamp.strftime("%Y-%m-%dT%H:%M:%SZ"),
        **run_object(run, bootstrap, Layout()),
        "files": {
            role: {"path": path, **({"sha256": digest} if digest else {})}
            for role, (path, digest) in files.items()
        },
        "meta": dict(meta),
    }


def parse_meta(texts: Iterable[str]) -> dict[str, str]:
    """Read ``KEY=VALUE`` pairs, as ``--meta`` takes them; `UsageError` otherwise."""
    meta: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise UsageError(
                f"{option('meta')} {text}: expected KEY=VALUE, such as index=2026-11-01"
            )
        if key in meta:
            raise UsageError(f"{option('meta')} {text}: '{key}' is given twice")
        meta[key] = value
    return meta


def append(path: str, records: Iterable[Mapping[str, Any]]) -> None:
    """Append records, a line each, all or none; other processes may append at the same time."""
    text = "".join(dump(record) + "\n" for record in records).encode("utf-8")
    inputs().refuse_replacing(path, option("log"))
    try:
        with _locked(path) as (file, size):
            if size is None:  # a pipe or a device
                with open(file, "wb", closefd=False) as device, screened(device) as out:
                    out.write(text)
                return
            begin = _cut_torn_line(path, file, size)
            ended = not begin or _read_at(file, 1, begin - 1) == b"\n"
            try:
                _write(file, text if ended else b"\n" + text)
                os.fsync(file)
            except BaseException:
                os.ftruncate(file, begin)
                raise
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(f"{option('log')} {path}: cannot be appended to: {reason}") from problem


def read_records(path: str) -> list[dict[str, Any]]:
    """Read a log; blank lines are skipped.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not the record of a run.
    """
    records = []
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            inputs().note(path, os.fstat(file.fileno()))
            for number, line in enumerate(file, start=1):
                if not line.endswith("\n") and _is_torn(line):
                    _warn_of_torn_line(f"{path}:{number}", "skipped")
                elif line.strip():
                    records.append(_parsed(path, number, line))
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InputError(
            path, None, reason, f"expected a file that {option('log')} wrote"
        ) from problem
    return records


def _parsed(path: str, number: int, line: str) -> dict[str, Any]:
    expected = f"expected the JSON object of a run, as {option('log')} writes it"
    try:
        parsed = json.loads(line)
        # JSON can spell NaN and halves of surrogate pairs; refuse them.
        json.dumps(parsed, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape")
    except (ValueError, RecursionError) as problem:
        raise InputError(path, number, f"no JSON ({problem})", expected) from None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("values"), dict):
        raise InputError(path, number, "no values", expected)
    for name, kinds in _KINDS.items():
        fields = parsed.get(name, {})
        if not isinstance(fields, dict) or not all(isinstance(x, kinds) for x in fields.values()):
            held = shown(line.encode("utf-8", "surrogateescape"))
            raise InputError(path, number, f"odd {name} ({held})", expected)
    for name in ("time", "name", "run_id", "signature"):
        if not isinstance(parsed.get(name, ""), str):
            raise InputError(path, number, f"a {name} that is no text", expected)
    return parsed


def _read_at(file: int, count: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(file, count, offset)
    os.lseek(file, offset, os.SEEK_SET)  # Windows; O_APPEND writes to the end all the same
    return os.read(file, count)


def _write(file: int, text: bytes) -> None:
    waiting = memoryview(text)
    while waiting:
        waiting = waiting[os.write(file, waiting) :]


def _is_torn(line: str) -> bool:
    """Say whether a line without a newline is half a record."""
    try:
        json.loads(line)
    except ValueError:
        return bool(line.strip())
    return False


def _warn_of_torn_line(where: str, fate: str) -> None:
    warnings.warn(
        f"{where}: the last line is half a record, of a process that was killed; it is {fate}",
        RagkpiWarning,
        stacklevel=3,
    )


def _cut_torn_line(path: str, file: int, size: int) -> int:
    """Remove half a record from the end of a file; return where the next one begins."""
    begin, tail = size, b""
    while begin and b"\n" not in tail:
        begin = max(0, begin - (1 << 16))
        tail = _read_at(file, size - begin, begin)
    line = tail[tail.rfind(b"\n") + 1 :]
    if not _is_torn(line.decode("utf-8", "surrogateescape")):
        return size
    _warn_of_torn_line(path, "removed")
    os.ftruncate(file, size - len(line))
    return size - len(line)


@contextmanager
def _locked(path: str) -> Iterator[tuple[int, int | None]]:
    """Lock a file and open it to append; yield it with its size, None for a pipe or a device."""
    regular = not os.path.exists(path) or os.path.isfile(path)
    access = os.O_RDWR if regular else os.O_WRONLY
    binary = getattr(os, "O_BINARY", 0)  # without it, Windows changes line ends
    file = os.open(path, access | os.O_APPEND | os.O_CREAT | binary, 0o666)
    try:
        with suppress(ImportError):  # Windows has no fcntl; O_APPEND has to do
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield file, os.fstat(file).st_size if regular else None
    finally:
        os.close(file)  # which also unlocks it
