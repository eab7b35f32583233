"""Records of a file, and the scores, ranks and levels of their documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ragkpi.errors import InputError
from ragkpi.formats import column_names as fields
from ragkpi.formats.json_text import DECODER, no_json, octets_of
from ragkpi.formats.paths import Keys, Path
from ragkpi.formats.score_order import descending, warn_of_order
from ragkpi.formats.shape import Shape
from ragkpi.interface import option
from ragkpi.wording import shown


class Record(NamedTuple):
    """A record of a file.

    `line` is its first line, and `lines` are those of its keys where they differ. `key` is its
    own key in the object around it, `number` counts from 1. If `text` is not empty, `value` comes
    from the `QUICK` decoder.
    """

    line: int
    number: int
    value: Any
    key: str | None = None
    lines: Sequence[int] = ()
    text: str = ""

    def exactly(self, file: str) -> Record:
        """Return the same record, decoded with all digits and repeated keys."""
        if not self.text:
            return self
        try:
            return self._replace(value=DECODER.decode(self.text), text="")
        except RecursionError as problem:
            raise no_json(file, self.line, problem, "expected ids and numbers") from None


class NumberTexts(NamedTuple):
    """The texts of the scores or levels of some documents, as in `Listed`.

    `ranks` are the texts of ranks beside scores; with `by_rank`, the scores are negative ranks.
    """

    values: list[bytes]
    ranks: list[bytes] = []  # noqa: RUF012 - never changed
    by_rank: bool = False


class NumberReader:
    """Reads the scores, ranks and levels of a record's documents."""

    def __init__(self, shape: Shape, file: str) -> None:
        self.shape = shape
        self._file = file
        # A level may be true or false, which is no number.
        self.value = Path(shape.score or shape.level)
        self.rank, self._scores = Path(shape.rank), Path(shape.scores)
        self._warned = False
        # The keys of the first record's score and rank, in files with a document a record.
        self._first_keys: dict[str, Keys | None] = {}

    def of(self, record: Record, items: list[tuple[Any, Any]]) -> NumberTexts:
        """Return the texts of the scores or levels of documents, and of their ranks."""
        if self.shape.kind == "run":
            return self._scores_of(record, items)
        levels = [
            self._level(record, number, key, item) for number, (key, item) in enumerate(items)
        ]
        return NumberTexts(levels)

    def _level(self, record: Record, number: int, key: Any, item: Any) -> bytes:
        line = record.lines[number] if number < len(record.lines) else record.line
        if not self.shape.level:
            return b"1"
        value = self.value.any_value(item, key)
        if value is None and self.shape.level != "@value":
            if not isinstance(item, dict) and "level" not in self.shape.required:
                return b"1"  # an id in a list of relevant ones
            raise lacking(self._file, self.shape, record._replace(value=item), "level")
        if isinstance(value, bool):
            return b"1" if value else b"0"
        return octets_of(value, self._file, line, "number")

    def _scores_of(self, record: Record, items: list[tuple[Any, Any]]) -> NumberTexts:
        file, line = self._file, record.line
        beside = self._scores.listed(record.value) if self._scores else None
        if beside is None and "scores" in self.shape.required:
            raise lacking(file, self.shape, record, "scores")
        if beside is not None:
            if len(beside[1]) != len(items):
                found = f"{len(beside[1])} scores for {len(items)} documents"
                raise InputError(file, line, found, "expected a score for each")
            scores = self._refuse_some(record, [value for _, value in beside[1]], "score")
        elif self.shape.score == "@value":
            lines = record.lines if len(record.lines) == len(items) else [line] * len(items)
            numbers = zip(items, lines, strict=True)
            return NumberTexts([octets_of(item, file, at, "number") for (_, item), at in numbers])
        else:
            scores = self._all_or_none(record, self.value, items, "score")
        ranks = self._all_or_none(record, self.rank, items, "rank")
        for part, values in (("score", scores), ("rank", ranks)):
            if part in self.shape.required and items and not values:
                raise lacking(file, self.shape, record._replace(value=items[0][1]), part)
        rank_texts = [octets_of(rank, file, line, "rank") for rank in ranks]
        if scores:
            return NumberTexts(
                [octets_of(score, file, line, "score") for score in scores], rank_texts
            )
        if ranks:
            return NumberTexts([descending(file, line, rank) for rank in rank_texts], by_rank=True)
        if not self.shape.list:  # a document a record: the order of the file
            if not self._warned:
                self._warned = True
                warn_of_order(file, list(record.value) if isinstance(record.value, dict) else [])
            return NumberTexts([b"-%d" % record.number])
        return NumberTexts([b"-%d" % place for place in range(1, len(items) + 1)], by_rank=True)

    def are_as_first(self, score: str, rank: str | None) -> bool:
        """Whether the first record has its score and its rank under these keys."""
        return self._first_keys == {"score": (score,), "rank": None if rank is None else (rank,)}

    def _all_or_none(
        self, record: Record, path: Path, items: list[tuple[Any, Any]], what: str
    ) -> list[Any]:
        """Return the scores or ranks of documents, all under the same keys; [] if there are none.

        `InputError` if only some documents have them: those without could not be ranked.
        """
        found = [path.first(item, key) for key, item in items] if path else [(None, None)]
        if not self.shape.list:
            ((value, keys),) = found
            first = self._first_keys.setdefault(what, keys)
            if keys != first or (keys is not None and value is None):
                raise self._unlike_first(record, what, value, keys, first)
            return [] if keys is None else [value]
        values = self._refuse_some(record, [value for value, _ in found], what)
        all_keys = [keys for _, keys in found]
        if values and len(set(all_keys)) > 1:
            other = next(number for number, keys in enumerate(all_keys) if keys != all_keys[0])
            raise InputError(
                self._file,
                record.line,
                f"document {other + 1} of the list has its {what} under "
                f"{_dotted(all_keys[other])}, the first one under {_dotted(all_keys[0])}",
                "expected all of them under one key",
            )
        return values

    def _refuse_some(self, record: Record, values: list[Any], what: str) -> list[Any]:
        having = [value is not None for value in values]
        if any(having) and not all(having):
            number = having.index(not having[0]) + 1
            found = f"document {number} of the list has a {what} and others have none"
            if having[0]:
                found = f"document {number} of the list has no {what} and others have one"
            raise InputError(
                self._file, record.line, found, f"expected a {what} for all of them or for none"
            )
        return values if any(having) else []

    def _unlike_first(
        self, record: Record, what: str, value: Any, keys: Keys | None, first: Keys | None
    ) -> InputError:
        if keys is not None and value is None:
            found = f"{what} is null"
        elif keys is None:
            found = f"no {what}, and records before have one"
        elif first is None:
            found = f"a {what}, and records before have none"
        else:
            found = f"a {what} under {_dotted(keys)}, in records before under {_dotted(first)}"
        return InputError(
            self._file, record.line, found, f"expected a {what} under one key in all or in none"
        )


def _dotted(keys: Keys | None) -> str:
    return shown(".".join(keys or ()))


def no_object(file: str, line: int) -> InputError:
    """Return the error for a record that is no JSON object."""
    return InputError(
        file, line, "no JSON object", "expected an object with a query and its documents"
    )


def lacking(
    file: str, shape: Shape, record: Record, part: str, found: str | None = None
) -> InputError:
    """Return the error for a record without a part: its keys, and how to name the right one."""
    keys = fields.shown_names(record.value) if isinstance(record.value, dict) else "no keys"
    names = _wanted_names(getattr(shape, part))
    return InputError(
        file,
        record.line,
        f"{found or f'no {part}'} (keys: {keys})",
        f"expected one of {' '.join(names)}, or {option('map_' + shape.kind)} '{part}=…'",
    )


def _wanted_names(path: str) -> list[str]:
    """Return the names of keys that a path accepts, for a message."""
    names: dict[str, None] = {}
    for alternative in path.split("|"):
        if "<list>[" not in alternative and "." not in alternative and alternative != "@value":
            names.update(dict.fromkeys(fields.NAMES.get(alternative, (alternative,))))
    return list(names) or [path]
