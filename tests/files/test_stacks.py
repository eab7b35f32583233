"""What stacks write is recognised, and means what the TREC file beside it says."""

import gzip
import json
import os
import threading
from pathlib import Path

import pytest

from ragkpi.files.formats import read_any_qrels, reader_of
from ragkpi.files.opening import Source

STACKS = Path(__file__).parents[2] / "../shared/data/stacks"
if not STACKS.exists():
    STACKS = Path("/work/shared/data/stacks")
pytestmark = pytest.mark.skipif(not STACKS.exists(), reason="needs ../shared/data/stacks")


def samples(kind):
    paths = sorted((STACKS / kind).glob("*")) if STACKS.exists() else []
    return [path for path in paths if path.suffix != ".trec"]


def run_rows(path):
    rows = []
    with Source(str(path)) as source:
        for block in reader_of("run", source).stream_run(source):
            for group, document, score in zip(
                block.group(), block.document, block.score.tolist(), strict=True
            ):
                rows.append((block.query[group], document, score))
    return rows


def qrels_rows(path):
    return sorted(read_any_qrels(str(path)).judgements())


def indented(path):
    """The same values, as ``jq .`` prints them: one after the other, over many lines."""
    text = path.read_text()
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
    return "\n".join(json.dumps(value, indent=2) for value in values)


ROWS = {"runs": run_rows, "qrels": qrels_rows}
SAMPLES = [(kind, path) for kind in ROWS for path in samples(kind)]
IDS = [f"{kind}-{path.name}" for kind, path in SAMPLES]


@pytest.mark.parametrize(("kind", "path"), SAMPLES, ids=IDS)
def test_samples_mean_their_twins(kind, path):
    assert ROWS[kind](path) == ROWS[kind](path.with_suffix(".trec"))


@pytest.mark.parametrize(("kind", "path"), SAMPLES, ids=IDS)
def test_indented_compact_and_compressed(kind, path, tmp_path):
    expected = ROWS[kind](path.with_suffix(".trec"))
    (tmp_path / "file.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert ROWS[kind](tmp_path / "file.gz") == expected
    if path.suffix not in (".json", ".jsonl"):
        return
    (tmp_path / "indented").write_text(indented(path))
    assert ROWS[kind](tmp_path / "indented") == expected
    if path.suffix == ".json":
        (tmp_path / "compact").write_text(json.dumps(json.loads(path.read_text())))
        assert ROWS[kind](tmp_path / "compact") == expected
    else:
        records = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        (tmp_path / "array").write_text(json.dumps(records))
        assert ROWS[kind](tmp_path / "array") == expected


@pytest.mark.parametrize(("kind", "path"), SAMPLES, ids=IDS)
def test_through_a_pipe(kind, path, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    assert ROWS[kind](pipe) == ROWS[kind](path.with_suffix(".trec"))
    writer.join()


@pytest.mark.parametrize(("kind", "path"), SAMPLES, ids=IDS)
def test_evaluated_as_the_twin(kind, path, ragkpi, tmp_path):
    twin = path.with_suffix(".trec")
    if kind == "runs":
        query, document, _ = run_rows(twin)[0]
        (tmp_path / "other").write_bytes(b"%b 0 %b 1\n" % (query, document))
        outcomes = [
            ragkpi("eval", "-q", "-m", "official", tmp_path / "other", run) for run in (path, twin)
        ]
    else:
        rows = enumerate(qrels_rows(twin))
        run = (b"%b Q0 %b 1 %d t\n" % (query, document, -n) for n, (query, document, _) in rows)
        (tmp_path / "other").write_bytes(b"".join(run))
        outcomes = [ragkpi("eval", "-q", qrels, tmp_path / "other") for qrels in (path, twin)]
    ours, theirs = (
        [line for line in outcome.out.splitlines() if not line.startswith(b"runid")]
        for outcome in outcomes
    )
    assert ours == theirs
    assert len(ours) > 20
