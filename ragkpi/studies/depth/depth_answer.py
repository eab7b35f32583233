"""The answer of `ragkpi depth`: a row per depth, three limits with their reasons, a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ragkpi.measures.chance import CEILING_LIMIT, LAMBDA_LIMIT
from ragkpi.records import asdict
from ragkpi.reports.answer import Answer
from ragkpi.reports.layout import Cell, Column, Table
from ragkpi.studies.depth.depth_curves import Curve, Curves
from ragkpi.studies.depth.depth_limits import (
    CHANCE_LIMIT,
    Affordable,
    Choice,
    Collapse,
    Limits,
    Plateau,
    Study,
)
from ragkpi.studies.depth.depth_target import Reached
from ragkpi.studies.evaluate.evaluation_report import interval_notes

_SIGNIFICANT = 4
_FEW = 4  # depths that a sentence may name


def depth_answer(curves: Curves, tokens_per_passage: float | None = None) -> Answer:
    """Put curves into words; with the tokens of a passage, what each depth costs in tokens."""
    findings = [
        {**({"run": curve.name} if curve.name else {}), **asdict(curve.study)}
        for curve in curves.curves
    ]
    sentences = [
        _about(curves, curve) + _sentence(curves, curve, tokens_per_passage)
        for curve in curves.curves
    ]
    table = Table(
        _columns(curves, tokens_per_passage),
        list(_rows(curves, tokens_per_passage)),
        list(_notes(curves)),
    )
    heads = 1 if curves.several else 0
    return Answer("depth", table, sentences, {"limits": curves.limits, "depth": findings}, heads)


_DETAILS = ("ef", "lambda", "collapse", "dbor", "dbor_sparse")


def _columns(curves: Curves, tokens: float | None) -> list[Column]:
    return [
        *([Column("run")] if curves.several else []),
        Column("K", "integer", legend="documents retrieved" if curves.curves[0].name else ""),
        *([Column("tokens", "integer")] if tokens is not None else []),
        *(
            Column(
                measure.name,
                measure.style,
                signed=measure.name.startswith("dbor"),
                digits=_SIGNIFICANT if measure.style == "significant" else None,
                role="detail" if measure.name in _DETAILS else "core",
                legend=measure.in_short,
            )
            for measure in curves.curves[0].measures
        ),
    ]


def _rows(curves: Curves, tokens: float | None) -> Iterator[list[Cell]]:
    for curve in curves.curves:
        for depth in curves.depths:
            yield [
                *([Cell(curve.name)] if curves.several else []),
                Cell(depth),
                *([Cell(depth * tokens)] if tokens is not None else []),
                *(
                    Cell(curve.value(measure.name, depth), curve.interval(measure.name, depth))
                    for measure in curve.measures
                ),
            ]


def _about(curves: Curves, curve: Curve) -> str:
    return f"{curve.name}: " if curves.several else ""


def _notes(curves: Curves) -> Iterator[str]:
    if curves.bootstrap:
        yield from interval_notes(curves.bootstrap, [curve.scores for curve in curves.curves])
    for curve in curves.curves:
        for reason in _reasons(curve, curves.limits):
            yield _about(curves, curve) + reason


def _reasons(curve: Curve, limits: Limits) -> Iterator[str]:
    study: Study = curve.study
    if study.collapse:
        yield f"collapse: {_collapse(study.collapse, limits)}"
    elif study.affordable:
        yield "collapse: none, however deep"
    if study.plateau:
        yield f"plateau: {_plateau(study.plateau, limits)}"
    elif curve.name and study.affordable:
        yield f"plateau: {_no_plateau(study.affordable.deepest, study.final)}"
    if study.affordable:
        yield f"max loss: {_affordable(study.affordable, limits)}"


def _collapse(collapse: Collapse, limits: Limits) -> str:
    if limits.m == 1 and collapse.lambda_ >= LAMBDA_LIMIT * (1 - 1e-12):
        why = f"lambda = {collapse.lambda_:.3g} relevant documents (limit {LAMBDA_LIMIT:g})"
    else:
        why = f"a ceiling below {CEILING_LIMIT:g} bits"
    return (
        f"from K = {collapse.depth:,} on chance alone succeeds with probability "
        f"{collapse.p_rand:.3f}: {why}"
    )


def _plateau(plateau: Plateau, limits: Limits) -> str:
    text = f"from K = {plateau.depth:,} on success stays at {plateau.success:.3f}"
    if plateau.final > plateau.success:
        text = (
            f"K = {plateau.depth:,} succeeds for {plateau.success:.3f} of the queries; K = "
            f"{plateau.deepest:,} for {plateau.final:.3f}, no more than {limits.plateau:g} above"
        )
    return text


def _affordable(affordable: Affordable, limits: Limits) -> str:
    return (
        f"K = {affordable.depth:,} is the deepest within {_allowed(limits)} of the best: "
        f"{affordable.bits:.2f} bits there, {affordable.best:.2f} at K = {affordable.best_depth:,}"
    )


def _sentence(curves: Curves, curve: Curve, tokens: float | None) -> str:
    study, limits = curve.study, curves.limits
    choice = study.choice
    if study.reached is not None and study.reached.depth is None:
        return _unreached(study.reached)
    if choice is None:
        return _nothing(study, limits)
    cost = "" if tokens is None else f" ({choice.depth * tokens:,.0f} tokens)"
    if choice.success is None:
        return (
            f"Show at most {choice.depth:,} of {curves.corpus_size:,}{cost}: "
            f"{_because(choice, study, limits)}. A perfect selector reaches "
            f"{_ceilings(curve, choice, curves.depths)}."
        )
    at_least = _at_least(limits)
    if not choice.grounded:
        return (
            f"No depth can be recommended: at K = {choice.depth:,} {choice.success:.3f} of the "
            f"queries have {at_least}, and a random draw gives {choice.chance:.3f}; so good or "
            f"better is chance alone with probability {choice.evidence:.2f} (limit "
            f"{CHANCE_LIMIT:g}). Is the run the right one?"
        )
    return (
        f"Retrieve {choice.depth:,}{cost}: {_because(choice, study, limits)}. Success "
        f"({at_least}) is {choice.success:.3f} there, at {choice.bits:.2f} bits over random."
    )


def _at_least(limits: Limits) -> str:
    return "a relevant passage" if limits.m == 1 else f"{limits.m} relevant passages"


def _unreached(reached: Reached) -> str:
    return (
        f"No depth can be recommended: {reached.measure} is {reached.value:.3f} at most, down to "
        f"K = {reached.deepest:,}; {reached.least:g} was asked for."
    )


def _ceilings(curve: Curve, choice: Choice, depths: Sequence[int]) -> str:
    """Say what the best possible selector gets at the chosen depth, and at few others."""
    bits = {depth: curve.value("bor_max", depth) for depth in depths if len(depths) <= _FEW}
    bits[choice.depth] = choice.bits
    texts = [
        f"{value:.2f} (K = {depth:,})"
        for depth, value in sorted(bits.items())
        if value is not None and not math.isnan(value)
    ]
    return f"{', '.join(texts)} bits over random"


def _because(choice: Choice, study: Study, limits: Limits) -> str:
    if choice.limit == "collapse":
        return _collapse(study.collapse, limits) if study.collapse else ""
    if choice.limit == "plateau" and study.plateau:
        more = study.plateau.final - study.plateau.success
        down = f"down to {study.plateau.deepest:,}"
        gain = f"only {more:.3f} more success {down}" if more else f"no more success {down}"
        return f"deeper lists bring {gain}{_doubling(choice)}"
    if choice.limit == "max_loss":
        return f"no deeper list stays within {_allowed(limits)} of the best"
    reached = study.reached
    if choice.limit == "target" and reached is not None:
        return f"{reached.measure} is {reached.value:.3f} there, and below {reached.least:g} above"
    if choice.limit == "most":
        if reached is not None:
            wanted = f"{reached.measure} = {reached.least:g}"
            return f"there is no room for more, and {wanted} takes {reached.depth:,}"
        return "there is no room for more"
    if choice.success == 1:
        return "every query succeeds there"
    if choice.depth == 1:
        return "the run has no more, so whether deeper lists succeed more often is not known"
    return "success still rises there, and nothing deeper was looked at"


def _no_plateau(deepest: int, final: float | None) -> str:
    if final == 1:
        return f"none before K = {deepest:,}, where every query succeeds"
    if deepest == 1:
        return "not known, for nothing below K = 1 was looked at"
    return f"none down to K = {deepest:,}: success still rises there"


def _allowed(limits: Limits) -> str:
    return f"{limits.allowed_loss:g} bit{'s' if limits.allowed_loss != 1 else ''}"


def _doubling(choice: Choice) -> str:
    """Say what twice the depth costs: at most a bit if one passage is enough, else maybe more."""
    if choice.doubling is None:
        return ""
    return f", and twice as many cost {choice.doubling:.2f} bits"


def _nothing(study: Study, limits: Limits) -> str:
    if study.affordable is None:
        return f"No depth can be recommended: nothing succeeds with m = {limits.m}."
    return "No depth can be recommended: chance succeeds at K = 1 already."
