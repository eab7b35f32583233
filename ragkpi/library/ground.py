"""The evaluation settings of values: their signature, and the ground that compared values share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ragkpi.files.inputs import Inputs, new_sha256
from ragkpi.measures.measure import Metric
from ragkpi.ranking.judged import Settings
from ragkpi.version import __version__

SHORT_HASH = 8

Hashes = Mapping[str, Mapping[str, str]]
"""The ``path`` and ``sha256`` of files by role (``"qrels"``, ``"pool"``), as in JSON."""

Ground = Mapping[str, str]
"""The fields that two values must share to be comparable; empty if unknown."""


def file_object(path: str, noted: Inputs) -> dict[str, str]:
    """Return a file as in JSON; without a hash if it is unknown."""
    digest = noted.sha256(path)
    return {"path": path, **({"sha256": digest} if digest else {})}


@dataclass(frozen=True)
class Provenance:
    """The provenance of the values of a run, for JSON and logs.

    Attributes
    ----------
    files
        All files but the run's, by role.
    path
        The file of the run; None for a run in memory and for a system.
    noted
        The inputs of the call, which detect later changes of files.
    reading
        The arguments for reading files.
    notes
        Omissions, assumptions and possible misreadings of this run only.
    """

    files: Hashes
    path: str | None
    noted: Inputs
    reading: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def document(self, notes: Literal["hidden", "shown"]) -> dict[str, Any]:
        """Return the parts of a run's JSON object; empty without files.

        `InputError` if the run's file has changed since it was evaluated.
        """
        run = {} if self.path is None else {"run": file_object(self.path, self.noted)}
        document: dict[str, Any] = {"files": {**self.files, **run}, "reading": self.reading}
        if notes == "shown":
            document["notes"] = list(self.notes)
        return {key: of for key, of in document.items() if of} if document["files"] else {}


class _Setting(NamedTuple):
    """The argument of a setting in a signature, and the need that it serves."""

    argument: str
    need: str = ""  # of all metrics


_SETTINGS: Mapping[str, _Setting] = {
    "N": _Setting("corpus_size", "corpus_size"),
    "l": _Setting("relevance_level"),
    "missing": _Setting("missing"),
    "unjudged": _Setting("unjudged"),
    "M": _Setting("max_retrieved"),
    "ties": _Setting("ties"),
    "query": _Setting("only_query"),
    "gains": _Setting("gains"),
    "draws": _Setting("draws", "corpus_size"),
    "grades": _Setting("grade_map", "grade_map"),
    "pool_depth": _Setting("pool_depth", "pool"),
    "pool_union": _Setting("pool_union", "pool"),
}
# Implied by the queries, or without effect on values over all queries.
_IMPLIED = ("missing", "query", "by", "cluster")


def _urllib() -> Any:
    from urllib import parse  # takes 2 ms

    return parse


def _text(name: str, settings: Settings) -> str:
    """Return the text of a setting in a signature."""
    value = getattr(settings, _SETTINGS[name].argument)
    if name == "N" and settings.corpus_sizes:
        lines = sorted(b"%b %d\n" % item for item in settings.corpus_sizes.items())
        return f"{'seen' if value is None else value},per query sha256:{_sha256(lines)}"
    if value is None:
        return {"N": "seen", "gains": "levels"}.get(name, "all")
    if name == "query":
        return str(_urllib().quote(value))
    if name == "gains":
        return f"sha256:{value.sha256}"
    return str(value.name if name == "grades" else value)


def _sha256(lines: Iterable[bytes], between: bytes = b"") -> str:
    digest = new_sha256()
    digest.update(between.join(lines))
    return str(digest.hexdigest())


def ids_sha256(queries: Iterable[bytes]) -> str:
    """Return a hash of query ids in byte order."""
    return _sha256(queries, b"\n")


def cut(text: str) -> str:
    """Cut a hash to eight digits."""
    head, hashed, digest = text.partition("sha256:")
    return f"{head}{digest[:SHORT_HASH]}" if hashed else text


@dataclass(frozen=True)
class Signature:
    """Named fields, ``ragkpi:0.1.0|qrels:sha256:…|N:8841823|l:1|missing:zero|…``."""

    fields: Mapping[str, str]
    defaults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Signature:
        """Read a signature written by `long`."""
        return cls(dict(part.partition(":")[::2] for part in text.split("|")))

    def long(self) -> str:
        return "|".join(f"{name}:{text}" for name, text in self.fields.items())

    def short(self) -> str:
        """Leave out fields with default values and cut hashes to eight digits."""
        return "|".join(f"{name}:{cut(text)}" for name, text in self._choices)

    def arguments(self) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments that set these fields, and the fields that depend on files."""
        arguments: dict[str, Any] = {}
        of_files = []
        for name, text in self.fields.items():
            text, of_file, _ = text.partition(",per query sha256:")
            if name in ("gains", "sieve") or of_file:
                of_files.append(name)
            if name in _SETTINGS and name != "gains" and text != "all" and "seen" not in text:
                number = text.isdecimal() and name != "query"
                arguments[_SETTINGS[name].argument] = (
                    int(text) if number else _urllib().unquote(text)
                )
        return arguments, of_files

    @property
    def choices(self) -> Ground:
        """The files, and the settings that differ from the defaults."""
        left_out = ("ragkpi", *_IMPLIED)
        return {
            name: text
            for name, text in self._choices
            if name not in left_out and "seen" not in text
        }

    @property
    def _choices(self) -> list[tuple[str, str]]:
        return [
            (name, text) for name, text in self.fields.items() if self.defaults.get(name) != text
        ]


def signature_of(
    settings: Settings,
    metrics: Sequence[Metric],
    files: Mapping[str, str | None],
    seen: int | None = None,
    sieve: str = "",
) -> Signature:
    """Collect the files and settings that the values of an evaluation depend on.

    The corpus size, the pool and the grade map appear only if a metric needs them. `files` has the
    SHA-256 of each file but the run by role (``"qrels"``, ``"pool"``); None if not computed.
    `seen` is the number of documents seen, if that is N, and `sieve` describes removed and folded
    documents.
    """
    needs = _needs(metrics) | ({"pool"} & files.keys())
    hashes = {role: f"sha256:{digest}" if digest else "given" for role, digest in files.items()}
    serving = [name for name, one in _SETTINGS.items() if not one.need or one.need in needs]
    default = Settings()
    defaults = {name: _text(name, default) for name in serving}
    texts = {name: _text(name, settings) for name in serving}
    if texts["gains"] == defaults["gains"]:
        del texts["gains"]
    defaults.pop("N", None)  # always included
    if seen is not None and texts.get("N") == "seen":
        texts["N"] = f"{seen} seen"
    left_out = {"sieve": sieve} if sieve else {}
    return Signature({"ragkpi": __version__, **hashes, **texts, **left_out}, defaults)


def _needs(metrics: Iterable[Metric]) -> set[str]:
    return {need for metric in metrics for need in metric.measure.needs}


def ground_of(stored: Mapping[str, Any]) -> Ground:
    """Return the ground of the values of a run in JSON; empty if unknown.

    It has the queries and the fields of the signature. Versions with equal major and minor numbers
    compute the same values: a release that changes a value raises the minor number.
    """
    fields = dict(Signature.read(str(stored.get("signature", ""))).fields)
    if not ("qrels" in fields and isinstance(stored.get("queries_sha256"), str)):
        return {}
    queries = f"{stored.get('queries')}, sha256:{stored['queries_sha256']}"
    versions = fields.pop("ragkpi", ""), str(stored.get("ragkpi", __version__))
    own = __version__.split(".")[:2]
    version = next((one for one in versions if one.split(".")[:2] != own), __version__)
    settings = {name: text for name, text in fields.items() if name not in _IMPLIED}
    return {"version": version, "queries": queries, **settings}


def differences(
    there: Ground, here: Ground, metrics: Iterable[Metric]
) -> dict[str, tuple[str, str]]:
    """Return the fields in which two grounds differ, as far as these metrics depend on them.

    A file without a hash always differs.
    """
    needs = {"", "pool", *_needs(metrics)}
    return {
        name: (cut(there.get(name, "none")), cut(here.get(name, "none")))
        for name in dict.fromkeys([*there, *here])
        if (there.get(name) != here.get(name) or here[name] == "given")
        and (name not in _SETTINGS or _SETTINGS[name].need in needs)
    }
