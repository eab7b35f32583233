"""Ids and gains as users give them, for the few calls that have any."""

from __future__ import annotations

import os
from typing import Any

from ragkpi.files.formats import Reading
from ragkpi.files.in_memory import octets as octets
from ragkpi.files.in_memory import qrels_columns
from ragkpi.files.query_files import read_gains
from ragkpi.ranking.judged import GivenGains


def gains_of(given: Any, of_qrels: Reading | None) -> GivenGains:
    """Read gains; their documents are folded and left out like those of the qrels."""
    if isinstance(given, str | os.PathLike):
        columns = read_gains(os.fspath(given))
    else:
        columns = qrels_columns(given, "gains")._replace(file="gains=")
    sieve = of_qrels.sieve if of_qrels else None
    return GivenGains.of(sieve.qrels(columns) if sieve else columns)
