import json
import math

import pytest

from ragkpi.errors import UsageError
from ragkpi.library.evaluation_report import EvaluationReport, worst_queries
from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import rendered
from tests.made_scores import HARM, MAP, NUM_Q, scores

ONE = scores([(NUM_Q, [1] * 4), (MAP, [0.5, 0.1, math.nan, 0.3]), (HARM, [0.1, 0.4, 0.2, 0.3])])
OTHER = scores([(NUM_Q, [1] * 4), (MAP, [0.1, 0.9, math.nan, 0.4]), (HARM, [0.0] * 4)])


def test_the_worst_of_the_first_measure_that_can_be_better_stand_first_and_na_last():
    assert worst_queries([ONE], 4).queries == [b"q001", b"q003", b"q000", b"q002"]
    assert worst_queries([ONE], 2).queries == [b"q001", b"q003"]


def test_of_a_measure_where_less_is_better_the_greatest_are_worst():
    assert worst_queries([ONE.only([ONE["harm_10"]])], 1).queries == [b"q001"]


def test_of_several_runs_their_mean_decides():
    """Means are 0.3, 0.5, NA and 0.35."""
    assert worst_queries([ONE, OTHER], 4).queries == [b"q000", b"q003", b"q001", b"q002"]


def test_what_cannot_be_better_is_refused():
    with pytest.raises(UsageError, match="values per query"):
        worst_queries([scores([(NUM_Q, [1])])], 1)


def test_tables_and_objects_have_them_in_this_order():
    found = EvaluationReport({"a": ONE}, worst=worst_queries([ONE], 2))
    layout = Layout(per_query="shown")
    lines = rendered(found, "table", layout).splitlines()
    assert [line.split()[1] for line in lines[2:5]] == ["q001", "q003", "all"]
    assert lines[-1] == "the worst 2 of 4 queries by map"
    (run,) = json.loads(rendered(found, "json", layout))["runs"]
    assert list(run["per_query"]) == ["q001", "q003"]
    assert "worst" not in rendered(found, "table", Layout())
