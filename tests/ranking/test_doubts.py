"""Doubts that every command says: each beside a run that gives none, and as an error."""

import pytest

QRELS = "q1 0 doc_1#3 1\nq1 0 doc_2#1 0\nq2 0 doc_3#2 2\n"
RUN = "q1 Q0 doc_1#3 1 3 r\nq1 Q0 doc_2#1 2 2 r\nq1 Q0 x#1 3 1 r\nq2 Q0 doc_3#2 1 3 r\n"


def evaluated(ragkpi, folder, run, *options, qrels=QRELS):
    (folder / "qrels").write_text(qrels)
    (folder / "run").write_text(run)
    return ragkpi("eval", "-m", "P.5", *options, "qrels", "run", folder=folder)


DOUBTFUL = {
    "passage ids lost their number": (RUN.replace("#3", "").replace("#2", ""), (), "#"),
    "capitals": (RUN.replace("doc", "DOC"), (), "differ from judged ones only by case"),
    "leading zeros of queries": (
        RUN.replace("q1", "07"),
        (),
        "1 query id of the run differs from judged ones",
    ),
    "another collection": (
        RUN.replace("doc", "url"),
        (),
        "none of the 4 documents retrieved for judged queries is judged",
    ),
    "distances": (
        "q1 Q0 a 1 0.1 r\nq1 Q0 b 2 0.2 r\nq1 Q0 doc_1#3 3 0.3 r\n",
        (),
        "are they distances?",
    ),
    "a level that nobody gave": (RUN, ("-l", "3"), "-l 3 is above the highest judged level"),
}


@pytest.mark.parametrize(("run", "options", "words"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_a_doubt_is_a_warning_and_under_strict_an_error(ragkpi, tmp_path, run, options, words):
    qrels = QRELS.replace("q1", "7") if run.startswith("07") else QRELS
    said = evaluated(ragkpi, tmp_path, run, *options, qrels=qrels)
    assert said.status == 0
    warnings = [line for line in said.err.decode().splitlines() if "warning: " in line]
    assert any(words in line for line in warnings), warnings
    if "07" not in run and "distances" not in words:  # in those a query is missing, too
        refused = evaluated(ragkpi, tmp_path, run, "--strict", *options, qrels=qrels)
        assert (refused.status, refused.out) == (4, b"")
        assert refused.err.decode().count("\n") == 1


def test_distances_in_another_format_are_said_once(ragkpi, tmp_path):
    run = "qid,docid,score\nq1,a,0.1\nq1,b,0.2\nq1,doc_1#3,0.3\nq2,doc_3#2,1\n"
    said = evaluated(ragkpi, tmp_path, run).err.decode()
    assert said.count("distances") == 1
    assert "--score-order distance" in said
    assert (
        "distance" not in evaluated(ragkpi, tmp_path, run, "--score-order", "distance").err.decode()
    )


def test_negative_levels_alone_judge_no_document(ragkpi, tmp_path):
    """No lower level helps, and -1 is none that anybody gave."""
    said = evaluated(ragkpi, tmp_path, RUN, qrels="q1 0 a -1\nq2 0 b -1\n").err.decode()
    assert said.count("no document is relevant: the qrels judge no document") == 1
    assert "-1" not in said
    done = ragkpi("check", "qrels", "run", folder=tmp_path)
    assert b"at level 1; the qrels judge no document" in done.out


def test_nothing_judged_at_the_top(ragkpi, tmp_path):
    above = "".join(f"q1 Q0 y{rank} {rank} {90 - rank} r\n" for rank in range(10))
    found = evaluated(ragkpi, tmp_path, above + RUN.split("q2")[0])
    assert b"no document in the top 10 of any query is judged" in found.err


def test_a_sound_run_gives_no_doubt(ragkpi, tmp_path):
    assert b"warning" not in evaluated(ragkpi, tmp_path, RUN).err
    assert evaluated(ragkpi, tmp_path, RUN, "--strict").status == 0


def test_other_passages_of_judged_documents_give_no_doubt(ragkpi, tmp_path):
    run = RUN.replace("x#1", "doc_1#9")
    assert b"warning" not in evaluated(ragkpi, tmp_path, run).err


def test_a_pool_that_lacks_the_run_may_be_the_run(ragkpi, tmp_path):
    (tmp_path / "small").write_text("q1 Q0 doc_2#1 1 1 r\nq2 Q0 y#1 1 1 r\n")
    swapped = evaluated(ragkpi, tmp_path, RUN, "--pool", "small")
    assert b"are RUN and --pool swapped?" in swapped.err
    (tmp_path / "large").write_text(RUN)
    assert b"swapped" not in evaluated(ragkpi, tmp_path, RUN, "--pool", "large").err
