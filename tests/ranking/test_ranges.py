"""A run that several workers read is the run that one reads."""

import numpy as np
import pytest

from ragkpi.formats import opening
from ragkpi.formats.trec_qrels import read_qrels
from ragkpi.ranking import reading
from ragkpi.ranking.judgements import group_judgements
from tests.ranking.engines import ENGINES

LINES = [b"%d Q0 d%d 1 %d me\n" % (query, i, -i) for query in range(40) for i in range(5)]
RUNS = {
    "plain": b"".join(LINES),
    "CRLF": b"".join(LINES).replace(b"\n", b"\r\n"),
    # A byte order mark counts at the beginning of the file, not at that of a range.
    "a mark in the middle": b"\xef\xbb\xbf" + b"\xef\xbb\xbf".join(LINES),
    # A third of the text, so that a range has nothing else.
    "blank lines before": b"\n" * (len(b"".join(LINES)) // 2 + 60) + b"".join(LINES),
    "blank lines behind": b"".join(LINES) + b"\n" * (len(b"".join(LINES)) // 2 - 60),
    "interleaved": b"".join(LINES[0::2] + LINES[1::2]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
def test_ranges_make_no_difference(text, engine, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_SMALLEST_RANGE", 100)
    monkeypatch.setattr(reading, "side_by_side", engine)
    marks = (b"", b"\xef\xbb\xbf")
    qrels = [b"%b%d 0 d%d 1\n" % (mark, q, q % 5) for mark in marks for q in range(40)]
    (tmp_path / "qrels").write_bytes(b"".join(qrels))
    (tmp_path / "run").write_bytes(text)
    judgements = group_judgements(read_qrels(str(tmp_path / "qrels")))
    one, three = (
        reading.read_hits(str(tmp_path / "run"), judgements, workers=count) for count in (1, 3)
    )
    for hits in (one, three):
        assert sum(hits.num_ret) == len(LINES)
        assert hits.run_id == b"me"
    assert one.beginning.rising == three.beginning.rising == 0
    assert one.beginning.documents[0] == three.beginning.documents[0]
    found = [sorted(zip(hits.judgement, hits.rank, strict=True)) for hits in (one, three)]
    assert np.array_equal(*found)
    assert sorted(one.queries) == sorted(three.queries)


@pytest.mark.parametrize("engine", ENGINES)
def test_who_waits_sees_the_first_range_go_to_its_end(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_SMALLEST_RANGE", 100)
    monkeypatch.setattr(reading, "side_by_side", engine)
    told = []
    monkeypatch.setattr(opening, "reading", lambda name, done, size: told.append((done, size)))
    (tmp_path / "qrels").write_bytes(b"1 0 d0 1\n")
    (tmp_path / "run").write_bytes(b"".join(LINES))
    judgements = group_judgements(read_qrels(str(tmp_path / "qrels")))
    told.clear()
    reading.read_hits(str(tmp_path / "run"), judgements, workers=4)
    *_, (done, size), over = told
    assert over == (0, 0)
    assert done == size
    # A quarter of the file, to the next change of query.
    assert 0 <= size - len(b"".join(LINES)) / 4 < len(b"".join(LINES[:10]))
