"""Parameters that are real numbers, which only trec_eval has: points, lists and gains."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.interface import request_text
from ragkpi.measures.parameters import Named, Parameters, refuse_duplicates, shortest
from ragkpi.records import dataclass

RECALL_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class RealCutoffs(Named):
    """Points on a real scale, such as recall points; one value each."""

    default: tuple[float, ...]

    def defaults(self) -> list[Parameters]:
        return [self._value(point) for point in self.default]

    def parse(self, measure: str, text: str) -> list[Parameters]:
        points = [_real(measure, item) for item in text.split(",")]
        refuse_duplicates(measure, text, points)
        return [self._value(point) for point in points]

    def _value(self, point: float) -> Parameters:
        return Parameters(shortest(point), {"point": point}, (point,))

    def printed(self, measure: str, parameters: Parameters) -> str:
        """Name it as trec_eval does: with two decimals, cut to eight characters."""
        point = parameters.arguments["point"]
        return f"{measure}_{point:3.2f}"[: len(measure) + 9]

    def describe(self) -> str:
        return "points, default " + ",".join(f"{point:g}" for point in self.default)


@dataclass(frozen=True)
class RealList(Named):
    """Numbers that together make one value; their order matters and is kept.

    Attributes
    ----------
    default
        The numbers of the bare name.
    argument
        Under which name the measure's function takes them.
    length
        How many must be given; None for any number.
    used
        How many count; trec_eval accepts more and ignores them.
    """

    default: tuple[float, ...]
    argument: str
    length: int | None = None
    used: int | None = None

    def defaults(self) -> list[Parameters]:
        return [Parameters("", {self.argument: self.default})]

    def parse(self, measure: str, text: str) -> list[Parameters]:
        numbers = tuple(_real(measure, item) for item in text.split(","))
        if self.length is not None and len(numbers) != self.length:
            raise UsageError(
                f"{request_text(measure, text)}: {len(numbers)} numbers; expected {self.length}"
            )
        if self.used is not None and len(numbers) > self.used:
            warnings.warn(
                f"{request_text(measure, text)}: only the first {self.used} of "
                f"{len(numbers)} numbers count",
                RagkpiWarning,
                stacklevel=2,
            )
        return [Parameters(text, {self.argument: numbers})]

    def describe(self) -> str:
        return "numbers, default " + ",".join(f"{number:g}" for number in self.default)


@dataclass(frozen=True)
class Gains(Named):
    """``level=gain`` pairs: what a document judged at that level is worth; default the level.

    `probability` is the default of the parameter ``p`` (rank-biased precision), None if the
    measure has none.
    """

    probability: float | None = None
    gains: bool = True

    def defaults(self) -> list[Parameters]:
        return [Parameters("", self._arguments({}, self.probability))]

    def _arguments(self, gains: dict[int, float], probability: float | None) -> dict[str, Any]:
        arguments: dict[str, Any] = {"gains": gains} if self.gains else {}
        if self.probability is not None:
            arguments["p"] = probability
        return arguments

    def parse(self, measure: str, text: str) -> list[Parameters]:
        gains: dict[int, float] = {}
        probability = self.probability
        given: set[str] = set()
        for item in text.split(","):
            key, equals, number = item.partition("=")
            if not equals or "=" in number:
                raise UsageError(f"{request_text(measure, text)}: '{item}'; expected key=value")
            value = _real(measure, number)
            if key == "p" and self.probability is not None:
                if "p" in given:
                    raise UsageError(f"{request_text(measure, text)}: 'p' is given twice")
                probability = value
            elif re.fullmatch(r"[+-]?\d+", key):
                if not self.gains:
                    raise UsageError(
                        f"{request_text(measure, text)}: no parameter '{key}'; it takes p"
                    )
                level = int(key)
                if level < 0:
                    raise UsageError(
                        f"{request_text(measure, text)}: level {level}; a gain for a "
                        f"negative level would "
                        "reward unjudged documents, give levels from 0"
                    )
                if level in gains:
                    raise UsageError(f"{request_text(measure, text)}: level {level} is given twice")
                gains[level] = value
            else:
                warnings.warn(
                    f"{request_text(measure, text)}: '{key}' is not a level and changes nothing",
                    RagkpiWarning,
                    stacklevel=2,
                )
            given.add(key)
        return [Parameters(text, self._arguments(gains, probability))]

    def describe(self) -> str:
        pairs = "level=gain pairs, default gain = level" if self.gains else ""
        p = "" if self.probability is None else f"p={self.probability:g}"
        return "; ".join(filter(None, [pairs, p]))


def _real(measure: str, text: str) -> float:
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        number = float(text)
        if math.isfinite(number):
            return number
    raise UsageError(f"{request_text(measure)}: '{text}' is not a number; expected one such as 0.5")
