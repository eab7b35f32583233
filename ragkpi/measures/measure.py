"""What a measure declares, and what a value is: a measure with its parameters filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from ragkpi.measures.aggregates import MEAN, Aggregate, count_of
from ragkpi.measures.hole_bounds import COUNTED, Bounds
from ragkpi.measures.parameters import Grammar, NoParameters
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.relevance import AnyJudged
from ragkpi.records import dataclass, field, replace
from ragkpi.wording import Style

Need = Literal["corpus_size", "grade_map", "outside_pool"]
RelInfo = Literal["qrels", "qrels_jg", "prefs", "any"]
Better = Literal["higher", "lower", "neither"]
Ties = Literal["monotone", "unproven"]
Question = Literal[
    "counts", "early", "found", "gain", "incomplete", "chance", "evidence", "tradeoff", "assessors"
]

QUESTIONS: Mapping[Question, str] = {
    "counts": "What was evaluated, and how much of it?",
    "early": "Do relevant documents come early?",
    "found": "How much of what is shown is relevant, and how much of what is relevant is shown?",
    "gain": "Do the better documents come first?",
    "incomplete": "What can be said while many documents are unjudged?",
    "chance": "Is it better than drawing at random?",
    "evidence": "Is the evidence among the few documents that a generator is shown?",
    "tradeoff": "What do precision and recall give together?",
    "assessors": "Does it agree with preferences, or with several assessors?",
}


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
    known_as
        What other tools call it, in any capitals. A name with a cutoff (``nDCG@10``) asks for the
        measure that takes one.
    better
        Which of two values is the better one, for marks, wins and gates; ``"neither"`` for
        counts and properties of the collection.
    bounds
        Where its extremes lie while documents are unjudged; `hole_bounds.UNPROVEN`, or another
        reason, if that is not known.
    ties
        ``"monotone"`` if it never falls when a document moves above a neighbour of a lower level:
        then its extremes over all orders of equal scores are known.
    question
        Under which of `QUESTIONS` it is listed.

    worth
        What it sees of judgements: ``"level"`` needs levels; ``"gain"`` takes real gains in their
        place, from `ragkpi.measures.gain_lists`; ``"judged"`` only sees which documents are.
    expected
        Its expected value over all orders of equal scores (``--ties expected``): a function like
        `function`, of a `Judged` whose `tied` is known; ``"unchanged"`` if no order changes it.
        None if that is not offered, which refuses the measure there.

    `better`, `bounds`, `ties` and `question` must be said: a record cannot leave out what a command
    needs to know.
    """

    name: str
    function: Callable[..., Any]
    parameters: Grammar = field(default_factory=NoParameters)
    aggregate: Aggregate = MEAN
    style: Style = "decimal"
    needs: frozenset[Need] = frozenset()
    reads: RelInfo = "qrels"
    cautions: tuple[Caution, ...] = ()
    known_as: tuple[str, ...] = ()
    better: Better = field(kw_only=True)
    bounds: Bounds = field(kw_only=True)
    ties: Ties = field(kw_only=True)
    question: Question = field(kw_only=True)
    worth: Literal["level", "gain", "judged"] = field(default="level", kw_only=True)
    expected: Callable[..., Any] | Literal["unchanged"] | None = field(default=None, kw_only=True)

    @property
    def expectation(self) -> Callable[..., Any] | None:
        """What computes its expected value over all orders of equal scores."""
        return self.function if self.expected == "unchanged" else self.expected

    @property
    def sees(self) -> str:
        """What it sees of judgements, in words."""
        return {
            "level": "levels",
            "gain": "levels, or real gains (--gains)",
            "judged": "which documents are judged",
        }[self.worth]

    @property
    def over_ties(self) -> str:
        """What ``--ties expected`` makes of it, in words."""
        if self.expected == "unchanged":
            return "no order of equal scores changes it"
        return "by id, or --ties expected" if self.expected else "by id"

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self.style not in ("text", "quoted")

    @property
    def sign(self) -> float:
        """What makes the better of two values the greater: -1.0 where lower ones are better."""
        return -1.0 if self.better == "lower" else 1.0

    @property
    def is_mean(self) -> bool:
        """Whether its summary is the mean of the values of its queries, so that others may mean."""
        return self.aggregate.value is MEAN.value and self.aggregate.summary is MEAN.summary

    @property
    def num_q(self) -> Measure:
        """The measure ``num_q_NAME``: how many queries the summary of this one is over."""
        return replace(
            self,
            name=f"num_q_{self.name}",
            aggregate=count_of(self.aggregate),
            style="integer",
            cautions=(),
            known_as=(),
            better="neither",
            bounds=COUNTED,
            ties="unproven",
            question="counts",
        )

    @property
    def help(self) -> str:
        """The docstring, unindented."""
        import inspect

        return inspect.getdoc(self.function) or ""

    @property
    def in_short(self) -> str:
        """The first line of the docstring, without its full stop."""
        return self.help.partition("\n")[0].removesuffix(".")


@dataclass(frozen=True)
class Metric:
    """A measure with its parameters: what one printed line stands for.

    Attributes
    ----------
    measure, arguments
        The measure, and what its function takes besides a judged run.
    name
        What is printed.
    relevance_level
        The level from which documents are relevant for it alone; None for that of all measures.
    printed_place
        Where its line stands among those of the metrics that were asked for with it.
    """

    measure: Measure
    name: str
    arguments: Mapping[str, Any]
    relevance_level: int | None = None
    printed_place: int = 0

    def sees(self, judged: AnyJudged) -> AnyJudged:
        """Return a judged run as this metric looks at it."""
        if self.relevance_level is None or not isinstance(judged, Judged):
            return judged
        settings = replace(judged.settings, relevance_level=self.relevance_level)
        return replace(judged, settings=settings)

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
