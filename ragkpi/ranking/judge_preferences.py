"""From preference judgements and hits to `JudgedPreferences`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ragkpi.formats.groups import rows_of
from ragkpi.formats.preference_files import PreferenceColumns
from ragkpi.formats.tokens import FloatArray, IntArray
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.judged_groups import JudgementGroups
from ragkpi.ranking.judged_preferences import JudgedPreferences, Tally
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.preference_counts import GroupDocuments, one_scale_counts, pair_counts
from ragkpi.ranking.preference_pairs import (
    GroupLines,
    OneSubgroup,
    PreferencePairs,
    SeveralSubgroups,
    two_levels,
)
from ragkpi.ranking.settings import Settings
from ragkpi.records import dataclass


@dataclass(frozen=True)
class Preferences:
    """Preference judgements of n lines, ready for run after run.

    Attributes
    ----------
    groups
        The lines by query and judgment group.
    subgroup, level : (n,)
        For each line of `groups` the number of its sub-group and its level.
    """

    groups: JudgementGroups
    subgroup: IntArray
    level: FloatArray

    @property
    def judgements(self) -> Judgements:
        """The judged documents, each once per query."""
        return self.groups.judgements

    @classmethod
    def of(cls, columns: PreferenceColumns) -> Preferences:
        """Group the lines of a file."""
        groups = JudgementGroups.of(
            columns.file, columns.query, columns.group, columns.document, ties="ascending"
        )
        subgroup = columns.subgroup.first_rows()
        return cls(groups, subgroup[groups.line], columns.level[groups.line])

    def judge(self, hits: Hits, settings: Settings) -> tuple[JudgedPreferences, Coverage]:
        """Count the preferences that a run fulfils, of the queries that `settings` chooses.

        Parameters
        ----------
        hits
            What the run retrieved of `judgements`.
        settings
            -M, -c and -D; -l and -J change nothing.

        Raises
        ------
        DataError
            If the lines of a judgment group contradict each other; names query, group and
            documents.
        """
        judged, coverage = judge(self.judgements, hits, settings)
        return _Counting(self, judged).preferences(), coverage


class _Counting:
    """The judgment groups of the chosen queries, beside one run.

    Documents are numbered within their query so that the retrieved ones come first, in ranking
    order, and then the others by id. A preference is fulfilled if its better document is retrieved
    and has the smaller number.
    """

    def __init__(self, relevance: Preferences, judged: Judged) -> None:
        self._relevance, self._judged = relevance, judged
        groups, judgements = relevance.groups, relevance.judgements
        number = judgements.places_among(judged.queries)
        self._groups = np.flatnonzero(number[groups.query] >= 0)
        self._query = number[groups.query[self._groups]]
        self._retrieved = np.zeros(len(judgements.queries), dtype=np.int64)
        self._retrieved[number >= 0] = np.diff(judged.starts)[number[number >= 0]]
        self._number = self._number_documents()

    def _number_documents(self) -> IntArray:
        """Number the rows of the judgements within their queries, (J,)."""
        judgements, judged = self._relevance.judgements, self._judged
        number = np.full(len(judgements.document), -1, dtype=np.int64)
        number[judged.judgement] = np.arange(len(judged.rank)) - judged.starts[judged.query]
        rest = np.flatnonzero(number < 0)
        before = np.append(0, np.cumsum(number < 0))[judgements.starts[:-1]]
        query = judgements.query[rest]
        number[rest] = np.arange(len(rest)) - before[query] + self._retrieved[query]
        return number

    def preferences(self) -> JudgedPreferences:
        """Count the preferences; `DataError` for the first group that contradicts itself."""
        documents, number, doubtful = self._documents()
        counts = one_scale_counts(documents)
        pairs = counts[:3].copy()  # of documents, each counted once
        if documents.lines.max() > 1:
            pairs = one_scale_counts(documents.with_single_lines())[:3]
        several: dict[int, SeveralSubgroups] = {}
        for group in doubtful.tolist():
            lines = self._lines(group)
            if np.all(lines.subgroup == lines.subgroup[0]):
                raise two_levels(lines)
            several[group] = SeveralSubgroups.of(lines)
            retrieved = documents.retrieved[slice(*documents.starts[group : group + 2])]
            counts[:, group] = several[group].counts(int(retrieved.sum()))
            pairs[:, group] = counts[:3, group]

        def of_group(group: int) -> PreferencePairs:
            part = slice(*documents.starts[group : group + 2])
            return several.get(group) or OneSubgroup(
                number[part], documents.level[part], documents.lines[part]
            )

        judged = self._judged
        return JudgedPreferences(
            judged.queries,
            judged.run_id,
            self._query,
            *(Tally(*of_groups.T.astype(np.float64)) for of_groups in counts),
            *(Tally(*of_queries.T) for of_queries in self._pairs(pairs, documents, of_group)),
        )

    def _documents(self) -> tuple[GroupDocuments, IntArray, IntArray]:
        """Return the documents of the groups, their numbers, and the groups to look into.

        Those have several sub-groups, or a document with two levels.
        """
        groups, relevance = self._relevance.groups, self._relevance
        rows, bounds = rows_of(groups.starts, self._groups)
        group = np.repeat(np.arange(len(self._groups)), np.diff(bounds))
        number = self._number[groups.row[rows]]
        key = group * (int(number.max()) + 1) + number
        order = np.argsort(key, kind="stable")
        key, rows = key[order], rows[order]
        last = np.flatnonzero(np.append(key[1:] != key[:-1], True))
        lines = np.diff(last, prepend=-1)
        group, number = group[order[last]], number[order[last]]
        level = relevance.level[rows]
        documents = GroupDocuments(
            starts=np.searchsorted(group, np.arange(len(self._groups) + 1)),
            level=level[last],
            lines=lines,
            retrieved=number < self._retrieved[groups.query[self._groups]][group],
        )
        differs = level != np.repeat(level[last], lines)
        subgroup = relevance.subgroup[rows]
        differs |= subgroup != np.repeat(subgroup[bounds[:-1]], np.diff(bounds))
        doubtful = np.zeros(len(self._groups), dtype=np.bool_)
        doubtful[np.repeat(group, lines)[differs]] = True
        return documents, number, np.flatnonzero(doubtful)

    def _pairs(
        self,
        of_groups: IntArray,
        documents: GroupDocuments,
        of_group: Callable[[int], PreferencePairs],
    ) -> FloatArray:
        """Return the fulfilled and the possible pairs of each query in each scope, (3, Q, 2)."""
        queries = self._judged.queries
        judgements = self._relevance.judgements
        number = np.array([judgements.index[query] for query in queries])
        sizes = np.diff(judgements.starts)[number]
        of_queries = np.zeros((3, len(queries), 2))
        for scope, kind in np.ndindex(3, 2):
            weights = of_groups[scope, :, kind]
            of_queries[scope, :, kind] = np.bincount(self._query, weights=weights)
        # Where groups share documents, a pair may be preferred both ways.
        in_groups = np.bincount(self._query, weights=np.diff(documents.starts))
        for query in np.flatnonzero(in_groups > sizes).tolist():
            first, last = np.searchsorted(self._query, [query, query + 1]).tolist()
            of_queries[:, query] = pair_counts(
                [of_group(group) for group in range(first, last)],
                int(sizes[query]),
                int(self._retrieved[number[query]]),
            )
        return of_queries

    def _lines(self, group: int) -> GroupLines:
        """Return the lines of a group, its documents in the order of their numbers."""
        relevance, judgements = self._relevance, self._relevance.judgements
        groups, group = relevance.groups, int(self._groups[group])
        lines = slice(*groups.starts[group : group + 2])
        _, first, document = np.unique(
            self._number[groups.row[lines]], return_index=True, return_inverse=True
        )
        rows = groups.row[lines][first]
        return GroupLines(
            place=f"{judgements.file}: {groups.name_of(group)}",
            documents=judgements.document.take(rows),
            number=self._number[rows],
            document=document,
            subgroup=relevance.subgroup[lines],
            level=relevance.level[lines],
        )
