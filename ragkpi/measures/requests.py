"""`-m` arguments to metrics: names, nicknames, parameters, and what was meant by a typo."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, NoReturn

from ragkpi.errors import UsageError
from ragkpi.interface import request_text
from ragkpi.measures.measure import Measure, Metric
from ragkpi.measures.parameters import Parameters
from ragkpi.measures.registry_trec import CLASSIC, LATER, NICKNAMES

if TYPE_CHECKING:
    from ragkpi.measures.foreign_names import Request

# By the name of a measure, and the level from which documents are relevant, if that was said.
_Key = tuple[str, "int | None"]
# Where something was typed: the number of the request, and of its parameters.
_Place = tuple[int, int]


class _Request:
    """What the command line says about one measure."""

    def __init__(self) -> None:
        self.plain = False
        self.given: list[Parameters] = []  # by the user: they replace the defaults
        self.listed: list[Parameters] = []  # by a nickname: they add to them
        self.places: dict[str | None, _Place] = {}  # by suffix, None without parameters

    def metrics(
        self, measure: Measure, level: int | None, printed_place: Iterator[int]
    ) -> Iterator[tuple[_Place, Metric]]:
        """Yield each metric and where it was typed, cutoffs ascending."""
        grammar = measure.parameters
        chosen = [*self.given, *self.listed]
        if self.plain and (grammar.plain_is_a_value or not self.given):
            chosen += grammar.defaults()
        distinct = list({parameters.suffix: parameters for parameters in chosen}.values())
        distinct.sort(key=lambda parameters: parameters.order)
        printed = [grammar.printed(measure.name, parameters) for parameters in distinct]
        # Where two would print one name, as trec_eval's 0.12 for 0.125 and 0.121, both have all
        # their digits.
        names = [
            name if printed.count(name) == 1 else f"{measure.name}_{parameters.suffix}"
            for name, parameters in zip(printed, distinct, strict=True)
        ]
        suffix = "" if level is None else f"_rel={level}"
        for name, parameters in zip(names, distinct, strict=True):
            typed = min(self.places[key] for key in (parameters.suffix, None) if key in self.places)
            arguments = parameters.arguments
            yield typed, Metric(measure, name + suffix, arguments, level, next(printed_place))


def parse_requests(
    texts: Iterable[str],
    registry: Mapping[str, Measure],
    nicknames: Mapping[str, Sequence[str]],
    find_more: Callable[[], Mapping[str, Measure]] = dict,
) -> list[Metric]:
    """Resolve the ``-m`` arguments of one command line.

    Parameters
    ----------
    texts
        Each ``NAME``, ``NAME.PARAMS``, a printed spelling (``P_10``), or a nickname. The name
        of any measure that has numbers may follow ``num_q_``: see `Measure.num_q`.
    registry, nicknames
        All measures by name, in printing order; nicknames with the requests that they stand for.
    find_more
        Asked for further measures, to be printed last, if a name is unknown.

    Returns
    -------
    list of Metric
        In the order of `texts`, each once; those of a nickname, and the defaults of a measure, in
        printing order, which all of them know (`Metric.printed_place`). Requests for one measure
        add up; parameters replace the defaults of the same measure, wherever those came from.

    Raises
    ------
    UsageError
        Naming every bad request, with the nearest names.
    """
    requests: dict[_Key, _Request] = {}
    problems: list[str] = []
    texts = list(apart(texts))
    if any("num_q_" in text for text in texts):  # 90 more measures take half a millisecond
        registry = _with_counts(registry)
    if any(_split(text, registry, nicknames) is None for text in texts):
        registry = {**registry, **find_more()}
    for turn, text in enumerate(texts):
        try:
            _add(text, turn, registry, nicknames, requests, from_nickname=False)
        except UsageError as problem:
            problems.append(str(problem))
    if problems:
        raise UsageError("; ".join(problems))
    levels: dict[str, list[int | None]] = {}
    for name, level in requests:
        levels.setdefault(name, []).append(level)
    printed_place = count()
    found = [
        placed
        for name, measure in registry.items()
        for level in sorted(levels.get(name, ()), key=lambda level: (level is not None, level))
        for placed in requests[name, level].metrics(measure, level, printed_place)
    ]
    return [metric for _, metric in sorted(found, key=lambda placed: placed[0])]


def find_trec_metrics(texts: Iterable[str]) -> list[Metric] | None:
    """Resolve ``-m`` arguments as `ragkpi.measures.registry` does, without importing all measures.

    None if one of them names, by its plain name, nothing of trec_eval's.
    """
    texts = apart(texts)
    names = [text.partition(".")[0] for text in texts]
    members = [member.partition(".")[0] for n in names for member in NICKNAMES.get(n, [n])]
    measures = {measure.name: measure for measure in [*CLASSIC, *LATER]}
    if not measures.keys() >= set(members):
        return None
    return parse_requests(texts, measures, NICKNAMES)


def apart(texts: Iterable[str]) -> list[str]:
    """Separate ``map,ndcg_cut.10``: a comma before a name is between requests.

    >>> apart(["map,P.5,10,bor.10,m=3", "AP(rel=2)@9,P@5"])
    ['map', 'P.5,10', 'bor.10,m=3', 'AP(rel=2)@9', 'P@5']
    """
    return [
        part
        for text in texts
        for part in (re.split(r",(?=[A-Za-z]\w*(?:[.,@(]|$))", text) if "," in text else [text])
    ]


def _with_counts(registry: Mapping[str, Measure]) -> Mapping[str, Measure]:
    """Let ``num_q_NAME`` follow every measure that has numbers."""
    numeric = {name for name, measure in registry.items() if measure.numeric}
    return {
        offered.name: offered
        for name, measure in registry.items()
        for offered in ((measure, measure.num_q) if name in numeric else (measure,))
    }


def _add(
    text: str,
    turn: int,
    registry: Mapping[str, Measure],
    nicknames: Mapping[str, Sequence[str]],
    requests: dict[_Key, _Request],
    from_nickname: bool,
) -> None:
    level: int | None = None
    said = text
    if "rel=" in text:
        from ragkpi.measures.foreign_names import with_level

        said, level = with_level(text) or (text, None)
    split = _split(said, registry, nicknames)
    if split is None and (here := _meant(text, registry)) is not None:
        level = here.level
        split = _split(here.text, registry, nicknames)
    name, dot, parameters = split or _refuse(text, registry, nicknames)
    if level is not None:
        from ragkpi.measures.foreign_names import refuse_level

        refuse_level(text, name, registry)
    if name in nicknames:
        if dot:
            members = " ".join(nicknames[name])
            raise UsageError(
                f"{request_text(text)}: {name} is a nickname and takes no parameters; "
                f"give them to its members ({members})"
            )
        for member in nicknames[name]:
            _add(member, turn, registry, nicknames, requests, from_nickname=True)
        return
    if dot and not parameters:
        raise UsageError(
            f"{request_text(text)}: nothing follows the dot; give {request_text(name)} or "
            f"{request_text(name)}.PARAMS"
        )
    request = requests.setdefault((name, level), _Request())
    if not dot:
        request.plain = True
        request.places.setdefault(None, (turn, 0))
        return
    cut = f"{name}_cut"
    if parameters.isdecimal() and cut in registry and name in registry:
        raise UsageError(
            f"{request_text(text)}: {name} takes no cutoff; expected "
            f"{request_text(cut)}.{parameters}"
        )
    parsed = registry[name].parameters.parse(name, parameters)
    (request.listed if from_nickname else request.given).extend(parsed)
    for number, one in enumerate(parsed):
        request.places.setdefault(one.suffix, (turn, 0 if from_nickname else number))


def _split(
    text: str, registry: Mapping[str, Measure], nicknames: Mapping[str, Sequence[str]]
) -> tuple[str, str, str] | None:
    """Split a request into name, dot and parameters; None if nothing is known by that name."""
    name, dot, parameters = text.partition(".")
    if name in nicknames or name in registry:
        return name, dot, parameters
    return _printed_spelling(text, registry)


def _printed_spelling(text: str, registry: Mapping[str, Measure]) -> tuple[str, str, str] | None:
    """Read ``P_10`` or ``ra_nwg_10_alpha=0.5`` as printed; None if it is not such a name."""
    prefixes = [name for name in registry if text.startswith(f"{name}_")]
    for name in sorted(prefixes, key=len, reverse=True):
        rest = text[len(name) + 1 :]
        for parameters in (rest, rest.replace("_", ",")):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # they come when it is parsed
                    registry[name].parameters.parse(name, parameters)
            except UsageError:
                continue
            return name, ".", parameters
    return None


def _refuse(
    text: str, registry: Mapping[str, Measure], nicknames: Mapping[str, Sequence[str]]
) -> NoReturn:
    from ragkpi.measures.foreign_names import translated

    name = re.split(r"[.(@]", text, maxsplit=1)[0]
    advice = "'ragkpi measures' lists them all"
    if here := translated(text, registry):
        level = "" if here.level is None else f",rel={here.level}"
        advice = f"here that is {request_text(here.text)}{level}"
    elif near := _near(name, [*registry, *nicknames]):
        advice = f"did you mean {' or '.join(near)}?"
    raise UsageError(f"{request_text(text)}: no measure is named '{name}'; {advice}")


def _meant(text: str, registry: Mapping[str, Measure]) -> Request | None:
    """Translate what other tools call a measure, where both mean the same by it.

    Sets of everything retrieved are what few mean by ``Recall``; F and RBP have other parameters.
    """
    from ragkpi.measures.foreign_names import translated

    here = translated(text, registry)
    if here is None:
        return None
    name = here.text.partition(".")[0]
    is_set = name.startswith("set_") and not text.casefold().startswith("set")
    return None if is_set or name in ("F", "rbp") else here


def _near(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three names that look like one, whatever the capitals."""
    import difflib  # nobody who spells right waits for it

    folded = {name.casefold(): name for name in known if not name.startswith("num_q_")}
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    return [folded[name] for name in near]
