"""The kernel and its twin, asked in Python's own types."""

from array import array
from itertools import accumulate, pairwise
from typing import NamedTuple

from ragkpi import plain_kernel

try:
    from ragkpi import _kernel
except ImportError:
    _kernel = None

KERNELS = {"compiled": _kernel, "plain": plain_kernel}


class Refused(NamedTuple):
    """What a kernel says of an input that cannot be read."""

    kind: str
    line: int
    first_line: int
    query: bytes
    text: bytes


def ints(values):
    return array("q", values)


def column(strings):
    """Ids side by side, and where each of them begins and ends."""
    ends = list(accumulate(map(len, strings), initial=0))
    return b"".join(strings), ints(ends[:-1]), ints(ends[1:])


def starts_of(groups):
    return ints(accumulate(map(len, groups), initial=0))


def documents(kernel, by_query):
    """Make `Documents` of {query: [id]}."""
    ids = column([id_ for ids in by_query.values() for id_ in ids])
    return kernel.Documents(list(by_query), starts_of(by_query.values()), ids)


def exactly(block):
    """Copy a block into memory of exactly its size, so that a sanitizer sees each byte too far."""
    return array("B", block)


def numbers_of(values, kind="q"):
    numbers = array(kind)
    numbers.frombytes(values)
    return numbers.tolist()


def blocks_of(text, cuts):
    return [text[first:last] for first, last in pairwise([0, *sorted(cuts), len(text)])]


def read(kernel, judged, text, cuts=(), *, excluded=None, held=None, **options):
    """Read a run; where its queries are scattered and `held` is None, once more.

    Returns what was found, or what was `Refused`.
    """
    run = kernel.Run(
        documents(kernel, judged),
        excluded=documents(kernel, excluded) if excluded is not None else None,
        held=bool(held),
        **options,
    )
    try:
        for block in blocks_of(text, cuts):
            run.feed(exactly(block))
        return found_in(kernel, run, judged)
    except kernel.RefusedError as problem:
        refused = Refused(*problem.args)
    if refused.kind == "scattered" and held is None:
        return read(kernel, judged, text, cuts, excluded=excluded, held=True, **options)
    return refused


def found_in(kernel, run, judged):
    """Finish a run; hits and their ties are by (query, document)."""
    found = run.finish()
    ids = [(query, id_) for query, documents in judged.items() for id_ in documents]
    rankings = list(batched(numbers_of(found["rankings"]), 2))
    hits = {ids[row]: ranks for row, *ranks in batched(numbers_of(found["hits"]), 4)}
    left = {
        "query": [query for query, _ in rankings],
        "num_ret": dict(zip(found["queries"], (size for _, size in rankings), strict=True)),
        "hits": {key: rank for key, (rank, _, _) in hits.items()},
        "ties": {key: (first, last) for key, (_, first, last) in hits.items()},
        "documents": kernel.count_ids((found["documents"],), column([])),
        "sample": list(zip(numbers_of(found["sample_query"]), found["sample"], strict=True)),
        "run_id": run.run_id(),
        "names": names_of(run),
    }
    assert 32 * len(hits) == len(found["hits"])
    return {name: found[name] for name in ("queries", "slopes", "left_out")} | left


def batched(numbers, width):
    return zip(*[iter(numbers)] * width, strict=True)


def names_of(run):
    """Take the names: query, and documents with scores, best first."""
    names = run.take_names()
    ends = numbers_of(names["ends"], "Q")
    text = bytes(names["text"])
    ids = [text[first:last] for first, last in pairwise([0, *ends])]
    rows = iter(list(zip(ids, numbers_of(names["score"], "d"), strict=True)))
    sizes = zip(names["queries"], numbers_of(names["size"]), strict=True)
    return [(query, [next(rows) for _ in range(size)]) for query, size in sizes]
