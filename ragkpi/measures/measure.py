"""What a measure declares, and what a value is: a measure with its parameters filled in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ragkpi.measures.aggregates import COUNT, MEAN, Aggregate
from ragkpi.measures.hole_bounds import UNPROVEN, Bounds
from ragkpi.measures.parameters import Grammar, NoParameters
from ragkpi.ranking.judged import Judged
from ragkpi.wording import Style

Need = Literal["corpus_size", "grade_map", "outside_pool"]
RelInfo = Literal["qrels", "qrels_jg", "prefs", "any"]
Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Measure:
    """One line of the registry.

    Attributes
    ----------
    name
        As given to ``-m`` and printed.
    function
        From `Judged` and the parameters to sufficient statistics, (Q,) or (Q, S); NaN in a row
        is NA, which is printed as such and left out of the summary. Text measures return (Q,)
        of objects. Its docstring is the help text.
    parameters
        How the part of ``-m NAME.PARAMS`` behind the dot is read.
    aggregate
        How statistics become one number.
    style
        How a value is printed: ``%6.4f``, an integer, six significant digits, or text.
    needs
        What must be known besides qrels and run.
    reads
        The relevance format it is computed from.
    cautions
        What its reader may have to be warned of.
    better
        Which of two values is the better one, for marks, wins and gates; ``"neither"`` for
        counts and properties of the collection.
    bounds
        Where its extremes lie while documents are unjudged, if that is proven.
    """

    name: str
    function: Callable[..., Any]
    parameters: Grammar = field(default_factory=NoParameters)
    aggregate: Aggregate = MEAN
    style: Style = "decimal"
    needs: frozenset[Need] = frozenset()
    reads: RelInfo = "qrels"
    cautions: tuple[Caution, ...] = ()
    better: Better = "higher"
    bounds: Bounds = UNPROVEN

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self.style not in ("text", "quoted")

    @property
    def sign(self) -> float:
        """What makes the better of two values the greater: -1.0 where lower ones are better."""
        return -1.0 if self.better == "lower" else 1.0

    @property
    def num_q(self) -> Measure:
        """The measure ``num_q_NAME``: how many queries the summary of this one is over."""
        name = f"num_q_{self.name}"
        return replace(
            self, name=name, aggregate=COUNT, style="integer", cautions=(), better="neither"
        )

    @property
    def help(self) -> str:
        """The docstring, unindented."""
        return inspect.getdoc(self.function) or ""


@dataclass(frozen=True)
class Metric:
    """A measure with its parameters: what one printed line stands for."""

    measure: Measure
    name: str
    arguments: Mapping[str, Any]

    def is_printed(self, where: Literal["query", "summary"]) -> bool:
        """Say whether it has a line for each query, or one over all of them."""
        return self.measure.aggregate.prints in ("both", where)

    @property
    def is_estimate(self) -> bool:
        """Whether its summary is estimated from the queries: no text, and not their number."""
        measure = self.measure
        return (
            measure.numeric and self.is_printed("summary") and measure.aggregate.kind == "estimate"
        )

    @property
    def is_comparable(self) -> bool:
        """Whether one run can be better by it than another."""
        return self.is_estimate and self.measure.better != "neither"


Caution = Callable[[Judged, Sequence[Metric]], Iterable[str]]
"""From a judged run and the requested values that are concerned to warnings of one line each."""
