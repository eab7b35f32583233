import json
import os
import subprocess
import sys

import pytest

from ragkpi.errors import UsageError
from tests.cli.commandline import BM25, DENSE, FIXTURES, FUSION, MEASURES, trec_values

ALL = (BM25, DENSE, FUSION)
CSV = ("--format", "csv", "--digits", 4)


@pytest.fixture
def evaluate(ragkpi):
    def run(*arguments, **more):
        return ragkpi("eval", *arguments, **{"folder": FIXTURES, **more})

    return run


def rows(outcome):
    head, *lines = [line.split(",") for line in outcome.out.decode().splitlines()]
    return {line[0]: dict(zip(head[1:], line[1:], strict=True)) for line in lines}


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_each_run_has_the_values_that_it_has_alone(evaluate, monkeypatch, workers):
    monkeypatch.setenv("RAGKPI_WORKERS", str(workers))
    found = rows(evaluate(*CSV, *MEASURES, "qrels.txt", *ALL))
    assert list(found) == ["bm25", "dense", "fusion"]
    for name, path in zip(found, ALL, strict=True):
        assert found[name] == trec_values(evaluate("-c", *MEASURES, "qrels.txt", path).out)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_one_bad_run_is_named_and_hides_no_other(evaluate, monkeypatch, tmp_path, workers):
    monkeypatch.setenv("RAGKPI_WORKERS", workers)
    (tmp_path / "bad").write_text("hd-01 Q0 d 1 2.5 bad\nhd-01 Q0 e 2 high bad\n")
    (tmp_path / "other").write_text("zz Q0 d 1 2.5 other\n")
    bad, other = tmp_path / "bad", tmp_path / "other"
    found = evaluate(*CSV, "-m", "map", "qrels.txt", BM25, bad, other, FUSION)
    assert list(rows(found)) == ["bm25", "fusion"]
    assert found.status == 2
    said = [line for line in found.err.decode().splitlines() if " note: " not in line]
    assert said[0].startswith(f"ragkpi: error: {bad}:2: score 'high'")
    assert said[1].startswith(f"ragkpi: error: {other}: qrels.txt ")


def test_nothing_is_printed_if_every_run_is_bad(evaluate):
    found = evaluate("qrels.txt", "nosuch", "neither")
    assert (found.status, found.out) == (2, b"")
    assert len(found.err.splitlines()) == 2


def test_runs_are_called_after_files_or_run_ids(evaluate, tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.txt").write_text(f"hd-01 Q0 d 1 2 id-{folder}\n")
    paths = [tmp_path / folder / "run.txt" for folder in "ab"]
    assert list(rows(evaluate(*CSV, "qrels.txt", *paths))) == list(map(str, paths))
    by_id = evaluate(*CSV, "--names", "runid", "qrels.txt", *paths)
    assert list(rows(by_id)) == ["id-a", "id-b"]


def test_notes_are_said_once_for_all_runs_that_they_concern(evaluate):
    found = evaluate("-m", "bor.10", "qrels.txt", *ALL)
    assert found.err.count(b"lower bound") == 1
    assert found.err.count(b"hd-09") == 1
    assert b"missing from dense (hd-09)" in found.err


def test_the_corpus_is_counted_over_all_runs(evaluate, tmp_path):
    documents = set()
    for path in ("qrels.txt", *ALL):
        documents |= {line.split()[2] for line in (FIXTURES / path).read_text().splitlines()}
    counted = evaluate(*CSV, "-m", "bor.10", "qrels.txt", *ALL)
    given = evaluate(*CSV, "-m", "bor.10", "-N", len(documents), "qrels.txt", *ALL)
    assert counted.out == given.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--format", "xml", "qrels.txt", BM25],
            "--format: 'xml' is not one of 'trec', 'table'",
        ),
        (["--format", "trec", "qrels.txt", BM25, DENSE], "which of several runs"),
        (["qrels.txt", "-", "-"], "standard input can be read only once"),
        (["--fail-under-baseline", "-", "qrels.txt", "-"], "standard input"),
        (["--names", "rank", "qrels.txt", BM25], "--names: 'rank' is not one of 'file', 'runid'"),
        (["--seed", "3", "qrels.txt", BM25], "give --ci with it"),
        (["--ci-method", "percentile", "qrels.txt", BM25], "--ci-method percentile: "),
        (["--ci", "--ci-method", "normal", "qrels.txt", BM25], "--ci-method: 'normal' is not"),
        (["--ci", "--confidence", "95", "qrels.txt", BM25], "a share such as 0.95"),
        (["--meta", "a=b", "qrels.txt", BM25], "give --log FILE with it"),
        (["--margin", "1%", "qrels.txt", BM25], "give --fail-under-baseline RUN with it"),
        (["--fail-under", "ndcg", "qrels.txt", BM25], "expected NAME=NUMBER"),
        (["-m", "map", "--fail-under", "P_5=1", "qrels.txt", BM25], "ask for it with -m"),
        (["-o", "/nosuch/file", "qrels.txt", BM25], "/nosuch/file: cannot be written"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(evaluate, arguments, says):
    found = evaluate(*arguments)
    assert (found.status, found.out) == (UsageError.exit_status, b"")
    assert len([line for line in found.err.splitlines() if b"no relevant doc" not in line]) == 1
    assert says in found.err.decode()


def test_output_goes_to_a_file_that_is_replaced(evaluate, tmp_path):
    target = tmp_path / "out"
    for arguments in ((BM25,), ALL, ("--format", "latex", BM25)):
        target.write_text("old")
        found = evaluate("-m", "map", "-o", target, "qrels.txt", *arguments)
        assert (found.status, found.out) == (0, b"")
        shown = () if arguments is not ALL else ("--format", "table")
        assert target.read_bytes() == evaluate("-m", "map", "qrels.txt", *arguments, *shown).out
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("--m", "--measure"),
        ("--me", "--measure"),
        ("--l", "--level_for_rel"),
        ("--lev", "--level_for_rel"),
        ("--Num", "--Number_docs_in_coll"),
    ],
)
def test_abbreviations_mean_what_they_mean_to_trec_eval(evaluate, short, long):
    value = "map" if long == "--measure" else "2"
    files = ("qrels.txt", BM25)
    assert evaluate(short, value, *files).out == evaluate(long, value, *files).out
    assert evaluate("--c", "--n", "--q", *files).out == evaluate("-c", "-n", "-q", *files).out


def test_signature_is_a_line_or_a_note(evaluate):
    alone = evaluate("-m", "map", "-l", 2, "--signature", "qrels.txt", BM25).out.decode()
    assert alone.endswith("|qrels:c89ac13f|l:2|missing:intersection\n")
    alone = evaluate("-c", "-m", "map", "-l", 2, "--signature", "qrels.txt", BM25).out.decode()
    name, query, text = alone.splitlines()[-1].split("\t")
    assert (name, query) == ("signature".ljust(22), "all")
    assert text.endswith("|qrels:c89ac13f|l:2")
    several = ("--format", "table", "--signature", "qrels.txt", *ALL)
    assert text in evaluate("-m", "map", "-l", 2, *several).out.decode().splitlines()
    long = evaluate("-m", "map", "--signature-long", "qrels.txt", BM25).out.decode()
    assert "|l:1|missing:intersection|" in long


def test_one_run_in_trec_lines_imports_only_what_it_uses():
    code = (
        "import sys; from ragkpi.cli.program import main; main(sys.argv[1:]);"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    arguments = ["eval", "-q", "-m", "all_trec", "qrels.txt", BM25]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=FIXTURES,
        env={**os.environ, "PYTHONPATH": str(FIXTURES.parents[1])},
        capture_output=True,
        text=True,
    )
    unused = {
        *("rich", "scipy", "statistics"),
        *("ragkpi.measures.chance", "ragkpi.measures.evidence", "ragkpi.ranking.preferences"),
    }
    assert done.stdout
    assert not unused & set(done.stderr.split())


def test_stars_and_gates_are_over_all_judged_queries(evaluate, tmp_path):
    """dense lacks hd-09: over its eleven queries it beat fusion's twelve."""
    found = evaluate("-m", "map", "--format", "table", "qrels.txt", *ALL)
    missing = b"1 of 12 judged queries is missing from dense (hd-09) and counts as 0 (--common: "
    assert missing in found.err
    assert b"over 12 queries\n" in found.out
    best = [line.split()[0] for line in found.out.decode().splitlines() if "*" in line]
    assert best == ["fusion", "*"]
    lines = (FIXTURES / DENSE).read_text().splitlines(keepends=True)
    (tmp_path / "one.run").write_text("".join(line for line in lines if line.startswith("hd-01")))
    arguments = ("-m", "ndcg_cut.10", "qrels.txt", tmp_path / "one.run")
    assert b"11 of 12 judged queries" in evaluate(*arguments).err
    gated = evaluate("--fail-under", "ndcg_cut_10=0.55", *arguments)
    assert gated.status == 3
    assert b"ndcg_cut_10 is 0.0754872, below 0.55" in gated.err


def test_all_but_trec_evals_lines_count_a_missing_query_as_0(evaluate, ragkpi):
    """dense lacks hd-09 of twelve: lines have the mean of eleven, all else that of twelve."""
    lines = evaluate("-q", "-m", "P.10", "qrels.txt", DENSE)
    *queries, mean = [line.split()[2] for line in lines.out.splitlines()]
    found = sum(round(10 * float(value)) for value in queries)
    assert (len(queries), float(mean)) == (11, round(found / 110, 4))
    assert b"(hd-09) and left out" in lines.err
    expected = found / 120
    assert f"{expected:.4f}".encode() in evaluate("-c", "-m", "P.10", "qrels.txt", DENSE).out
    for form in ("csv", "table", "markdown", "latex", "json"):
        shown = evaluate("-m", "P.10", "--format", form, "--digits", 4, "qrels.txt", DENSE)
        assert f"{expected:.4f}" in shown.out.decode() or form == "json"
        assert b"missing from dense (hd-09) and counts as 0 (trec_eval leaves" in shown.err
    (run,) = json.loads(shown.out)["runs"]
    assert (run["values"]["P_10"], run["queries"]) == (pytest.approx(expected, abs=5e-5), 12)
    gated = evaluate("-m", "P.10", "--fail-under", f"P_10={expected + 1e-6}", "qrels.txt", DENSE)
    assert (gated.status, f"{expected:.4f}".encode() in gated.out) == (3, True)


def test_common_takes_the_queries_that_all_runs_have(evaluate):
    found = evaluate("--common", "-m", "map", "--format", "table", "qrels.txt", *ALL)
    assert b"over the 11 queries" in found.err
    assert b"over 11 queries\n" in found.out


def test_a_run_of_other_queries_is_no_list_of_empty_rankings(evaluate, tmp_path):
    (tmp_path / "other.run").write_text("x Q0 d 1 2 id\n")
    found = evaluate("-m", "map", "qrels.txt", tmp_path / "other.run", BM25)
    assert found.status == 7
    assert b"query ids" in found.err
    alone = evaluate("-m", "map", "--format", "csv", "qrels.txt", tmp_path / "other.run")
    assert (alone.status, alone.out) == (7, b"")
    assert b"--queries FILE with an id, a tab and a text on each line" in alone.err
    complete = evaluate("-c", "-m", "map", "qrels.txt", tmp_path / "other.run")
    assert (complete.status, complete.out) == (7, b"")
    assert b"--queries FILE" in complete.err


def test_ids_of_another_kind_are_warned_of(evaluate, tmp_path):
    """Passage ids that lost their "#n" printed 0.0000 and nothing else."""
    lines = (FIXTURES / DENSE).read_text().splitlines(keepends=True)
    (tmp_path / "run").write_text("".join(line.replace("#", "-") for line in lines))
    found = evaluate("-m", "P.5", "qrels.txt", tmp_path / "run")
    assert (found.status, trec_values(found.out)) == (0, {"P_5": "0.0000"})
    assert b"ragkpi: warning: none of the 220 documents " in found.err
    assert b"none of the" not in evaluate("-m", "P.5", "qrels.txt", BM25).err


def test_a_level_above_all_judged_ones_is_warned_of(evaluate):
    found = evaluate("-l", "9", "-m", "P.5", "qrels.txt", BM25)
    assert b"ragkpi: warning: no document is relevant: -l 9 " in found.err
    assert b" -l " not in evaluate("-l", "2", "-m", "P.5", "qrels.txt", BM25).err


def test_the_worst_queries_stand_first_in_a_table(evaluate):
    """Of bm25 hd-10, hd-11 and hd-12 have map 0, then hd-03 has the least."""
    found = evaluate("--worst", 4, "-m", "map", "--format", "table", "qrels.txt", BM25)
    lines = [line.split() for line in found.out.decode().splitlines()]
    assert [line[1] for line in lines[2:7]] == ["hd-10", "hd-11", "hd-12", "hd-03", "all"]
    assert "the worst 4 of 12 queries by map" in found.out.decode()
    trec = trec_values(evaluate("-m", "map", "qrels.txt", BM25).out)
    assert lines[6][2] == trec["map"]


@pytest.mark.parametrize(
    ("asked", "by"),
    [
        (("-m", "ndcg_cut.10,P.10"), "ndcg_cut_10"),
        (("-m", "P.10", "-m", "ndcg_cut.10"), "P_10"),
        (("-m", "P.20,10", "-m", "map"), "P_20"),
        (("-m", "num_q", "-m", "recip_rank", "-m", "map"), "recip_rank"),
        (("-m", "bor.10", "-m", "map", "-N", "5000"), "bor_10"),
        (("-m", "num_rel_ret", "-m", "map"), "num_rel_ret"),
        ((), "map"),  # the official ones begin with counts
    ],
)
def test_the_worst_queries_are_those_of_the_first_measure_that_was_typed(evaluate, asked, by):
    out = evaluate("--worst", 5, *asked, "qrels.txt", BM25, "--format", "csv").out
    assert len([line.split(",")[1] for line in out.decode().splitlines()[1:-1]]) == 5
    table = evaluate("--worst", 5, *asked, "qrels.txt", BM25, "--format", "table").out
    assert f"the worst 5 of 12 queries by {by}\n" in table.decode()


TYPED = ("-m", "ndcg_cut.20,10", "-m", "P.10,map", "-m", "P.5")
IN_ORDER = ["ndcg_cut_20", "ndcg_cut_10", "P_10", "map", "P_5"]


def test_columns_follow_what_was_typed(evaluate):
    for runs in ((BM25,), ALL):
        for more in ((), ("-q",), ("-q", "--ci")):
            out = evaluate(*TYPED, *more, "qrels.txt", *runs, "--format", "csv").out
            head = out.decode().splitlines()[0].split(",")
            assert [name for name in head if name in IN_ORDER] == IN_ORDER
    out = evaluate(*TYPED, "qrels.txt", BM25, "--format", "json").out
    assert list(json.loads(out)["runs"][0]["values"]) == IN_ORDER
    given = ("--measure-names", "given", "-m", "nDCG@10", "-m", "AP")
    out = evaluate(*given, "qrels.txt", BM25, "--format", "csv").out
    assert out.splitlines()[0] == b"run,nDCG@10,AP"


def test_defaults_and_nicknames_have_the_order_in_which_they_are_printed(evaluate):
    for asked in ((), ("-m", "set"), ("-m", "P")):
        lines = evaluate("-c", *asked, "qrels.txt", BM25).out.decode().splitlines()
        head = evaluate("-c", *asked, "qrels.txt", BM25, "--format", "csv").out.splitlines()[0]
        assert head.decode().split(",")[1:] == [line.split()[0] for line in lines]


def test_trec_lines_keep_their_order(evaluate):
    """That of trec_eval, whatever was typed, for each query and over all."""
    lines = evaluate("-q", *TYPED, "-m", "num_q", "qrels.txt", BM25).out.decode().splitlines()
    names = [line.split()[0] for line in lines]
    of_a_query = ["map", "P_5", "P_10", "ndcg_cut_10", "ndcg_cut_20"]
    assert names == of_a_query * 12 + ["num_q", *of_a_query]


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "qrels.txt", BM25, DENSE),
        ("holes", "qrels.txt", BM25, DENSE),
        ("zscores", "qrels.txt", BM25, DENSE),
        ("agree", "qrels.txt", "qrels.llm.txt", *ALL),
        ("calibrate", "--quality", "quality.tsv", "qrels.txt", "reranked.run"),
    ],
    ids=lambda command: command[0],
)
def test_rows_of_every_command_follow_what_was_typed(ragkpi, command):
    out = ragkpi(*command, *TYPED, "--format", "csv", folder=FIXTURES).out
    cells = [cell for line in out.decode().splitlines() for cell in line.split(",")[:2]]
    assert [name for name in dict.fromkeys(cells) if name in IN_ORDER] == IN_ORDER


def test_queries_are_sorted_by_a_measure(evaluate):
    found = evaluate("--worst", 12, "-m", "ndcg_cut.10", *CSV, "qrels.txt", *ALL)
    rows_ = [line.split(",") for line in found.out.decode().splitlines()[1:]]
    means = {}
    for _, query, value in rows_[:-3]:
        means.setdefault(query, []).append(float(value))
    ordered = [sum(values) / 3 for values in means.values()]
    assert len(ordered) == 12
    assert ordered == pytest.approx(sorted(ordered), abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--worst", "2", "--format", "trec"], "which queries are worst"),
        (["--worst", "0"], "--worst"),
    ],
)
def test_orders_that_cannot_be(evaluate, arguments, words):
    outcome = evaluate(*arguments, "qrels.txt", BM25)
    assert (outcome.status, outcome.out) == (1, b"")
    assert words in outcome.err.decode()
