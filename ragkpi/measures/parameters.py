"""The grammar of `-m NAME.PARAMS`: how a measure reads its parameters.

trec_eval has five kinds: none, integer cutoffs, real cutoffs, a list of reals and key=value
pairs. ragkpi's own measures take cutoffs and key=value options together. Text that trec_eval
silently reads as 0 or drops is refused here, or gets a warning if output must stay the same.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.interface import request_text

RECALL_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NINE_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def bad_request(measure: str, parameters: str | None, problem: str) -> UsageError:
    """Return the error for a request; its text begins with the request as the user wrote it."""
    return UsageError(f"{request_text(measure, parameters)}: {problem}")


def _warn(measure: str, parameters: str | None, problem: str) -> None:
    text = f"{request_text(measure, parameters)}: {problem}"
    warnings.warn(text, RagkpiWarning, stacklevel=4)


@dataclass(frozen=True)
class Parameters:
    """One way to call a measure: the printed suffix of its name, and the arguments.

    `order` sorts the metrics of one measure: its cutoffs or its point, empty without one. Equal
    orders keep the order of the command line.
    """

    suffix: str
    arguments: Mapping[str, Any]
    order: tuple[float, ...] = ()


@dataclass(frozen=True)
class Option:
    """A ``key=value`` parameter of a measure, an integer if the default is one.

    Finite values from `least` to `most` are allowed.
    """

    default: float
    least: float = -math.inf
    most: float = math.inf

    @property
    def expected(self) -> str:
        """The allowed values in words."""
        number = "a whole number" if isinstance(self.default, int) else "a number"
        low = f" from {self.least:g}" if self.least > -math.inf else ""
        return number + low + (f" to {self.most:g}" if self.most < math.inf else "")

    def read(self, measure: str, key: str, text: str) -> float:
        whole = isinstance(self.default, int)
        number = _real(measure, text, f"{key}={text}; expected {self.expected}")
        if not self.least <= number <= self.most or (whole and not text.isdecimal()):
            raise bad_request(measure, None, f"{key}={text}; expected {self.expected}")
        return int(number) if whole else number


@dataclass(frozen=True)
class Grammar:
    """Reads the parameters of a measure; by default it has none.

    `numbers` between commas are ranks to cut at, points on a real scale with a metric each, or
    together one `argument`, a list of `length` numbers (None for any). `default` has those of the
    bare name; it is empty for cutoffs if that is the uncut measure. `span` consecutive cutoffs make
    a metric: 1, or 2 for differences between depths. With `gains`, ``level=gain`` pairs are the
    gains of documents judged at that level; by default the level.

    Printed names contain the cutoffs, and the `options` that are not the default; gains, lists and
    options without cutoffs are printed as they were typed, as by trec_eval.
    """

    numbers: Literal["none", "cutoffs", "points", "list"] = "none"
    default: tuple[float, ...] = ()
    options: Mapping[str, Option] = field(default_factory=dict)
    span: int = 1
    argument: str = "cutoff"
    length: int | None = None
    gains: bool = False

    def plain_is_a_value(self, typed: Sequence[Parameters]) -> bool:
        """Return whether the bare name adds a value to those with parameters.

        ``-m recip_rank -m recip_rank.10`` asks for two values, ``-m P -m P.10`` for P_10 alone.
        """
        return not typed or (not self.default and all(parameters.order for parameters in typed))

    def defaults(self) -> list[Parameters]:
        """Return the parameters of the bare name."""
        return self._parameters(self.default, {}, {}, "")

    def parse(self, measure: str, text: str) -> list[Parameters]:
        """Read the text after the dot; raise `UsageError` if it does not fit."""
        if self == Grammar():
            advice = f"give {request_text(measure)}"
            raise bad_request(measure, text, f"{measure} takes no parameters; {advice}")
        options: dict[str, float] = {}
        gains: dict[int, float] = {}
        numbers: list[float] = []
        for item in text.removeprefix("cut.").split(","):
            key, equals, value = item.partition("=")
            level = int(key) if self.gains and re.fullmatch(r"[+-]?\d+", key) else None
            if self.numbers != "none" and not equals:
                read = _cutoff if self.numbers == "cutoffs" else _real
                numbers.append(read(measure, item))
            elif not equals or "=" in value:
                keys = " or ".join([*(["level=gain"] if self.gains else []), *self.options])
                raise bad_request(measure, text, f"'{item}'; expected key=value, {keys}")
            elif key in options or level in gains:
                name = f"'{key}'" if level is None else f"level {level}"
                raise bad_request(measure, text, f"{name} is given twice")
            elif key in self.options:
                options[key] = self.options[key].read(f"{measure}.{text}", key, value)
            elif level is not None and level < 0:
                problem = "a gain for a negative level would reward unjudged documents"
                raise bad_request(measure, text, f"level {level}; {problem}, give levels from 0")
            elif level is not None:
                gains[level] = _real(measure, value)
            elif self.gains:
                _warn(measure, text, f"'{key}' is not a level and has no effect")
            else:
                keys = ", ".join(self.options) or f"{self.numbers} only"
                raise bad_request(measure, text, f"no parameter '{key}'; it takes {keys}")
        for place, number in enumerate(numbers if self.numbers != "list" else ()):
            if number in numbers[:place]:
                raise bad_request(measure, text, f"{shortest(number)} is given twice; give it once")
        if self.numbers == "list" and self.length not in (None, len(numbers)):
            problem = f"{len(numbers)} numbers; expected {self.length}"
            raise bad_request(measure, text, problem)
        if 0 < len(numbers) < self.span:
            raise bad_request(measure, text, f"needs at least {self.span} cutoffs")
        return self._parameters(numbers or self.default, options, gains, text)

    def _parameters(
        self,
        numbers: Sequence[float],
        changed: Mapping[str, float],
        gains: Mapping[int, float],
        text: str,
    ) -> list[Parameters]:
        options = {key: changed.get(key, option.default) for key, option in self.options.items()}
        arguments: dict[str, Any] = {"gains": gains, **options} if self.gains else options
        if self.numbers == "list":
            return [Parameters(text, {self.argument: tuple(numbers)})]
        suffix = [",".join(item for item in text.split(",") if "=" in item)]
        if not self.gains and self.numbers != "none":
            suffix = [
                f"{key}={shortest(options[key])}"
                for key, option in self.options.items()
                if options[key] != option.default
            ]
        if not numbers:
            uncut = {self.argument: None} if self.numbers == "cutoffs" else {}
            return [Parameters("_".join(suffix), {**uncut, **arguments})]
        windows = list(pairwise(sorted(numbers))) if self.span == 2 else [(n,) for n in numbers]
        ways = []
        for window in windows:
            cutoff = {self.argument: window[0] if self.span == 1 else window}
            places = [str(n) if isinstance(n, int) else shortest(n) for n in window]
            name = "_".join(filter(None, [*places, *suffix]))
            ways.append(Parameters(name, {**cutoff, **arguments}, window))
        return ways

    def describe(self) -> str:
        """Return the allowed parameters in one line, for the help text."""
        nouns = {"none": "", "cutoffs": "cutoffs", "points": "points", "list": "numbers"}
        default = ",".join(f"{number:g}" for number in self.default) or "uncut"
        numbers = f"{nouns[self.numbers]}, default {default}" if self.numbers != "none" else ""
        pairs = "level=gain pairs, default gain = level" if self.gains else ""
        options = [f"{key}={o.default:g} ({o.expected})" for key, o in self.options.items()]
        return "; ".join(filter(None, [numbers, pairs, *options])) or "none"

    def printed(self, measure: str, parameters: Parameters) -> str:
        """Return the printed name; of points as trec_eval, two decimals cut to eight characters."""
        if self.numbers == "points":
            return f"{measure}_{parameters.arguments[self.argument]:3.2f}"[: len(measure) + 9]
        return f"{measure}_{parameters.suffix}" if parameters.suffix else measure


def shortest(number: float) -> str:
    """Write a number with six digits, or as many as identify it.

    >>> shortest(0.5), shortest(0.12345671)
    ('0.5', '0.12345671')
    """
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _cutoff(measure: str, text: str) -> int:
    match = re.fullmatch(r"\+?(\d+)(\.\d*)?", text)
    cutoff = int(match[1]) if match else 0
    if not 1 <= cutoff < 2**62:
        raise bad_request(measure, text, f"'{text}' is not a cutoff; expected a rank from 1")
    if match and match[2]:
        _warn(measure, None, f"cutoff {text} is read as {cutoff}, as trec_eval does")
    return cutoff


def _real(measure: str, text: str, problem: str = "") -> float:
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        number = float(text)
        if math.isfinite(number):
            return number
    expected = f"'{text}' is not a number; expected one such as 0.5"
    raise bad_request(measure, None, problem or expected)
