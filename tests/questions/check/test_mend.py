BAD = (
    b"2 Q0 b 1 1 me\n1 Q0 a 1 2.5 me\n1 Q0 b 2 2.5 me\n1 Q0 a 3 7 me\n1 Q0 c 4 nan me\n"
    b"1 Q0 d 4\n2 Q0 a 2 2 me\n1 Q0 e 9 1 you\n"
)


def fix(ragkpi, folder, run, *options):
    (folder / "run").write_bytes(run)
    return ragkpi("check", "--format", "table", "run", "--fix", "out", *options, folder=folder)


def test_mends_by_hand(ragkpi, tmp_path):
    outcome = fix(ragkpi, tmp_path, BAD, "--max-hits", "2")
    assert outcome.status == 3  # about the run as it was
    assert (tmp_path / "out").read_bytes() == (
        b"2 Q0 a 1 2.0 you\n2 Q0 b 2 1.0 you\n1 Q0 a 1 7.0 you\n1 Q0 b 2 2.5 you\n"
    )
    lines = outcome.out.decode().splitlines()
    (fixed,) = [line for line in lines if line.startswith("fixed: ")]
    assert fixed.removeprefix("fixed: ").split("; ") == [
        "dropped 2 lines that cannot be read",
        "dropped 1 repeated document, keeping the highest score of each",
        "sorted the lines by query, score and document",
        "cut 1 document below rank 2",
        "gave all lines the last run id",
        "numbered the ranks from 1 by the scores",
    ]


def test_what_is_dropped_behind_the_last_query_counts(ragkpi, tmp_path):
    """Query 2 has no readable line, so that nothing of the run comes after the one of query 1."""
    outcome = fix(ragkpi, tmp_path, b"1 Q0 a 1 2.5 me\n2 Q0 a 1 x me\n")
    assert b"fixed: dropped 1 line " in outcome.out
    assert (tmp_path / "out").read_bytes() == b"1 Q0 a 1 2.5 me\n"


def test_the_mended_run_is_clean(ragkpi, tmp_path):
    fix(ragkpi, tmp_path, BAD)
    outcome = ragkpi("check", "out", "--strict", folder=tmp_path)
    assert outcome.status == 0, outcome.out


def test_a_clean_run_keeps_its_ranking(ragkpi, tmp_path):
    run = b"1 Q0 b 1 2.5 me\n1 Q0 a 2 2.5 me\n2 Q0 c 1 0.125 me\n"
    outcome = fix(ragkpi, tmp_path, run)
    assert (outcome.status, (tmp_path / "out").read_bytes()) == (0, run)
    assert b"fixed" not in outcome.out


def test_nothing_is_written_of_nothing(ragkpi, tmp_path):
    outcome = fix(ragkpi, tmp_path, b"1 Q0 d 4\n")
    assert outcome.status == 1
    assert outcome.err.endswith(b"no line of the run is readable, so no file is written\n")
    assert not (tmp_path / "out").exists()


def test_does_not_replace_the_run_itself(ragkpi, tmp_path):
    (tmp_path / "run").write_bytes(BAD)
    outcome = ragkpi("check", "run", "--fix", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (1, b"")
    assert (tmp_path / "run").read_bytes() == BAD
    ragkpi("check", "run", "--fix", "out", folder=tmp_path)
    assert (tmp_path / "out").read_bytes().startswith(b"2 Q0 a 1 2.0 you\n")


def test_scattered_rows_of_other_formats_are_sorted_too(ragkpi, tmp_path):
    rows = b"1,a,3\n2,a,1\n1,b,2\n"
    outcome = fix(ragkpi, tmp_path, b"query_id,doc_id,score\n" + rows)
    assert b"fixed: sorted " in outcome.out
    written = (tmp_path / "out").read_bytes()
    assert written == b"1 Q0 a 1 3.0 run\n1 Q0 b 2 2.0 run\n2 Q0 a 1 1.0 run\n"
