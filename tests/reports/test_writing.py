import os
import stat

import pytest

from ragkpi.errors import UsageError
from ragkpi.reports.output_files import replacing, write


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "out.txt"
    write("q\udcff\n", str(path))
    assert path.read_bytes() == b"q\xff\n"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_mode_of_a_new_file_follows_the_umask_and_that_of_an_old_one_is_kept(tmp_path):
    path = tmp_path / "out.txt"
    before = os.umask(0o027)
    try:
        write("new", str(path))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write("again", str(path))
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("again", 0o604)


def write_half(path, failure):
    with replacing(path) as file:
        file.write(b"half")
        raise failure


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(UsageError if failure is OSError else failure):
        write_half(str(path), failure)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to("real.txt")
    write("new", str(link))
    assert link.is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_what_is_no_file_is_written_directly(tmp_path):
    write("gone", os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize("name", ["missing/out.txt", "."])
def test_what_cannot_be_written(tmp_path, name):
    with pytest.raises(UsageError, match=r"-o .*: cannot be written: .*; give another file"):
        write("text", str(tmp_path / name))
    assert os.listdir(tmp_path) == []


def test_a_partial_file_of_somebody_else_is_not_removed(tmp_path):
    """Process numbers come again, in containers above all."""
    other = tmp_path / f".out.txt.{os.getpid()}.partial"
    other.write_text("other")
    write("text", str(tmp_path / "out.txt"))
    assert (tmp_path / "out.txt").read_text() == "text"
    assert other.read_text() == "other"


def test_standard_output_keeps_bytes(capfdbinary):
    write("q\udcff 中\n")
    assert capfdbinary.readouterr().out == b"q\xff \xe4\xb8\xad\n"
