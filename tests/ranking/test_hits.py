"""From the text of a run to its hits: in blocks, scattered, by several processes."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkpi.errors import DataError, InputError, RagkpiError
from ragkpi.formats import line_places
from ragkpi.formats import trec_runs as formats_run
from ragkpi.formats.opening import Source
from ragkpi.formats.trec_runs import hold_run, stream_run
from ragkpi.ranking import reading, scattered, scattered_hits
from ragkpi.ranking.hits import JUDGED_ONLY, ScatteredQueryError, Wanted, find_hits
from ragkpi.ranking.reading import read_hits
from tests.ranking.cases import judged, judgements_of, lines_of, ranking, retrieved

in_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
few = settings(in_files, max_examples=25)


def ranked(qrels, run):
    """By query: how many documents are retrieved, and the ranks of the judged ones."""
    return {
        query: (
            len(of_query),
            {d: r for r, d in enumerate(ranking(of_query), 1) if d in qrels.get(query, ())},
        )
        for query, of_query in run.items()
    }


def as_ranked(judgements, hits):
    assert hits.query.tolist() == [judgements.index.get(query, -1) for query in hits.queries]
    found = {
        query: (num_ret, {})
        for query, num_ret in zip(hits.queries, hits.num_ret.tolist(), strict=True)
    }
    for row, rank in zip(hits.judgement.tolist(), hits.rank.tolist(), strict=True):
        query = judgements.queries[judgements.query[row]]
        assert judgements.document[row] not in found[query][1]
        found[query][1][judgements.document[row]] = rank
    return found


@in_files
@given(judged, retrieved, st.sampled_from([64, 300, 1 << 12]))
def test_queries_together(tmp_path, qrels, run, size):
    path, judgements = tmp_path / "run", judgements_of(qrels)
    path.write_bytes(b"".join(lines_of(run)))
    with Source(str(path)) as source:
        hits = find_hits(stream_run(source, block_size=size), judgements)
    assert hits.queries == list(run)
    assert as_ranked(judgements, hits) == ranked(qrels, run)


@in_files
@given(judged, retrieved, st.randoms(), st.sampled_from([1, 5, 1 << 12]))
def test_queries_scattered(tmp_path, qrels, run, draw, at_once):
    path, judgements, lines = tmp_path / "run", judgements_of(qrels), lines_of(run)
    draw.shuffle(lines)
    path.write_bytes(b"".join(lines))
    with pytest.MonkeyPatch.context() as patch, Source(str(path)) as source:
        patch.setattr(scattered, "_ROWS_AT_ONCE", at_once)
        patch.setattr(formats_run, "BLOCK_SIZE", at_once)
        hits = find_hits(scattered.regroup_run(hold_run(source)), judgements)
    assert as_ranked(judgements, hits) == ranked(qrels, run)
    assert as_ranked(judgements, read_hits(str(path), judgements)) == ranked(qrels, run)


@in_files
@given(
    judged,
    retrieved,
    st.randoms(),
    st.sampled_from([64, 300, 1 << 12]),
    st.booleans(),
    st.sampled_from([0, 1 << 12, None]),
)
def test_queries_scattered_in_one_stream(tmp_path, qrels, run, draw, size, mark, far):
    """Against the twin that holds the whole text, which the test above holds against loops."""
    path, judgements, lines = tmp_path / "run", judgements_of(qrels), lines_of(run)
    draw.shuffle(lines)
    path.write_bytes(b"\xef\xbb\xbf" * mark + b"# \n\n" + b" ".join([b"", *lines]))
    wanted = Wanted("counted", ties="kept")
    with pytest.MonkeyPatch.context() as patch, Source(str(path)) as source:
        if far is None:
            source.size = None  # as that of a pipe, which is not read again
        patch.setattr(line_places, "_FAR", far)
        patch.setattr(scattered_hits, "_LINES_AT_ONCE", 2)
        patch.setattr(scattered_hits, "_BLOCK_SIZE", size)
        hits = scattered_hits.find_scattered_hits(source, judgements, wanted)
        source.restart()
        held = find_hits(scattered.regroup_run(hold_run(source)), judgements, wanted)
    assert as_ranked(judgements, hits) == as_ranked(judgements, held) == ranked(qrels, run)
    assert (hits.run_id, hits.queries) == (held.run_id, held.queries)
    assert hits.documents.tolist() == held.documents.tolist()
    ties = [
        sorted(zip(one.judgement, *map(np.ndarray.tolist, one.tied), strict=True))
        for one in (hits, held)
    ]
    assert ties[0] == ties[1]


def test_scattered_lines_that_the_stream_leaves_to_the_text(tmp_path, monkeypatch):
    path, judgements = tmp_path / "run", judgements_of({b"1": {b"a": 1}})

    def streamed(lines, wanted=JUDGED_ONLY):
        path.write_bytes(b"".join(lines))
        with Source(str(path)) as source:
            return scattered_hits.find_scattered_hits(source, judgements, wanted)

    scattered_lines = [b"1 Q0 a 1 2 t\n", b"2 Q0 a 1 2 t\n", b"1 Q0 b 1 1 t\n"]
    assert streamed(scattered_lines).rank.tolist() == [1]
    assert streamed(scattered_lines, Wanted(depth=1)) is None
    assert streamed([*scattered_lines, b"1 Q0 a 1 0 t\n"]) is None  # a document twice
    tied = streamed([*scattered_lines, b"1 Q0 c 1 2 t\n"])
    assert tied.rank.tolist() == [2]
    monkeypatch.setattr(scattered_hits, "_QUERY_BITS", 1)
    assert streamed(scattered_lines) is None


def test_ids_whose_hashes_collide(monkeypatch):
    monkeypatch.setattr(
        scattered, "hash_tokens", lambda tokens: np.zeros(len(tokens), dtype=np.uint64)
    )
    tokens = scattered.Tokens.from_strings([b"b", b"a", b"b", b"c"])
    number, representative = scattered.number_ids(tokens)
    assert [tokens[row] for row in representative[number]] == tokens.tolist()
    assert len(representative) == 3


@few
@given(judged, retrieved, st.randoms(), st.sampled_from(["sorted", "shuffled", "spoiled"]))
def test_any_number_of_workers(tmp_path, qrels, run, draw, kind):
    path, judgements, lines = tmp_path / "run", judgements_of(qrels), lines_of(run)
    if kind == "shuffled":
        draw.shuffle(lines)
    elif kind == "spoiled":
        lines.insert(draw.randrange(len(lines) + 1), draw.choice([b"1 Q0 d\n", lines[-1]]))
    path.write_bytes(b"".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_SMALLEST_RANGE", 50)
        one, *more = (attempt(str(path), judgements, number) for number in (1, 2, 3))
    assert more == [one, one]


def attempt(path, judgements, number):
    try:
        hits = read_hits(path, judgements, workers=number)
    except RagkpiError as problem:
        return type(problem), str(problem)
    return hits.queries, hits.run_id, as_ranked(judgements, hits)


def split(path, number):
    with Source(str(path)) as source:
        return reading._bounds(source, number)


def test_ranges_begin_with_another_query(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_SMALLEST_RANGE", 100)
    lines = [b"%d Q0 d%d 1 1 t\n" % (number // 7, number) for number in range(200)]
    path = tmp_path / "run"
    path.write_bytes(b"".join(lines))
    ends = [0, *itertools.accumulate(map(len, lines))]
    changes = set(ends[::7]) | {ends[-1]}
    for number in (1, 2, 3, 8):
        bounds = split(path, number)
        assert len(bounds) == number + 1
        assert bounds == sorted(set(bounds))
        assert set(bounds) <= changes
    monkeypatch.setattr(reading, "_SMALLEST_RANGE", 1 << 20)
    assert len(split(path, 8)) == 2  # not worth a process
    monkeypatch.setattr(reading, "_SMALLEST_RANGE", 100)
    path.write_bytes(b"".join(b"1 Q0 d%d 1 1 t\n" % number for number in range(200)))
    assert len(split(path, 8)) == 2  # one query is never cut


def test_a_byte_order_mark_inside_a_file_belongs_to_the_query(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_SMALLEST_RANGE", 100)
    judgements = judgements_of({b"1": {b"d1": 1}})
    lines = [b"1 Q0 d%d 1 1 t\n" % number for number in range(14)]
    path = tmp_path / "run"
    path.write_bytes(b"".join([*lines, *(b"\xef\xbb\xbf2" + line[1:] for line in lines[:9])]))
    assert len(split(path, 2)) == 3
    assert attempt(str(path), judgements, 2) == attempt(str(path), judgements, 1)
    assert attempt(str(path), judgements, 2)[0] == [b"1", b"\xef\xbb\xbf2"]


def test_errors(tmp_path):
    path, judgements = tmp_path / "run", judgements_of({b"1": {b"a": 1}})
    path.write_bytes(b"1 Q0 a 1 2 t\n1 Q0 b 1 2 t\n2 Q0 b 1 2 t\n1 Q0 a 3 1 t\n")
    again = r":4: document a of query 1 again, first retrieved at line 1"
    with pytest.raises(DataError, match=again):
        read_hits(str(path), judgements)
    with Source(str(path)) as source, pytest.raises(ScatteredQueryError):
        find_hits(stream_run(source, block_size=30), judgements)
    path.write_bytes(b"# nothing\n\n")
    with pytest.raises(InputError, match="holds no results"):
        read_hits(str(path), judgements)
