"""Preferences counted together against the twin's loops: the same doubles, bit for bit."""

import random

import pytest

from ragkpi.errors import DataError, NothingInCommonError
from ragkpi.measures import preferences
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.reading import read_run
from ragkpi.ranking.relevance import read_relevance
from tests.slow_reference import preferences as twin

MEASURES = {m.name: m.function for m in preferences.MEASURES if m.reads == "prefs"}


@pytest.fixture
def judge(tmp_path):
    """Judge {query: [(group, subgroup, document, level)]} and {query: {document: score}}."""

    def judge(lines, run, settings=Settings(), rel_info="prefs"):  # noqa: B008 - frozen
        relevance, results = tmp_path / "relevance", tmp_path / "run"
        relevance.write_bytes(
            b"".join(
                b" ".join([query, *(b"%a" % x if isinstance(x, float) else x for x in line)])
                + b"\n"
                for query, of_query in lines.items()
                for line in of_query
            )
        )
        results.write_bytes(
            b"".join(
                b"%b Q0 %b 0 %a made\n" % (query, document, score)
                for query, scores in run.items()
                for document, score in scores.items()
            )
        )
        read = read_relevance(str(relevance), rel_info)
        return read.judge(read_run(str(results), read.judgements), settings)[0]

    return judge


def fast_values(judged):
    of_measures = [measure(judged).tolist() for measure in MEASURES.values()]
    return {
        query: dict(zip(MEASURES, row, strict=True))
        for query, row in zip(judged.queries, zip(*of_measures, strict=True), strict=True)
    }


def random_lines(draw, documents):
    """Several assessors with one to three scales each, mostly at one with themselves."""
    lines = []
    for group in range(draw.randint(1, 3)):
        opinion = {document: draw.choice([0.0, 0.0, 1.0, 2.0, 2.5, -1.0]) for document in documents}
        for subgroup in range(draw.choice([1, 1, 2, 3])):
            scale = draw.choice([1.0, 10.0])
            chosen = draw.sample(documents, draw.randint(1, len(documents)))
            for document in chosen + chosen[: draw.random() < 0.2]:
                level = opinion[document] * scale
                if draw.random() < 0.02:
                    level = draw.choice([0.0, 1.0, 3.0])
                lines.append((b"u%d" % group, b"s%d" % subgroup, document, level))
    draw.shuffle(lines)
    return lines


def random_scores(draw, documents):
    retrieved = draw.sample(documents, draw.randint(1, len(documents)))
    return {document: float(draw.randint(1, 4)) for document in retrieved}


@pytest.mark.parametrize("max_retrieved", [None, 0, 1, 3])
@pytest.mark.parametrize("size", [1, 3, 9, 30])
def test_counts_what_the_twin_counts(judge, size, max_retrieved):
    documents = [b"z\xff", b"Z", "é".encode(), *(b"d%d" % n for n in range(size))][:size]
    contradicted = 0
    for seed in range(40):
        draw = random.Random(seed)
        lines = {query: random_lines(draw, documents) for query in (b"1", b"10", b"9")}
        run = {query: random_scores(draw, [*documents, b"unjudged"]) for query in lines}
        try:
            expected = {
                query: twin.values(lines[query], twin.ranking(run[query], max_retrieved))
                for query in lines
            }
        except twin.ContradictionError:
            contradicted += 1
            with pytest.raises(DataError):
                judge(lines, run)
            continue
        assert fast_values(judge(lines, run, Settings(max_retrieved=max_retrieved))) == expected
    assert contradicted < 35


def test_a_query_missing_from_the_run_has_its_preferences(judge):
    lines = {query: [(b"u", b"s", b"a", 1.0), (b"u", b"s", b"b", 0.0)] for query in (b"1", b"2")}
    judged = judge(lines, {b"2": {b"a": 1.0}}, Settings(missing="zero"))
    assert fast_values(judged)[b"1"] == twin.values(lines[b"1"], [])
    shared = Settings(missing="intersection")
    judged = judge(lines, {b"2": {b"a": 1.0}}, shared)
    assert judged.queries == [b"2"]
    with pytest.raises(NothingInCommonError):
        judge(lines, {b"3": {b"a": 1.0}}, shared)


def test_qrels_prefs_have_one_subgroup(judge):
    lines = {b"1": [(b"u", b"a", b"2"), (b"u", b"b", b"0"), (b"t", b"b", b"1"), (b"t", b"c", b"0")]}
    run = {b"1": {b"b": 2.0, b"a": 2.0, b"c": 3.0}}
    judged = judge(lines, run, rel_info="qrels_prefs")
    as_prefs = [(g, b"0", document, float(level)) for g, document, level in lines[b"1"]]
    assert fast_values(judged)[b"1"] == twin.values(as_prefs, [b"c", b"a", b"b"])


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            [(b"u", b"s", b"a", 2.0), (b"u", b"s", b"a", 1.0)],
            "document a has two different levels",
        ),
        (
            [(b"u", b"s", b"b", 0.0), (b"u", b"t", b"c", 1.0), (b"u", b"t", b"b", 1.0)],
            "document b has level 0 in one line and a level above 0 in another",
        ),
        (
            [
                *((b"u", b"s", b"a", 2.0), (b"u", b"s", b"b", 1.0)),
                *((b"u", b"t", b"b", 2.0), (b"u", b"t", b"c", 1.0)),
                *((b"u", b"x", b"c", 2.0), (b"u", b"x", b"a", 1.0)),
            ],
            "documents a and b are each preferred over the other",
        ),
        (
            [
                *((b"u", b"s", b"a", 2.0), (b"u", b"s", b"b", 1.0), (b"u", b"s", b"b", 1.0)),
                *((b"u", b"s", b"a", 0.5), (b"u", b"t", b"b", 1.0)),
            ],
            "documents a and b are each preferred over the other",
        ),
    ],
    ids=["one scale", "zero and above", "circle", "two levels on one of two scales"],
)
def test_contradictions_name_query_group_and_documents(judge, lines, says):
    with pytest.raises(DataError) as problem:
        judge({b"7": lines}, {b"7": {b"a": 1.0}})
    assert "relevance: query 7, judgment group u: " + says in str(problem.value)


def test_groups_may_contradict_each_other(judge):
    lines = [(b"u", b"s", b"a", 2.0), (b"u", b"s", b"b", 1.0)]
    lines += [(b"t", b"s", b"a", 1.0), (b"t", b"s", b"b", 2.0)]
    judged = judge({b"1": lines}, {b"1": {b"a": 2.0, b"b": 1.0}})
    assert fast_values(judged)[b"1"]["prefs_pair"] == 0.5
