"""Ids that are made to collide are still told apart, counted and found, whatever the key."""

import ctypes
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.kernel.asking import column, documents, ints, numbers_of, read
from tests.kernel.test_memory import compiler_flags

MERSENNE = 2**61 - 1


def pairs(first, second, blocks):
    """All ids of so many words, each of which is either of two."""
    ids = [b""]
    for _ in range(blocks):
        ids = [id_ + word for id_ in ids for word in (first, second)]
    return ids


def with_bits(size, changed):
    """An id of zeros but for some bits."""
    id_ = bytearray(size)
    for bit in changed:
        id_[bit // 8] ^= 1 << bit % 8
    return bytes(id_)


BITS = range(16 * 8)
FAMILIES = {
    # Where words are multiplied, and mixed by a shift, these differences cancel under every seed.
    "top bits": pairs(b"aaaaaaaabbbbbbbb", b"aaaaaaa\xe1bbbbfbb\xe2", 11),
    "ascii": pairs(b"doc0doc0doc0doc0", b"doc0docpdoc0focp", 11),
    # Where two words are multiplied and the halves of the product folded.
    "complements": pairs(b"\0" * 8, b"\xff" * 8, 11),
    "grid": [b"%08x%08x" % (b, a + b * 4096) for a in range(64) for b in range(64)],
    "lengths of zeros": [b"\0" * length for length in range(3000)],
    "lengths of text": [(b"abcdefg" * 9)[:length] for length in range(64)],
    "one bit, two bits": [with_bits(16, {a, b}) for a in BITS for b in range(a + 1)],
    "one bit of any length": [
        with_bits(length, {bit}) for length in range(1, 41) for bit in range(8 * length)
    ],
    "zeros between": [b"abcdefg" + b"\0" * n + b"hijklmn"[:m] for n in range(30) for m in range(8)],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_bytes_decide(kernel, family):
    ids = FAMILIES[family]
    assert len(set(ids)) == len(ids)
    judged = {b"q": ids[::7], b"r": ids[:5]}
    parts = [ids[first:last] for first, last in pairwise([0, 1, len(ids) // 3, len(ids)])]
    sets = []
    for part in (*parts, ids[::2], ids):
        run = kernel.Run(documents(kernel, judged), count_documents=True)
        for query in (b"q", b"r"):  # each document in two blocks, for two queries
            for half in (part[::2], part[1::2]):
                starts, scores = ints([0, len(half)]), ints(range(len(half)))
                run.add(column([query]), starts, column(half), scores, scores)
        found = run.finish()
        wanted = [len(set(judged[query]) & set(part)) for query in (b"q", b"r")]
        assert len(numbers_of(found["hits"])) == 4 * sum(wanted)
        assert numbers_of(found["rankings"])[1::2] == [len(part)] * 2
        sets.append(found["documents"])
        assert kernel.count_ids((sets[-1],), column([])) == len(part)
    assert kernel.count_ids(tuple(sets), column([b"another", *ids])) == len(ids) + 1
    assert kernel.count_ids(tuple(sets[:3]), column([])) == len(ids)
    assert kernel.count_ids((), column(ids)) == len(ids)
    rows = numbers_of(kernel.first_rows(column(ids + ids), ints([3] * 2 * len(ids))))
    assert rows == [*range(len(ids))] * 2


def test_bytes_decide_in_lines(kernel):
    ids = FAMILIES["ascii"]
    text = b"".join(b"q Q0 %b 1 %d t\n" % (id_, -row) for row, id_ in enumerate(ids))
    found = read(kernel, {b"q": ids[100:103]}, text, count_documents=True)
    assert found["documents"] == len(ids)
    assert sorted(found["hits"].values()) == [101, 102, 103]


@pytest.fixture(scope="module", params=[[], ["-U__SIZEOF_INT128__"]], ids=["wide", "portable"])
def hashes(request, tmp_path_factory):
    """The hashes of ids under a key: (ids, multiplier, start)."""
    if sys.platform == "win32":
        pytest.skip("a Unix compiler is needed")
    made = tmp_path_factory.mktemp("hashes") / "hashes.so"
    command = [*compiler_flags(), *request.param, "-shared", Path(__file__).with_name("hashes.c")]
    try:
        subprocess.run([*command, "-o", made], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"no compiler: {problem}")
    library = ctypes.PyDLL(str(made))

    def hashes_of(ids, multiplier, start):
        text, first, last = column(ids)
        result = (ctypes.c_uint64 * len(ids))()
        numbers = ((ctypes.c_int64 * len(ids)).from_buffer(part) for part in (first, last))
        key = ctypes.c_uint64(multiplier), ctypes.c_uint64(start)
        library.hashes_of(text, *numbers, ctypes.c_size_t(len(ids)), *key, result)
        return list(result)

    hashes_of.library = library
    return hashes_of


def slow_hash(id_, multiplier, start):
    """The same with Python's numbers, none of which may be beyond 64 bits."""

    def multiply(a, b):
        assert a < 2**64
        return (a * b & MERSENNE) + (a * b >> 61)

    def number(octets):
        return int.from_bytes(octets, "little")

    words = [id_[place : place + 7] for place in range(0, len(id_), 7)] or [b""]
    hash_ = start
    while len(words) > 2:
        first, second, *words = words
        hash_ = multiply(hash_ + number(first), multiplier)
        hash_ += multiply(number(second + b"\1"), start)
    for word in words[:-1]:
        hash_ = multiply(hash_ + number(word), multiplier)
    hash_ = multiply(hash_ + number(words[-1] + b"\1"), multiplier)
    hash_ = (hash_ ^ hash_ >> 32) * 0x9E3779B97F4A7C15 % 2**64
    return hash_ ^ hash_ >> 29


KEYS = [(random.Random(n).getrandbits(60), random.Random(-n - 1).getrandbits(60)) for n in range(6)]


@pytest.mark.parametrize("key", [*KEYS, (2**60 - 1, 2**60 - 1), (1, 2**60 - 1)])
def test_hashes_by_slow_arithmetic(hashes, key):
    draw = random.Random(1)
    ids = [draw.randbytes(length) for length in range(100)] + FAMILIES["lengths of text"]
    ids += [b"\xff" * length for length in range(100)]
    assert hashes(ids, *key) == [slow_hash(id_, *key) for id_ in ids]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_hashes_collide(hashes, family):
    """Under any key: neither whole ones, nor more places of a table than chance allows."""
    ids = FAMILIES[family]
    size = 1 << len(ids).bit_length()
    empty = (1 - 1 / size) ** len(ids)  # the share of places that chance leaves
    for key in KEYS:
        found = hashes(ids, *key)
        assert len(set(found)) == len(ids)
        taken = len({hash_ >> 32 & size - 1 for hash_ in found})
        assert abs(taken - size * (1 - empty)) < 6 * (size * empty * (1 - empty)) ** 0.5 + 3


def test_the_key_is_python_s(hashes):
    """Which has another secret in each process, and in none that PYTHONHASHSEED fixes."""
    key = (ctypes.c_uint64 * 2)()
    assert hashes.library.key_of_process(key) == 0
    texts = ("ragkpi: multiplier", "ragkpi: start")
    assert list(key) == [hash(text) % 2**64 >> 4 for text in texts]
