"""Qrels of ir_datasets by the name of a data set: ``irds:beir/scifact/test``."""

from __future__ import annotations

from ragkpi.errors import InputError, UsageError
from ragkpi.files.in_memory import qrels_columns
from ragkpi.files.trec import QrelsColumns


def read_dataset(path: str) -> QrelsColumns:
    """Read the qrels of an ir_datasets data set, which ir_datasets may download."""
    try:
        import ir_datasets
    except ImportError as problem:
        install = "install it with: pip install 'ragkpi[datasets]'"
        raise UsageError(f"{path} needs a package ({problem}); {install}") from None
    try:
        judged = list(ir_datasets.load(path.removeprefix("irds:")).qrels_iter())
    except Exception as problem:  # an unknown name, no qrels, a licence, the network
        reason = (str(problem).splitlines() or [type(problem).__name__])[0][:100]
        expected = "expected the id of a data set whose qrels ir_datasets can fetch"
        raise InputError(path, None, f"cannot be read ({reason})", expected) from None
    rows = [(row.query_id, row.doc_id, row.relevance) for row in judged]
    return qrels_columns(rows)._replace(file=path)
