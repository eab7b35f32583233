"""From preference judgements and hits to `JudgedPreferences`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ragkpi.formats.preference_files import PreferenceColumns
from ragkpi.formats.tokens import FloatArray, IntArray
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged_groups import JudgementGroups, numbered
from ragkpi.ranking.judged_preferences import (
    JudgedPreferences,
    Tally,
    group_tallies,
    pair_tallies,
)
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.preference_pairs import GroupLines, preference_pairs
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
        """The judged documents, each once per query: what the hits of a run are found in."""
        return self.groups.judgements

    @classmethod
    def of(cls, columns: PreferenceColumns) -> Preferences:
        """Group the lines of a file."""
        groups = JudgementGroups.of(
            columns.file, columns.query, columns.group, columns.document, ties="ascending"
        )
        _, subgroup = numbered(columns.subgroup)
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
        group_query: list[int] = []
        of_groups = []
        of_queries = []
        for number, query in enumerate(judged.queries):
            place = self.judgements.index[query]
            found = judged.judgement[judged.starts[number] : judged.starts[number + 1]]
            ranked = self._ranked(place, found)
            weight = np.zeros((len(ranked), len(ranked)), dtype=np.int64)
            for lines in self._lines(place, ranked):
                pairs = preference_pairs(lines)
                weight[np.ix_(lines.number, lines.number)] += pairs.weight
                retrieved = int(np.searchsorted(lines.number, len(found)))
                of_groups.append(group_tallies(pairs, retrieved))
                group_query.append(number)
            of_queries.append(pair_tallies(weight, len(found)))
        preferences = JudgedPreferences(
            judged.queries,
            judged.run_id,
            np.array(group_query, dtype=np.int64),
            *_tallies(of_groups),
            *_tallies(of_queries),
        )
        return preferences, coverage

    def _ranked(self, query: int, found: IntArray) -> IntArray:
        """Return the rows of a query's documents: those found in ranking order, then the others."""
        rows = np.arange(*self.judgements.starts[query : query + 2])
        return np.concatenate([found, np.setdiff1d(rows, found, assume_unique=True)])

    def _lines(self, query: int, ranked: IntArray) -> Iterator[GroupLines]:
        """Yield the judgment groups of a query, its documents numbered as `ranked` has them."""
        groups = self.groups
        number_of_row = np.argsort(ranked)
        first_row = self.judgements.starts[query]
        for group in range(*np.searchsorted(groups.query, [query, query + 1])):
            lines = slice(*groups.starts[group : group + 2])
            number, document = np.unique(
                number_of_row[groups.row[lines] - first_row], return_inverse=True
            )
            yield GroupLines(
                place=f"{self.judgements.file}: {groups.place(group)}",
                documents=self.judgements.document.take(ranked[number]),
                number=number,
                document=document,
                subgroup=self.subgroup[lines],
                level=self.level[lines],
            )


def _tallies(counts: Sequence[Sequence[tuple[float, float]]]) -> Iterator[Tally]:
    """Turn rows of (fulfilled, possible) into one `Tally` a column."""
    for fulfilled, possible in np.array(counts, dtype=np.float64).transpose(1, 2, 0):
        yield Tally(fulfilled, possible)
