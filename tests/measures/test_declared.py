"""What every record of a measure declares, held against values of random rankings.

Help, gates and intervals read the range of a measure from its docstring, and its rate from the
record. `tests/questions/test_holes.py` holds the declared bounds alike, `test_tied.py` ties.
"""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from ragkpi.library.session import Session
from ragkpi.measures.measure import score
from ragkpi.measures.registry import all_measures, find_metrics
from ragkpi.ranking.judged import Settings, parse_grade_map
from ragkpi.ranking.reading import RunInMemory
from ragkpi.ranking.relevance import Qrels
from tests.ranking.cases import judgements_of

LINES = {  # of one judgement, by the format that a measure reads
    "qrels": "{query} 0 {document} {level}\n",
    "qrels_jg": "{query} {group} {document} {level}\n",
    "prefs": "{query} {group} 0 {document} {level}\n",
}
NUMERIC = [name for name, measure in all_measures().items() if measure.numeric]
SETTINGS = Settings(corpus_size=100, grade_map=parse_grade_map("0=1,1=2,2=3,3=4,4=5"))


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return judged runs by the format of the judgements, from few documents to many."""
    folder, draw = tmp_path_factory.mktemp("declared"), random.Random(11)
    metrics = {form: [] for form in LINES}
    for name in NUMERIC:
        form = all_measures()[name].reads
        metrics["qrels" if form == "any" else form] += find_metrics([name])
    by_format = {}
    for form, line in LINES.items():
        for case in range(25):
            lines, run = [], []
            for query in "abcd":
                documents = [f"{query}{number}" for number in range(draw.choice([1, 3, 30]))]
                levels = draw.choice([[0], [0, 1], [0, 0, 1, 2, 3, 4]])
                judged = draw.sample(documents, draw.randint(1, len(documents)))
                if case == 0:  # the best that there is
                    most = {"a": 5, "b": 10, "c": 20, "d": 100}[query]
                    documents = judged = [f"{query}{number}" for number in range(most)]
                    levels = [4]
                for document in judged:
                    for group in "xy"[: 2 if form != "qrels" else 1]:
                        level = draw.choice(levels)
                        given = {"query": query, "document": document, "group": group}
                        lines.append(line.format(level=level, **given))
                ranked = draw.sample(documents, draw.randint(1, len(documents)))
                for document in judged if case == 0 else ranked:
                    run.append(f"{query} Q0 {document} 0 {draw.randint(1, 9)} run\n")
            (folder / f"{form}{case}").write_text("".join(lines))
            (folder / f"{form}{case}.run").write_text("".join(run))
            session = Session(str(folder / f"{form}{case}"), SETTINGS, rel_info=form)
            outcome = session.evaluate_one(str(folder / f"{form}{case}.run"), metrics[form])
            by_format.setdefault(form, []).append(outcome.judged)
    return by_format


@pytest.mark.parametrize("name", NUMERIC)
def test_values_are_within_the_declared_range(judged, name):
    metrics = find_metrics([name])
    form = all_measures()[name].reads
    for run in judged["qrels" if form == "any" else form]:
        for column in score(run, metrics).columns:
            low, high = column.metric.measure.range
            with np.errstate(divide="ignore", invalid="ignore"):
                values = column.per_query if column.metric.is_printed("query") else np.empty(0)
                every = np.append(values, column.summary).astype(float)
            every = every[~np.isnan(every)]
            assert (every >= low - 1e-12).all(), (column.name, every.min(), low)
            assert (every <= high + 1e-12).all(), (column.name, every.max(), high)
            if column.metric.is_rate:
                assert set(values[~np.isnan(values)].tolist()) <= {0.0, 1.0}, column.name


@pytest.mark.parametrize("name", NUMERIC)
def test_the_declared_range_is_no_wider_than_the_values(judged, name):
    """Gates refuse limits by it; a perfect run and useless ones come near to both ends."""
    form, (low, high) = all_measures()[name].reads, all_measures()[name].range
    runs, metrics = judged["qrels" if form == "any" else form], find_metrics([name])
    values = [
        np.append(c.per_query, c.summary) for run in runs for c in score(run, metrics).columns
    ]
    reached = np.concatenate(values).astype(float)
    if np.isfinite(high - low):
        assert np.nanmax(reached) >= low + 0.7 * (high - low)
        assert np.nanmin(reached) <= low + 0.3 * (high - low)


EXPECTED = [
    name
    for name, measure in all_measures().items()
    if measure.numeric and measure.expected and measure.reads in ("qrels", "any")
]


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_declared_over_ties_is_the_mean_over_all_orders(name):
    """Of the measure's own statistics of each order, whose scores differ."""
    draw, metrics = random.Random(name), find_metrics([name])
    worlds, tied, ordered = (
        {},
        {},
        {},
    )  # levels of a query; a query of each world, and of each order
    for world in range(6):
        documents = [f"d{number}" for number in range(5)]
        levels = {document: draw.choice([0, 1, 2]) for document in draw.sample(documents, 4)}
        scores = tied[f"{world}"] = {document: draw.randint(1, 2) for document in documents}
        worlds[f"{world}"] = {id_.encode(): level for id_, level in levels.items()}
        for number, order in enumerate(itertools.permutations(documents)):
            if all(scores[one] >= scores[other] for one, other in itertools.pairwise(order)):
                places = {document: float(len(order) - at) for at, document in enumerate(order)}
                ordered[f"{world}.{number}"] = places
    expected, values = (
        Session(
            Qrels(judgements_of({query.encode(): worlds[query[0]] for query in run})),
            replace(SETTINGS, ties=ties),
        ).evaluate_one(RunInMemory(run), metrics)
        for run, ties in ((tied, "expected"), (ordered, "id"))
    )
    world_of = np.array([int(query[:1]) for query in values.scores.queries])
    for column, each in zip(expected.scores.columns, values.scores.columns, strict=True):
        means = [each.statistics[world_of == world].mean(axis=0) for world in range(6)]
        np.testing.assert_allclose(column.statistics, np.array(means), rtol=1e-12, atol=1e-14)
