"""Ids that differ in their spelling alone: case, white space, leading zeros, a passage's number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

OF_QUERIES = "by case, white space or leading zeros alone"
OF_DOCUMENTS = "by case, white space, leading zeros or what follows a # alone"


def plain(id_: bytes) -> bytes:
    """Return an id without capitals, white space and leading zeros."""
    return b"".join(id_.lower().split()).lstrip(b"0")


def head(id_: bytes) -> bytes:
    """Return an id up to its first ``#``, unless that is its first byte."""
    return id_.split(b"#", 1)[0] or id_


def queries_meant(judged: Iterable[bytes], unknown: Iterable[bytes]) -> dict[bytes, bytes]:
    """Map unjudged queries to the judged queries that they are spelt like."""
    unknown = list(unknown)
    spelt = {plain(query): query for query in judged} if unknown else {}
    return {query: spelt[plain(query)] for query in unknown if plain(query) in spelt}


class Spellings:
    """Finds the judged document that an unjudged document of the same query is spelt like.

    Parameters
    ----------
    rows
        The judged documents of the query, each with a number.
    """

    def __init__(self, rows: Mapping[bytes, int]) -> None:
        self._rows = rows
        self._plain = {plain(id_): row for id_, row in rows.items()}
        self._heads = {head(id_): row for id_, row in rows.items()}

    def any_meant(self, documents: Sequence[bytes]) -> bool:
        """Say, fast, whether `meant` may find any of many documents."""
        text = b"\n".join(documents)
        if len(b"".join(text.split())) + len(documents) - 1 != len(text):  # white space in ids
            return True
        lowered = {id_.lstrip(b"0") for id_ in text.lower().split(b"\n")}
        heads = {head(id_) for id_ in documents} if b"#" in text else set()
        return not (
            self._plain.keys().isdisjoint(lowered)
            and self._heads.keys().isdisjoint(documents)
            and self._rows.keys().isdisjoint(heads)
        )

    def meant(self, document: bytes) -> int:
        """Return the number of the judged document; -1 for none, or if `document` is judged."""
        if document in self._rows:
            return -1
        for meant in (
            self._plain.get(plain(document)),
            self._rows.get(head(document)),
            self._heads.get(document),
        ):
            if meant is not None:
                return meant
        return -1
