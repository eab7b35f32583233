"""Preference measures, pair by pair: section 4.5 of the specification with loops."""

import math
from collections import Counter

RETRIEVED, IMPLIED = "_ret", "_imp"


class ContradictionError(Exception):
    pass


def ranking(scores, max_retrieved=None):
    """Rank {document: score}; equal scores by ascending id."""
    ranked = sorted(scores, key=lambda document: (-scores[document], document))
    return ranked[:max_retrieved]


def values(lines, ranked):
    """Return every prefs_* measure of one query.

    `lines` are (group, subgroup, document, level), `ranked` the retrieved documents in order.
    """
    judged = {document for _, _, document, _ in lines}
    retrieved = [document for document in ranked if document in judged]
    documents = retrieved + sorted(judged - set(retrieved))
    number = {document: place for place, document in enumerate(documents)}
    groups = [
        Group(
            [(sub, number[document], level) for g, sub, document, level in lines if g == name],
            len(retrieved),
        )
        for name in sorted({group for group, _, _, _ in lines})
    ]
    found = {
        "prefs_num_prefs_poss": sum(group.count("")[1] for group in groups),
        "prefs_num_prefs_ful": sum(group.count("")[0] for group in groups),
        "prefs_num_prefs_ful_ret": sum(group.count(RETRIEVED)[0] for group in groups),
    }
    for scope in ("", RETRIEVED, IMPLIED):
        counts = [group.count(scope) for group in groups]
        found["prefs_simp" + scope] = share(
            sum(fulfilled for fulfilled, _ in counts), sum(possible for _, possible in counts)
        )
        found["prefs_avgjg" + scope] = added(share(*count) for count in counts) / len(groups)
        found["prefs_pair" + scope] = pair_mean(groups, len(documents), len(retrieved), scope)
    for scope in ("", RETRIEVED):
        limited = [group.limited(scope) for group in groups]
        total = added(f / t if t else math.nan for f, t in limited)
        found["prefs_avgjg_Rnonrel" + scope] = total / len(groups) if total > 0 else 0.0
    return found


def share(fulfilled, possible):
    return fulfilled / possible if possible else 0.0


def added(terms):
    total = 0.0
    for term in terms:
        total += term
    return total


def pair_mean(groups, num_documents, num_retrieved, scope):
    preferences = Counter(pair for group in groups for pair in group.pairs)
    agreement, pairs = 0.0, 0
    for i in range(num_documents):
        for j in range(i + 1, num_documents):
            both = preferences[i, j] + preferences[j, i]
            if not both or (scope == RETRIEVED and j >= num_retrieved):
                continue
            if i >= num_retrieved:
                pairs += scope == ""
                continue
            agreement += preferences[i, j] / both
            pairs += 1
    return share(agreement, pairs)


class Group:
    """One judgment group; `lines` are (subgroup, document's number, level)."""

    def __init__(self, lines, num_retrieved):
        self.lines = lines
        self.num_retrieved = num_retrieved
        self.on_one_scale = len({sub for sub, _, _ in lines}) == 1
        direct = [
            (a, b)
            for sub, a, level_a in lines
            for other, b, level_b in lines
            if sub == other and level_a > level_b
        ]
        if self.on_one_scale:
            self.pairs = direct
            if any(a == b for a, b in direct):
                raise ContradictionError
            self.relevant = [number for _, number, level in lines if level > 0]
            self.nonrelevant = [number for _, number, level in lines if level <= 0]
            return
        self.pairs = closed(direct)
        self.relevant = sorted({number for _, number, level in lines if level > 0})
        self.nonrelevant = sorted({number for _, number, level in lines if level == 0})
        if set(self.relevant) & set(self.nonrelevant):
            raise ContradictionError
        if any((b, a) in self.pairs for a, b in self.pairs):
            raise ContradictionError

    def retrieved(self, number):
        return number < self.num_retrieved

    def count(self, scope, pairs=None):
        """Count fulfilled and possible preferences."""
        fulfilled = possible = 0
        for a, b in self.pairs if pairs is None else pairs:
            known = self.retrieved(a) + self.retrieved(b)
            if known >= {"": 0, IMPLIED: 1, RETRIEVED: 2}[scope]:
                possible += 1
                fulfilled += self.retrieved(a) and a < b
        return fulfilled, possible

    def limited(self, scope):
        """Count them with as many nonrelevant documents as relevant ones."""

        def counts(numbers):
            return sum(scope == "" or self.retrieved(number) for number in numbers)

        surplus = counts(self.relevant) - counts(self.nonrelevant)
        if surplus >= 0:
            fulfilled, possible = self.count(scope)
            found = sum(map(self.retrieved, self.relevant))
            return fulfilled + found * surplus, possible + len(self.relevant) * surplus
        if self.on_one_scale:
            return self.count(scope, self.pairs_with_lowest_cut(counts(self.relevant)))
        candidates = [n for n in self.nonrelevant if scope == "" or self.retrieved(n)]
        dropped = set()
        if len(candidates) > len(self.relevant):
            dropped = {n for n in self.nonrelevant if n >= candidates[len(self.relevant)]}
        return self.count(scope, [pair for pair in self.pairs if not dropped & set(pair)])

    def pairs_with_lowest_cut(self, size):
        levels = sorted({level for _, _, level in self.lines}, reverse=True)
        classes = [[n for _, n, level in self.lines if level == wanted] for wanted in levels]
        kept = sorted(classes[-1])[:size]
        pairs = [
            (x, y)
            for a, better in enumerate(classes[:-1])
            for worse in classes[a + 1 : -1]
            for x in better
            for y in worse
        ]
        return pairs + [(x, y) for class_ in classes for x in class_ for y in kept]


def closed(pairs):
    """Close a relation transitively, without pairs of a document with itself."""
    pairs = set(pairs)
    while True:
        implied = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not implied:
            return {(a, b) for a, b in pairs if a != b}
        pairs |= implied
