"""The list of all measures, the parser of `-m`, and checks whether metrics suit the input.

Each file of measures declares a family next to its functions. This file lists the families in
printing order and the nicknames for sets of measures. `-m`, the `measures` command, help and tests
read the declarations.

A name from another tool (``nDCG@10``, ``AP(rel=2)@100``, ``MRR``) means the same as in ir_measures.
If ragkpi has no such measure, or another one of that name, it refuses and suggests the nearest.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count

from ragkpi.errors import UsageError
from ragkpi.interface import request_text, spell
from ragkpi.measures import counts, gain, incomplete, precision
from ragkpi.measures.measure import Caution, Measure, Metric, RelInfo, names_of
from ragkpi.measures.parameters import Parameters, bad_request
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.relevance import REL_INFO
from ragkpi.wording import did_you_mean

ENTRY_POINTS = "ragkpi.measures"

_COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
_PREFS = (
    *("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"),
    *("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel"),
    *("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret"),
    *("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
)
_GROUPS = ("map_avgjg", "P_avgjg", "Rprec_mult_avgjg")
# trec_eval's measures in the order in which it prints them.
_TREC_ORDER = (
    *_COUNTS,
    *("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P", "relstring"),
    *("recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "G"),
    *("dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P"),
    *("success", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    "num_nonrel_judged_ret",
    *_PREFS,
    *_GROUPS,
    *("yaap", "rbp", "rbp_resid", "unj"),
)
_NOT_IN_ALL_TREC = {"dcg", "ideal_dcg", "yaap", *_PREFS, *_GROUPS}

NICKNAMES: Mapping[str, Sequence[str]] = {
    "official": [
        *_COUNTS,
        *("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    ],
    "set": [
        *_COUNTS,
        *("utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    ],
    "all_trec": [name for name in _TREC_ORDER if name not in _NOT_IN_ALL_TREC],
    "prefs": ["runid", "num_q", *_PREFS[:6]],
    "all_prefs": ["runid", "num_q", *_PREFS],
    "qrels_jg": ["runid", "num_q", *_GROUPS],
    "chance": [
        *("success.1,5,10,20,100", "p_obs", "p_rand", "ef", "bor", "bor_max", "lambda"),
        "collapse",
    ],
    "rag": [
        *("ra_nwg", "proc", "pct_proc", "pct_proc_rom", "n_recall4", "n_recall5"),
        *("precision4", "harm", "harm_u", "num_q_fallback", "unj.10,30"),
    ],
    "kpi": [
        *("ndcg_cut.10,25,50,100", "map_cut.100", "recip_rank.10", "recall.25,50,100"),
        "success.10",
    ],
}


def _in_trec_order(families: Iterable[Sequence[Measure]]) -> dict[str, Measure]:
    measures = {measure.name: measure for family in families for measure in family}
    return dict(sorted(measures.items(), key=lambda item: _TREC_ORDER.index(item[0])))


_TREC_FAMILIES = (counts.MEASURES, precision.MEASURES, incomplete.MEASURES, gain.MEASURES)
TREC_MEASURES: Mapping[str, Measure] = _in_trec_order(_TREC_FAMILIES)


@functools.cache
def builtin_measures() -> Mapping[str, Measure]:
    """Return every measure of ragkpi by name, in printing order.

    The other families are imported here, as most evaluations only need those of `TREC_MEASURES`.
    """
    from ragkpi.measures import chance, evidence, kpi, preferences

    rag_families = (chance.MEASURES, evidence.MEASURES, kpi.MEASURES)
    return {
        **_in_trec_order([*_TREC_FAMILIES, preferences.MEASURES]),
        **{measure.name: measure for family in rag_families for measure in family},
    }


@dataclass
class _Requests:
    """All parameters that a command line requests of one measure at one level."""

    typed: list[Parameters] = field(default_factory=list)  # replace the defaults
    from_nicknames: list[Parameters] = field(default_factory=list)  # add to the defaults
    # The numbers of the request and of its parameter, by suffix; None for the bare name.
    positions: dict[str | None, tuple[int, int]] = field(default_factory=dict)

    def metrics(
        self, measure: Measure, level: int | None, printed_place: Iterator[int]
    ) -> Iterator[tuple[tuple[int, int], Metric]]:
        """Yield each metric and the position where it was typed, cutoffs ascending."""
        grammar, positions = measure.parameters, self.positions
        chosen = [*self.typed, *self.from_nicknames]
        if None in positions and grammar.plain_is_a_value(self.typed):
            chosen += grammar.defaults()
        distinct = list({parameters.suffix: parameters for parameters in chosen}.values())
        distinct.sort(key=lambda parameters: parameters.order)
        printed = [grammar.printed(measure.name, parameters) for parameters in distinct]
        suffix = "" if level is None else f"_rel={level}"
        for name, parameters in zip(printed, distinct, strict=True):
            # trec_eval prints 0.12 for 0.125 and for 0.121: equal names get all their digits.
            unique = name if printed.count(name) == 1 else f"{measure.name}_{parameters.suffix}"
            position = min(positions[key] for key in (parameters.suffix, None) if key in positions)
            arguments = parameters.arguments
            yield position, Metric(measure, unique + suffix, arguments, level, next(printed_place))


def split_requests(texts: Iterable[str]) -> list[str]:
    """Split ``map,ndcg_cut.10``: a comma before a name separates requests.

    >>> split_requests(["map,P.5,10,bor.10,m=3", "AP(rel=2)@9,P@5"])
    ['map', 'P.5,10', 'bor.10,m=3', 'AP(rel=2)@9', 'P@5']
    """
    before_name = r",(?=[A-Za-z]\w*(?:[.,@(]|$))"
    return [part for text in texts for part in re.split(before_name, text)]


def find_metrics(texts: Sequence[str]) -> list[Metric]:
    """Resolve the ``-m`` arguments of one command line.

    Each is ``NAME``, ``NAME.PARAMS``, a printed spelling (``P_10``), or a nickname. The name of any
    measure that has numbers may follow ``num_q_``: see `Measure.num_q`.

    Metrics are in the order of `texts`, each once. The metrics of a nickname, and the defaults of a
    measure, are in printing order; `Metric.printed_place` is the place of each metric in that
    order. Requests for one measure add up. Parameters replace the defaults of the same measure,
    even the defaults that another request or a nickname asks for. `UsageError` names every bad
    request, with the nearest names.
    """
    texts = split_requests(texts)
    names = [text.partition(".")[0] for text in texts]
    members = {member.partition(".")[0] for name in names for member in NICKNAMES.get(name, [name])}
    measures = TREC_MEASURES
    if not measures.keys() >= members:
        measures = builtin_measures()
        if any("num_q_" in text for text in texts):  # 90 more measures take half a millisecond
            measures = {
                each.name: each
                for measure in measures.values()
                for each in ((measure, measure.num_q) if measure.numeric else (measure,))
            }
        if any(_own_name(text, measures) is None for text in texts):
            measures = {**measures, **find_plugins()}
    chosen: dict[tuple[str, int | None], _Requests] = {}  # by measure and level
    problems: list[str] = []
    for number, text in enumerate(texts):
        try:
            _add(text, number, measures, chosen)
        except UsageError as problem:
            problems.append(str(problem))
    if problems:
        raise UsageError("; ".join(problems))
    printed_place = count()
    metrics = [
        positioned
        for name, measure in measures.items()
        for level in (None, *sorted({level for _, level in chosen if level is not None}))
        if (name, level) in chosen
        for positioned in chosen[name, level].metrics(measure, level, printed_place)
    ]
    return [metric for _, metric in sorted(metrics, key=lambda positioned: positioned[0])]


def _add(
    text: str,
    number: int,
    measures: Mapping[str, Measure],
    chosen: dict[tuple[str, int | None], _Requests],
    nickname: str = "",
) -> None:
    """Add a request, with its number, or a member of a nickname; raise `UsageError` if it is bad.

    The level of ``P.5,rel=2``, or of the printed ``P_5_rel=2``, is its own.
    """
    if hit_rate := re.fullmatch(r"(?i)acc(?:uracy)?@(\d+)", text):
        there, here = (request_text(name, hit_rate[1]) for name in ("success", "accuracy"))
        meanings = f"elsewhere that is the hit rate, {there}; (TP + TN) / N is {here}"
        raise bad_request(text, None, meanings)
    match = re.search(r"[,._]rel=(\d+)$", text)
    level = int(match[1]) if match else None
    plain = text[: match.start()] if match else text
    own = _own_name(plain, measures)
    name, parameters, level = (*own, level) if own else _translated(text, measures)
    if name in NICKNAMES and (parameters is not None or level is not None):
        advice = f"give them to its members ({' '.join(NICKNAMES[name])})"
        raise bad_request(text, None, f"{name} is a nickname and takes no parameters; {advice}")
    if name in NICKNAMES:
        for member in NICKNAMES[name]:
            _add(member, number, measures, chosen, nickname=name)
        return
    if level is not None and not _depends_on_level(measures[name]):
        raise bad_request(text, None, f"{name} has no relevance level")
    requests = chosen.setdefault((name, level), _Requests())
    if parameters is None:
        requests.positions.setdefault(None, (number, 0))
        return
    if not parameters:
        expected = f"expected {request_text(name)} or {request_text(name)}.PARAMS"
        raise bad_request(text, None, f"no parameter after the dot; {expected}")
    if parameters.isdecimal() and f"{name}_cut" in measures:
        expected = f"{request_text(f'{name}_cut')}.{parameters}"
        raise bad_request(text, None, f"{name} takes no cutoff; expected {expected}")
    parsed = measures[name].parameters.parse(name, parameters)
    (requests.from_nicknames if nickname else requests.typed).extend(parsed)
    for place, each in enumerate(parsed):
        requests.positions.setdefault(each.suffix, (number, 0 if nickname else place))


def _own_name(text: str, measures: Mapping[str, Measure]) -> tuple[str, str | None] | None:
    """Split a request into the name of a measure or nickname and its parameters; else None.

    ``map@10`` means map_cut. Printed names such as ``P_10`` and ``ra_nwg_10_alpha=0.5`` also have
    parameters.
    """
    name, mark, parameters = re.split(r"([.@]|$)", text, maxsplit=1)
    if name in measures or name in NICKNAMES:
        cut = f"{name}_cut"
        return cut if mark == "@" and cut in measures else name, parameters if mark else None
    prefixes = [name for name in measures if text.startswith(f"{name}_")]
    for name in sorted(prefixes, key=len, reverse=True):
        rest = text[len(name) + 1 :]
        for parameters in (rest, rest.replace("_", ",")):
            with suppress(UsageError), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the parser warns when it parses them again
                measures[name].parameters.parse(name, parameters)
                return name, parameters
    return None


_TOOL_NAME = (
    r"(?P<name>[A-Za-z][\w-]*?)(?:\((?P<parameters>[^()]*)\))?"
    r"(?:(?:@|_at_|[._])(?P<value>\d+(?:\.\d+)?))?"
)
# Parameters of other tools that select a measure.
_VARIANTS = {
    ("ndcg", "dcg", "exp-log2"): "ndcg_exp",
    ("setp", "relative", "True"): "set_relative_P",
}
_AS_HERE = {("dcg", "log2"), ("relative", "False"), ("judged_only", "False")}
_OF_DIVERSITY = re.compile(r"(?i)alpha_|st_?recall|nrbp|\w+_ia$")
_VALUES = {"cutoff", "beta", "recall"}  # parameters whose value is the parameter of the measure


def _translated(text: str, measures: Mapping[str, Measure]) -> tuple[str, str | None, int | None]:
    """Translate ``nDCG@10`` to ndcg_cut and 10, ``MRR`` to recip_rank: name, parameters and level.

    `UsageError` if the measure or a parameter of it is unknown.
    """
    call = re.fullmatch(_TOOL_NAME, text)
    folded = call["name"].casefold() if call else ""
    candidates = [m for m in measures.values() if folded in map(str.casefold, m.aliases)]
    if call is None or not candidates:
        name = re.split(r"[.(@]", text, maxsplit=1)[0]
        names = [*(each for each in measures if not each.startswith("num_q_")), *NICKNAMES]
        advice = did_you_mean(name, names, "'ragkpi measures' lists them all")
        if call and call["parameters"] and folded in measures:  # which may differ
            advice = f"'ragkpi measures {folded}' explains the measure of this name here"
        elif _OF_DIVERSITY.match(name):
            advice = "it measures diversity by subtopics, which ndeval and ir_measures compute"
        raise bad_request(text, None, f"no measure is named '{name}'; {advice}")
    value: str | None = call["value"]
    level = None
    for parameter in filter(None, (call["parameters"] or "").split(",")):
        key, _, setting = (part.strip().strip("'\"") for part in parameter.partition("="))
        if variant := _VARIANTS.get((folded, key, setting)):
            candidates = [measures[variant]]
        elif key == "rel" and setting.isdecimal():
            level = int(setting)
        elif key in _VALUES and value is None:
            value = setting
        elif (key, setting) not in _AS_HERE:
            problem = f"{candidates[0].name} takes no parameter {parameter.strip()}"
            advice = f"see 'ragkpi measures {candidates[0].name}'"
            raise bad_request(text, None, f"{problem}; {advice}")
    if folded == "numret" and level is not None:
        return "num_rel_ret", None, level
    # A name without a cutoff means the uncut measure, if there is one.
    uncut = [m for m in candidates if (m.parameters.numbers == "none") == (value is None)]
    grammar = candidates[0].parameters
    if value is None and not uncut and grammar.numbers == "cutoffs" and grammar.default:
        raise bad_request(text, None, f"needs a cutoff, such as {call['name']}@10")
    return (uncut or candidates)[0].name, value, level


def _depends_on_level(measure: Measure) -> bool:
    """Return whether the relevance level can change a measure."""
    plain = measure.reads == "qrels" and "grade_map" not in measure.needs
    return plain and measure.worth == "level" and measure.question != "gain"


def find_metrics_as_given(texts: Sequence[str]) -> list[Metric]:
    """Resolve ``-m`` arguments; a request for one metric becomes the name of the metric.

    >>> [metric.name for metric in find_metrics_as_given(["AP(rel=2)@100,MRR", "P.5,10"])]
    ['AP(rel=2)@100', 'MRR', 'P_5', 'P_10']
    """
    names: dict[str, str] = {}
    for text in split_requests(texts):
        metrics = find_metrics([text])
        if len(metrics) == 1 and text not in NICKNAMES:
            names.setdefault(metrics[0].name, text)
    return [
        replace(metric, name=names.get(metric.name, metric.name)) for metric in find_metrics(texts)
    ]


def metric_of(name: str) -> Metric | None:
    """Return the metric of a printed name, or of a request for one metric; else None."""
    with suppress(UsageError):
        metrics = find_metrics([name])
        return metrics[0] if len(metrics) == 1 else None
    return None


def metric_named(name: str, metrics: Iterable[Metric]) -> Metric | None:
    """Return the metric of this name, printed or requested; None if there is none.

    >>> metric_named("nDCG@10", find_metrics(["map", "ndcg_cut.10"])).name
    'ndcg_cut_10'
    """
    by_name = {metric.name: metric for metric in metrics}
    requested = None if name in by_name else metric_of(name)
    return by_name.get(requested.name if requested else name)


def all_measures() -> Mapping[str, Measure]:
    """Return every measure by name, in printing order, those of other packages last."""
    return {**builtin_measures(), **find_plugins()}


@functools.cache
def find_plugins() -> Mapping[str, Measure]:
    """Return the measures of other installed packages, by name.

    A package offers them by an entry point of the group ``ragkpi.measures`` that loads to a
    `Measure` or a list of them. The search takes longer than a small evaluation, so call this
    only when a name is unknown or to list every measure.
    """
    from importlib.metadata import entry_points

    taken = {*builtin_measures(), *NICKNAMES}
    plugins: dict[str, Measure] = {}
    for entry_point in entry_points(group=ENTRY_POINTS):
        origin = f"{ENTRY_POINTS} entry point '{entry_point.name}' ({entry_point.value})"
        try:
            offered = entry_point.load()
        except Exception as problem:
            text = f"{origin} failed to load: {problem}; fix or uninstall it"
            raise UsageError(text) from problem
        for measure in [offered] if isinstance(offered, Measure) else offered:
            if measure.name in taken or measure.name in plugins:
                raise UsageError(f"{origin}: the name '{measure.name}' is taken; choose another")
            plugins[measure.name] = measure
    return plugins


def default_request(rel_info: str) -> str:
    """Return the default of ``-m`` for a format, a nickname; `UsageError` for an unknown one."""
    reads = _reads(rel_info)
    return "official" if reads == "qrels" else reads


def refuse_unserved(metrics: Sequence[Metric], rel_info: str, settings: Settings) -> None:
    """Raise `UsageError` if a metric cannot be computed from the format or under the settings."""
    format_, reads = f"{spell('rel_info')} {rel_info}", _reads(rel_info)
    needs = []
    for other in dict.fromkeys(metric.measure.reads for metric in metrics):
        if other not in ("any", reads):
            names = dict.fromkeys(m.measure.name for m in metrics if m.measure.reads == other)
            formats = [
                f"{spell('rel_info')} {name}" for name in REL_INFO if REL_INFO[name] == other
            ]
            need = "needs" if len(names) == 1 else "need"
            needs.append(f"{', '.join(names)} {need} {' or '.join(formats)}")
    if needs:
        serves = f"{format_} serves {request_text(default_request(rel_info))} and the like"
        raise UsageError(f"{'; '.join(needs)}, not {format_}; {serves}")
    ties = f"{spell('ties')} expected" if settings.ties == "expected" else ""
    gains = spell("gains") if settings.gains is not None else ""
    if rel_info != "qrels" and (option := ties or gains):
        raise UsageError(f"{option}: it is offered for plain qrels, not for {format_}")
    without = dict.fromkeys(m.measure.name for m in metrics if m.measure.expectation is None)
    if ties and without:
        raise UsageError(
            f"{ties}: no expected value over orders of ties is known of {', '.join(without)}; "
            f"expected some of {_names_of(lambda measure: measure.expectation is not None)}"
        )
    if gains and not any(metric.measure.worth == "gain" for metric in metrics):
        none = "none of the measures takes gains"
        raise UsageError(f"{gains}: {none}; those that do: {_names_of(_takes_gains)}")
    for metric in metrics:
        if gains and metric.arguments.get("gains"):
            problem = f"it says gains of levels, and {gains} those of documents"
            raise bad_request(metric.name, None, f"{problem}; expected one of the two")


def _takes_gains(measure: Measure) -> bool:
    return measure.worth == "gain"


def _names_of(choose: Callable[[Measure], bool]) -> str:
    return ", ".join(name for name, measure in all_measures().items() if choose(measure))


def refuse_levels(metrics: Sequence[Metric], judgements: Judgements) -> None:
    """Raise `InputError` if qrels have fractional levels and a metric needs levels."""
    needing = dict.fromkeys(m.measure.name for m in metrics if m.measure.worth == "level")
    if needing and judgements.gain is not None:
        need = "needs" if len(needing) == 1 else "need"
        served = _names_of(_takes_gains)
        judgements.refuse_gains(f"{', '.join(needing)} {need} levels; real gains serve {served}")


def _reads(rel_info: str) -> RelInfo:
    if rel_info not in REL_INFO:
        formats = ", ".join(REL_INFO)
        raise UsageError(f"{spell('rel_info')} {rel_info}: unknown format; expected {formats}")
    return REL_INFO[rel_info]


def cautions(judged: Judged, metrics: Sequence[Metric]) -> list[str]:
    """Return the warnings about metrics whose inputs break their assumptions, in their order."""
    concerned: dict[Caution, list[Metric]] = {}
    for metric in metrics:
        for caution in metric.measure.cautions:
            concerned.setdefault(caution, []).append(metric)
    return [line for caution, affected in concerned.items() for line in caution(judged, affected)]


def no_level_so_high(metrics: Sequence[Metric], judgements: Judgements) -> list[str]:
    """Warn of metrics whose own relevance level is above all judged levels."""
    highest = int(judgements.level.max(initial=-1))
    empty = [metric for metric in metrics if (metric.relevance_level or highest) > highest]
    if not empty:
        return []
    return [f"{names_of(empty)}: no document is relevant: the highest judged level is {highest}"]


def level_notes(metrics: Sequence[Metric], relevance_level: int) -> list[str]:
    """Return notes on metrics that ignore the relevance level although they measure relevance."""
    if relevance_level == 1:
        return []
    gains = names_of([m for m in metrics if "gain" in (m.measure.question, m.measure.worth)])
    grades = names_of([metric for metric in metrics if "grade_map" in metric.measure.needs])
    option = spell("relevance_level", str(relevance_level))
    lines = {gains: "gains are the levels themselves", grades: "grades come from the grade map"}
    return [f"{option} does not change {names}: the {of}" for names, of in lines.items() if names]
