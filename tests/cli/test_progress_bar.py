"""A bar on a terminal while something takes long; never in pipes, never among results."""

import os
import pty
import subprocess
import sys

import pytest

from ragkpi import interface as progress
from ragkpi.cli.terminal import Bar, tell
from tests.cli.commandline import BM25, FIXTURES

CLEAR = b"\r\x1b[K"
RUN = (FIXTURES / BM25).read_bytes()


ARGUMENTS = ("-m", "ragkpi", "eval", "-m", "num_ret", "qrels.txt")  # without a note


def start(stdout, stderr):
    """Begin to evaluate a run whose end comes late."""
    return subprocess.Popen(
        [sys.executable, *ARGUMENTS, "-"],
        cwd=FIXTURES,
        env={**os.environ, "TERM": "xterm", "PYTHONPATH": str(FIXTURES.parents[1])},
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
    )


@pytest.fixture
def terminal():
    """What the process writes to, and what the person sees."""
    seen, screen = pty.openpty()
    yield seen, screen
    os.close(seen)


def read_until(seen, wanted):
    text = b""
    while wanted(text) is False:
        text += os.read(seen, 4096)
    return text


def rest_of(seen):
    text = b""
    try:
        while octets := os.read(seen, 4096):
            text += octets
    except OSError:  # nobody holds the other end
        pass
    return text


def finish(process, seen, screen):
    process.stdin.write(RUN)
    process.stdin.close()
    os.close(screen)
    text = rest_of(seen)
    assert process.wait() == 0
    return text


def expected():
    done = subprocess.run(
        [sys.executable, *ARGUMENTS, BM25],
        cwd=FIXTURES,
        capture_output=True,
        check=True,
    )
    return done.stdout


def test_it_moves_while_nothing_comes_and_the_result_is_whole(terminal):
    process = start(subprocess.PIPE, terminal[1])
    frames = read_until(terminal[0], lambda text: text.count(b"reading runs") > 3).split(CLEAR)
    assert len(set(frames[-4:])) > 1  # it turns
    assert all("ragkpi eval 0:" in frame.decode() for frame in frames[1:-1])
    text = finish(process, *terminal)
    assert text.endswith(CLEAR)
    assert process.stdout.read() == expected()


def test_on_the_same_screen_the_result_stands_alone(terminal):
    process = start(terminal[1], terminal[1])
    read_until(terminal[0], lambda text: text.count(CLEAR) > 1)
    text = finish(process, *terminal)
    frames, _, result = text.rpartition(CLEAR)
    assert result.replace(b"\r\n", b"\n") == expected()
    assert b"num_ret" not in frames


def test_a_line_on_standard_error_is_not_drawn_over(terminal):
    process = start(subprocess.PIPE, terminal[1])
    read_until(terminal[0], lambda text: text.count(CLEAR) > 1)
    process.stdin.write(b"nosuch Q0 d 1 1 r\n")
    process.stdin.close()
    os.close(terminal[1])
    text = rest_of(terminal[0]).rpartition(CLEAR)[2]
    assert text.startswith(b"ragkpi: ")
    assert text.count(b"ragkpi: ") == text.count(b"\n")
    assert process.wait() != 0


def test_no_bar_in_a_pipe():
    process = start(subprocess.PIPE, subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1.5)
    out, err = process.communicate(RUN)
    assert (out, err) == (expected(), b"")


def test_the_share_is_that_of_the_outermost_work():
    assert progress.present() == []
    with progress.doing("runs", 4) as runs:
        assert progress.share(progress.present()) == 0
        runs(1)
        progress.reading("a.run", 50, 100)
        assert [work.label for work in progress.present()] == ["runs", "reading a.run"]
        assert progress.share(progress.present()) == 1 / 4
        progress.reading("a.run", 100, 100)
        assert progress.share(progress.present()) == 1 / 4
        for _ in progress.with_progress(range(2), "resamples", 2):
            assert progress.share(progress.present()) == 1 / 4
        with progress.doing("nobody knows how long"):
            assert progress.share(progress.present()) == 1 / 4
    assert progress.present() == []


def test_no_piece_of_the_bar_stays_beside_what_is_written(monkeypatch, capsys):
    """A tick may come between taking it off the screen and writing there."""
    shown = []
    monkeypatch.setattr("os.write", lambda _, text: shown.append(text))
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((80, 24)))
    monkeypatch.setattr("ragkpi.cli.terminal.in_background", lambda: False)
    bar = Bar("eval")
    bar.tick()
    assert b"ragkpi eval" in shown[-1]
    monkeypatch.setattr("ragkpi.cli.terminal._BAR", bar)
    tell("a note")
    assert capsys.readouterr().err == f"{CLEAR.decode()}ragkpi: a note\n"
    bar.tick()
    assert b"ragkpi eval" in shown[-1]
    bar.end()
    bar.tick()
    assert shown[-1] == CLEAR
