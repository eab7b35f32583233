import json
import math
from itertools import product

import pytest

from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import rendered
from ragkpi.reports.signature import Signature
from ragkpi.statistics.corrections import CORRECTIONS
from ragkpi.statistics.paired import Procedure, compare
from ragkpi.statistics.significance import TESTS
from ragkpi.studies.compare.comparison_report import ComparisonReport
from tests.made_scores import HARM, MAP, metric, scores

EF = metric("ef_10", style="significant")
OLD = scores([(MAP, [0.125] * 8), (EF, [1e-6] * 8), (HARM, [0.5] * 8)])
NEW = scores([(MAP, [0.25] * 8), (EF, [1e-6] * 8), (HARM, [0.25] * 7 + [1.0])])


def report(**procedure):
    compared = compare(["old", "new"], [OLD, NEW], Procedure(**{"family": "all", **procedure}))
    return ComparisonReport(compared, [Signature({"ragkpi": "9"}, {})] * 2)


def written(form, layout=None, **procedure):
    return rendered(report(**procedure), form, layout or Layout())


def test_table():
    """The map wins eight of eight, the harm falls seven times by .25 and rises once by .5.

    The bounds for the harm are differences of resamples with the last query none and three times:
    (8 - k) x -.25 + k x .5, over 8, where k = 0 has 34 % and k > 3 has less than 2.5 %.
    """
    changes = [-0.25] * 7 + [0.5]
    mean = sum(changes) / 8
    spread = math.sqrt(sum((x - mean) ** 2 for x in changes) / 7)
    signed = [sum(map(float.__mul__, signs, changes)) for signs in product((1.0, -1.0), repeat=8)]
    p = sum(abs(total) >= 1.25 for total in signed) / 256
    assert written("table").splitlines()[:8] == [
        "measure   run   queries    value                   difference   wins   ties   losses"
        "      d_z        p   p_holm",
        "─" * 111,
        "map       old         8   0.1250",
        "map       new         8   0.2500   +0.1250 [+0.1250, +0.1250]      8      0        0"
        "       NA   0.0078   0.0234",
        "ef_10     old         8    1e-06",
        "ef_10     new         8    1e-06                  +0 [+0, +0]      0      8        0"
        "       NA   1.0000   1.0000",
        "harm_10   old         8   0.5000",
        "harm_10   new         8   0.3438   -0.1562 [-0.2500, +0.0312]      7      0        1"
        f"   {mean / spread:.3f}   {p:.4f}   {2 * p:.4f}",
    ]


def test_the_test_explains_itself_below_the_table():
    notes = written("table").splitlines()[8:]
    assert len(notes) == 6
    assert notes[3] == "map: new (p = 0.0234) is better than old."
    assert notes[4] == "ef_10: new (p = 1.0000) is not shown to differ from old."
    assert "8 queries are too narrow" in notes[2]
    assert "randomization" in notes[0]
    assert "(count + 1) / (trials + 1), seed 7" in notes[0]
    assert "Holm for 3 tests" in notes[1]
    assert "resamples, seed 7" in notes[1]
    assert "d_z" in notes[1]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_every_test_and_correction_is_explained(test, correction):
    first, second, _ = report(test=test, correction=correction).explanation
    assert {"t": "t test"}.get(test, test) in first.lower()
    assert "two-sided" in first
    tests = 2 if test in ("t", "bootstrap") else 3  # the map always rises by the same
    assert f"{tests} tests in this call" in second
    head = written("csv", test=test, correction=correction).splitlines()[0].split(",")
    corrected = {"holm": ["p_holm"], "benjamini-hochberg": ["p_bh"], "none": []}
    assert head[head.index("p") + 1 :] == corrected[correction]


def test_csv_has_a_column_for_each_number():
    rows = [row.split(",") for row in written("csv", Layout(signature="long")).splitlines()]
    assert dict(zip(rows[0], rows[2], strict=True)) == {
        "measure": "map",
        "run": "new",
        "queries": "8",
        "value": "0.25",
        "difference": "0.125",
        "difference_low": "0.125",
        "difference_high": "0.125",
        "wins": "8",
        "ties": "0",
        "losses": "0",
        "d_z": "NA",
        "p": repr(2 / 256),
        "p_holm": repr(6 / 256),
        "signature": "ragkpi:9",
    }
    assert set(rows[1][4:-1]) == {""}


def test_json_lines_are_runs_and_differences():
    lines = [json.loads(line) for line in written("jsonl").splitlines()]
    assert [line["kind"] for line in lines] == ["run"] * 2 + ["difference"] * 3
    document = json.loads(written("json"))
    assert [{"ragkpi": lines[0]["ragkpi"], "kind": "difference", **one}
            for one in document["comparison"]["differences"]] == lines[2:]  # fmt: skip
    assert lines[2]["p_corrected"] == 6 / 256
    assert lines[2]["effect_size"] is None


def test_a_small_p_value_is_not_printed_as_0():
    changes = scores([(MAP, [0.25 + 1e-9 * i for i in range(8)])])
    tiny = ComparisonReport(
        compare(["old", "new"], [scores([(MAP, [0.125] * 8)]), changes], Procedure(test="t"))
    )
    (p,) = [one.p for one in tiny.comparison.differences]
    assert 0 < p < 1e-20
    assert f"{p:.6g}" in rendered(tiny, "table", Layout())
