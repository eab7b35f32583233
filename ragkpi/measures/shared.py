"""What several measures derive from one run is computed once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, TypeVar, cast

from ragkpi.ranking.judged import Judged

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def shared(
    function: Callable[Concatenate[Judged, Arguments], Result],
) -> Callable[Concatenate[Judged, Arguments], Result]:
    """Keep what ``function(judged, *arguments)`` returns with the run, for the next that asks."""

    @functools.wraps(function)
    def remembered(judged: Judged, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        key: Hashable = (function, args, tuple(kwargs.items()))
        if key not in judged.derived:
            judged.derived[key] = function(judged, *args, **kwargs)
        return cast("Result", judged.derived[key])

    return remembered
