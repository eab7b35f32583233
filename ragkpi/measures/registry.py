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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import NoReturn, TypeAlias

from ragkpi.errors import UsageError
from ragkpi.interface import request_text, spell
from ragkpi.measures import counts, gain, incomplete, precision
from ragkpi.measures.measure import Caution, Measure, Metric, RelInfo, names_of
from ragkpi.measures.parameters import (
    Cutoffs,
    Gains,
    Parameters,
    RealCutoffs,
    RealList,
    bad_request,
)
from ragkpi.ranking.judged import Judged, Settings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.relevance import REL_INFO
from ragkpi.wording import did_you_mean

# The position of typed text: the number of the request, and of its parameter.
_Position = tuple[int, int]

_TOOL_NAME = (
    r"(?P<name>[A-Za-z][\w-]*?)(?:\((?P<parameters>[^()]*)\))?"
    r"(?:@(?P<cutoff>\d+(?:\.\d+)?)|(?:_at_|[._])(?P<rank>[1-9]\d*))?"
)
# Parameters of other tools that select a measure; None selects the measure itself.
_VARIANTS: Mapping[tuple[str, str, str], str | None] = {
    ("ndcg", "dcg", "log2"): None,
    ("ndcg", "dcg", "exp-log2"): "ndcg_exp",
    ("setp", "relative", "True"): "set_relative_P",
    ("setp", "relative", "False"): None,
}
# Parameters of other tools whose value is the parameter of the measure.
_RENAMED = {("setf", "beta"), ("iprec", "recall")}
_WITH_LEVEL = {"numret": "num_rel_ret"}  # the measure that such a name means with a level
_WITH_CUTOFF = {"judged": "Judged@10"}  # names that need a cutoff, with an example

# Names with another meaning in other tools: that meaning, its name here, and the measure of this
# name here, with its formula.
_ACCURACY = ("the hit rate", "success", "accuracy", "(TP + TN) / N")
_ELSEWHERE: Mapping[str, tuple[str, str, str, str]] = {"accuracy": _ACCURACY, "acc": _ACCURACY}


# A request, and the lowest relevant level for it; None for the level of -l.
_Leveled: TypeAlias = tuple[str, int | None]


class _MeasureRequests:
    """All parameters that a command line requests of one measure at one level."""

    def __init__(self) -> None:
        self.plain = False
        self.typed: list[Parameters] = []  # replace the defaults
        self.from_nicknames: list[Parameters] = []  # add to the defaults
        self.positions: dict[str | None, _Position] = {}  # by suffix, None without parameters

    def metrics(
        self, measure: Measure, level: int | None, printed_place: Iterator[int]
    ) -> Iterator[tuple[_Position, Metric]]:
        """Yield each metric and the position where it was typed, cutoffs ascending."""
        grammar = measure.parameters
        chosen = [*self.typed, *self.from_nicknames]
        if self.plain and grammar.plain_is_a_value(self.typed):
            chosen += grammar.defaults()
        distinct = list({parameters.suffix: parameters for parameters in chosen}.values())
        distinct.sort(key=lambda parameters: parameters.order)
        printed = [grammar.printed(measure.name, parameters) for parameters in distinct]
        suffix = "" if level is None else f"_rel={level}"
        for name, parameters in zip(printed, distinct, strict=True):
            # trec_eval prints 0.12 for 0.125 and for 0.121: equal names get all their digits.
            unique = name if printed.count(name) == 1 else f"{measure.name}_{parameters.suffix}"
            positions = self.positions
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


class _Parser:
    """Collects requests and returns their metrics."""

    def __init__(self, measures: Mapping[str, Measure]) -> None:
        self.measures = measures
        self.chosen: dict[tuple[str, int | None], _MeasureRequests] = {}  # by measure and level

    def metrics(self) -> list[Metric]:
        """Return the metrics in the order in which they were typed."""
        levels: dict[str, list[int | None]] = {}
        for name, level in self.chosen:
            levels.setdefault(name, []).append(level)
        printed_place = count()
        metrics = [
            positioned
            for name, measure in self.measures.items()
            for level in sorted(levels.get(name, ()), key=lambda level: (level is not None, level))
            for positioned in self.chosen[name, level].metrics(measure, level, printed_place)
        ]
        return [metric for _, metric in sorted(metrics, key=lambda positioned: positioned[0])]

    def add(self, text: str, number: int, from_nickname: bool = False) -> None:
        """Add a request, with its number; raise `UsageError` if it is bad."""
        name, dot, parameters, level = self._resolve(text)
        if name in NICKNAMES:
            if dot:
                members = " ".join(NICKNAMES[name])
                advice = f"give them to its members ({members})"
                problem = f"{name} is a nickname and takes no parameters; {advice}"
                raise bad_request(text, None, problem)
            for member in NICKNAMES[name]:
                self.add(member, number, from_nickname=True)
            return
        if dot and not parameters:
            plain = request_text(name)
            raise bad_request(
                text, None, f"no parameter after the dot; expected {plain} or {plain}.PARAMS"
            )
        chosen = self.chosen.setdefault((name, level), _MeasureRequests())
        if not dot:
            chosen.plain = True
            chosen.positions.setdefault(None, (number, 0))
            return
        cut = f"{name}_cut"
        if parameters.isdecimal() and cut in self.measures and name in self.measures:
            expected = f"{request_text(cut)}.{parameters}"
            raise bad_request(text, None, f"{name} takes no cutoff; expected {expected}")
        parsed = self.measures[name].parameters.parse(name, parameters)
        (chosen.from_nicknames if from_nickname else chosen.typed).extend(parsed)
        for place, each in enumerate(parsed):
            chosen.positions.setdefault(each.suffix, (number, 0 if from_nickname else place))

    def _resolve(self, text: str) -> tuple[str, str, str, int | None]:
        """Return the name, the dot, the parameters and the level of a request."""
        plain, level = _with_level(text)
        split = _split(plain, self.measures)
        translation = None if split else _translate(text, self.measures)
        if translation and self._means_the_same(text, translation):
            plain, level = translation
            split = _split(plain, self.measures)
        own, at, cutoff = plain.partition("@")
        if split is None and at:
            if own.casefold() in _ELSEWHERE:
                raise bad_request(text, None, _other_meaning(own.casefold(), cutoff))
            split = (own, ".", cutoff) if own in self.measures or own in NICKNAMES else None
        name, dot, parameters = split or self._refuse(text, translation)
        if level is not None and not (
            name in self.measures and _depends_on_level(self.measures[name])
        ):
            problem = f"{name} has no relevance level"
            raise bad_request(text, None, problem)
        return name, dot, parameters, level

    def _means_the_same(self, text: str, translation: _Leveled) -> bool:
        """Return whether another tool's name means the nearest measure here."""
        resembles = self.measures[translation[0].partition(".")[0]].resembles
        call = re.fullmatch(_TOOL_NAME, text)
        return bool(call and call["name"].casefold() not in map(str.casefold, resembles))

    def _refuse(self, text: str, translation: _Leveled | None) -> NoReturn:
        name = re.split(r"[.(@]", text, maxsplit=1)[0]
        measures = (measure for measure in self.measures if not measure.startswith("num_q_"))
        names = [*measures, *NICKNAMES]
        advice = did_you_mean(name, names, "'ragkpi measures' lists them all")
        if re.fullmatch(r"(?i)alpha_?n?dcg|err_?ia|(st|subtopic)_?recall|nrbp|ia_?p", name):
            advice = "it measures diversity by subtopics, which ndeval and ir_measures compute"
        if translation:
            plain, level = translation
            advice = f"here that is -m {plain}" + ("" if level is None else f",rel={level}")
        raise bad_request(text, None, f"no measure is named '{name}'; {advice}")


def _other_meaning(name: str, cutoff: str) -> str:
    meaning, their_name, name, formula = _ELSEWHERE[name]
    there, here = request_text(their_name, cutoff), request_text(name, cutoff)
    return f"elsewhere that is {meaning}, {there}; {formula} is {here}"


def _with_counts(measures: Mapping[str, Measure]) -> Mapping[str, Measure]:
    """Add ``num_q_NAME`` after every measure that has numbers."""
    return {
        each.name: each
        for measure in measures.values()
        for each in ((measure, measure.num_q) if measure.numeric else (measure,))
    }


def _with_level(text: str) -> _Leveled:
    """Separate the level of ``P.5,rel=2``, or of the printed ``P_5_rel=2``."""
    match = re.search(r"[,._]rel=(\d+)$", text)
    return (text, None) if match is None else (text[: match.start()], int(match[1]))


def _split(text: str, measures: Mapping[str, Measure]) -> tuple[str, str, str] | None:
    """Split a request into name, dot and parameters; None for an unknown name.

    Printed names such as ``P_10`` and ``ra_nwg_10_alpha=0.5`` also have them.
    """
    name, dot, parameters = text.partition(".")
    if name in NICKNAMES or name in measures:
        return name, dot, parameters
    prefixes = [name for name in measures if text.startswith(f"{name}_")]
    for name in sorted(prefixes, key=len, reverse=True):
        rest = text[len(name) + 1 :]
        for parameters in (rest, rest.replace("_", ",")):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the parser warns when it parses them again
                    measures[name].parameters.parse(name, parameters)
            except UsageError:
                continue
            return name, ".", parameters
    return None


def _translate(text: str, measures: Mapping[str, Measure]) -> _Leveled | None:
    """Translate ``nDCG@10`` to ``ndcg_cut.10``, ``MRR`` to ``recip_rank``; None if unknown.

    `UsageError` if the measure is known, and a parameter is not.
    """
    call = re.fullmatch(_TOOL_NAME, text)
    if call is None:
        return None
    name, cutoff = call["name"].casefold(), call["cutoff"] or call["rank"]
    candidates = [
        each
        for each in measures.values()
        if name in map(str.casefold, (*each.aliases, *each.resembles))
    ]
    if not candidates:
        return None
    level, value = None, cutoff
    for parameter in filter(None, (call["parameters"] or "").split(",")):
        key, _, setting = (part.strip().strip("'\"") for part in parameter.partition("="))
        takes_level = name in _WITH_LEVEL or _depends_on_level(candidates[0])
        if (name, key, setting) in _VARIANTS:
            variant = _VARIANTS[name, key, setting]
            candidates = candidates if variant is None else [measures[variant]]
        elif key == "cutoff" and cutoff is None:
            cutoff = value = setting
        elif (name, key) in _RENAMED and value is None:
            value = setting
        elif key == "rel" and setting.isdecimal() and takes_level:
            level = int(setting)
        elif (key, setting) != ("judged_only", "False"):
            raise bad_request(text, None, _advice(candidates[0], key, parameter.strip()))
    if name in _WITH_LEVEL and level is not None:
        return _WITH_LEVEL[name], level
    if value is None and name in _WITH_CUTOFF:
        expected = f"needs a cutoff, such as {_WITH_CUTOFF[name]}"
        raise bad_request(text, None, expected)
    if value is None:
        # A name without a cutoff means the uncut measure, if there is one.
        candidates.sort(key=lambda measure: isinstance(measure.parameters, Cutoffs))
        return candidates[0].name, level
    takes_values = all(isinstance(each.parameters, RealCutoffs | RealList) for each in candidates)
    is_cutoff = cutoff is not None and "." not in value and not takes_values
    for measure in candidates:
        if measure.parameters.takes_cutoffs == is_cutoff:
            return f"{measure.name}.{value}", level
    return None


def _depends_on_level(measure: Measure) -> bool:
    """Return whether the relevance level can change a measure."""
    plain = measure.reads == "qrels" and "grade_map" not in measure.needs
    return plain and measure.worth == "level" and measure.question != "gain"


def _advice(measure: Measure, key: str, parameter: str) -> str:
    if key == "rel":
        return f"{measure.name} has no relevance level"
    if key == "judged_only":
        name, removed = request_text(measure.name), spell("unjudged", "removed")
        return f"here that is {name} with {removed}, which is of all measures"
    if key == "p" and isinstance(measure.parameters, Gains):
        scaled = request_text(measure.name, parameter)
        return f"{scaled} scales the gains of each query; 'ragkpi measures {measure.name}' says how"
    return f"{measure.name} takes no parameter {parameter}; see 'ragkpi measures {measure.name}'"


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
            measures = _with_counts(measures)
        if any(_split(text, measures) is None for text in texts):
            measures = {**measures, **find_plugins()}
    parser = _Parser(measures)
    problems: list[str] = []
    for number, text in enumerate(texts):
        try:
            parser.add(text, number)
        except UsageError as problem:
            problems.append(str(problem))
    if problems:
        raise UsageError("; ".join(problems))
    return parser.metrics()


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
    if requested is None or requested.name in by_name:
        return by_name.get(requested.name if requested else name)
    for metric in by_name.values():  # their names may be the user's
        if replace(requested, name=metric.name, printed_place=metric.printed_place) == metric:
            return metric
    return None


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
    _refuse_wrong_format(metrics, rel_info)
    if settings.ties == "expected":
        _refuse_ties(metrics, rel_info)
    if settings.gains is not None:
        _refuse_real_gains(metrics, rel_info)


def refuse_levels(metrics: Sequence[Metric], judgements: Judgements) -> None:
    """Raise `InputError` if qrels have fractional levels and a metric needs levels."""
    needing = dict.fromkeys(m.measure.name for m in metrics if m.measure.worth == "level")
    if needing and judgements.gain is not None:
        need = "needs" if len(needing) == 1 else "need"
        served = _names_taking_gains()
        judgements.refuse_gains(f"{', '.join(needing)} {need} levels; real gains serve {served}")


def _names_taking_gains() -> str:
    return ", ".join(n for n, measure in all_measures().items() if measure.worth == "gain")


def _refuse_real_gains(metrics: Sequence[Metric], rel_info: str) -> None:
    if rel_info != "qrels":
        format_ = f"{spell('rel_info')} {rel_info}"
        raise UsageError(f"{spell('gains')}: they are offered for plain qrels, not for {format_}")
    if not any(metric.measure.worth == "gain" for metric in metrics):
        served = _names_taking_gains()
        none = "none of the measures takes gains"
        raise UsageError(f"{spell('gains')}: {none}; those that do: {served}")
    for metric in metrics:
        if metric.arguments.get("gains"):
            problem = f"it says gains of levels, and {spell('gains')} those of documents"
            raise bad_request(metric.name, None, f"{problem}; expected one of the two")


def _refuse_ties(metrics: Sequence[Metric], rel_info: str) -> None:
    if rel_info != "qrels":
        format_ = f"{spell('rel_info')} {rel_info}"
        offered = "it is offered for plain qrels"
        raise UsageError(f"{spell('ties')} expected: {offered}, not for {format_}")
    names = dict.fromkeys(m.measure.name for m in metrics if m.measure.expectation is None)
    if names:
        served = [name for name, measure in all_measures().items() if measure.expectation]
        have = "has" if len(names) == 1 else "have"
        raise UsageError(
            f"{spell('ties')} expected: {', '.join(names)} {have} no expected value over orders "
            f"of ties; those that have: {', '.join(served)}"
        )


def _refuse_wrong_format(metrics: Sequence[Metric], rel_info: str) -> None:
    reads_of = _reads(rel_info)
    wrong: dict[RelInfo, dict[str, None]] = {}
    for measure in (metric.measure for metric in metrics):
        if measure.reads not in ("any", reads_of):
            wrong.setdefault(measure.reads, {})[measure.name] = None
    if not wrong:
        return
    needs = []
    for reads, names in wrong.items():
        formats = [f"{spell('rel_info')} {name}" for name in REL_INFO if REL_INFO[name] == reads]
        need = "needs" if len(names) == 1 else "need"
        needs.append(f"{', '.join(names)} {need} {' or '.join(formats)}")
    format_ = f"{spell('rel_info')} {rel_info}"
    serves = f"{format_} serves {request_text(default_request(rel_info))} and the like"
    raise UsageError(f"{'; '.join(needs)}, not {format_}; {serves}")


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
