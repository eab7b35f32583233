"""The search for bounds without sums: every assignment is judged anew, hole by hole.

`candidates_of` and `spread_if_own_judged` take the places of those in `ragkpi.bounds.search`.
An assignment is a query, the levels of its own holes, and how many others are at the top.
"""

import numpy as np

from ragkpi.measures.measure import GainRatio


def judged(trials, assignments):
    """Return the statistics of assignments, (V, S)."""
    width = trials.run.number.shape[1]
    queries = np.array([query for query, _, _ in assignments], dtype=np.int64)
    levels = [levels + [0] * (width - len(levels)) for _, levels, _ in assignments]
    high = np.array([num_top for _, _, num_top in assignments], dtype=np.int64)
    others = np.stack([trials.run.num_other[queries] - high, high], axis=1)
    scale = [trials.scale[0], trials.scale[-1]]
    rows = np.array(levels, dtype=np.int64).reshape(len(assignments), width)
    ranked = trials.run.under(queries, rows, others, scale)
    statistics = np.asarray(trials.metric.measure.function(ranked, **trials.metric.arguments))
    return statistics.reshape(len(assignments), -1).astype(np.float64)


def holes_of(trials, query):
    return int(trials.run.num_own[query]), int(trials.run.num_other[query])


def corners(trials, query):
    own, other = holes_of(trials, query)
    ends = trials.scale[0], trials.scale[-1]
    return [(query, [level] * own, num_top) for num_top in (0, other) for level in ends]


def staircase(trials, query):
    low, high = trials.scale[0], trials.scale[-1]
    own, other = holes_of(trials, query)
    for count in range(own + 1):
        yield query, [high] * count + [low] * (own - count), 0
        yield query, [low] * (own - count) + [high] * count, other
    if isinstance(trials.metric.measure.bounds.form, GainRatio):
        yield climbed(trials, query, own)


def climbed(trials, query, own):
    """Move one threshold at a time, until nothing gets better.

    The greatest value has levels that fall down the ranks, so a threshold per step of the scale
    says how many of the first own holes have at least that level.
    """
    thresholds = [0] * (len(trials.scale) - 1)

    def assignment(at):
        steps = [sum(place < threshold for threshold in at) for place in range(own)]
        return query, [trials.scale[step] for step in steps], 0

    best, moved = -np.inf, True
    while moved:
        moved = False
        for step in range(len(thresholds)):
            high = thresholds[step - 1] if step else own
            low = thresholds[step + 1] if step + 1 < len(thresholds) else 0
            tried = [
                [*thresholds[:step], threshold, *thresholds[step + 1 :]]
                for threshold in range(low, high + 1)
            ]
            reached = judged(trials, [assignment(at) for at in tried])[:, 0]
            if reached.max() > best:
                best, thresholds, moved = reached.max(), tried[int(reached.argmax())], True
    return assignment(thresholds)


SEARCHES = {"corners": corners, "staircase": staircase}


def candidates_of(trials):
    """Return the statistics of all assignments of a search, (Q, C, S)."""
    search = SEARCHES[trials.metric.measure.bounds.search]
    each = [list(search(trials, query)) for query in range(len(trials.run.num_own))]
    most = max(map(len, each))
    padded = [one for of_query in each for one in of_query + of_query[-1:] * (most - len(of_query))]
    return judged(trials, padded).reshape(len(each), most, -1)


def spread_if_own_judged(trials):
    """Return the spread over the corners that is left once an own hole is known, (Q, U)."""
    queries, places = np.nonzero(trials.run.number >= 0)
    cases = [
        (query, [*levels[:place], level, *levels[place + 1 :]], num_top)
        for query, place in zip(queries.tolist(), places.tolist(), strict=True)
        for level in (trials.scale[0], trials.scale[-1])
        for query, levels, num_top in corners(trials, query)
    ]
    values = judged(trials, cases)[:, 0].reshape(len(queries), 2, 4)
    known = ~np.isnan(values)
    high = np.where(known, values, -np.inf).max(axis=2)
    low = np.where(known, values, np.inf).min(axis=2)
    table = np.zeros(trials.run.number.shape)
    table[queries, places] = np.where(known.any(axis=2), high - low, 0.0).mean(axis=1)
    return table
