"""The ranking itself, as text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ragkpi.ranking.judged import Judged


def relstring(judged: Judged, length: tuple[float, ...]) -> npt.NDArray[np.object_]:
    """Judged levels of the first documents, one character each.

    Formula:    0 to 9 the level, > a level above 9, - not judged, . in the pool but unjudged
                (a negative level)
    Range:      text of min(N, n) characters in single quotes, N the parameter
    Edge cases: empty for an empty ranking or N below 1; there is no line over all queries.
    Source:     trec_eval 10.0
    """
    shown = np.minimum(judged.num_ret, max(int(length[0]), 0))
    ends = np.concatenate([[0], np.cumsum(shown)])
    characters = np.full(ends[-1], ord("-"), dtype=np.uint8)
    visible = judged.rank <= shown[judged.query]
    grade = judged.level[visible]
    digit = np.where(grade > 9, ord(">"), grade + ord("0"))
    place = ends[judged.query[visible]] + judged.rank[visible] - 1
    characters[place] = np.where(grade < 0, ord("."), digit)
    text = characters.tobytes()
    strings = np.empty(len(shown), dtype=object)
    strings[:] = [text[start:end] for start, end in pairwise(ends.tolist())]
    return strings
