"""ragkpi in ir_measures: ``import ragkpi.ir_measures`` registers a provider, ``ragkpi``.

It serves ir_measures' own measures, after the existing providers, and ragkpi's as measure objects:
``BoR(N=8841823)@10``, ``ra_nwg@10``, ``F(alpha=0.8)@5``, in `parse_measure`, `calc_aggregate` and
`iter_calc`. Queries that a run lacks count as empty rankings, as in ir_measures. ragkpi itself
computes summaries that are not the mean of the queries' values (``BoR``, ``ef``), and refuses
to let other code average them, such as several providers together or PyTerrier's experiments.

Examples
--------
>>> import ir_measures
>>> from ragkpi.ir_measures import BoR
>>> BoR(N=1000)@10
BoR(N=1000)@10
>>> qrels, run = {"q": {"d": 1}}, {"q": {"d": 1.0}}
>>> ir_measures.calc_aggregate([ir_measures.parse_measure("BoR(N=1024)@1")], qrels, run)
{BoR(N=1024)@1: 10.0}
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from keyword import iskeyword
from typing import Any

import ir_measures
from ir_measures import measures, providers, util
from ir_measures.providers import base

from ragkpi.library.session import Session, read_qrels
from ragkpi.measures import chance, evidence, kpi
from ragkpi.measures.measure import OTHER_HOLES, Measure, MetricScores
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.reading import NOTHING_RETRIEVED, Hits, RunInMemory
from ragkpi.wording import decoded

# Measures of a pool are left out: ir_measures has no pool. So is `lambda`, a Python keyword.
_WITHOUT_POOL = [
    measure
    for measure in (*chance.MEASURES, *evidence.MEASURES, *kpi.MEASURES)
    if measure.parameters.numbers == "cutoffs"
    and measure.parameters.span == 1
    and measure.bounds != OTHER_HOLES
    and "outside_pool" not in measure.needs
    and not iskeyword(measure.name)
]


class _OfKnown(measures.MeanAgg):  # type: ignore[misc]
    """A mean over the queries whose value is not NA."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)


_NO_MEAN = (
    "over queries is not the mean of their values; ask the provider for it alone: "
    "ragkpi.ir_measures.provider.calc_aggregate"
)


class _Refused(measures.MeanAgg):  # type: ignore[misc]
    """An aggregator that refuses to average."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def result(self) -> float:
        raise ValueError(f"{self.name} {_NO_MEAN}")


class _NotAdded(float):
    """A query's value of a measure whose summary is not a mean; PyTerrier would add values up."""

    def __radd__(self, other: Any) -> float:
        raise ValueError(f"the value {_NO_MEAN}")

    __add__ = __radd__


class _RagkpiMeasure(measures.Measure):  # type: ignore[misc]
    """A measure of ragkpi, with the parameters of ``-m`` and of the evaluation."""

    MEASURE: Any

    def aggregator(self) -> Any:
        return _OfKnown() if self.MEASURE.is_mean else _Refused(repr(self))


def _measure_object(measure: Measure) -> _RagkpiMeasure:
    # An alias in another case, unless ir_measures has its own measure of that name.
    names = [name for name in measure.aliases if name.casefold() == measure.name]
    name = next((name for name in names if name not in measures.registry), measure.name)
    info = measures.ParamInfo
    parameters = {
        "cutoff": info(dtype=int, required=True, desc="ranking cutoff threshold"),
        "rel": info(dtype=int, default=1, desc="minimum relevance level, inclusive"),
        "N": info(dtype=int, desc="documents that could have been retrieved"),
        **{
            key: info(dtype=(int, float), default=option.default, desc=option.expected)
            for key, option in measure.parameters.options.items()
        },
    }
    kind = type(
        f"_{name}",
        (_RagkpiMeasure,),
        {
            "__doc__": measure.help,
            "__name__": name,
            "NAME": name,
            "PRETTY_NAME": name,
            "SHORT_DESC": measure.help.partition("\n")[0],
            "SUPPORTED_PARAMS": parameters,
            "MEASURE": measure,
        },
    )
    made: _RagkpiMeasure = kind()
    return made


OWN = {measure.NAME: measure for measure in map(_measure_object, _WITHOUT_POOL)}
globals().update(OWN)
globals().update({type(measure).__name__: type(measure) for measure in OWN.values()})  # for pickle


def _request(measure: Any) -> tuple[str, Settings]:
    """Return the ``-m`` request and the settings for a measure of ir_measures."""
    params = dict(measure.params)
    own = isinstance(measure, _RagkpiMeasure)  # its level applies to all that it computes
    settings = Settings(
        relevance_level=params.get("rel", 1) if own else 1,
        missing="zero",
        unjudged="removed" if params.get("judged_only") else "kept",
        corpus_size=params.get("N"),
    )
    if own:
        options = [f",{k}={v}" for k, v in params.items() if k not in ("cutoff", "rel", "N")]
        return f"{measure.MEASURE.name}.{params['cutoff']}{''.join(options)}", settings
    parameters = [f"{k}={v}" for k, v in params.items() if k not in ("cutoff", "judged_only")]
    cut = f"@{params['cutoff']}" if "cutoff" in params else ""
    return f"{measure.NAME}({','.join(parameters)}){cut}", settings


_STANDARD = [
    *("P", "RR", "Rprec", "AP", "R", "Bpref", "NumRet", "NumRel", "NumQ", "SetAP", "SetF", "SetP"),
    *("SetR", "Success", "IPrec", "infAP"),
]
_CUT = ["ERR", "Judged"]


def _any(measure: Any, **choices: Any) -> Any:
    """Describe a measure with any parameters, except for some choices."""
    return type(measure)(**{**dict.fromkeys(measure.SUPPORTED_PARAMS, base.Any()), **choices})


class RagkpiProvider(providers.Provider):  # type: ignore[misc]
    """Computes measures of ir_measures and of ragkpi with ragkpi."""

    NAME = "ragkpi"
    SUPPORTED_MEASURES = [  # noqa: RUF012 - ir_measures reads a list
        *(_any(getattr(measures, name)) for name in _STANDARD),
        _any(measures.nDCG, dcg=base.Choices("log2"), gains=base.Choices(base.NOT_PROVIDED)),
        _any(
            measures.nDCG,
            cutoff=base.Any(required=True),
            dcg=base.Choices("exp-log2"),
            gains=base.Choices(base.NOT_PROVIDED),
        ),
        *(_any(getattr(measures, name), cutoff=base.Any(required=True)) for name in _CUT),
        *map(_any, OWN.values()),
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> RagkpiEvaluator:
        return RagkpiEvaluator(list(measures), _frame_or_mapping(util.QrelsConverter(qrels)))


class RagkpiEvaluator(providers.Evaluator):  # type: ignore[misc]
    """Qrels and measures, reusable for many runs."""

    def __init__(self, measures: list[Any], qrels: Any) -> None:
        relevance = read_qrels(qrels)
        super().__init__(measures, set(map(decoded, relevance.judgements.queries)))
        self._relevance = relevance
        self._requests = {measure: _request(measure) for measure in measures}

    def _columns(self, run: Any) -> Iterator[tuple[Any, list[bytes], MetricScores]]:
        """Score a run; one column for each measure."""
        rankings = _frame_or_mapping(util.RunConverter(run))
        ranked: RunInMemory | Hits = NOTHING_RETRIEVED  # 0 for every query, as in ir_measures
        if any(rankings.values()) if isinstance(rankings, dict) else len(rankings):
            ranked = RunInMemory(rankings)
        for measure, (text, settings) in self._requests.items():
            session = Session(self._relevance, settings)
            scores = session.evaluate_one(ranked, find_metrics([text])).scores
            yield measure, scores.queries, scores.columns[0]

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        for measure, queries, column in self._columns(run):
            values = column.per_query.tolist()
            if column.metric.measure.aggregate.kind == "count":
                values = [1] * len(queries)
            if isinstance(measure, _RagkpiMeasure) and not column.metric.measure.is_mean:
                values = map(_NotAdded, values)
            for query, value in zip(queries, values, strict=True):
                yield ir_measures.Metric(query_id=decoded(query), measure=measure, value=value)

    def calc_aggregate(self, run: Any) -> dict[Any, float]:
        """Return the values over all queries, for every kind of summary."""
        return {measure: column.summary for measure, _, column in self._columns(run)}

    def calc(self, run: Any) -> Any:
        """Return the values over all queries and for each query."""
        return ir_measures.CalcResults(self.calc_aggregate(run), list(self.iter_calc(run)))


def _frame_or_mapping(converter: Any) -> Any:
    """Return qrels or a run unchanged if they are a data frame or a mapping."""
    kind, _ = converter.predict_type()
    if kind == "pd_dataframe":
        return converter.as_pd_dataframe()
    return converter.as_dict_of_dict()


provider = providers.register(RagkpiProvider())
ir_measures.DefaultPipeline.providers.append(provider)
for _name, _one in OWN.items():
    if _name not in measures.registry:
        measures.register(_one)
