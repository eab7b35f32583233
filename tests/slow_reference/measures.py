"""Every measure over qrels as a loop down one ranking, after trec_eval's definitions.

`MEASURES` has, by trec_eval's name, a function of a `Topic` and the parameters.
"""

import math

MEASURES = {}
SMALLEST = 0.00001


def measure(name):
    def remember(function):
        MEASURES[name] = function
        return function

    return remember


def found(topic, depth):
    """Relevant documents among the first `depth`."""
    return sum(topic.relevant(level) for level in topic.levels[: max(depth, 0)])


def over(numerator, denominator):
    return numerator / denominator if denominator else 0.0


def rank_levels(topic):
    return enumerate(topic.levels, start=1)


MEASURES["num_q"] = lambda topic: 1
MEASURES["num_ret"] = lambda topic: len(topic.levels)
MEASURES["num_rel"] = lambda topic: topic.num_rel
MEASURES["num_rel_ret"] = lambda topic: found(topic, len(topic.levels))
MEASURES["num_nonrel_judged_ret"] = lambda topic: sum(
    level >= 0 and not topic.relevant(level) for level in topic.levels
)


# --- precision, recall, average precision


def summed_precision(topic, depth):
    total, relevant = 0.0, 0
    for i, level in rank_levels(topic):
        if i <= depth and topic.relevant(level):
            relevant += 1
            total += relevant / i
    return total


@measure("map")
def average_precision(topic):
    return over(summed_precision(topic, math.inf), topic.num_rel)


@measure("map_cut")
def map_cut(topic, cutoff):
    return over(summed_precision(topic, cutoff), topic.num_rel)


@measure("yaap")
def yaap(topic):
    total = summed_precision(topic, math.inf)
    return math.log((1 + total) / (1 + topic.num_rel - total))


MEASURES["gm_map"] = lambda topic: math.log(max(average_precision(topic), SMALLEST))
MEASURES["P"] = lambda topic, cutoff: found(topic, cutoff) / cutoff
MEASURES["recall"] = lambda topic, cutoff: over(found(topic, cutoff), topic.num_rel)
MEASURES["relative_P"] = lambda topic, cutoff: over(
    found(topic, cutoff), min(cutoff, topic.num_rel)
)
MEASURES["success"] = lambda topic, cutoff: float(found(topic, cutoff) > 0)
MEASURES["unj"] = lambda topic, cutoff: sum(level < 0 for level in topic.levels[:cutoff]) / cutoff
MEASURES["Rprec"] = lambda topic: over(found(topic, topic.num_rel), topic.num_rel)


@measure("recip_rank")
def recip_rank(topic, cutoff):
    for i, level in rank_levels(topic):
        if topic.relevant(level) and (cutoff is None or i <= cutoff):
            return 1 / i
    return 0.0


# --- sets


def set_sizes(topic):
    return found(topic, len(topic.levels)), len(topic.levels), topic.num_rel


@measure("set_P")
def set_P(topic):
    rr, n, _ = set_sizes(topic)
    return over(rr, n)


@measure("set_recall")
def set_recall(topic):
    rr, _, R = set_sizes(topic)
    return over(rr, R)


@measure("set_relative_P")
def set_relative_P(topic):
    rr, n, R = set_sizes(topic)
    return over(rr, min(n, R))


@measure("set_map")
def set_map(topic):
    rr, n, R = set_sizes(topic)
    return over(float(rr * rr), n * R)


@measure("set_F")
def set_F(topic, weight):
    x, P, Rc = weight[0], set_P(topic), set_recall(topic)
    return over((x + 1) * P * Rc, x * P + Rc)


@measure("utility")
def utility(topic, coefficients):
    a, b, c, d = coefficients
    rr, n, R = set_sizes(topic)
    return a * rr + b * (n - rr) + c * (R - rr) + d * (topic.corpus_size + rr - n - R)


@measure("relstring")
def relstring(topic, length):
    signs = {-1: "-", -2: "."}
    shown = topic.levels[: max(int(length[0]), 0)]
    return "".join(signs.get(x, ">" if x > 9 else str(x)) for x in shown).encode()


# --- recall points


def half_away_from_zero(x):
    return math.floor(x) + (x - math.floor(x) >= 0.5)


@measure("iprec_at_recall")
def iprec_at_recall(topic, point):
    return walk(topic, [point])[0]


@measure("11pt_avg")
def interpolated_average(topic, points):
    total = 0.0
    for value in walk(topic, points):
        total += value
    return total / len(points)


def walk(topic, points):
    """Go up the ranking, and hand the best precision so far to the points, last one first."""
    needed = [half_away_from_zero(point * topic.num_rel) for point in points]
    k, n = found(topic, len(topic.levels)), len(topic.levels)
    values = []
    while needed and needed[-1] > k:
        values.append(0.0)
        needed.pop()
    best = over(k, n)
    for i in range(n, 0, -1):
        if k == 0:
            break
        best = max(best, k / i)
        if topic.relevant(topic.levels[i - 1]):
            while needed and needed[-1] == k:
                values.append(best)
                needed.pop()
            k -= 1
    return values + [best] * len(needed)


@measure("Rprec_mult")
def Rprec_mult(topic, point):
    depth = int(point * topic.num_rel + 0.9)
    return found(topic, depth) / depth if depth > 0 else 0.0


# --- incomplete judgements


@measure("bpref")
def bpref(topic):
    R = topic.num_rel
    NN = sum(count for level, count in topic.counts.items() if level < topic.relevance_level)
    total, nonrelevant = 0.0, 0
    for level in topic.levels:
        if topic.relevant(level):
            total += 1 - min(nonrelevant, R) / min(NN, R) if nonrelevant else 1.0
        elif level >= 0:
            nonrelevant += 1
    return over(total, R)


MEASURES["gm_bpref"] = lambda topic: math.log(max(bpref(topic), SMALLEST))


@measure("infAP")
def infAP(topic):
    e, total, relevant, nonrelevant, unjudged = SMALLEST, 0.0, 0, 0, 0
    for i, level in rank_levels(topic):
        if topic.relevant(level):
            f = i - 1
            if f == 0:
                total += 1.0
            else:
                total += 1 / (f + 1) + (f / (f + 1)) * ((relevant + nonrelevant + unjudged) / f) * (
                    (relevant + e) / (relevant + nonrelevant + 2 * e)
                )
            relevant += 1
        elif level >= 0:
            nonrelevant += 1
        elif level == -2:
            unjudged += 1
    return over(total, topic.num_rel)


# --- gains


def gain(level, gains):
    return gains.get(level, float(level)) if level >= 0 else 0.0


def ideal_gains(topic, gains):
    every = [gain(level, gains) for level, count in topic.counts.items() for _ in range(count)]
    return sorted((worth for worth in every if worth > 0), reverse=True)


def actual_gains(topic, gains):
    return [gain(level, gains) for level in topic.levels]


def cumulated(gains):
    """Return [D_0, D_1, ...], the discounted sums down to each rank."""
    sums = [0.0]
    for i, worth in enumerate(gains, start=1):
        sums.append(sums[-1] + worth / math.log2(i + 1))
    return sums


MEASURES["dcg"] = lambda topic, gains, cutoff=None: cumulated(actual_gains(topic, gains)[:cutoff])[
    -1
]
MEASURES["ideal_dcg"] = lambda topic, gains: cumulated(ideal_gains(topic, gains))[-1]
MEASURES["ndcg"] = lambda topic, gains: over(
    MEASURES["dcg"](topic, gains), MEASURES["ideal_dcg"](topic, gains)
)
MEASURES["ndcg_cut"] = lambda topic, cutoff: over(
    cumulated(actual_gains(topic, {})[:cutoff])[-1], cumulated(ideal_gains(topic, {})[:cutoff])[-1]
)


@measure("ndcg_rel")
def ndcg_rel(topic, gains):
    g, best = actual_gains(topic, gains), ideal_gains(topic, gains)
    D, E, m = cumulated(g), cumulated(best), len(best)
    total = 0.0
    for i, worth in enumerate(g, start=1):
        if worth > 0:
            total += D[i] / E[min(i, m)]
    total += over((m - sum(worth > 0 for worth in g)) * D[-1], E[m])
    return total / m if total > 0 else 0.0


@measure("Rndcg")
def Rndcg(topic, gains):
    g, best = actual_gains(topic, gains), ideal_gains(topic, gains)
    D, E, n, m = cumulated(g), cumulated(best), len(g), len(best)
    if topic.num_rel == 0 or m == 0:
        return 0.0
    terms = [D[min(t, n)] / E[t] for t in range(1, m + 1) if t == m or best[t] != best[t - 1]]
    if n >= m + 2:
        terms.append(D[n] / E[m])
    total = 0.0
    for term in terms:
        total += term
    return total / len(terms)


@measure("G")
def G(topic, gains):
    best = ideal_gains(topic, gains)
    total = collected = possible = all_gains = 0.0
    for worth in best:
        all_gains += worth
    for i, worth in enumerate(actual_gains(topic, gains)):
        collected += worth
        possible += max(best[i], 1.0) if i < len(best) else 1.0
        if worth != 0:
            total += worth / math.log2(2 + possible - collected)
    return over(total, all_gains)


@measure("binG")
def binG(topic):
    total, relevant = 0.0, 0
    for i, level in rank_levels(topic):
        if topic.relevant(level):
            relevant += 1
            total += 1 / math.log2(2 + i - relevant)
    return over(total, topic.num_rel)


# --- rank-biased precision


@measure("rbp")
def rbp(topic, gains, p):
    highest = max(topic.counts, default=-1)
    while highest in gains:
        highest -= 1
    low = min([0.0, *gains.values()])
    high = max([0.0, float(highest), *gains.values()])
    total, weight = 0.0, 1.0
    for level in topic.levels:
        worth = gain(level, gains)
        if level >= 0 and (low < 0 or high > 1):
            worth = (worth - low) / (high - low)
        total += worth * weight
        weight *= p
    return (1 - p) * total


@measure("rbp_resid")
def rbp_resid(topic, p):
    if all(level >= 0 for level in topic.levels):
        return 0.0
    total, weight = 0.0, 1.0
    for level in topic.levels:
        if level < 0:
            total += weight
        weight *= p
    return weight + (1 - p) * total
