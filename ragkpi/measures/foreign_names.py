"""Names that other tools give: ``nDCG@10``, ``AP(rel=2)@100``, ``MRR``, as requests of here.

They mean what ir_measures means by them. What differs here, or is not offered, is refused with the
nearest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragkpi.errors import UsageError
from ragkpi.interface import option, request_text
from ragkpi.measures.measure import Measure
from ragkpi.measures.parameters import Cutoffs
from ragkpi.records import NamedTuple

_CALL = (
    r"(?P<name>[A-Za-z][\w-]*?)(?:\((?P<parameters>[^()]*)\))?"
    r"(?:@(?P<cutoff>\d+(?:\.\d+)?)|[._](?P<rank>[1-9]\d*))?"
)
# What some parameters make of a measure; None is the measure itself.
_VARIANTS: Mapping[tuple[str, str, str], str | None] = {
    ("ndcg", "dcg", "log2"): None,
    ("ndcg", "dcg", "exp-log2"): "ndcg_exp",
    ("setp", "relative", "True"): "set_relative_P",
    ("setp", "relative", "False"): None,
}
# Parameters whose value is one of the measure's own.
_OWN = {("setf", "beta"), ("iprec", "recall")}


class Request(NamedTuple):
    """What is asked for: a request of here, and the level from which documents are relevant."""

    text: str
    level: int | None = None


def translated(text: str, registry: Mapping[str, Measure]) -> Request | None:
    """Translate what other tools call a measure; None if none is known by that name.

    Raises
    ------
    UsageError
        If the measure is known, and a parameter is not.

    Examples
    --------
    >>> from ragkpi.measures.registry import REGISTRY
    >>> translated("nDCG@10", REGISTRY).text, translated("MRR", REGISTRY).text
    ('ndcg_cut.10', 'recip_rank')
    >>> translated("AP(rel=2)@100", REGISTRY)
    Request(text='map_cut.100', level=2)
    """
    call = re.fullmatch(_CALL, text)
    if call is None:
        return None
    name, cutoff = call["name"].casefold(), call["cutoff"] or call["rank"]
    known = [
        measure for measure in registry.values() if name in map(str.casefold, measure.known_as)
    ]
    if not known:
        return None
    level, own = None, cutoff
    for parameter in filter(None, (call["parameters"] or "").split(",")):
        key, _, value = (part.strip().strip("'\"") for part in parameter.partition("="))
        if (name, key, value) in _VARIANTS:
            other = _VARIANTS[name, key, value]
            known = known if other is None else [registry[other]]
        elif key == "cutoff" and cutoff is None:
            cutoff = own = value
        elif (name, key) in _OWN and own is None:
            own = value
        elif key == "rel" and value.isdecimal() and (name == "numret" or has_level(known[0])):
            level = int(value)
        elif (key, value) != ("judged_only", "False"):
            raise UsageError(f"{request_text(text)}: {_advice(known[0], key, parameter.strip())}")
    if name == "numret" and level is not None:
        return Request("num_rel_ret", level)
    if own is None and name == "judged":
        raise UsageError(
            f"{request_text(text)}: of how many documents? Expected a cutoff: Judged@10"
        )
    if own is None:
        # The uncut measure, where there is one, is what a name without a cutoff means.
        known.sort(key=lambda measure: isinstance(measure.parameters, Cutoffs))
        return Request(known[0].name, level)
    if cutoff is None or "." in own or name in ("setf", "iprec"):
        cut = [measure for measure in known if not isinstance(measure.parameters, Cutoffs)]
    else:
        cut = [measure for measure in known if isinstance(measure.parameters, Cutoffs)]
    return next((Request(f"{measure.name}.{own}", level) for measure in cut), None)


def with_level(text: str) -> Request | None:
    """Read the level of ``P.5,rel=2``, or of ``P_5_rel=2`` as it is printed; None without one."""
    found = re.search(r"[,._]rel=(\d+)$", text)
    return None if found is None else Request(text[: found.start()], int(found[1]))


def refuse_level(text: str, name: str, registry: Mapping[str, Measure]) -> None:
    """Raise `UsageError` if no level changes what a measure is."""
    if name not in registry or not has_level(registry[name]):
        raise UsageError(
            f"{request_text(text)}: {name} takes no level from which documents are relevant"
        )


def has_level(measure: Measure) -> bool:
    """Say whether a measure depends on the level from which documents are relevant."""
    plain = measure.reads == "qrels" and "grade_map" not in measure.needs
    return plain and measure.worth == "level" and measure.question != "gain"


def _advice(measure: Measure, key: str, parameter: str) -> str:
    if key == "rel":
        return f"{measure.name} takes no level from which documents are relevant"
    if key == "judged_only":
        return (
            f"here that is {request_text(measure.name)} with "
            f"{option('unjudged', 'removed')}, which is of all measures"
        )
    return f"here {measure.name} takes no parameter {parameter}; 'ragkpi measures' says which"
