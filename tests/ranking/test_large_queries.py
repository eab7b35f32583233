"""Queries that are larger than a block: judged in pieces, as those that are held whole."""

import gzip
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkpi.errors import DataError, InputError, RagkpiError
from ragkpi.formats import line_places
from ragkpi.formats.line_places import stream_queries
from ragkpi.formats.opening import Source
from ragkpi.formats.trec_runs import stream_run
from ragkpi.ranking import reading
from ragkpi.ranking.hits import ScatteredQueryError, UndecidedError, Wanted, find_hits
from ragkpi.ranking.reading import read_hits
from tests.ranking.cases import judged, judgements_of, lines_of, ranking, retrieved

in_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
WANTED = Wanted("counted", ties="kept")
QRELS = {
    b"1": {b"d%d" % number: number % 3 - 1 for number in range(0, 60, 4)},
    b"2": {b"d3": 1, b"d" * 40: 2, b"\xff": 1},
}
sizes = st.sampled_from([40, 64, 300])
documents = st.sampled_from([b"d" * 40, b"d" * 41, b"\xff", b"e\xcc\x81"]) | st.integers(0, 60).map(
    b"d%d".__mod__
)
scores = st.sampled_from(
    [b"1", b"1.0", b"1e0", b"1.0000000000000002", b"-0", b"0", b"inf", b"-inf", b"3.25", b"1e-320"]
) | st.integers(-99, 99).map(b"%d".__mod__)
DEFECTS = [b"1 Q0 d", b"1 Q0 d1 1 nan t", b"1 Q0 d\0 1 1 t"]
lines = st.tuples(st.sampled_from([b"1", b"1", b"1", b"2", b"3"]), documents, scores)


def read(path, size, workers=1, stream=stream_queries):
    """What is found in a run that is read in blocks of some size, or what is wrong with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "stream_queries", partial(stream, block_size=size))
        patch.setattr(reading, "_SMALLEST_RANGE", 200)
        try:
            return summary(read_hits(str(path), judgements_of(QRELS), WANTED, workers))
        except RagkpiError as problem:
            return type(problem), str(problem).removeprefix(str(path))


def summary(hits):
    columns = (hits.judgement, hits.rank, *hits.tied)
    return (
        dict(zip(hits.queries, hits.num_ret.tolist(), strict=True)),
        sorted(zip(*(column.tolist() for column in columns), strict=True)),
        hits.run_id,
        hits.documents.tolist(),
    )


def held(path):
    """The hits of a run whose queries are held."""
    with Source(str(path)) as source:
        return find_hits(stream_run(source), judgements_of(QRELS), WANTED)


@in_files
@given(judged, retrieved, sizes, st.sampled_from([0, 1 << 12, None]))
def test_against_loops(tmp_path, qrels, run, size, far):
    """Lines are read again one by one, in a stream, or not at all as those of a pipe."""
    path, judgements = tmp_path / "run", judgements_of(qrels)
    path.write_bytes(b"".join(lines_of(run)))
    with pytest.MonkeyPatch.context() as patch, Source(str(path)) as source:
        if far is None:
            source.size = None
        patch.setattr(line_places, "_FAR", far)
        hits = find_hits(stream_queries(source, block_size=size), judgements, WANTED, source)
    assert dict(zip(hits.queries, hits.num_ret.tolist(), strict=True)) == {
        query: len(of_query) for query, of_query in run.items()
    }
    ranks = {(int(row), int(rank)) for row, rank in zip(hits.judgement, hits.rank, strict=True)}
    assert ranks == {
        (row, ranking(run[query]).index(judgements.document[row]) + 1)
        for number, query in enumerate(judgements.queries)
        for row in range(judgements.starts[number], judgements.starts[number + 1])
        if judgements.document[row] in run.get(query, ())
    }


@settings(in_files, max_examples=300)
@given(
    st.lists(lines, min_size=1, max_size=60),
    st.sampled_from(["as drawn", "by query", "distinct"]),
    st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from([*DEFECTS, b"", b" \t", b"# 1 Q0 d1 1 1 t"])),
        max_size=2,
    ),
    st.sampled_from([b"\n", b"\r\n", b" x y\n"]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    sizes,
    st.sampled_from([0, 1 << 12]),
)
def test_hostile_lines(tmp_path, rows, kind, spoiling, end, mark, size, far):
    """Torn lines, documents far apart twice, scores that look equal: as a reader of one block."""
    if kind != "as drawn":
        rows = sorted(rows, key=lambda row: row[0])
    if kind == "distinct":
        rows = {row[:2]: row for row in rows}.values()
    texts = [b"%b Q0 %b 1 %b t%d" % (*row, number) for number, row in enumerate(rows)]
    for place, text in spoiling:
        texts.insert(place, text)
    path = tmp_path / "run"
    path.write_bytes(mark + end.join(texts) + end)
    # Which of several errors comes first depends on how much is looked at together.
    expected = [read(path, blocks, stream=stream_run) for blocks in (size, 1 << 20)]
    (tmp_path / "run.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_places, "_FAR", far)
        found = [read(path, size), read(path, size, workers=3), read(tmp_path / "run.gz", size)]
    torn = {*DEFECTS, *((b"", b" \t") if end == b" x y\n" else ())}
    defects = (kind != "distinct") + sum(text in torn for _, text in spoiling)
    for outcome in found:
        if defects > 1 and isinstance(expected[0][0], type):
            assert outcome[0] in (InputError, DataError)
        else:
            assert outcome in expected


@in_files
@given(retrieved, sizes)
def test_joined_pieces(tmp_path, run, size):
    path = tmp_path / "run"
    path.write_bytes(b"".join(lines_of(run)))
    with pytest.MonkeyPatch.context() as patch, Source(str(path)) as source:
        patch.setattr(line_places, "stream_queries", partial(stream_queries, block_size=size))
        found, numbers = {}, []
        for block in line_places.stream_whole(source):
            bounds = zip(block.starts[:-1].tolist(), block.starts[1:].tolist(), strict=True)
            for query, rows in zip(block.query, bounds, strict=True):
                assert query not in found
                scores = block.score[slice(*rows)].tolist()
                found[query] = dict(zip(block.document.take(slice(*rows)), scores, strict=True))
            numbers += block.line.tolist()
        assert block.run_id == b"tag"
    assert found == run
    assert numbers == list(range(1, len(numbers) + 1))


def test_names_down_to_a_depth(tmp_path, monkeypatch):
    rows = [b"%d Q0 d%d 1 %d t\n" % (number // 40, number, number % 7) for number in range(120)]
    (tmp_path / "run").write_bytes(b"".join(rows))
    judgements = judgements_of(QRELS)
    monkeypatch.setattr(reading, "_SMALLEST_RANGE", 500)
    monkeypatch.setattr(line_places, "stream_queries", partial(stream_queries, block_size=64))
    one, three = (
        read_hits(str(tmp_path / "run"), judgements, Wanted(depth=5), workers).top
        for workers in (1, 3)
    )
    assert one.document.tolist() == three.document.tolist()
    # Query 1 has d40 to d79; its best score, 6, is that of every seventh one.
    assert one.document.tolist()[:5] == [b"d76", b"d69", b"d62", b"d55", b"d48"]


RANKINGS = {
    "all tied": [b"1"] * 60,
    "rising": [b"%d" % number for number in range(60)],
    "falling": [b"%d" % -number for number in range(60)],
    "rising in the end": [*[b"1"] * 57, b"2", b"3", b"4"],
    "rising between pieces": [b"%d" % (number // 4) for number in range(60)],
    "one falls": [*[b"%d" % number for number in range(59)], b"0"],
}


@pytest.mark.parametrize("scores", RANKINGS.values(), ids=RANKINGS)
def test_doubts_look_at_the_whole_ranking(tmp_path, scores):
    path = tmp_path / "run"
    path.write_bytes(
        b"".join(b"1 Q0 d%d 1 %b t\n" % (number, score) for number, score in enumerate(scores))
    )
    with Source(str(path)) as source:
        blocks = stream_queries(source, block_size=300)
        seen = find_hits(blocks, judgements_of(QRELS), WANTED, source).beginning
    assert seen == held(path).beginning


def test_what_has_to_be_held(tmp_path, monkeypatch):
    path = tmp_path / "run"
    rows = [b"1 Q0 d%d 1 %d t\n" % (number, -number) for number in range(20)]

    def judge(rows):
        path.write_bytes(b"".join(rows))
        with Source(str(path)) as source:
            blocks = stream_queries(source, block_size=64)
            return find_hits(blocks, judgements_of(QRELS), WANTED, source)

    assert judge(rows).num_ret.tolist() == [20]
    assert summary(judge([*rows, b"1 Q0 d21 1 0 t\n"])) == summary(held(path))
    with pytest.raises(UndecidedError):
        judge([*rows, rows[0]])
    with pytest.raises(ScatteredQueryError):
        judge([*rows, b"2 Q0 d 1 1 t\n", *rows[:9]])
    monkeypatch.setattr(
        "ragkpi.ranking.scattered_hits.hash_tokens", lambda ids: np.zeros(len(ids), np.uint64)
    )
    with pytest.raises(UndecidedError):  # hashes that collide
        judge(rows)
