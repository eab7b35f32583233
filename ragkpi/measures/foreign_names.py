"""What other tools call the measures, to tell whoever types that what to type here."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Without capitals: the request without a cutoff, and the name that takes one.
_NAMES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("ndcg", "normalized_dcg"), ("ndcg", "ndcg_cut")),
    **dict.fromkeys(("ap", "map", "average_precision"), ("map", "map_cut")),
    **dict.fromkeys(("rr", "mrr", "reciprocal_rank"), ("recip_rank", "recip_rank")),
    **dict.fromkeys(("p", "prec", "precision"), ("set_P", "P")),
    **dict.fromkeys(("r", "rec", "recall"), ("set_recall", "recall")),
    **dict.fromkeys(("success", "hit", "hits", "hit_rate", "hitrate"), ("success", "success")),
    **dict.fromkeys(("f1", "f_score", "f1_score"), ("set_F", "F")),
    **dict.fromkeys(("rprec", "r-precision", "r_precision"), ("Rprec", "Rprec")),
}
_SPELLING = re.compile(r"(?P<name>[\w-]+?)(?:[@._](?P<cutoff>[1-9]\d*))?")


def request_here(text: str) -> str | None:
    """Translate ``nDCG@10``, ``MRR`` or ``hit_rate.10``; None if it is no such name.

    >>> request_here("nDCG@10"), request_here("MRR"), request_here("nonsense")
    ('ndcg_cut.10', 'recip_rank', None)
    """
    match = _SPELLING.fullmatch(text)
    if match is None or match["name"].casefold() not in _NAMES:
        return None
    uncut, cut = _NAMES[match["name"].casefold()]
    return f"{cut}.{match['cutoff']}" if match["cutoff"] else uncut
