"""The grammars of `-m NAME.PARAMS`: how each kind of measure reads its parameters.

trec_eval has five kinds: none, integer cutoffs, real cutoffs, a list of reals and key=value
pairs. ragkpi's own measures take cutoffs and key=value options together. Text that trec_eval
silently reads as 0 or drops is refused here, or gets a warning if output must stay the same.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.interface import request_text

RECALL_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NINE_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def bad_request(measure: str, parameters: str | None, problem: str) -> UsageError:
    """Return the error for a request; its text begins with the request as the user wrote it."""
    return UsageError(f"{request_text(measure, parameters)}: {problem}")


def _warn(measure: str, parameters: str | None, problem: str) -> None:
    text = f"{request_text(measure, parameters)}: {problem}"
    warnings.warn(text, RagkpiWarning, stacklevel=3)


@dataclass(frozen=True)
class Parameters:
    """One way to call a measure: the printed suffix of its name, and the arguments.

    `order` sorts the metrics of one measure; equal orders keep the order of the command line.
    """

    suffix: str
    arguments: Mapping[str, Any]
    order: tuple[float, ...] = ()


@dataclass(frozen=True)
class Grammar:
    """Reads the parameters of a measure; this one expects none."""

    # Whether a number after the name is a rank to cut at.
    takes_cutoffs: bool = field(default=False, kw_only=True)

    def plain_is_a_value(self, typed: Sequence[Parameters]) -> bool:
        """Return whether the bare name adds a value to those with parameters.

        ``-m recip_rank -m recip_rank.10`` asks for two values, ``-m P -m P.10`` for P_10 alone.
        """
        return not typed

    def defaults(self) -> list[Parameters]:
        """Return the parameters of the bare name."""
        return [Parameters("", {})]

    def parse(self, measure: str, text: str) -> list[Parameters]:
        """Read the text after the dot; raise `UsageError` if it does not fit."""
        advice = f"give {request_text(measure)}"
        raise bad_request(measure, text, f"{measure} takes no parameters; {advice}")

    def describe(self) -> str:
        """Return the allowed parameters in one line, for the help text."""
        return "none"

    def printed(self, measure: str, parameters: Parameters) -> str:
        """Return the printed name."""
        return f"{measure}_{parameters.suffix}" if parameters.suffix else measure


@dataclass(frozen=True)
class Option:
    """A ``key=value`` parameter of a measure, which `convert` (`int` or `float`) reads.

    Its printed name leaves out the default. `least`, `most` and `expected` are the allowed finite
    values, as numbers and in words.
    """

    default: float
    convert: Callable[[str], float] = float
    least: float = -math.inf
    most: float = math.inf
    expected: str = "a number"

    def read(self, measure: str, key: str, text: str) -> float:
        try:
            value = self.convert(text)
        except ValueError:
            value = math.nan
        allowed = self.least <= value <= self.most and abs(value) < math.inf
        if text.strip() != text or "_" in text or not allowed:
            raise bad_request(measure, None, f"{key}={text}; expected {self.expected}")
        return value


@dataclass(frozen=True)
class Cutoffs(Grammar):
    """Ranks at which to cut, and `key=value` options for all of them, in printing order.

    `default` has the cutoffs of the bare name; it is empty if that is the uncut measure. `span` is
    the number of consecutive cutoffs of one value: 1, or 2 for differences between depths.
    """

    default: tuple[int, ...] = NINE_CUTOFFS
    options: Mapping[str, Option] = field(default_factory=dict)
    span: int = 1
    takes_cutoffs: bool = field(default=True, kw_only=True)

    def plain_is_a_value(self, typed: Sequence[Parameters]) -> bool:
        return not typed or not self.default

    def defaults(self) -> list[Parameters]:
        return self._parameters((), {})

    def parse(self, measure: str, text: str) -> list[Parameters]:
        options: dict[str, float] = {}
        cutoffs: list[int] = []
        for item in text.removeprefix("cut.").split(","):
            key, equals, value = item.partition("=")
            if not equals:
                cutoffs.append(_cutoff(measure, item))
            elif key not in self.options:
                keys = ", ".join(self.options) or "cutoffs only"
                raise bad_request(measure, text, f"no parameter '{key}'; it takes {keys}")
            elif key in options:
                raise bad_request(measure, text, f"'{key}' is given twice")
            else:
                options[key] = self.options[key].read(f"{measure}.{text}", key, value)
        _refuse_duplicates(measure, text, cutoffs)
        if cutoffs and len(cutoffs) < self.span:
            raise bad_request(measure, text, f"needs at least {self.span} cutoffs")
        return self._parameters(sorted(cutoffs) if self.span > 1 else cutoffs, options)

    def _parameters(self, cutoffs: Sequence[int], changed: Mapping[str, float]) -> list[Parameters]:
        options = {key: changed.get(key, option.default) for key, option in self.options.items()}
        cutoffs = cutoffs or self.default
        if not cutoffs:
            return [Parameters(self._suffix((), options), {"cutoff": None, **options})]
        windows = [tuple(cutoffs[i : i + self.span]) for i in range(len(cutoffs) - self.span + 1)]
        ways = []
        for window in windows:
            cutoff = window[0] if self.span == 1 else window
            arguments = {"cutoff": cutoff, **options}
            ways.append(Parameters(self._suffix(window, options), arguments, window))
        return ways

    def _suffix(self, cutoffs: Sequence[int], options: Mapping[str, float]) -> str:
        changed = [
            f"{key}={shortest(options[key])}"
            for key, option in self.options.items()
            if options[key] != option.default
        ]
        return "_".join([*map(str, cutoffs), *changed])

    def describe(self) -> str:
        cutoffs = "cutoffs, default " + (",".join(map(str, self.default)) or "uncut")
        options = [f"{key}={o.default:g} ({o.expected})" for key, o in self.options.items()]
        return "; ".join([cutoffs, *options])


@dataclass(frozen=True)
class RealCutoffs(Grammar):
    """Points on a real scale, such as recall points; a metric each."""

    default: tuple[float, ...]

    def defaults(self) -> list[Parameters]:
        return [self._value(point) for point in self.default]

    def parse(self, measure: str, text: str) -> list[Parameters]:
        points = [_real(measure, item) for item in text.split(",")]
        _refuse_duplicates(measure, text, points)
        return [self._value(point) for point in points]

    def _value(self, point: float) -> Parameters:
        return Parameters(shortest(point), {"point": point}, (point,))

    def printed(self, measure: str, parameters: Parameters) -> str:
        """Return the name that trec_eval prints: two decimals, cut to eight characters."""
        point = parameters.arguments["point"]
        return f"{measure}_{point:3.2f}"[: len(measure) + 9]

    def describe(self) -> str:
        return "points, default " + ",".join(f"{point:g}" for point in self.default)


@dataclass(frozen=True)
class RealList(Grammar):
    """Numbers that together are one `argument` of a metric, in their order.

    `length` is the required count of numbers, None for any. `used` is the count of numbers that
    matter; trec_eval accepts more and ignores them.
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
            raise bad_request(measure, text, f"{len(numbers)} numbers; expected {self.length}")
        if self.used is not None and len(numbers) > self.used:
            _warn(measure, text, f"only the first {self.used} of {len(numbers)} numbers count")
        return [Parameters(text, {self.argument: numbers})]

    def describe(self) -> str:
        return "numbers, default " + ",".join(f"{number:g}" for number in self.default)


@dataclass(frozen=True)
class Gains(Grammar):
    """``level=gain`` pairs: the gain of documents judged at that level; by default the level.

    `probability` is the default of the parameter ``p`` of rank-biased precision, None without that
    parameter; `gains` is whether pairs are allowed.
    """

    probability: float | None = None
    gains: bool = True

    def plain_is_a_value(self, typed: Sequence[Parameters]) -> bool:
        return all("cutoff" in parameters.arguments for parameters in typed)

    def defaults(self) -> list[Parameters]:
        return [Parameters("", self._arguments({}, self.probability))]

    def _arguments(self, gains: dict[int, float], probability: float | None) -> dict[str, Any]:
        p = {} if probability is None else {"p": probability}
        return {"gains": gains, **p} if self.gains else p

    def parse(self, measure: str, text: str) -> list[Parameters]:
        gains: dict[int, float] = {}
        probability: float | None = None
        cutoffs: list[int] = []
        for item in text.split(","):
            key, equals, number = item.partition("=")
            if self.takes_cutoffs and not equals:
                cutoffs.append(_cutoff(measure, item))
                continue
            if not equals or "=" in number:
                such = "" if self.probability is None else f", such as p={self.probability}"
                raise bad_request(measure, text, f"'{item}'; expected key=value{such}")
            value = _real(measure, number)
            if key == "p" and self.probability is not None:
                if probability is not None:
                    raise bad_request(measure, text, "'p' is given twice")
                probability = value
            elif re.fullmatch(r"[+-]?\d+", key):
                if not self.gains:
                    raise bad_request(measure, text, f"no parameter '{key}'; it takes p")
                level = int(key)
                if level < 0:
                    problem = "a gain for a negative level would reward unjudged documents"
                    advice = "give levels from 0"
                    raise bad_request(measure, text, f"level {level}; {problem}, {advice}")
                if level in gains:
                    raise bad_request(measure, text, f"level {level} is given twice")
                gains[level] = value
            else:
                _warn(measure, text, f"'{key}' is not a level and has no effect")
        p = self.probability if probability is None else probability
        arguments = self._arguments(gains, p)
        if not cutoffs:
            return [Parameters(text, arguments)]
        _refuse_duplicates(measure, text, cutoffs)
        pairs = ",".join(item for item in text.split(",") if "=" in item)
        return [
            Parameters("_".join(filter(None, [str(k), pairs])), {**arguments, "cutoff": k}, (k,))
            for k in cutoffs
        ]

    def describe(self) -> str:
        cutoffs = "cutoffs, default uncut" if self.takes_cutoffs else ""
        pairs = "level=gain pairs, default gain = level" if self.gains else ""
        p = "" if self.probability is None else f"p={self.probability:g}"
        return "; ".join(filter(None, [cutoffs, pairs, p]))


def shortest(number: float) -> str:
    """Write a number with six digits, or as many as identify it.

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
        _warn(measure, None, f"cutoff {text} is read as {cutoff}, as trec_eval does")
    else:
        cutoff = 0
    if not 1 <= cutoff < 2**62:
        raise bad_request(measure, text, f"'{text}' is not a cutoff; expected a rank from 1")
    return cutoff


def _refuse_duplicates(measure: str, text: str, cutoffs: Sequence[float]) -> None:
    for position, cutoff in enumerate(cutoffs):
        if cutoff in cutoffs[:position]:
            raise bad_request(measure, text, f"{shortest(cutoff)} is given twice; give it once")


def _real(measure: str, text: str) -> float:
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        number = float(text)
        if math.isfinite(number):
            return number
    raise bad_request(measure, None, f"'{text}' is not a number; expected one such as 0.5")
