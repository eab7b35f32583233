import json
import math
import re

import numpy as np
import pytest
from scipy import stats

import ragkpi as library
from ragkpi.errors import UsageError
from ragkpi.library.doubts import Doubt
from ragkpi.library.ground import Signature
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.compare.answer import compared_report, paper_table
from ragkpi.questions.compare.charts import all_pairs_charts, comparison_charts
from ragkpi.questions.compare.verdict import evidence_in_words, evidence_notes
from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import rendered
from ragkpi.statistics.all_pairs import compare_all
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.decisions import TESTS
from ragkpi.statistics.paired import Procedure, compare, compare_each
from ragkpi.statistics.significance import CORRECTIONS
from tests.made_scores import BOR, HARM, MAP, metric, scores
from tests.published_schema import valid_document, valid_lines

EF = metric("ef_10", style="significant")
OLD = scores([(MAP, [0.125] * 8), (EF, [1e-6] * 8), (HARM, [0.5] * 8)])
NEW = scores([(MAP, [0.25] * 8), (EF, [1e-6] * 8), (HARM, [0.25] * 7 + [1.0])])


def report(**procedure):
    compared = compare(["old", "new"], [OLD, NEW], Procedure(**{"family": "all", **procedure}))
    return compared_report(compared, Signature({"ragkpi": "9"}, {}))


def written(form, layout=None, **procedure):
    return rendered(report(**procedure), form, layout or Layout())


def test_table():
    """The map wins eight of eight, the harm falls seven times by .25 and rises once by .5."""
    changes = [-0.25] * 7 + [0.5]
    mean = sum(changes) / 8
    spread = math.sqrt(sum((x - mean) ** 2 for x in changes) / 7)
    reach = stats.t.ppf(0.975, 7) * spread / math.sqrt(8)
    p = stats.ttest_1samp(changes, 0).pvalue
    first, second, third, blank, *lines = written("table").splitlines()
    assert first == "By map, new is better than the baseline old: +0.1250, p = 0.0234."
    assert second == "By ef_10, new is identical on every query to the baseline old."
    assert third.startswith("By harm_10, new is not significantly different from the baseline old")
    assert blank == ""
    assert lines == [
        "measure   run   queries    value                   difference   wins   ties   losses"
        "      d_z        p   p_holm",
        "─" * 111,
        "map       old         8   0.1250",
        "map       new         8   0.2500             +0.1250 [NA, NA]      8      0        0"
        "       NA   0.0078   0.0234",
        "ef_10     old         8    1e-06",
        "ef_10     new         8    1e-06                  +0 [NA, NA]      0      8        0"
        "       NA   1.0000   1.0000",
        "harm_10   old         8   0.5000",
        f"harm_10   new         8   0.3438   {mean:.4f} [{mean - reach:.4f}, +{mean + reach:.4f}]"
        f"      7      0        1   {mean / spread:.3f}   {p:.4f}   {2 * p:.4f}",
        "Intervals are not adjusted for multiple comparisons; p_holm is (3 tests)",
    ]


def test_the_first_measure_decides_and_the_others_are_described():
    lines = written("table", family="first").splitlines()
    assert lines[0] == "By map, new is better than the baseline old: +0.1250, p = 0.0078."
    assert lines[5].split()[-2:] == ["0.0078", "0.0078"]
    assert lines[7].split()[-2:] == ["1.0000", "(1.0000)"]
    differences = json.loads(written("json", family="first"))["comparison"]["differences"]
    assert [one["decision"] for one in differences] == ["better", "described", "described"]
    assert [one["p_corrected"] for one in differences[1:]] == [None, None]
    explained = " ".join(report(family="first").explanation)
    assert "Holm for 1 test" in explained
    assert "map decides; the other measures are exploratory" in explained


def test_how_it_was_computed_is_explained_on_request():
    lines = written("table", Layout(explanation="shown")).splitlines()
    text = "\n".join(lines[13:])
    assert "wins: queries on which the run is better (ties: equal, losses: worse)" in text
    assert "paired t test" in text
    assert "Holm for 3 tests" in text
    assert "Student's 95% interval" in text
    assert "d_z: difference / standard deviation" in text
    assert written("table", Layout(explanation="offered")).splitlines()[13:] == [
        "How this was computed: --explain"
    ]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_every_test_and_correction_is_explained(test, correction):
    first, second, third = report(test=test, correction=correction).explanation
    assert {"t": "t test"}.get(test, test) in first.lower()
    assert "two-sided" in first
    assert second.endswith("for 3 tests")
    assert "Student's" in third
    assert ("0 is outside where p < 0.05" in third) == (test == "t")
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
        "difference_low": "NA",
        "difference_high": "NA",
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
    tiny = compare(["old", "new"], [scores([(MAP, [0.125] * 8)]), changes], Procedure(test="t"))
    (p,) = [one.p for one in tiny.differences]
    assert 0 < p < 1e-20
    assert "< 0.0001" in rendered(compared_report(tiny), "table", Layout())
    assert f"{p:.6g}" in rendered(compared_report(tiny), "table", Layout(digits=6))
    assert repr(p) in rendered(compared_report(tiny), "csv", Layout())


# Four queries: won by .5 and .125, equal, lost by .25.
BEFORE = scores([(MAP, [0.25, 0.5, 0.5, 0.5]), (HARM, [0.0, 0.5, 0.0, 0.0])])
AFTER = scores([(MAP, [0.75, 0.5, 0.25, 0.625]), (HARM, [0.0, 0.0, 0.0, 0.25])])
OUTCOMES = [
    ["map", "after", "q000", "won", "0.2500", "0.7500", "+0.5000"],
    ["map", "after", "q003", "won", "0.5000", "0.6250", "+0.1250"],
    ["map", "after", "q002", "lost", "0.5000", "0.2500", "-0.2500"],
    ["harm_10", "after", "q001", "won", "0.5000", "0.0000", "-0.5000"],
    ["harm_10", "after", "q003", "lost", "0.0000", "0.2500", "+0.2500"],
]


BY_QUERY = compare(["before", "after"], [BEFORE, AFTER], Procedure())


def by_query():
    return compared_report(BY_QUERY)


def test_queries_won_and_lost_the_largest_first_with_both_values():
    layout = Layout(per_query="shown")
    rows = [line.split() for line in rendered(by_query(), "table", layout).splitlines()]
    assert [row for row in rows if row[2:3] and row[2].startswith("q0")] == OUTCOMES
    for name in ("json", "jsonl"):
        text = rendered(by_query(), name, layout)
        (valid_document if name == "json" else valid_lines)(text)
    listed = by_query().document(layout)["comparison"]["differences"][0]["per_query"]
    assert listed[0] == {
        "query": "q000",
        "outcome": "won",
        "baseline_value": 0.25,
        "value": 0.75,
        "difference": 0.5,
    }
    assert [one["outcome"] for one in listed] == ["won", "won", "lost"]


def test_a_picture_of_a_comparison_has_differences_and_queries():
    means, harm = comparison_charts(BY_QUERY)
    (row,) = means.rows
    assert (row.name, row.value) == ("after: 2, 1, 1", 0.09375)
    assert sorted(row.queries, reverse=True) == [0.5, 0.125, 0, -0.25]
    assert harm.title == "harm_10 (less is better)"
    assert harm.rows[0].name == "after: 1, 2, 1"
    assert "4 queries" in means.notes
    only_whole = metric(
        "bor_10",
        BOR.measure.aggregate.__class__(
            "whole", BOR.measure.aggregate.summary, BOR.measure.aggregate.value, prints="summary"
        ),
    )
    halves = [scores([(only_whole, [[1, 0.5], [1, 0.25]])]) for _ in range(2)]
    (alone,) = comparison_charts(compare(["a", "b"], halves, Procedure()))
    assert any(note.endswith("so no small marks: bor_10") for note in alone.notes)
    assert not len(alone.rows[0].queries)


def test_charts_show_the_best_run_first_and_each_in_the_colour_of_its_place():
    made = [scores([(MAP, values)]) for values in ([0, 0, 0], [0.5, 0.25, 0], [0.25, 0.5, 0.75])]
    (means,) = comparison_charts(compare(["a", "b", "c"], made, Procedure()))
    assert [(row.name, row.series) for row in means.rows] == [("c: 3, 0, 0", 2), ("b: 2, 1, 0", 1)]
    assert [list(row.queries) for row in means.rows] == [[0.25, 0.5, 0.75], [0.5, 0.25, 0]]


SIX = [0.125 * i / 8 for i in range(6)]
LOW = scores([(MAP, SIX)])
HIGH = scores([(MAP, [value + 0.5 + i / 64 for i, value in enumerate(SIX)])])
MIDDLE = scores([(MAP, [value + (-1) ** i / 64 for i, value in enumerate(SIX)])])


def test_all_pairs_have_letters_a_matrix_and_a_sentence():
    """High is above both on all eight queries, middle above low by turns.

    Of 2 ** 8 signs, two are all alike, and two turn middle and low all one way.
    """
    lifts = [[0] * 8, [(-1) ** i / 64 for i in range(8)], [0.5 + i / 64 for i in range(8)]]
    runs = [scores([(MAP, np.add(lift, np.arange(8) / 64))]) for lift in lifts]
    pairs = compare_all(["low", "middle", "high"], runs, Procedure())
    report = compared_report(pairs)
    lines = rendered(report, "table", Layout(explanation="shown")).splitlines()[2:]
    heads = ["measure", "run", "queries", "value", "letters", "rank"]
    assert lines[0].split() == [*heads, "p(low)", "p(middle)", "p(high)"]
    rows = [re.split(r"  +", line.strip()) for line in lines[2:5]]
    assert [(row[1], *row[4:6]) for row in rows] == [
        ("high", "a", "1"),
        ("low", "b", "2 to 3"),
        ("middle", "b", "2 to 3"),
    ]
    assert [row[6] for row in rows[:2]] == ["0.0156", "1.0000"]  # 4 / 2 ** 8
    assert "p holds for 3 pairs together" in " ".join(lines)
    (said,) = report.verdict
    assert re.sub(r"p = [\d.]*\d", "p", said) == (
        "By map, high has the best value; it is better than low (p) and middle (p)."
    )
    valid_document(rendered(report, "json", Layout()))
    assert valid_lines(rendered(report, "jsonl", Layout()))
    (chart,) = all_pairs_charts(pairs)
    assert [row.name for row in chart.rows] == ["high (a)", "low (b)", "middle (b)"]


def test_a_verdict_on_many_pairs_names_the_best_and_counts_the_rest():
    """Twelve runs, each far above the one before: 66 pairs differ, with p = 2 / 2 ** 6."""
    names = [f"r{run}" for run in range(12)]
    made = [scores([(MAP, [value + run for value in SIX])]) for run in range(12)]
    found = compare_all(names, made, Procedure())
    (said,) = compared_report(found).verdict
    assert said.endswith(" better than 11 runs.")
    surer = compare_all(names, made, Procedure(bootstrap=Bootstrap(level=0.99)))
    said, few = compared_report(surer).verdict
    assert said.endswith(" from 11 runs.")
    assert few.startswith("With 6 queries ")
    assert few.endswith(" below 0.03125.")
    both = [scores([(MAP, values), (HARM, values)]) for values in ([0.1] * 6, np.arange(1, 7) / 8)]
    found = compare_all(["low", "high"], both, Procedure(family="all"))
    (few,) = compared_report(found).verdict
    assert few.endswith(" p cannot fall below 0.0625.")


def test_one_query_or_one_cluster_says_why_nothing_is_tested():
    names, one = ["a", "b"], [scores([(MAP, [value])]) for value in (0.2, 0.4)]
    two = [scores([(MAP, [value, value + 0.1])]) for value in (0.2, 0.4)]
    together = Bootstrap(clusters=dict.fromkeys(two[0].queries, b"c"))
    for made, how, units in ((one, Bootstrap(), "1 query"), (two, together, "1 cluster")):
        procedure = Procedure(bootstrap=how)
        for report in (
            compared_report(compare(names, made, procedure)),
            compared_report(compare_all(names, made, procedure)),
        ):
            untested, why = report.verdict
            assert " not tested against " in untested
            assert why == f"With {units} nothing is tested: a test needs two or more."


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        ([LOW, HIGH, HIGH], "b has the best value (so has c); "),
        ([scores([(MAP, [math.nan] * 6)])] * 2, "no run has a value."),
    ],
)
def test_equal_runs_share_the_best_value(runs, says):
    """The order of the runs chooses none of them."""
    names = ["a", "b", "c"][: len(runs)]
    (said,) = compared_report(compare_all(names, runs, Procedure())).verdict
    assert said.startswith(f"By map, {says}")


def test_one_pair_is_no_number_of_pairs():
    report = compared_report(compare_all(["low", "high"], [LOW, HIGH], Procedure()))
    assert "p holds for 1 pair together" in report.explanation


def unjudged(depth, baseline, run):
    """The difference between unjudged shares of the top documents, from the judged shares."""
    (share,) = find_metrics([f"unj.{depth}"])
    both = [scores([(share, [1 - judged] * 6)]) for judged in (baseline, run)]
    return compare(["baseline", "run"], both, Procedure()).differences[0]


def test_of_several_doubts_the_first_is_said():
    """Two runs are doubtful; said is the first, at its depth."""
    compared = compare(["low", "high", "middle"], [LOW, HIGH, MIDDLE], Procedure())
    doubts = {
        "high": Doubt(unjudged(10, 0.5, 1.0)),
        "middle": Doubt(unjudged(20, 0.5, 0.6)),
    }
    (said,) = compared_report(compared, doubts=doubts).verdict
    assert said.endswith(" top 10: low 50%, high (one of 2) 100% (ragkpi holes).")


def test_only_measures_that_decide_have_letters():
    both = [scores([(MAP, SIX), (HARM, SIX)]), scores([(MAP, [1.0] * 6), (HARM, [1.0] * 6)])]
    first = compare_all(["a", "b"], both, Procedure())
    assert [found.letters for found in first.by_metric] == [["b", "a"], None]
    every = compare_all(["a", "b"], both, Procedure(family="all", trials=100))
    assert [found.p[0, 1] for found in every.by_metric] == [2 * 2 / 2**6] * 2  # for two measures
    assert [found.letters for found in every.by_metric] == [["a", "a"]] * 2


NINE = [0.1 * i for i in range(9)]


def against_baseline(lifts, names=(), **procedure):
    """Runs that are the baseline plus a lift on every query, give or take 1/64."""
    noise = [(-1) ** i / 64 for i in range(9)]
    made = [scores([(MAP, NINE)])]
    for lift in lifts:
        made.append(scores([(MAP, [v + lift + e for v, e in zip(NINE, noise, strict=True)])]))
    names = names or ["base", *(f"r{number}" for number in range(len(lifts)))]
    return compare(names, made, Procedure(test="t", **procedure))


def test_many_runs_are_counted_and_the_best_is_named():
    found = against_baseline([0.5, 0.6, 0.0, 0.0, -0.5, 0.7, -0.1])
    (said,) = compared_report(found).verdict
    assert said == (
        "By map, 3 runs are better than the baseline base; 2 runs are worse; 2 runs are not "
        "significantly different; r5 has the best value."
    )
    (said,) = compared_report(against_baseline([-0.5, -0.6, -0.4, -0.7])).verdict
    assert said.startswith("By map, 4 runs are worse ")
    assert said.endswith("; base has the best value.")
    (said,) = compared_report(against_baseline([0.0] * 5)).verdict
    assert said.startswith("By map, 5 runs are not significantly different ")
    assert said.endswith("; r0 has the best value (so have 4 others).")


def test_the_owners_of_the_best_value_are_all_named_or_counted():
    found = against_baseline([0.5, 0.5, 0.1, -0.5])
    assert "; r0 has the best value (so has r1)." in compared_report(found).verdict[0]
    made = [scores([(MAP, [value + lift for value in SIX])]) for lift in (1, 0, 1, 0)]
    pairs = compare_all(["a", "b", "c", "d"], made, Procedure())
    assert " (so has c); " in compared_report(pairs).verdict[0]
    pairs = compare_all(["a", "b", "c", "d"], [made[0], *made[::2], made[1]], Procedure())
    assert " (so have 2 others); " in compared_report(pairs).verdict[0]


def test_identical_runs_are_called_so():
    found = compare(["old", "new"], [OLD, OLD], Procedure())
    said = "By map, new is identical on every query to the baseline old."
    assert compared_report(found).verdict == [said]


def test_a_described_measure_that_moves_against_the_claim_is_named():
    """Recall falls on all nine queries while map rises; without a claim nothing is against it."""
    recall, cut = metric("recall_100"), metric("P_10")
    noise = [(-1) ** i / 64 for i in range(9)]

    def run(lift, fall):
        rows = [[v + e + change for v, e in zip(NINE, noise[::order], strict=True)]
                for change, order in ((lift, 1), (-fall, -1), (lift, 1))]  # fmt: skip
        return scores(list(zip((MAP, recall, cut), rows, strict=True)))

    base = scores([(MAP, NINE), (recall, NINE), (cut, NINE)])
    for lift, fall, said in ((0.5, 0.25, True), (0.0, 0.25, False), (0.5, -0.25, False)):
        found = compare(["base", "new"], [base, run(lift, fall)], Procedure())
        (sentence,) = compared_report(found).verdict
        assert ("But by recall_100 (exploratory), new is worse (-0.24" in sentence) == said
        assert "P_10" not in sentence


MISSED = "{} queries can miss a failure that affects fewer than 1 in {} queries."


def test_what_so_few_queries_could_not_show():
    """The rate r with (1 - r)^n = 0.05: 0.0950 for 30 queries, one in 10.5; 0.2209 for 12."""
    made = [
        scores([(MAP, np.random.default_rng(run).random(n))]) for n in (12, 29) for run in (1, 2)
    ]
    for runs, rare in ((made[:2], 4), (made[2:], 10)):
        (note,) = evidence_notes(runs, MAP, None)
        queries = len(runs[0].queries)
        assert note == MISSED.format(queries, rare)
    many, one = ([scores([(MAP, np.random.default_rng(run).random(n))]) for run in (1, 2)]
                 for n in (99, 1))  # fmt: skip
    assert list(evidence_notes(many, MAP, None)) == list(evidence_notes(one, MAP, None)) == []
    assert " 1 in 33 queries" in next(iter(evidence_in_words(many, MAP, None)))


@pytest.mark.parametrize(("shared", "noted"), [(1.0, True), (0.0, False)])
def test_ids_like_turns_are_noted_where_turns_differ_alike(shared, noted):
    generator = np.random.default_rng(1)
    queries = [b"%d_%d" % (topic, turn) for topic in range(10, 30) for turn in range(5)]
    topic = np.repeat(generator.normal(size=20), 5) * shared
    runs = [scores([(MAP, np.zeros(100))], queries),
            scores([(MAP, topic + generator.normal(size=100))], queries)]  # fmt: skip
    notes = list(evidence_notes(runs, MAP, None))
    assert len(notes) == noted
    assert all("10_0, 10_1, …" in note and "cluster=" in note for note in notes)
    clusters = {query: query[:2].decode() for query in queries}
    assert not any("turns" in note for note in evidence_notes(runs, MAP, clusters))
    (words,) = evidence_in_words(runs, MAP, clusters)
    assert "clusters: 20 of 100 queries" in words


def test_equal_differences_have_no_correlation_to_tell():
    """Three queries in two clusters, which all differ by the same: no variance, no correlation."""
    queries = [b"1", b"2", b"3"]
    runs = [scores([(MAP, [value] * 3)], queries) for value in (0.25, 0.5)]
    (words,) = evidence_in_words(runs, MAP, {b"1": "one", b"2": "one", b"3": "other"})
    assert words.startswith("clusters: 2 of 3 queries, ")
    assert words.endswith("; the value is that over queries")


def test_a_few_runs_are_named_with_their_p():
    found = against_baseline([0.5, 0.0, 0.6])
    assert max(found.differences[0].corrected, found.differences[2].corrected) < 0.0001
    (said,) = compared_report(found).verdict
    assert said.startswith("By map, r0 (p < 0.0001) and r2 (p < 0.0001) are better ")
    assert f"; r1 (p = {found.differences[1].corrected:.4f}) is not " in said


def test_for_people_the_best_run_comes_first():
    report = compared_report(against_baseline([0.1, 0.5, 0.3]))
    rows = [row[1].value for row in report.table(Layout()).rows]
    assert rows == ["base", "r1", "r2", "r0"]
    rows = [row[1].value for row in report.table(Layout(notes="columns")).rows]
    assert rows == ["base", "r0", "r1", "r2"]


@pytest.mark.parametrize("runs", [1, 3, 7, 29])
def test_a_verdict_is_at_most_two_sentences_on_whole_names(runs):
    names = [
        f"msmarco-v2.1-passage-bge-large-en-v1.5-rerank-{n}-depth-100" for n in range(runs + 1)
    ]
    found = against_baseline([0.01 * n for n in range(runs)], names)
    doubts = {name: Doubt(unjudged(10, 1.0, 0.38), True) for name in names[1:]}
    lines = rendered(compared_report(found, None, doubts), "table", Layout(width=80)).splitlines()
    verdict = " ".join(lines[: lines.index("")])
    assert verdict.count(". ") == 1
    assert f"the baseline {names[0]} as far as judged" in verdict
    assert verdict.endswith("(ragkpi holes).")


def test_a_verdict_says_how_far_the_runs_are_judged():
    found = against_baseline([-0.5])
    low, high = found.differences[0].interval
    assert found.differences[0].p < 0.0001
    doubts = {"r0": Doubt(unjudged(10, 1.0, 0.384), True)}
    assert compared_report(found, None, doubts).verdict == [
        "By map, r0 is worse than the baseline base as far as judged: "
        f"-0.4983 [{low:.4f}, {high:.4f}], p < 0.0001. "
        "Judged in the top 10: base 100%, r0 38%; unjudged documents could reverse the order "
        "(ragkpi holes).",
    ]


def paper(against=(0,), **procedure):
    """The runs of `all_pairs`; p = 1 and p < 0.001 by the t test, corrected for two or three."""
    names, runs = ["low", "middle", "high"], [LOW, MIDDLE, HIGH]
    compared = compare_each(names, runs, Procedure(test="t", **procedure), list(against))
    return paper_table(names, compared)


def test_a_table_for_latex():
    lines = rendered(paper(), "latex", Layout()).splitlines()
    assert lines[:2] == [r"\begin{table}", r"\centering"]
    assert lines[-1] == r"\end{table}"
    assert lines[2] == (
        r"\caption{3 runs over 6 queries; the best value of each measure stands out. $\dagger$ "
        r"differs from low at p \textless{} 0.05 (paired t test, corrected by Holm for 2 tests).}"
    )
    assert r"high & \textbf{\boldmath 0.5781}$^{\dagger}$ \\" in lines
    assert r"middle & 0.0391 \\" in lines


def test_a_table_for_pages_against_two_runs():
    lines = rendered(paper([0, 1]), "markdown", Layout()).splitlines()
    assert lines[2:5] == [
        "| low | 0.0391 |",
        "| middle | 0.0391 |",
        "| high | **0.5781**<sup>†‡</sup> |",
    ]
    assert "† differs from low, ‡ differs from middle at p" in lines[-1]
    assert "3 tests" in lines[-1]  # each pair once


def test_marks_are_columns_for_programs():
    rows = [line.split("\t") for line in rendered(paper(), "tsv", Layout()).splitlines()]
    assert rows[0] == ["run", "map", "map_marks"]
    assert [row[2] for row in rows[1:]] == ["", "", "†"]


def test_a_paper_table_is_for_readers():
    with pytest.raises(UsageError, match="it is for readers"):
        rendered(paper(), "json", Layout())


def test_what_so_few_clusters_could_not_show():
    """Of 40 queries in eight clusters: (1 - 1/3) ** 8 = 0.039, (1 - 1/4) ** 8 = 0.100."""
    runs = [scores([(MAP, np.random.default_rng(run).random(40))]) for run in (1, 2)]
    clusters = {query: str(row // 5) for row, query in enumerate(runs[0].queries)}
    (note,) = evidence_notes(runs, MAP, clusters)
    assert " 1 in 3 clusters" in note
    assert note.startswith("8 clusters ")
    assert list(evidence_notes(runs, MAP, None)) == []


def test_bars_are_what_their_caption_says():
    """Means between 0 and 1 have score intervals, which no resample and no seed moves."""
    runs = [scores([(MAP, np.random.default_rng(run).random(20))]) for run in (1, 2)]
    for method, words in (
        ("score", "score interval of a mean"),
        ("percentile", "percentile bootstrap, 5,000 resamples"),
    ):
        procedure = Procedure(bootstrap=Bootstrap(method=method))
        (chart,) = all_pairs_charts(compare_all(["a", "b"], runs, procedure))
        said = " ".join(chart.notes)
        assert "bars: 95% interval" in said
        assert words in said


@pytest.mark.parametrize("more", [(), ("--all-pairs",)])
def test_a_note_on_few_queries_is_in_every_form(ragkpi, more):
    """The note of 12 queries: a share r with (1 - r)^12 = 0.05 is 0.2209, less than 1 in 4."""
    note = MISSED.format(12, 4)
    command = ["compare", "-m", "ndcg_cut.10", *more]
    files = [
        "tests/helpdesk/qrels.txt",
        *(f"tests/helpdesk/runs/{run}.run" for run in ("bm25", "fusion")),
    ]
    for form in ("tsv", "csv", "jsonl"):
        assert f"ragkpi: note: {note}\n" in ragkpi(*command, "--format", form, *files).err.decode()
    document = valid_document(ragkpi(*command, "--format", "json", *files).out)
    assert document["all_pairs" if more else "comparison"]["notes"] == [note]
    assert note in ragkpi(*command, "--format", "table", *files).out.decode()
    pairs = "all" if more else "baseline"
    result = library.compare(files[0], files[1:], "ndcg_cut.10", pairs=pairs)
    assert note in result.notes
