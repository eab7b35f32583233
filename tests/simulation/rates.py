"""Rates over repeated worlds: what a study is, and how it is shown."""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill

import numpy as np

SEED = 7
SHORT_OF = 0.05  # less than the test beside it by more than this is a miss

Outcome = Mapping[str, float]  # whether, or in what share, what a column counts has happened
Trial = Callable[[np.random.Generator], Outcome]


@dataclass(frozen=True)
class Rates:
    """A table: in each world a trial is repeated, and a column is a share of the trials.

    Attributes
    ----------
    worlds
        A trial by the description of its world.
    columns
        What the trials return, in the order of the table.
    most
        Columns whose rate should not exceed a share.
    least
        Columns whose rate should not fall short of a share.
    beside
        Columns whose rate should not fall short of another column's.
    """

    title: str
    worlds: Mapping[str, Trial]
    columns: Sequence[str]
    most: Mapping[str, float] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """The rule behind the verdict of a command, in words, and its rates."""

    heading: str
    rule: str
    tables: Sequence[Rates]


def trials_of(study: Study, table: Rates, world: str, some: range) -> list[Outcome]:
    """Run some of the trials of a world; each has a seed of its own."""
    cell = zlib.crc32(f"{study.heading}/{table.title}/{world}".encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            table.worlds[world](np.random.default_rng(np.random.SeedSequence((SEED, cell, trial))))
            for trial in some
        ]


def lines_of(
    study: Study, outcomes: Mapping[tuple[str, str], Sequence[Outcome]], before: str = ""
) -> Iterator[str]:
    """Show a study; outcomes are by table and world.

    A table without any is copied from `before`, the section of an older page, or left out.
    """
    yield from (f"## {study.heading}", "", fill(study.rule, 100), "")
    for table in study.tables:
        if (table.title, next(iter(table.worlds))) not in outcomes:
            _, begin, rest = before.partition(f"| {table.title} |")
            if begin:
                yield from (*(begin + rest.partition("\n\n")[0]).splitlines(), "")
            continue
        names = [name + _target(table, name) for name in table.columns]
        yield f"| {table.title} | {' | '.join(names)} |"
        yield f"|---{'|---:' * len(names)}|"
        for world in table.worlds:
            yield _row(table, world, outcomes[table.title, world])
        yield ""


def _target(table: Rates, name: str) -> str:
    most, least = table.most.get(name), table.least.get(name)
    if most is None:
        return "" if least is None else f" (≥ {100 * least:g}%)"
    return f" (≤ {100 * most:g}%)" if least is None else f" ({100 * least:g} to {100 * most:g}%)"


def _row(table: Rates, world: str, outcomes: Sequence[Outcome]) -> str:
    cells = []
    columns = {name: np.array([one[name] for one in outcomes], float) for name in table.columns}
    rate = {name: float(column.mean()) for name, column in columns.items()}
    for name, share in rate.items():
        error = float(columns[name].std()) / math.sqrt(len(outcomes))
        text = f"{100 * share:.1f} ± {100 * error:.1f}"
        most, least = table.most.get(name, 1.0), table.least.get(name, 0.0)
        too_often = share > most + 2 * _error(most, len(outcomes))
        too_rare = share < least - 2 * _error(least, len(outcomes))
        short = name in table.beside and share < rate[table.beside[name]] - SHORT_OF
        cells.append(f"**{text}**" if too_often or too_rare or short else text)
    return f"| {world} | {' | '.join(cells)} |"


def _error(rate: float, trials: int) -> float:
    """Return the standard error of a rate over trials: 0 for what is promised never or always."""
    return math.sqrt(rate * (1 - rate) / trials)
