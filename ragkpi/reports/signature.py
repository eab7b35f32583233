"""The files and settings that numbers depend on, in one line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ragkpi.measures.measure import Metric
from ragkpi.ranking.judged import Settings
from ragkpi.version import __version__

SHORT_HASH = 8


@dataclass(frozen=True)
class Signature:
    """Named fields, ``ragkpi:0.1.0|qrels:sha256:…|N:8841823|l:1|missing:intersection|…``."""

    fields: Mapping[str, str]
    defaults: Mapping[str, str]

    def long(self) -> str:
        return "|".join(f"{name}:{text}" for name, text in self.fields.items())

    def short(self) -> str:
        """Leave out fields with default values and cut hashes to eight digits."""
        chosen = {n: text for n, text in self.fields.items() if self.defaults.get(n) != text}
        return "|".join(f"{name}:{_cut(text)}" for name, text in chosen.items())


def signature_of(
    settings: Settings, metrics: Sequence[Metric], files: Mapping[str, str | None]
) -> Signature:
    """Collect the files and settings that the values of an evaluation depend on.

    The corpus size, the pool and the grade map are named only if a metric needs them. `files` has
    by role (``"qrels"``, ``"pool"``) the SHA-256 of each file but the run; None if it was not
    computed.
    """
    needs: set[str] = {need for metric in metrics for need in metric.measure.needs}
    hashes = {role: f"sha256:{digest}" if digest else "given" for role, digest in files.items()}
    size = {"N": _corpus_size(settings)} if "corpus_size" in needs else {}
    pool = "pool" in files
    choices = _choices(settings, needs, pool)
    fields = {"ragkpi": __version__, **hashes, **size, **choices}
    return Signature(fields, _choices(Settings(), needs, pool))


def _choices(settings: Settings, needs: set[str], pool: bool) -> dict[str, str]:
    choices = {
        "l": str(settings.relevance_level),
        "missing": settings.missing,
        "unjudged": settings.unjudged,
        "M": "all" if settings.max_retrieved is None else str(settings.max_retrieved),
        "ties": settings.ties,
        "query": "all" if settings.only_query is None else quote(settings.only_query),
    }
    if settings.gains is not None:
        choices["gains"] = f"sha256:{settings.gains.sha256}"
    if "corpus_size" in needs:
        choices["draws"] = settings.draws
    if "grade_map" in needs:
        choices["grades"] = settings.grade_map.name
    if pool:
        depth = settings.pool_depth
        choices["pool_depth"] = "all" if depth is None else str(depth)
        choices["pool_union"] = settings.pool_union
    return choices


def _corpus_size(settings: Settings) -> str:
    size = "seen" if settings.corpus_size is None else str(settings.corpus_size)
    if not settings.corpus_sizes:
        return size
    lines = sorted(b"%b %d\n" % item for item in settings.corpus_sizes.items())
    return f"{size},per query sha256:{hashlib.sha256(b''.join(lines)).hexdigest()}"


def _cut(text: str) -> str:
    head, hashed, digest = text.partition("sha256:")
    return f"{head}{digest[:SHORT_HASH]}" if hashed else text
