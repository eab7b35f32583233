"""`-m` arguments to metrics: names, nicknames, parameters, and what was meant by a typo."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn

from ragkpi.errors import UsageError
from ragkpi.measures.measure import Measure, Metric
from ragkpi.measures.parameters import Cutoffs, Parameters

_FOREIGN = re.compile(r"(?P<name>[\w-]+?)(?:[@._](?P<cutoff>[1-9]\d*))?")

_AT_LEVEL = re.compile(r"(?P<name>\w+)\(rel=(?P<level>\d+)\)(?P<cut>(@\d+)?)")


class _Request:
    """What the command line says about one measure."""

    def __init__(self) -> None:
        self.plain = False
        self.given: list[Parameters] = []  # by the user: they replace the defaults
        self.listed: list[Parameters] = []  # by a nickname: they add to them

    def metrics(self, measure: Measure) -> list[Metric]:
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
        return [
            Metric(measure, name, parameters.arguments)
            for name, parameters in zip(names, distinct, strict=True)
        ]


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
        In registry order, cutoffs ascending, each once. Requests for one measure add up;
        parameters replace the defaults of the same measure, wherever those came from.

    Raises
    ------
    UsageError
        Naming every bad request, with the nearest names.
    """
    requests: dict[str, _Request] = {}
    problems: list[str] = []
    texts = list(apart(texts))
    if any("num_q_" in text for text in texts):  # 90 more measures take half a millisecond
        registry = _with_counts(registry)
    if any(_split(text, registry, nicknames) is None for text in texts):
        registry = {**registry, **find_more()}
    for text in texts:
        try:
            _add(text, registry, nicknames, requests, from_nickname=False)
        except UsageError as problem:
            problems.append(str(problem))
    if problems:
        raise UsageError("; ".join(problems))
    return [
        metric
        for name, measure in registry.items()
        if name in requests
        for metric in requests[name].metrics(measure)
    ]


def apart(texts: Iterable[str]) -> list[str]:
    """Separate ``map,ndcg_cut.10``: a comma before a name is between requests.

    >>> apart(["map,P.5,10,bor.10,m=3"])
    ['map', 'P.5,10', 'bor.10,m=3']
    """
    return [part for text in texts for part in re.split(r",(?=[A-Za-z]\w*(?:[.,@]|$))", text)]


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
    registry: Mapping[str, Measure],
    nicknames: Mapping[str, Sequence[str]],
    requests: dict[str, _Request],
    from_nickname: bool,
) -> None:
    split = _split(text, registry, nicknames)
    if split is None and (here := _meant(text, registry)) is not None:
        split = _split(here, registry, nicknames)
    name, dot, parameters = split or _refuse(text, registry, nicknames)
    if name in nicknames:
        if dot:
            members = " ".join(nicknames[name])
            raise UsageError(
                f"-m {text}: {name} is a nickname and takes no parameters; "
                f"give them to its members ({members})"
            )
        for member in nicknames[name]:
            _add(member, registry, nicknames, requests, from_nickname=True)
        return
    if dot and not parameters:
        raise UsageError(f"-m {text}: nothing follows the dot; give -m {name} or -m {name}.PARAMS")
    request = requests.setdefault(name, _Request())
    if not dot:
        request.plain = True
        return
    cut = f"{name}_cut"
    if parameters.isdecimal() and cut in registry and name in registry:
        raise UsageError(f"-m {text}: {name} takes no cutoff; expected -m {cut}.{parameters}")
    parsed = registry[name].parameters.parse(name, parameters)
    (request.listed if from_nickname else request.given).extend(parsed)


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
    name = text.partition(".")[0]
    here = request_here(text, registry)
    at_level = _AT_LEVEL.fullmatch(text)
    advice = "'ragkpi measures' lists them all"
    if at_level and (plain := request_here(at_level["name"] + at_level["cut"], registry)):
        advice = f"here that is -m {plain} with -l {at_level['level']}, which is of all measures"
    elif here is not None:
        advice = f"here that is -m {here}"
    elif near := _near(name, [*registry, *nicknames]):
        advice = f"did you mean {' or '.join(near)}?"
    raise UsageError(f"-m {text}: no measure is named '{name}'; {advice}")


def _meant(text: str, registry: Mapping[str, Measure]) -> str | None:
    """Translate what other tools call a measure, where both mean the same by it.

    Sets of everything retrieved are what few mean by ``Recall``; F and RBP have other parameters.
    """
    here = request_here(text, registry)
    name = "" if here is None else here.partition(".")[0]
    return None if name.startswith("set_") or name in ("F", "rbp") else here


def request_here(text: str, registry: Mapping[str, Measure]) -> str | None:
    """Translate ``nDCG@10``, ``MRR`` or ``hit_rate.10``; None if no measure is known by that name.

    >>> from ragkpi.measures.registry import REGISTRY
    >>> request_here("nDCG@10", REGISTRY), request_here("MRR", REGISTRY)
    ('ndcg_cut.10', 'recip_rank')
    """
    spelled = _FOREIGN.fullmatch(text)
    if spelled is None:
        return None
    called, cutoff = spelled["name"].casefold(), spelled["cutoff"]
    known = [
        measure for measure in registry.values() if called in map(str.casefold, measure.known_as)
    ]
    if cutoff:
        cut = (measure.name for measure in known if isinstance(measure.parameters, Cutoffs))
        return next((f"{name}.{cutoff}" for name in cut), None)
    # The uncut measure, where there is one, is what a name without a cutoff means.
    known.sort(key=lambda measure: isinstance(measure.parameters, Cutoffs))
    return known[0].name if known else None


def _near(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three names that look like one, whatever the capitals."""
    import difflib  # nobody who spells right waits for it

    folded = {one.casefold(): one for one in known if not one.startswith("num_q_")}
    found = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    return [folded[one] for one in found]
