"""How the parameters behind a measure's name are read: `-m NAME.PARAMS`.

trec_eval has five kinds: none, integer cutoffs, real cutoffs, a list of reals and key=value
pairs; those with real numbers are in `real_parameters`. ragkpi's own measures take cutoffs and
key=value options together. What trec_eval silently reads as 0 or drops is refused here, or said
in a warning where its output must stay the same.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.interface import request_text
from ragkpi.records import dataclass, field

NINE_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Parameters:
    """One way to call a measure: what is printed behind its name, and the arguments.

    `order` sorts the values of one measure; equal orders keep the order of the command line.
    """

    suffix: str
    arguments: Mapping[str, Any]
    order: tuple[float, ...] = ()


class Grammar(Protocol):
    """Reads parameters. `defaults` are those of a measure named without any."""

    @property
    def plain_is_a_value(self) -> bool:
        """Say whether the bare name is something else than its defaults spelled out.

        So ``-m recip_rank -m recip_rank.10`` asks for two values, ``-m P -m P.10`` for P_10 alone.
        """

    def defaults(self) -> list[Parameters]:
        """Return the values of the bare name."""

    def parse(self, measure: str, text: str) -> list[Parameters]:
        """Read the text behind the dot; raise `UsageError` if it does not fit."""

    def describe(self) -> str:
        """Say in one line what may be given, for the help text."""

    def printed(self, measure: str, parameters: Parameters) -> str:
        """Return the name that is printed."""


class Named:
    """Printing shared by the grammars."""

    plain_is_a_value = False

    def printed(self, measure: str, parameters: Parameters) -> str:
        return f"{measure}_{parameters.suffix}" if parameters.suffix else measure


@dataclass(frozen=True)
class NoParameters(Named):
    """A measure without parameters."""

    def defaults(self) -> list[Parameters]:
        return [Parameters("", {})]

    def parse(self, measure: str, text: str) -> list[Parameters]:
        raise UsageError(
            f"{request_text(measure, text)}: {measure} takes no parameters; give "
            f"{request_text(measure)}"
        )

    def describe(self) -> str:
        return "none"


@dataclass(frozen=True)
class Option:
    """A ``key=value`` parameter of a measure.

    Attributes
    ----------
    default
        Its value when not given; a value equal to it is not part of the printed name.
    convert
        `int` or `float`.
    least, most, expected
        Which finite values are allowed, as numbers and in words.
    """

    default: float
    convert: Callable[[str], float] = float
    least: float = -math.inf
    most: float = math.inf
    expected: str = "a number"

    def read(self, measure: str, key: str, text: str) -> float:
        """Convert and check one value; `UsageError` if it does not fit."""
        try:
            value = self.convert(text)
        except ValueError:
            value = math.nan
        known = self.least <= value <= self.most and abs(value) < math.inf
        if text.strip() != text or "_" in text or not known:
            raise UsageError(f"{request_text(measure)}: {key}={text}; expected {self.expected}")
        return value


@dataclass(frozen=True)
class Cutoffs(Named):
    """Ranks at which to cut, and `key=value` options that hold for all of them.

    Attributes
    ----------
    default
        The cutoffs of the bare name; empty if the bare name is the uncut measure.
    options
        The measure's ``key=value`` parameters, in the order in which they are printed.
    span
        How many consecutive cutoffs one value takes: 1, or 2 for differences between depths.
    """

    default: tuple[int, ...] = NINE_CUTOFFS
    options: Mapping[str, Option] = field(default_factory=dict)
    span: int = 1

    @property
    def plain_is_a_value(self) -> bool:  # type: ignore[override]
        return not self.default

    def defaults(self) -> list[Parameters]:
        options = {key: option.default for key, option in self.options.items()}
        if not self.default:
            return [Parameters("", {"cutoff": None, **options})]
        return self._values(self.default, options)

    def parse(self, measure: str, text: str) -> list[Parameters]:
        options = {key: option.default for key, option in self.options.items()}
        given: set[str] = set()
        cutoffs: list[int] = []
        for item in text.removeprefix("cut.").split(","):
            key, equals, value = item.partition("=")
            if not equals:
                cutoffs.append(_cutoff(measure, item))
            elif key not in self.options:
                known = ", ".join(self.options) or "cutoffs only"
                raise UsageError(
                    f"{request_text(measure, text)}: no parameter '{key}'; it takes {known}"
                )
            elif key in given:
                raise UsageError(f"{request_text(measure, text)}: '{key}' is given twice")
            else:
                given.add(key)
                options[key] = self.options[key].read(f"{measure}.{text}", key, value)
        refuse_duplicates(measure, text, cutoffs)
        if not cutoffs and not self.default:
            return [Parameters(self._suffix((), options), {"cutoff": None, **options})]
        if cutoffs and len(cutoffs) < self.span:
            raise UsageError(f"{request_text(measure, text)}: needs at least {self.span} cutoffs")
        if self.span > 1:
            cutoffs.sort()
        return self._values(cutoffs or self.default, options)

    def _values(self, cutoffs: Sequence[int], options: Mapping[str, float]) -> list[Parameters]:
        windows = [tuple(cutoffs[i : i + self.span]) for i in range(len(cutoffs) - self.span + 1)]
        return [
            Parameters(
                self._suffix(window, options),
                {"cutoff": window[0] if self.span == 1 else window, **options},
                window,
            )
            for window in windows
        ]

    def _suffix(self, cutoffs: Sequence[int], options: Mapping[str, float]) -> str:
        changed = [
            f"{key}={shortest(options[key])}"
            for key, option in self.options.items()
            if options[key] != option.default
        ]
        return "_".join([*map(str, cutoffs), *changed])

    def describe(self) -> str:
        what = ",".join(map(str, self.default)) if self.default else "uncut"
        options = "".join(
            f"; {key}={option.default:g} ({option.expected})"
            for key, option in self.options.items()
        )
        return f"cutoffs, default {what}{options}"


def shortest(number: float) -> str:
    """Write a number with six digits, or with as many as tell it from all others.

    >>> shortest(0.5), shortest(0.12345671)
    ('0.5', '0.12345671')
    """
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _cutoff(measure: str, text: str) -> int:
    if text.removeprefix("+").isdecimal():
        cutoff = int(text)
    elif re.fullmatch(r"\+?\d+\.\d*", text):
        cutoff = int(text.partition(".")[0])
        warnings.warn(
            f"{request_text(measure)}: cutoff {text} is read as {cutoff}, as trec_eval does",
            RagkpiWarning,
            stacklevel=2,
        )
    else:
        cutoff = 0
    if not 1 <= cutoff < 2**62:
        raise UsageError(
            f"{request_text(measure, text)}: '{text}' is not a cutoff; expected a rank from 1"
        )
    return cutoff


def refuse_duplicates(measure: str, text: str, cutoffs: Sequence[float]) -> None:
    """Raise `UsageError` if a cutoff is given twice."""
    for position, cutoff in enumerate(cutoffs):
        if cutoff in cutoffs[:position]:
            raise UsageError(
                f"{request_text(measure, text)}: {shortest(cutoff)} is given twice; give it once"
            )
