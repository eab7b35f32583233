"""Grade maps: from a track's judged levels to the 1-5 rubric of RA-nWG and its relatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.records import dataclass


@dataclass(frozen=True)
class GradeMap:
    """A named map from judged levels to rubric grades (5 best, 1 worst).

    Negative levels are unlabelled. Any other level that the map does not know is an error,
    because guessing the scale of a file from the file fails as soon as its top grade is rare.
    """

    name: str
    rubric: Mapping[int, int]

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted(self.rubric.items()))))

    def refuse_unknown(self, levels: Iterable[int]) -> None:
        """Raise `UsageError` naming the presets that would fit, if a level is not in the map."""
        present = {level for level in levels if level >= 0}
        unknown = sorted(present - set(self.rubric))
        if not unknown:
            return
        fitting = [name for name, map_ in GRADE_MAPS.items() if present <= set(map_.rubric)]
        advice = " or ".join(f"{option('grade_map')} {name}" for name in fitting)
        raise UsageError(
            f"judged level {unknown[0]} is not in the grade map '{self.name}' "
            f"({self}); give " + (advice or f"{option('grade_map')} 0=1,1=3,… with every level")
        )

    def __str__(self) -> str:
        return ",".join(f"{level}={grade}" for level, grade in sorted(self.rubric.items()))


GRADE_MAPS: Mapping[str, GradeMap] = {
    map_.name: map_
    for map_ in (
        GradeMap("umbrela", {0: 1, 1: 3, 2: 4, 3: 5}),
        GradeMap("umbrela-strict", {0: 1, 1: 2, 2: 4, 3: 5}),
        GradeMap("rag25", {0: 1, 1: 2, 2: 3, 3: 4, 4: 5}),
        GradeMap("rubric", {1: 1, 2: 2, 3: 3, 4: 4, 5: 5}),
        GradeMap("binary", {0: 1, 1: 5}),
    )
}


def parse_grade_map(text: str) -> GradeMap:
    """Read a preset's name or a list such as ``0=1,1=3,2=4,3=5``; `UsageError` otherwise."""
    if text in GRADE_MAPS:
        return GRADE_MAPS[text]
    rubric: dict[int, int] = {}
    for item in text.split(","):
        level, _, grade = item.partition("=")
        if not (level.isdecimal() and grade.isdecimal() and 1 <= int(grade) <= 5):
            raise UsageError(
                f"{option('grade_map')} {text}: '{item}' is neither a preset "
                f"({', '.join(GRADE_MAPS)}) "
                "nor LEVEL=GRADE with a level from 0 and a grade from 1 to 5"
            )
        if int(level) in rubric:
            raise UsageError(f"{option('grade_map')} {text}: level {level} is given twice")
        rubric[int(level)] = int(grade)
    return GradeMap(text, rubric)
