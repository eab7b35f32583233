"""A task beside its reference, and the line of a Markdown table that says how both did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from measuring import Sample, medians, seconds
from peers import Peer


class Aim(NamedTuple):
    """What is aimed at: shares of the reference, seconds and megabytes; None for nothing."""

    time: float | None = None
    memory: float | None = None
    seconds: float | None = None
    megabytes: float | None = None


class Task(NamedTuple):
    """A command, and what it is measured by."""

    what: str
    command: Peer
    reference: Peer
    aim: Aim


def table(tasks: Iterator[Task], repeats: int, too_long: float) -> Iterator[str]:
    """Yield a Markdown table, a line for each task that can be measured here."""
    yield "| what | CPU | memory | beside | its CPU | its memory | CPU ÷ | aim | memory ÷ | aim |"
    yield f"|---|{'---:|' * 2}---|{'---:|' * 6}"
    for task in tasks:
        ours, theirs = medians([task.command, task.reference], repeats, too_long)
        if ours and theirs:
            yield _row(task, ours, theirs)
    yield ""


def _row(task: Task, ours: Sample, theirs: Sample) -> str:
    wall = "(wall)" in task.what
    time, other = (ours.wall, theirs.wall) if wall else (ours.cpu, theirs.cpu)
    aim = task.aim
    share, memory = time / other, ours.memory / theirs.memory
    missed = aim.time is not None and share > aim.time
    late = aim.seconds is not None and time > aim.seconds
    large = aim.megabytes is not None and ours.memory > aim.megabytes
    wide = aim.memory is not None and memory > aim.memory
    cells = [
        task.what,
        _marked(seconds(time), late) + (f" (≤ {aim.seconds:g} s)" if aim.seconds else ""),
        _marked(f"{ours.memory:,.0f} MB", large)
        + (f" (≤ {aim.megabytes:g} MB)" if aim.megabytes else ""),
        task.reference.label,
        seconds(other),
        f"{theirs.memory:,.0f} MB",
        _marked(f"{share:.2f}", missed),
        "" if aim.time is None else f"≤ {aim.time:g}",
        _marked(f"{memory:.2f}", wide),
        "" if aim.memory is None else f"≤ {aim.memory:g}",
    ]
    return f"| {' | '.join(cells)} |"


def _marked(text: str, missed: bool) -> str:
    return f"**{text}**" if missed else text
