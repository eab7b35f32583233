"""Chunks folded into documents and documents left out, against hand calculation and plain sets."""

import json
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragkpi
from ragkpi import evaluate
from ragkpi.errors import InputError, RagkpiNote, UsageError
from ragkpi.files.opening import Source
from ragkpi.files.sieve import Sieve, parse_fold, read_excluded
from ragkpi.files.trec import stream_run

QRELS = b"1 0 d#1 0\n1 0 d#2 2\n1 0 e#1 1\n2 0 f 1\n"
RUN = (
    b"1 Q0 d#1 1 0.9 me\n1 Q0 x#1 2 0.8 me\n1 Q0 d#2 3 0.7 me\n1 Q0 e#1 4 0.6 me\n"
    b"2 Q0 2 1 0.9 me\n2 Q0 f 2 0.8 me\n"
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    return tmp_path


def values(outcome):
    return [line.split()[-1] for line in outcome.out.splitlines()]


@pytest.mark.parametrize("fold", ["#", "/^([^#]*)/", "@parents"])
def test_folds_run_and_qrels(fold, files, ragkpi):
    """Query 1 becomes d (2), x, e (1): average precision (1 + 2/3) / 2; query 2 has f second."""
    (files / "parents").write_text("d#1 d\nd#2 d\ne#1 e\nx#1 x\n")
    outcome = ragkpi("eval", "-q", "-m", "num_ret", "-m", "map", "--max-passage", fold, "qrels",
                     "run", folder=files)  # fmt: skip
    assert values(outcome) == [b"3", b"0.8333", b"2", b"0.5000", b"5", b"0.6667"]
    assert b"note: qrels: 4 judgements folded into 3 documents" in outcome.err
    assert b"note: run: 6 lines folded into 5 documents" in outcome.err


def test_a_fold_that_folds_nothing_says_so(files, ragkpi):
    """No id has a ``%``, so that every line keeps its own document."""
    outcome = ragkpi("eval", "-m", "map", "--max-passage", "%", "qrels", "run", folder=files)
    assert b"note: run: 6 lines folded into 6 documents\n" in outcome.err


def test_folds_a_query_whose_lines_are_scattered(files, ragkpi):
    (files / "run").write_bytes(b"".join(sorted(RUN.splitlines(True), key=lambda line: line[5:])))
    outcome = ragkpi("eval", "-m", "map", "--max-passage", "#", "qrels", "run", folder=files)
    assert values(outcome) == [b"0.6667"]


def test_leaves_out_identical_and_excluded_documents(files, ragkpi):
    outcome = ragkpi("eval", "-m", "recip_rank", "--ignore-identical-ids", "qrels", "run",
                     folder=files)  # fmt: skip
    assert values(outcome) == [b"0.6667"]  # d#2 is third, f is first
    assert b"note: run: 1 document with the id of the query left out" in outcome.err
    (files / "excluded").write_text("1 d#1\n1 x#1\n2 2\n9 9\n")
    outcome = ragkpi("eval", "-m", "recip_rank", "--exclude", "excluded", "qrels", "run",
                     folder=files)  # fmt: skip
    assert values(outcome) == [b"1.0000"]
    assert b"note: run: 3 excluded documents left out" in outcome.err
    (files / "bright").write_text(
        '{"id": "1", "excluded_ids": ["d#1", "x#1"]}\n{"id": "2", "excluded_ids": ["N/A"]}\n'
    )
    for mark in (b"", b"\xef\xbb\xbf"):
        (files / "bright").write_bytes(mark + (files / "bright").read_bytes())
        assert read_excluded(str(files / "bright")) == {b"1": frozenset([b"d#1", b"x#1"])}


def test_converts_folded(files, ragkpi):
    outcome = ragkpi("convert", "--max-passage", "#", "--to", "trec", "run", "-", folder=files)
    assert [line.split()[2] for line in outcome.out.splitlines()] == [b"d", b"x", b"e", b"2", b"f"]


@pytest.mark.usefixtures("command_line")
@pytest.mark.parametrize("text", ["", "/(/", "/x/", "/[/"])
def test_refuses_folds_that_are_none(text):
    with pytest.raises(UsageError, match="--max-passage"):
        parse_fold(text)


ids = st.sampled_from([b"a", b"a#1", b"a#2#3", b"b#1", b"#1", b"#", b"b", b"c" * 40 + b"#1"])


@given(st.dictionaries(st.sampled_from(["1", "2"]), st.dictionaries(ids, st.integers(0, 3)),
                       min_size=1))  # fmt: skip
def test_the_best_chunk_counts(tmp_path_factory, run):
    run = {query: documents for query, documents in run.items() if documents} or {"1": {b"a": 1}}
    expected = {}
    for query, documents in run.items():
        for id_, score in documents.items():
            document = id_.split(b"#")[0] or id_
            key = query.encode(), document
            expected[key] = max(expected.get(key, -1), score)
    path = tmp_path_factory.mktemp("sieve") / "run"
    rows = [(q.encode(), d, s) for q, documents in run.items() for d, s in documents.items()]
    path.write_bytes(b"".join(b"%b Q0 %b 1 %d me\n" % row for row in rows))
    sieve = Sieve(parse_fold("#"))
    with pytest.warns(RagkpiNote), Source(str(path)) as source:
        (block,) = sieve.best(sieve.folded(stream_run(source)))
    found = {
        (block.query[group], document): score
        for group, document, score in zip(
            block.group().tolist(), block.document, block.score.tolist(), strict=True
        )
    }
    assert found == expected
    assert len(block.score) == len(expected)
    assert np.array_equal(np.diff(block.starts).sum(), len(expected))


def test_from_python(files):
    """As the command line: maps of frames and rows, distances, folding, exclusions."""
    frame = pytest.importorskip("pandas").DataFrame(
        {"frage": ["1", "1"], "dok": ["d#1", "x#1"], "abstand": [0.7, 0.2]}
    )
    how = {"query": "frage", "doc": "dok", "score": "abstand"}
    for run in (frame, frame.to_dict("records")):
        with pytest.warns(RagkpiNote):
            result = ragkpi.evaluate(
                str(files / "qrels"), run, ["recip_rank", "num_rel"], map_run=how,
                score_order="distance", max_passage="#",
            )  # fmt: skip
        # x is nearer; d is 2, e is 1; the run lacks query 2
        assert result.per_query["1"]["recip_rank"] == 0.5
        assert result.mean["recip_rank"] == 0.25
        assert result.per_query["1"]["num_rel"] == 2
    with pytest.raises(InputError, match="has no frage"):
        ragkpi.evaluate(str(files / "qrels"), [("1", "d", 1)], map_run=how)
    (files / "excluded").write_text("1 x#1\n")
    with pytest.warns(RagkpiNote):
        result = ragkpi.evaluate(
            {"1": {"d#1": 1}}, {"1": {"d#1": 0.1, "x#1": 0.9, "1": 0.5}}, "recip_rank",
            ignore_identical_ids=True, exclude=str(files / "excluded"),
        )  # fmt: skip
    assert result.mean == {"recip_rank": 1.0}


EMPTIED = [("1",), ("2",), ("3",), ("1", "2"), ("2", "3"), ("1", "3")]
_QUERIES = ("1", "2", "3")


def write_three_queries(folder, listed, left_out=()):
    """Write two runs of three queries, and a list of all that some of the queries retrieve.

    In `run` scores rise down the file, and `a` has rank 2; in `other` `b` ties with it. Lines of
    the queries that are left out are not written.
    """
    folder.mkdir(exist_ok=True)
    (folder / "qrels").write_text("".join(f"{query} 0 a 1\n{query} 0 z 2\n" for query in _QUERIES))
    for name, ranking in (("run", "b1 a2 c3"), ("other", "a5 b5 c4")):
        (folder / name).write_text(
            "".join(
                f"{query} Q0 {document} 1 {score} {name}\n"
                for query in _QUERIES
                if query not in left_out
                for document, score in ranking.split()
            )
        )
    (folder / "list").write_text(
        "".join(f"{query} {document}\n" for query in listed for document in "abc")
    )


@pytest.mark.parametrize("emptied", EMPTIED)
def test_a_query_that_loses_all_documents_changes_no_other(emptied, tmp_path, ragkpi):
    """It stays in the run: it is printed, with 0, and counts for the mean."""
    write_three_queries(tmp_path, emptied)
    outcome = ragkpi("eval", "-q", "-m", "recip_rank", "--exclude", "list", "qrels", "run",
                     folder=tmp_path)  # fmt: skip
    mean = (3 - len(emptied)) * 0.5 / 3
    expected = [b"0.0000" if query in emptied else b"0.5000" for query in _QUERIES]
    assert (outcome.status, values(outcome)) == (0, [*expected, b"%.4f" % mean])
    mapping = {query: {"b": 1, "a": 2, "c": 3} for query in _QUERIES}
    for run in (str(tmp_path / "run"), mapping):
        with pytest.warns(RagkpiNote):
            result = evaluate(str(tmp_path / "qrels"), run, "recip_rank",
                              exclude=str(tmp_path / "list"))  # fmt: skip
        assert result.mean == {"recip_rank": mean}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("1 Q0 1 1 1 me\n2 Q0 b 1 1 me\n2 Q0 a 2 2 me\n", [b"0.0000", b"1.0000", b"0.5000"]),
        ("1 Q0 b 1 1 me\n1 Q0 a 2 2 me\n2 Q0 2 1 1 me\n", [b"1.0000", b"0.0000", b"0.5000"]),
    ],
)
def test_a_query_whose_only_document_has_its_id(lines, expected, tmp_path, ragkpi):
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "run").write_text(lines)
    outcome = ragkpi("eval", "-q", "-m", "recip_rank", "--ignore-identical-ids", "qrels", "run",
                     folder=tmp_path)  # fmt: skip
    assert (outcome.status, values(outcome)) == (0, expected)


_COMMANDS = [
    "eval -q -c -m all_trec qrels run",
    "eval -c -m P.2 -m map --ties expected qrels other",
    "compare --format json -m map -m P.2 qrels run other",
    "holes --format json qrels run other",
    "depth --format json -N 100 qrels run other",
    "diagnose -c --format json qrels run --pool other",
    "convert --to trec other -",
    "convert --to csv run -",
]


@pytest.mark.parametrize(
    ("line", "emptied"),
    [
        *product(_COMMANDS, EMPTIED),
        ("report -N 100 qrels run other -o -", EMPTIED[0]),  # which takes seconds
    ],
)
def test_commands_take_an_emptied_query_for_an_empty_ranking(line, emptied, tmp_path, ragkpi):
    """As `-c` takes a missing one: but for the notes the answer is that without its lines."""
    write_three_queries(tmp_path / "excluded", emptied)
    write_three_queries(tmp_path / "without", emptied, emptied)
    answers = []
    for name in ("excluded", "without"):
        outcome = ragkpi(*line.split(), "--exclude", "list", folder=tmp_path / name)
        assert outcome.status == 0, outcome.err
        data = re.search(rb'id="data">(.*?)</script>', outcome.out, re.DOTALL)
        if data is not None or "json" in line:
            answers.append({**json.loads(data[1] if data else outcome.out), "notes": []})
        else:
            answers.append(outcome.out)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("emptied", EMPTIED)
def test_check_names_the_query_that_is_meant(emptied, tmp_path, ragkpi):
    """Scores rise in all that are left, the first of which is at line 1, 4 or 7."""
    write_three_queries(tmp_path, emptied)
    outcome = ragkpi("check", "--exclude", "list", "qrels", "run", folder=tmp_path)
    left = [query for query in _QUERIES if query not in emptied]
    assert b"scores increase down the ranking in %d of %d " % (len(left), len(left)) in outcome.out
    for query in left:
        line = 3 * int(query) - 2
        assert b"run:%d\tquery %b begins with 1\n" % (line, query.encode()) in outcome.out
