"""The compiled reading kernel; `ragkpi.plain_kernel` has the same functions, with documentation."""

from typing import Any, TypeAlias, TypedDict

import numpy.typing as npt

Buffer: TypeAlias = bytes | bytearray | memoryview | npt.NDArray[Any]
Column: TypeAlias = tuple[Buffer, Buffer, Buffer]

class Names(TypedDict):
    queries: list[bytes]
    size: bytearray
    text: bytearray
    ends: bytearray
    score: bytearray

class Results(TypedDict):
    queries: list[bytes]
    rankings: bytearray
    hits: bytearray
    documents: Ids
    sample_query: bytearray
    sample: list[bytes]
    slopes: tuple[int, int]
    flat: tuple[int, int]
    left_out: tuple[int, int, int, int]

class RefusedError(ValueError): ...

class Documents:
    def __init__(self, queries: list[bytes], starts: Buffer, ids: Column) -> None: ...

class Ids:
    """The distinct documents of a finished run."""

class Run:
    def __init__(
        self,
        judged: Documents,
        *,
        excluded: Documents | None = None,
        fold: int = -1,
        drop_identical: bool = False,
        keep_best: bool = False,
        ascending: bool = False,
        distance: bool = False,
        depth: int = 0,
        name_all: bool = False,
        held: bool = False,
        count_documents: bool = False,
        most_held: int = 1 << 31,
        longest_line: int = 1 << 26,
    ) -> None: ...
    def feed(self, block: Buffer, /) -> None: ...
    def add(
        self, query: Column, starts: Buffer, document: Column, score: Buffer, line: Buffer, /
    ) -> None: ...
    def mapping(self, run: object, /) -> bool: ...
    def take_names(self) -> Names: ...
    def run_id(self) -> bytes: ...
    def finish(self) -> Results: ...

def columns(
    text: Buffer,
    first_line: int,
    width: int,
    separator: int,
    extra: bool,
    comments: bool,
    tolerant: bool,
    /,
) -> tuple[bytearray, bytearray, bytearray, bytearray, bytearray]: ...
def numbers(texts: Column, /) -> bytearray: ...
def first_rows(ids: Column, group: Buffer, /) -> bytearray: ...
def count_ids(sets: tuple[Ids, ...], ids: Column, /) -> int: ...
