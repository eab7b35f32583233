"""Qrels by name: ``irds:DATASET`` through ir_datasets, and those of an anserini-tools checkout."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ragkpi.errors import InputError, UsageError
from ragkpi.files.lines import Tokens
from ragkpi.files.trec import QrelsColumns, plain_qrels, refuse_empty

_CHECKOUT = "RAGKPI_QRELS"
_FOLDERS = ("qrels", "topics-and-qrels")  # in current checkouts, and in older ones
_PREFIX = "irds:"


def resolved(path: str) -> str:
    """Return the file of a name in ``$RAGKPI_QRELS``, unless a file has this path."""
    folder = os.environ.get(_CHECKOUT, "")
    if not folder or path == "-" or os.sep in path or os.path.exists(path):
        return path
    files = _listed(folder, "qrels.json")
    aliases = _listed(folder, "qrels-aliases.json")
    name = next((name for name, others in aliases.items() if path in others), path)
    file = files.get(name)
    if not isinstance(file, str):
        return path
    # Only the name of the file counts: a list must not lead out of the folder.
    paths = [os.path.join(folder, inner, os.path.basename(file)) for inner in _FOLDERS]
    known = next(filter(os.path.exists, paths), None)
    if known is None:
        listed = f"is not there, though {path} is listed"
        raise InputError(paths[0], None, listed, "expected the file")
    return known


def _listed(folder: str, name: str) -> dict[str, Any]:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError) as problem:
        raise InputError(
            path,
            None,
            f"cannot be read ({problem})",
            f"expected an anserini-tools checkout in {_CHECKOUT}",
        ) from None
    if not isinstance(content, dict):
        raise InputError(path, None, "no JSON object", f"expected {name} of anserini-tools")
    return content


def is_dataset(path: str) -> bool:
    """Whether a path is the name of a data set of ir_datasets."""
    return path.startswith(_PREFIX)


def read_dataset(path: str) -> QrelsColumns:
    """Read the qrels of a data set of ir_datasets, which may download them."""
    try:
        import ir_datasets
    except ImportError as problem:
        raise UsageError(
            f"{path} needs a package ({problem}); "
            "expected it installed, e.g. pip install 'ragkpi[datasets]'"
        ) from None
    try:
        dataset = ir_datasets.load(path.removeprefix(_PREFIX))
        judgements = list(dataset.qrels_iter())
    except KeyError as problem:
        found = f"cannot be read (no data set {problem})"
        raise InputError(path, None, found, "expected the id of one that has qrels") from None
    except Exception as problem:  # no qrels, a licence, the network
        reason = (str(problem).splitlines() or [type(problem).__name__])[0][:100]
        found = f"cannot be read ({reason})"
        raise InputError(path, None, found, "expected qrels that ir_datasets can fetch") from None
    query, document = (
        Tokens.from_strings(
            getattr(judged, name).encode("utf-8", "surrogateescape") for judged in judgements
        )
        for name in ("query_id", "doc_id")
    )
    level, line = (
        np.array([judged.relevance for judged in judgements], np.int64),
        np.arange(len(query)) + 1,
    )
    if not len(line):
        raise InputError(path, None, "holds no judgements", "expected qrels of at least one")
    refuse_empty(path, document, line, "document id")
    refuse_empty(path, query, line, "query id")
    return plain_qrels(path, query, document, level, line, None)
