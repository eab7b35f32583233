"""What was read is what is hashed; nothing takes the place of it."""

import gzip
import hashlib
import io
import os
from contextlib import nullcontext

import pytest

from ragkpi.errors import InputError, UsageError
from ragkpi.files.inputs import inputs, noted_inputs
from ragkpi.files.opening import Source
from ragkpi.reports.output_files import replacing

TEXT = b"1 Q0 d 1 1 me\n" * 300_000


@pytest.fixture(autouse=True)
def _of_a_command(request):
    with nullcontext() if "library" in request.node.name else noted_inputs():
        yield


def read(path, length=None):
    with Source(path) as source:
        buffer = memoryview(bytearray(len(TEXT) if length is None else length))
        return buffer[: source.fill(buffer)].tobytes()


def sha256(octets):
    return hashlib.sha256(octets).hexdigest()


def test_of_a_file_the_stored_bytes_are_hashed(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(gzip.compress(TEXT))
    assert read(str(path)) == TEXT
    assert inputs().sha256(str(path)) == sha256(path.read_bytes())


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("length", [None, 100])
def test_a_pipe_is_hashed_as_it_is_read_to_its_end(pack, length):
    reading, writing = os.pipe()
    stored = pack(TEXT[:50_000])  # fits the pipe
    os.write(writing, stored)
    os.close(writing)
    inputs().hashed = True
    try:
        read(f"/dev/fd/{reading}", length)
        assert inputs().sha256(f"/dev/fd/{reading}") == sha256(stored)
        with pytest.raises(UsageError, match="is a pipe, which can be read once"):
            read(f"/dev/fd/{reading}")
    finally:
        os.close(reading)


def test_standard_input_is_read_once_and_hashed(tmp_path, monkeypatch):
    (tmp_path / "run").write_bytes(TEXT)
    inputs().hashed = True
    with open(tmp_path / "run", "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert read("-") == TEXT
        assert inputs().sha256("-") == sha256(TEXT)
        with pytest.raises(UsageError, match="standard input"):
            read("-")


def test_the_hash_of_another_file_is_refused(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(TEXT)
    read(str(path))
    (tmp_path / "other").write_bytes(TEXT[::-1])
    os.replace(tmp_path / "other", path)
    with pytest.raises(InputError, match="changed after it was read"):
        inputs().sha256(str(path))
    with pytest.raises(InputError, match="run: changed"):
        read(str(path))


@pytest.mark.parametrize("name", ["run", "./run", "link", "hard"])
def test_no_output_takes_the_place_of_an_input(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").write_bytes(TEXT)
    (tmp_path / "link").symlink_to("run")
    (tmp_path / "hard").hardlink_to("run")
    read("run")
    with pytest.raises(UsageError, match="would replace run, which is read"), replacing(name):
        pass
    assert (tmp_path / "run").read_bytes() == TEXT


def test_a_library_reads_a_file_again_after_it_changed(tmp_path):
    import ragkpi

    (tmp_path / "qrels").write_bytes(b"1 0 d1 1\n")
    for score in (b"1", b"3"):
        (tmp_path / "run").write_bytes(b"1 Q0 d1 1 %b me\n1 Q0 d2 2 2 me\n" % score)
        result = ragkpi.evaluate(tmp_path / "qrels", tmp_path / "run", ["recip_rank"])
        assert result.mean == {"recip_rank": 0.5 if score == b"1" else 1.0}
