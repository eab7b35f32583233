"""The kernel guards itself: against other threads, and against objects that are not what they say.

Under the sanitizers, each of these shows a read or a write out of place, if there is one.
"""

import gc
import io
import threading
from array import array
from unittest import mock

import pytest

from ragkpi import plain_kernel
from tests.kernel.asking import column, documents, found_in, ints, names_of, numbers_of

QUERIES = 400
LINES = [b"%d Q0 d%d 1 %d t%d\n" % (q, d, -d, q) for q in range(QUERIES) for d in range(50)]
TEXT = b"".join(LINES)


def retried(call, *arguments):
    """Call as soon as the run is free."""
    while True:
        try:
            return call(*arguments)
        except ValueError as problem:
            if "being read" not in str(problem):
                raise


def beside(work, *others):
    """Run others again and again in threads of their own while work is done."""
    stop, failures = threading.Event(), []

    def again(other):
        try:
            while not stop.is_set():
                other()
        except Exception as problem:
            failures.append(problem)

    threads = [threading.Thread(target=again, args=(other,)) for other in others]
    for thread in threads:
        thread.start()
    try:
        work()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures


@pytest.mark.parametrize("size", [997, 1 << 20])
def test_another_thread_takes_names(kernel, size):
    """Each name is taken once, by whom so ever."""
    run = kernel.Run(documents(kernel, {}), depth=2, name_all=True)
    taken, ids = [], set()

    def take():
        taken.extend(retried(names_of_once, run))

    def look():
        ids.add(retried(run.run_id))

    def feed():
        for place in range(0, len(TEXT), size):
            retried(run.feed, TEXT[place : place + size])
        retried(run.finish)

    beside(feed, take, look)
    taken += names_of(run)
    assert sorted(taken) == [
        (query, [(b"d0", 0.0), (b"d1", -1.0)])
        for query in sorted(b"%d" % q for q in range(QUERIES))
    ]
    assert ids <= {b"", *(b"t%d" % q for q in range(QUERIES))}


def names_of_once(run):
    return names_of(run)


def test_two_threads_feed_one_run(kernel):
    """One call after the other, none of them half."""
    run = kernel.Run(documents(kernel, {}), count_documents=True)
    pieces = [b"".join(LINES[first : first + 1000]) for first in range(0, len(LINES), 1000)]
    lock, left = threading.Lock(), iter(pieces)

    def feed():
        with lock:
            piece = next(left, b"")
        if piece:  # or one thread keeps the run busy with nothing
            retried(run.feed, piece)
        return piece

    def feed_all():
        while feed():
            pass

    beside(feed_all, feed)
    found = found_in(kernel, run, {})
    assert sorted(found["num_ret"].items()) == sorted((b"%d" % q, 50) for q in range(QUERIES))
    assert found["documents"] == 50


def test_a_block_that_changes_while_it_is_read(kernel):
    """Whatever is read then, it is read within its bounds."""
    block = bytearray(TEXT[:300_000])
    other = b"x" * len(block)
    stream = io.BytesIO(other)

    def change():
        stream.seek(0)
        stream.readinto(block)
        block[:] = TEXT[: len(block)]

    def feed():
        for _ in range(10):
            run = kernel.Run(documents(kernel, {b"1": [b"d1"]}), depth=3)
            try:
                run.feed(block)
                run.finish()
            except kernel.RefusedError:
                continue

    beside(feed, change)


def test_columns_that_change_while_they_are_read(kernel):
    ids = [b"d%d" % n for n in range(3000)]
    text, start, end = column(ids)
    good, far = array("q", start), array("q", [2**40]) * len(start)
    score, line, starts = array("d", range(3000)), ints(range(3000)), ints([0, 3000])

    def change():
        memoryview(start)[:] = far
        memoryview(starts)[:] = ints([0, 2**40])
        memoryview(start)[:] = good
        memoryview(starts)[:] = ints([0, 3000])

    def add():
        for _ in range(50):
            run = kernel.Run(documents(kernel, {}))
            try:
                run.add(column([b"q"]), starts, (text, start, end), score, line)
                run.finish()
            except (kernel.RefusedError, ValueError):
                continue

    beside(add, change)


class SaysSo:
    """An object that says that it is another."""

    def __init__(self, type_):
        self.type = type_

    @property
    def __class__(self):
        return self.type


@pytest.mark.parametrize(
    "disguise",
    [
        lambda kernel, judged: SaysSo(kernel.Documents),
        lambda kernel, judged: mock.Mock(spec=judged),
        lambda kernel, judged: kernel.Run(judged),
        lambda kernel, judged: kernel.Documents,
        lambda kernel, judged: kernel.Run(judged).finish()["documents"],
    ],
)
def test_objects_that_say_that_they_are_documents(kernel, disguise):
    judged = documents(kernel, {})
    other = disguise(kernel, judged)
    with pytest.raises(TypeError, match="Documents"):
        kernel.Run(other)
    with pytest.raises(TypeError, match="Documents"):
        kernel.Run(judged, excluded=other)


def test_objects_that_say_that_they_are_ids(kernel):
    judged = documents(kernel, {})
    for other in (SaysSo(kernel.Ids), judged, kernel.Ids, {b"a"}, None):
        with pytest.raises(TypeError):
            kernel.count_ids((kernel.Run(judged).finish()["documents"], other), column([b"a"]))


def test_a_name_of_the_module_that_is_replaced(kernel):
    """The compiled kernel knows a type by itself, not by where it stands."""
    if kernel is plain_kernel:
        pytest.skip("names of Python can be replaced")
    judged = documents(kernel, {})
    with mock.patch.object(kernel, "Documents", SaysSo):
        kernel.Run(judged)
        with pytest.raises(TypeError):
            kernel.Run(SaysSo(SaysSo))


def test_types_cannot_be_changed_or_derived(kernel):
    if kernel is plain_kernel:
        pytest.skip("classes of Python can")
    for type_ in (kernel.Documents, kernel.Run, kernel.Ids):
        with pytest.raises(TypeError):
            type_.feed = None
        with pytest.raises(TypeError):
            type("Derived", (type_,), {})
    with pytest.raises(TypeError):
        kernel.Ids()


class Clears:
    """An object whose destructor empties a list and calls a run."""

    def __init__(self, work):
        self.work, self.own = work, self

    def __del__(self):
        self.work()


def test_code_that_runs_within_a_call(kernel):
    """Objects that are made for a result may run destructors, which call the run again."""
    run = kernel.Run(documents(kernel, {}), depth=1, name_all=True)
    outcomes = []

    def call():
        for method in (run.take_names, run.run_id, run.finish):
            try:
                outcomes.append(method())
            except ValueError as problem:
                outcomes.append(problem)

    run.feed(TEXT)
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(20):
            Clears(call)
            try:
                run.take_names()
                run.finish()
            except ValueError:
                continue
    finally:
        gc.set_threshold(*threshold)
    assert outcomes


def test_numbers_of_other_types_run_no_code(kernel):
    class Score(float):
        def __float__(self):
            raise AssertionError

        __ne__ = __float__

    run = kernel.Run(documents(kernel, {}), depth=1, name_all=True)
    assert run.mapping({"q": {"a": Score(1), "b": Score(2)}})
    run.finish()
    assert names_of(run) == [(b"q", [(b"b", 2.0)])]


@pytest.mark.parametrize("options", [{}, {"distance": True}, {"held": True}, {"keep_best": True}])
def test_a_score_that_is_no_number_is_refused(kernel, options):
    run = kernel.Run(documents(kernel, {}), **options)
    score = array("d", [2.0, float("nan"), 1.0])
    with pytest.raises(kernel.RefusedError) as problem:
        run.add(
            *(column([b"q", b"r"]), ints([0, 1, 3]), column([b"a", b"b", b"c"])),
            *(score, ints([7, 8, 9])),
        )
    assert problem.value.args == ("score", 8, 0, b"r", b"nan")
    with pytest.raises(ValueError, match="refused"):
        run.finish()


def test_many_runs_read_side_by_side(kernel):
    """Documents are shared by threads; each run is its own."""
    judged = {b"%d" % q: [b"d%d" % d for d in range(0, 60, 7)] for q in range(QUERIES)}
    shared, outcomes = documents(kernel, judged), []

    def judge():
        run = kernel.Run(shared, count_documents=True)
        for place in range(0, len(TEXT), 50_000):
            run.feed(TEXT[place : place + 50_000])
        outcomes.append(run.finish())

    threads = [threading.Thread(target=judge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for found in outcomes:
        assert numbers_of(found["hits"])[1::4] == list(range(1, 51, 7)) * QUERIES
        assert len(numbers_of(found["rankings"])) == 2 * QUERIES
    sets = tuple(found["documents"] for found in outcomes)
    assert kernel.count_ids(sets, shared_column(judged)) == 51


def shared_column(judged):
    return column([id_ for ids in judged.values() for id_ in ids])
