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
    text, start, end = column([id_ for ids in by_query.values() for id_ in ids])
    return kernel.Documents(list(by_query), starts_of(by_query.values()), text, start, end)


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
    """Finish a run; hits are (query, document): (rank, first and last rank of the ties)."""
    found = run.finish()
    ids = [(query, id_) for query, documents in judged.items() for id_ in documents]
    rank = numbers_of(found["rank"])
    tied = zip(numbers_of(found["tied_first"]), numbers_of(found["tied_last"]), strict=True)
    hits = zip(rank, *zip(*tied, strict=True), strict=True) if found["tied_first"] else rank
    judgement = numbers_of(found["judgement"])
    left = {
        "query": numbers_of(found["query"]),
        "num_ret": dict(zip(found["queries"], numbers_of(found["num_ret"]), strict=True)),
        "hits": {ids[row]: hit for row, hit in zip(judgement, hits, strict=True)},
        "documents": kernel.count_ids((found["documents"],), *column([])),
        "sample": list(zip(numbers_of(found["sample_query"]), found["sample"], strict=True)),
        "run_id": run.run_id(),
        "names": names_of(run),
    }
    assert len(left["hits"]) == len(rank)
    return {name: found[name] for name in ("queries", "slopes", "left_out")} | left


def names_of(run):
    """Take the names: query, and documents with scores, best first."""
    names = run.take_names()
    ends = numbers_of(names["ends"], "Q")
    text = bytes(names["text"])
    ids = [text[first:last] for first, last in pairwise([0, *ends])]
    rows = iter(list(zip(ids, numbers_of(names["score"], "d"), strict=True)))
    sizes = zip(numbers_of(names["query"]), numbers_of(names["size"]), strict=True)
    return [(query, [next(rows) for _ in range(size)]) for query, size in sizes]
