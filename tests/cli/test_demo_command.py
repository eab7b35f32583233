import shlex
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_every_command_that_it_prints_works(ragkpi, tmp_path):
    outcome = ragkpi("demo", folder=tmp_path)
    assert outcome.status == 0
    head, _, *lines = outcome.out.decode().splitlines()
    assert head.endswith(" in fixtures. To try:")
    assert len(lines) == 5
    for line in lines:
        done = ragkpi(*shlex.split(line)[1:], folder=tmp_path)
        assert (done.status, bool(done.out)) == (0, True), line


def test_the_files_are_the_fixtures_and_stay(ragkpi, tmp_path):
    (tmp_path / "my own").mkdir()
    (tmp_path / "my own" / "notes").write_text("mine")
    first = ragkpi("demo", "my own", folder=tmp_path)
    assert " 'my own'/qrels.txt " in first.out.decode()
    for name in ("qrels.txt", "queries.tsv", "runs/bm25.run", "examples/retrieved.jsonl"):
        assert (tmp_path / "my own" / name).read_bytes() == (FIXTURES / name).read_bytes()
    before = (tmp_path / "my own" / "qrels.txt").stat()
    (tmp_path / "my own" / "dense.run").unlink()
    assert ragkpi("demo", "my own", folder=tmp_path).out == first.out
    assert (tmp_path / "my own" / "qrels.txt").stat() == before
    assert (tmp_path / "my own" / "dense.run").exists()
    assert (tmp_path / "my own" / "notes").read_text() == "mine"


def test_nothing_is_overwritten(ragkpi, tmp_path):
    """Nor is anything written beside what must stay, or where a file is in the way."""
    (tmp_path / "qrels.txt").write_text("mine")
    outcome = ragkpi("demo", ".", folder=tmp_path)
    assert (outcome.status, outcome.out) == (1, b"")
    expected = b"ragkpi: error: qrels.txt exists with other contents; choose another folder\n"
    assert outcome.err == expected
    assert [path.name for path in tmp_path.iterdir()] == ["qrels.txt"]
    outcome = ragkpi("demo", "qrels.txt", folder=tmp_path)
    assert (outcome.status, outcome.err.count(b"\n")) == (1, 1)
    assert (tmp_path / "qrels.txt").read_text() == "mine"
