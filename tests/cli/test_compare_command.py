import pytest
from scipy import stats

import ragkpi as ragkpi_library
from tests.cli.commandline import BM25, DENSE, FIXTURES, FUSION, trec_values
from tests.published_schema import valid_document, valid_lines

MEASURES = ("-m", "map", "-m", "ndcg_cut.10", "-m", "bor.10", "-m", "num_q", "-N", 5000)


@pytest.fixture
def compare(ragkpi):
    return lambda *arguments: ragkpi("compare", "--format", "table", *arguments, folder=FIXTURES)


def differences(outcome):
    found = valid_document(outcome.out)["comparison"]["differences"]
    return {(one["measure"], one["run"]): one for one in found}


def per_query(ragkpi, path, name):
    """The values of the queries, from trec_eval's lines."""
    out = ragkpi("eval", "-q", "-c", "--digits", 12, *MEASURES, "qrels.txt", path, folder=FIXTURES)
    queries = {line.split("\t")[1] for line in out.out.decode().splitlines()} - {"all"}
    return [float(trec_values(out.out, query)[name]) for query in sorted(queries)]


@pytest.mark.parametrize("name", ["map", "ndcg_cut_10"])
@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("t", lambda x, y: stats.ttest_rel(x, y).pvalue),
        ("wilcoxon", lambda x, y: stats.wilcoxon(x, y).pvalue),
        (
            "sign",
            lambda x, y: (
                stats.binomtest(
                    sum(a > b for a, b in zip(x, y, strict=True)),
                    sum(a != b for a, b in zip(x, y, strict=True)),
                ).pvalue
            ),
        ),
        (
            "randomization",
            lambda x, y: (
                stats.permutation_test(
                    (x, y),
                    lambda x, y, axis: (x - y).mean(axis=axis),
                    permutation_type="samples",
                    n_resamples=float("inf"),
                    vectorized=True,
                ).pvalue
            ),
        ),
    ],
)
def test_p_values_are_scipys(compare, ragkpi, name, test, expected):
    files = ("qrels.txt", BM25, DENSE)
    found = differences(compare("-c", "--test", test, "--format", "json", *MEASURES, *files))
    baseline, run = (per_query(ragkpi, path, name) for path in (BM25, DENSE))
    one = found[name, "dense"]
    assert one["p"] == pytest.approx(expected(run, baseline), rel=1e-6)
    assert one["difference"] == pytest.approx(sum(run) / 12 - sum(baseline) / 12)
    wins = sum(a > b for a, b in zip(run, baseline, strict=True))
    ties = sum(a == b for a, b in zip(run, baseline, strict=True))
    assert (one["wins"], one["ties"], one["losses"]) == (wins, ties, 12 - wins - ties)


def test_values_are_those_of_eval(compare, ragkpi):
    files = ("qrels.txt", BM25, FUSION)
    found = differences(compare("-c", "--format", "json", *MEASURES, *files))
    lines = [
        trec_values(ragkpi("eval", "-c", *MEASURES, "qrels.txt", path, folder=FIXTURES).out)
        for path in (BM25, FUSION)
    ]
    assert {name for name, _ in found} == set(lines[0]) - {"num_q"}
    for (name, _), one in found.items():
        values = [one["baseline_value"], one["value"]]
        assert [f"{value:.4f}" for value in values] == [of_run[name] for of_run in lines]


def holm_step(p, q):
    return min(1, (len(p) - sorted(p).index(q)) * q)


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        ("none", lambda p: p),
        ("benjamini-hochberg", lambda p: stats.false_discovery_control(p).tolist()),
        ("holm", lambda p: [max(holm_step(p, q) for q in p if q <= one) for one in p]),
    ],
)
def test_corrections_cover_the_call(compare, correction, expected):
    asked = ("--correction", correction, "--family", "all")
    arguments = ("-c", "--format", "json", *asked, *MEASURES, "qrels.txt")
    found = differences(compare(*arguments, BM25, DENSE, FUSION)).values()
    assert len(found) == 6
    p = [one["p"] for one in found]
    assert [one["p_corrected"] for one in found] == pytest.approx(expected(p))


def test_few_measures_that_are_reported_are_tested(compare):
    """A correction for num_rel_ret and iprec_at_recall made 0.0059 of map 0.3047."""
    found = differences(compare("--format", "json", "qrels.txt", BM25, DENSE, FUSION))
    names = ["map", "ndcg_cut_10", "recip_rank", "recall_100"]
    assert list(dict.fromkeys(name for name, _ in found)) == names
    assert found["map", "fusion"]["p_corrected"] == pytest.approx(0.0059, abs=5e-5)
    decisions = {name: one["decision"] for name, one in found.items()}
    assert (decisions["map", "fusion"], decisions["map", "dense"]) == ("better", "undecided")
    assert {decisions[name, run] for name in names[1:] for run in ("fusion", "dense")} == {
        "described"
    }
    (verdict,) = valid_document(compare("--format", "json", "qrels.txt", BM25, DENSE, FUSION).out)[
        "comparison"
    ]["answer"]
    for words in ("fusion (p = 0.0059)", "dense (p = 0.0879)", ": bm25 100%, dense 78% ("):
        assert words in verdict


@pytest.fixture
def pooled(tmp_path):
    """Two runs of 20 queries that find 5 relevant of 10: all of one are judged, of the other 4."""
    qrels, runs = [], {"pooled": [], "new": []}
    for query in range(20):
        for name, of_run in runs.items():
            judged = 10 if name == "pooled" else 4
            for rank in range(10):
                of_run.append(f"q{query} Q0 {name}{rank} {rank + 1} {10 - rank} t\n")
                if rank < judged:
                    qrels.append(f"q{query} 0 {name}{rank} {(rank + query) % 2}\n")
    (tmp_path / "qrels").write_text("".join(qrels))
    for name, lines in runs.items():
        (tmp_path / name).write_text("".join(lines))
    return [tmp_path / "qrels", tmp_path / "pooled", tmp_path / "new"]


def test_unequal_judging_is_said(compare, pooled):
    """Both runs find as much; the unjudged documents of one count as bad."""
    qrels, *runs = map(str, pooled)
    found = valid_document(compare("-m", "P.10", "--format", "json", *pooled).out)["comparison"]
    (difference,), (answer,) = found["differences"], found["answer"]
    assert (difference["run"], difference["decision"]) == ("new", "worse")
    assert difference["difference"] == pytest.approx(-0.3)
    assert ragkpi_library.compare(qrels, runs, "P.10").answer == answer
    reverse = ragkpi_library.compare(qrels, runs[::-1], "P.10")
    (difference,) = reverse.to_dict()["comparison"]["differences"]
    assert (difference["run"], difference["decision"]) == ("pooled", "better")
    for said in (answer, reverse.answer):
        assert all(words in said for words in ("pooled 100%", "new 40%", "; unjudged documents"))


@pytest.mark.parametrize(
    "more", [["--ties", "expected"], ["--all-pairs"], ["-J"], ["--family", "all"]], ids=" ".join
)
def test_unequal_judging_is_said_wherever_it_matters(compare, pooled, more):
    (verdict, *_) = (
        compare("-m", "P.10", "-m", "success.5", *more, *pooled).out.decode().split("\n\n")
    )
    assert ("(ragkpi holes)" in " ".join(verdict.split())) == (more != ["-J"])


def test_runs_that_are_judged_alike_are_compared_without_reserve(compare):
    (verdict, *_) = compare("-m", "P.10", "qrels.txt", BM25, FUSION).out.decode().split("\n\n")
    assert "(ragkpi holes)" not in " ".join(verdict.split())


def test_a_third_run_does_not_change_the_others(compare, tmp_path):
    """13.20: its missing queries took these from the pair that was asked about."""
    short = tmp_path / "short.run"
    lines = (FIXTURES / FUSION).read_text().splitlines(keepends=True)
    short.write_text("".join(line for line in lines if line < "hd-05"))
    arguments = ("--format", "json", "--correction", "none", "-m", "map", "qrels.txt")
    alone = differences(compare(*arguments, BM25, DENSE))
    beside = differences(compare(*arguments, BM25, DENSE, short))
    assert beside["map", "dense"] == alone["map", "dense"]


def test_the_same_command_gives_the_same_bytes_on_however_many_cores(compare, monkeypatch):
    swaps = ("--test", "randomization", "--trials", 500)
    arguments = (*swaps, *MEASURES, "qrels.txt", BM25, DENSE, FUSION)
    outcomes = set()
    for workers in "123":
        monkeypatch.setenv("RAGKPI_WORKERS", workers)
        outcomes.add(compare(*arguments).out)
    assert len(outcomes) == 1
    assert b"seed 7" in compare("--explain", *arguments).out
    assert b"seed 8" in compare("--explain", "--seed", 8, *arguments).out


def test_jsonl_and_the_table(compare):
    files = ("qrels.txt", BM25, FUSION)
    lines = valid_lines(compare("-c", "--format", "jsonl", *MEASURES, *files).out)
    assert [line["kind"] for line in lines] == ["run"] * 2 + ["difference"] * 3
    table = compare("-c", *MEASURES, *files).out.decode().splitlines()
    assert [row.split()[:2] for row in table[4:10]] == [
        [name, run] for name in ("map", "ndcg_cut_10", "bor_10") for run in ("bm25", "fusion")
    ]
    said = "a verdict, a blank line, a head, a rule, six rows, few queries, and --explain"
    assert len(table) == 12, said


def test_a_query_that_one_run_lacks_is_an_empty_ranking(compare):
    found = compare("--format", "json", "-m", "map", "qrels.txt", BM25, DENSE)
    assert b"missing from dense (hd-09)" in found.err
    complete = compare("-c", "--format", "json", "-m", "map", "qrels.txt", BM25, DENSE)
    assert complete.out == found.out
    assert b"missing" not in complete.err


def test_common_leaves_out_what_one_run_lacks(compare):
    found = compare("--common", "--format", "json", "-m", "map", "qrels.txt", BM25, DENSE)
    assert b"the 11 queries " in found.err
    assert differences(found)["map", "dense"]["queries"] == 11


@pytest.mark.parametrize(
    ("files", "status", "compared"),
    [
        ([BM25, "nosuch", FUSION], 2, True),
        ([BM25, "nosuch"], 2, False),
        (["nosuch", BM25, FUSION], 2, False),
        ([BM25], 1, False),
        ([BM25, "--format", "trec", FUSION], 1, False),
        ([BM25, "--test", "z", FUSION], 1, False),
        ([BM25, "--correction", "bonferroni", FUSION], 1, False),
    ],
)
def test_what_cannot_be_compared(compare, files, status, compared):
    found = compare("-c", "-m", "map", "qrels.txt", *files)
    assert found.status == status
    assert (b"fusion" in found.out) == compared
    assert len([line for line in found.err.splitlines() if b"no relevant doc" not in line]) == 1


def queries_of(ragkpi, path):
    """The map of each query, from trec_eval's lines."""
    out = ragkpi("eval", "-q", "-n", "-c", "-m", "map", "qrels.txt", path, folder=FIXTURES).out
    return {row[1]: float(row[2]) for row in map(str.split, out.decode().splitlines())}


def test_queries_won_and_lost_have_the_values_of_eval(compare, ragkpi):
    """The largest gain first, then the largest loss; ties are not there."""
    files = ("qrels.txt", BM25, DENSE)
    found = valid_document(compare("-q", "-m", "map", "--format", "json", *files).out)
    (difference,) = found["comparison"]["differences"]
    listed = difference["per_query"]
    baseline, run = (queries_of(ragkpi, path) for path in (BM25, DENSE))
    gains = {query: run[query] - baseline[query] for query in run}
    won = sorted((q for q in gains if gains[q] > 1e-6), key=lambda query: -gains[query])
    lost = sorted((q for q in gains if gains[q] < -1e-6), key=lambda query: gains[query])
    assert [one["query"] for one in listed] == won + lost
    assert (len(won), len(lost)) == (difference["wins"], difference["losses"]) == (8, 3)
    for one in listed:
        assert one["value"] == pytest.approx(run[one["query"]], abs=1e-4)
        assert one["baseline_value"] == pytest.approx(baseline[one["query"]], abs=1e-4)


def test_all_pairs(compare):
    options = ("--all-pairs", "-m", "map")
    files = ("qrels.txt", BM25, DENSE, FUSION)
    found = valid_document(compare(*options, "--format", "json", *files).out)
    pairs = {(one["run"], one["other"]): one["p"] for one in found["all_pairs"]["pairs"]}
    assert set(pairs) == {("fusion", "dense"), ("fusion", "bm25"), ("dense", "bm25")}
    against = differences(
        compare("--test", "randomization", "-m", "map", "--format", "json", *files)
    )
    # The greatest of three differences is as great more often than one difference is.
    assert 0.05 > pairs["fusion", "bm25"] > against["map", "fusion"]["p"]
    assert against["map", "dense"]["p"] > 0.05 > against["map", "fusion"]["p"]
    assert found["all_pairs"]["letters"] == {"map": {"bm25": "b", "dense": "ab", "fusion": "a"}}
    assert found["all_pairs"]["ranks"] == {
        "map": {"bm25": [2, 3], "dense": [1, 3], "fusion": [1, 2]}
    }
    table = compare(*options, "--explain", *files).out.decode()
    assert table.startswith("By map, fusion ")
    assert "step-down test of the maximum difference" in table


def test_a_table_for_a_paper(compare):
    files = ("qrels.txt", BM25, DENSE, FUSION)
    options = ("-m", "map", "-m", "ndcg_cut.10", "--paper")
    drawn = compare(*options, "--format", "latex", *files).out.decode()
    assert r"fusion & \textbf{\boldmath 0.4047}$^{\dagger}$" in drawn
    assert r"dense & 0.3439 & 0.5078 \\" in drawn
    assert r"$\dagger$ differs from bm25 at p \textless{} 0.05 (paired t test" in drawn
    named = compare(*options, "--against", "dense", "--against", FUSION, *files).out.decode()
    assert "† differs from dense, ‡ differs from fusion" in named
    (row,) = [line.split() for line in named.splitlines() if line.startswith("bm25")]
    assert row == ["bm25", "0.1785‡", "0.3035‡"]


def test_a_picture_of_differences_and_queries(compare, tmp_path):
    files = ("qrels.txt", BM25, FUSION)
    pytest.importorskip("matplotlib")
    for more in ([], ["--all-pairs"]):
        assert compare("-m", "map", *more, "--plot", tmp_path / "c.svg", *files).status == 0
        drawn = (tmp_path / "c.svg").read_text(encoding="utf-8")
        assert "fusion" in drawn
        assert "ragkpi:" in drawn
        if not more:
            assert ">12 queries<" in drawn
            assert ">fusion: 9, 1, 2<" in drawn


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--all-pairs", "-q"], "--all-pairs with -q: each is a table of its own"),
        (["--paper", "-q"], "--paper with -q: "),
        (["--all-pairs", "--correction", "none"], "--all-pairs with --correction: "),
        (["--all-pairs", "--test", "sign"], "--all-pairs with --test: all pairs have a test of"),
        (["--against", "dense"], "--against dense: only --paper marks runs"),
        (["--paper", "--against", "x"], "expected one of"),
        (["--plot", "x.gif"], "--plot x.gif"),
        (["--plot-size", "column"], "add --plot FILE"),
        (["--plot", "-"], "--plot -: no such kind of picture; expected a file .png"),
    ],
)
def test_options_that_do_nothing_are_refused(compare, arguments, words):
    outcome = compare(*arguments, "qrels.txt", BM25, DENSE)
    assert (outcome.status, outcome.out) == (1, b"")
    assert words in outcome.err.decode().splitlines()[-1]


def test_a_paper_table_is_not_for_programs(ragkpi):
    outcome = ragkpi(
        "compare", "--paper", "--format", "json", "qrels.txt", BM25, DENSE, folder=FIXTURES
    )
    assert (outcome.status, outcome.out) == (1, b"")
    assert b"--paper" in outcome.err


def test_a_paper_has_its_caption_with_a_signature_too(compare):
    asked = ("--paper", "--format", "latex", "qrels.txt", BM25, DENSE)
    plain, signed = compare(*asked), compare(*asked, "--signature")
    caption = next(line for line in plain.out.decode().splitlines() if "caption" in line)
    assert caption in signed.out.decode().splitlines()
    assert b"% ragkpi:" in signed.out
