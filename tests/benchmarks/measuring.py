"""Measure whole processes that take turns.

Wall time, processor time (user and system) and peak memory are those of the child alone, from
`wait4`. Commands take turns, so that a busy minute of the machine hits all of them.

What a child occupies before its `exec` counts as its own, so no measured memory is below that of
this process, which therefore imports little. With two workers it is the memory of the larger one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from peers import ROOT, Peer


class Sample(NamedTuple):
    """One run of a command: seconds, seconds, megabytes."""

    wall: float
    cpu: float
    memory: float


def medians(peers: Sequence[Peer], repeats: int, too_long: float) -> list[Sample | None]:
    """Run all commands in turn, `repeats` times or until one took `too_long`.

    None stands for a command that is not here or fails.
    """
    samples: list[list[Sample]] = [[] for _ in peers]
    failed = [bool(peer.missing) for peer in peers]
    for peer in peers:
        if peer.missing:
            print(f"without {peer.label}: {peer.missing}", file=sys.stderr)
    for _ in range(repeats):
        for number, peer in enumerate(peers):
            if failed[number] or any(sample.cpu > too_long for sample in samples[number]):
                continue
            try:
                samples[number].append(one_run(peer))
            except ChildProcessError as failure:
                failed[number] = True
                print(f"{peer.label} failed: {failure}", file=sys.stderr)
    return [
        None if failed[number] else Sample(*map(_middle, zip(*those, strict=True)))
        for number, those in enumerate(samples)
    ]


def one_run(peer: Peer) -> Sample:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(peer.command, stdout=output, stderr=errors, env=environment(peer))
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            raise ChildProcessError(errors.read().decode(errors="replace"))
    sample = Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
    print(f"{peer.label} {sample.cpu:.3f} s", file=sys.stderr)
    return sample


def environment(peer: Peer) -> dict[str, str]:
    """Let the commands of this checkout find its package."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, **peer.environment}


def _middle(values: Sequence[float]) -> float:
    """Return the median; of an even number, the lower of the two in the middle."""
    return sorted(values)[(len(values) - 1) // 2]


def seconds(value: float) -> str:
    """Write a duration with two or three digits."""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def processor() -> str:
    """Name the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"
