"""From the text of a run to its hits: in blocks, scattered, held, several runs at a time."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkpi import kernel
from ragkpi.errors import DataError, InputError, RagkpiError
from ragkpi.files.lines import Tokens
from ragkpi.ranking import reading
from ragkpi.ranking.reading import RunParts, read_run, read_runs
from tests.ranking.cases import judged, judgements_of, lines_of, ranking, retrieved
from tests.tries import TRIES

pytestmark = pytest.mark.usefixtures("reader")
in_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
few = settings(in_files, max_examples=25 * TRIES)


def ranked(qrels, run):
    """By query: how many documents are retrieved, and the ranks of the judged ones."""
    return {
        query: (
            len(of_query),
            {d: r for r, d in enumerate(ranking(of_query), 1) if d in qrels.get(query, ())},
        )
        for query, of_query in run.items()
    }


def tied_ranks(qrels, run):
    """The first and last rank that each judged document shares with equal scores."""
    ties = {}
    for query, of_query in run.items():
        for document in qrels.get(query, {}).keys() & of_query.keys():
            above = sum(score > of_query[document] for score in of_query.values())
            equal = sum(score == of_query[document] for score in of_query.values())
            ties[query, document] = (above + 1, above + equal)
    return ties


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


def as_tied(judgements, hits):
    if hits.tied is None:
        assert not len(hits.rank)
        return {}
    rows = zip(hits.judgement, *map(np.ndarray.tolist, hits.tied), strict=True)
    return {
        (judgements.queries[judgements.query[row]], judgements.document[row]): (first, last)
        for row, first, last in rows
    }


SIZES = st.sampled_from([1, 64, 300, 1 << 12])


@in_files
@given(judged, retrieved, SIZES)
def test_queries_together(tmp_path, qrels, run, size):
    path, judgements = tmp_path / "run", judgements_of(qrels)
    path.write_bytes(b"".join(lines_of(run)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK_SIZE", size)
        hits = read_run(str(path), judgements)
    assert hits.queries == list(run)
    assert as_ranked(judgements, hits) == ranked(qrels, run)


@in_files
@given(judged, retrieved, st.randoms(), SIZES, st.booleans())
def test_queries_scattered(tmp_path, qrels, run, draw, size, mark):
    """Also behind a mark, a comment, an empty line, and spaces before the words."""
    path, judgements, lines = tmp_path / "run", judgements_of(qrels), lines_of(run)
    draw.shuffle(lines)
    path.write_bytes(b"\xef\xbb\xbf" * mark + b"# \n\n" + b" ".join([b"", *lines]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK_SIZE", size)
        hits = read_run(str(path), judgements, RunParts("counted"))
    assert hits.queries == list(dict.fromkeys(line.split()[0] for line in lines))
    assert hits.run_id == b"tag"
    assert as_ranked(judgements, hits) == ranked(qrels, run)
    assert as_tied(judgements, hits) == tied_ranks(qrels, run)
    distinct = {document for of_query in run.values() for document in of_query}
    assert kernel.count_ids((hits.documents,), Tokens.from_strings([]).column) == len(distinct)


@in_files
@given(judged, retrieved, st.randoms(), st.integers(1, 4), st.booleans())
def test_the_first_documents_are_named(tmp_path, qrels, run, draw, depth, scattered):
    path, judgements, lines = tmp_path / "run", judgements_of(qrels), lines_of(run)
    if scattered:
        draw.shuffle(lines)
    path.write_bytes(b"".join(lines))
    top = read_run(str(path), judgements, RunParts(depth=depth)).top
    names = {judgements.queries[query]: [] for query in top.query.tolist()}
    for group, rank, document in zip(top.group, top.rank, top.document, strict=True):
        of_query = names[judgements.queries[top.query[group]]]
        of_query.append(document)
        assert rank == len(of_query)
    assert names == {
        query: ranking(of_query)[:depth] for query, of_query in run.items() if query in qrels
    }


def test_ties_between_lines_that_other_queries_part(tmp_path):
    path, judgements = tmp_path / "run", judgements_of({b"1": {b"a": 1}})

    def hits_of(lines, wanted):
        path.write_bytes(b"".join(lines))
        return read_run(str(path), judgements, wanted)

    lines = [b"1 Q0 a 1 2 t\n", b"2 Q0 a 1 2 t\n", b"1 Q0 b 1 1 t\n"]
    assert hits_of(lines, RunParts()).rank.tolist() == [1]
    assert hits_of(lines, RunParts(depth=1)).top.document.tolist() == [b"a"]
    tied = hits_of([*lines, b"1 Q0 c 1 2 t\n"], RunParts())
    assert tied.rank.tolist() == [2]
    assert [ranks.tolist() for ranks in tied.tied] == [[1], [2]]
    with pytest.raises(DataError, match=r":4: document a of query 1 again, .* at line 1;"):
        hits_of([*lines, b"1 Q0 a 1 0 t\n"], RunParts())


@few
@given(judged, st.lists(retrieved, min_size=1, max_size=4), st.randoms(), st.data())
def test_any_number_of_runs_at_a_time(tmp_path, qrels, runs, draw, data):
    judgements, paths = judgements_of(qrels), []
    for number, run in enumerate(runs):
        lines = lines_of(run)
        kind = data.draw(st.sampled_from(["sorted", "shuffled", "spoiled"]))
        if kind == "shuffled":
            draw.shuffle(lines)
        elif kind == "spoiled":
            lines.insert(draw.randrange(len(lines) + 1), draw.choice([b"1 Q0 d\n", lines[-1]]))
        paths.append(str(tmp_path / f"run{number}"))
        (tmp_path / f"run{number}").write_bytes(b"".join(lines))
    alone = [attempt(path, judgements) for path in paths]
    for workers in ("1", "2", "3"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAGKPI_WORKERS", workers)
            watched = []
            together = read_runs(paths, judgements, watch=watched.append)
        assert [as_outcome(judgements, outcome) for outcome in together] == alone
        assert watched == list(range(1, len(paths) + 1))


def attempt(path, judgements):
    try:
        return as_outcome(judgements, read_run(path, judgements))
    except RagkpiError as problem:
        return as_outcome(judgements, problem)


def as_outcome(judgements, outcome):
    if isinstance(outcome, RagkpiError):
        return type(outcome), str(outcome)
    return outcome.queries, outcome.run_id, as_ranked(judgements, outcome)


@pytest.mark.parametrize("size", [1, 5, 100, 1 << 20])
def test_a_byte_order_mark_inside_a_file_belongs_to_the_query(tmp_path, monkeypatch, size):
    monkeypatch.setattr(reading, "BLOCK_SIZE", size)
    judgements = judgements_of({b"1": {b"d1": 1}})
    lines = [b"1 Q0 d%d 1 1 t\n" % number for number in range(14)]
    path = tmp_path / "run"
    path.write_bytes(b"".join([*lines, *(b"\xef\xbb\xbf2" + line[1:] for line in lines[:9])]))
    hits = read_run(str(path), judgements)
    assert hits.queries == [b"1", b"\xef\xbb\xbf2"]
    assert hits.num_ret.tolist() == [14, 9]


def test_errors(tmp_path):
    path, judgements = tmp_path / "run", judgements_of({b"1": {b"a": 1}})
    path.write_bytes(b"1 Q0 a 1 2 t\n1 Q0 b 1 2 t\n2 Q0 b 1 2 t\n1 Q0 a 3 1 t\n")
    again = r":4: document a of query 1 again, first retrieved at line 1"
    with pytest.raises(DataError, match=again):
        read_run(str(path), judgements)
    run = kernel.Run(judgements.documents)
    with pytest.raises(kernel.RefusedError, match="scattered"):
        run.feed(path.read_bytes())
    path.write_bytes(b"# nothing\n\n")
    with pytest.raises(InputError, match="contains no results"):
        read_run(str(path), judgements)
