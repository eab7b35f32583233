"""A snapshot of each format, from the fixtures through the command.

The numbers in them are those of trec_eval's lines, which tests/golden holds against trec_eval.
"""

import hashlib
import json

import pytest

from ragkpi import __version__
from ragkpi.reports.renderers import REPORT_FORMATS
from tests.cli.commandline import BM25, FIXTURES, FUSION, MEASURES, trec_values
from tests.published_schema import SCHEMA, valid_document, valid_lines
from tests.reports.test_formats import JUNIT

SIGNATURE = (
    f"ragkpi:{__version__}|qrels:sha256:"
    "c89ac13f17fbbd59f28c2448b896a1075bfcc1d9da9123d1db1c73fb773801a6|N:5000|l:1"
    "|missing:zero|unjudged:kept|M:all|ties:id|query:all|draws:nominal"
)

QUERIES = hashlib.sha256(b"\n".join(b"hd-%02d" % n for n in range(1, 13))).hexdigest()


def file_of(path):
    digest = hashlib.sha256((FIXTURES / path).read_bytes()).hexdigest()
    return f'{{{{"path": "{path}", "sha256": "{digest}"}}}}'


SNAPSHOTS = {
    "github": """\
<details><summary>Table</summary>

| run | map | num_ret | bor_10 |
| :--- | ---: | ---: | ---: |
| bm25 | {b[map]} | {b[num_ret]} | {b[bor_10]} |
| fusion | **{f[map]}** | {f[num_ret]} | **{f[bor_10]}** |

</details>

over 12 queries

""",
    "table": """\
run          map   num_ret    bor_10
────────────────────────────────────
bm25      {b[map]}       {b[num_ret]}    {b[bor_10]}
fusion   {f[map]}*       {f[num_ret]}   {f[bor_10]}*
over 12 queries
* best of its column
""",
    "csv": """\
run,map,num_ret,bor_10
bm25,{b[map]},{b[num_ret]},{b[bor_10]}
fusion,{f[map]},{f[num_ret]},{f[bor_10]}
""",
    "tsv": """\
run	map	num_ret	bor_10
bm25	{b[map]}	{b[num_ret]}	{b[bor_10]}
fusion	{f[map]}	{f[num_ret]}	{f[bor_10]}
""",
    "markdown": """\
| run | map | num_ret | bor_10 |
| :--- | ---: | ---: | ---: |
| bm25 | {b[map]} | {b[num_ret]} | {b[bor_10]} |
| fusion | **{f[map]}** | {f[num_ret]} | **{f[bor_10]}** |

over 12 queries
""",
    "latex": r"""\begin{{tabular}}{{lrrr}}
\toprule
run & map & num\_ret & bor\_10 \\
\midrule
bm25 & {b[map]} & {b[num_ret]} & {b[bor_10]} \\
fusion & \textbf{{\boldmath {f[map]}}} & {f[num_ret]} & \textbf{{\boldmath {f[bor_10]}}} \\
\bottomrule
\end{{tabular}}
% over 12 queries
""",
    "jsonl": "".join(
        f'{{{{"ragkpi": "{__version__}", "kind": "run", "name": "{name}", "run_id": "{name}", '
        f'"signature": "{SIGNATURE}", "queries": 12, "queries_sha256": "{QUERIES}", '
        f'"values": {{{{"map": {{{key}[map]}}, "num_ret": {{{key}[num_ret]}}, '
        f'"bor_10": {{{key}[bor_10]}}}}}}, "known": {{{{"map": 12, "num_ret": 12, "bor_10": 11}}}}'
        f', "files": {{{{"qrels": {file_of("qrels.txt")}, "run": {file_of(run)}}}}}'
        "}}\n"
        for name, key, run in (("bm25", "b", BM25), ("fusion", "f", FUSION))
    ),
}


SNAPSHOTS["junit"] = JUNIT.format(SNAPSHOTS["table"])


@pytest.fixture
def evaluate(ragkpi):
    def run(*arguments):
        outcome = ragkpi("eval", *MEASURES, *arguments, folder=FIXTURES)
        assert outcome.status == 0
        return outcome.out

    return run


def test_snapshots(evaluate):
    b, f = (trec_values(evaluate("qrels.txt", run)) for run in (BM25, FUSION))
    assert set(SNAPSHOTS) | {"json"} == set(REPORT_FORMATS)
    for form, expected in SNAPSHOTS.items():
        out = evaluate("--format", form, "--digits", 4, "qrels.txt", BM25, FUSION)
        assert out.decode() == expected.format(b=b, f=f), form


def test_plain_rows_are_what_several_runs_print_into_a_pipe(evaluate):
    files = ("qrels.txt", BM25, FUSION)
    assert evaluate(*files) == evaluate("--format", "tsv", *files)


def test_trec_lines_may_be_asked_for(evaluate):
    assert evaluate("--format", "trec", "qrels.txt", BM25) == evaluate("qrels.txt", BM25)


@pytest.mark.parametrize("more", [(), ("-q",), ("-q", "--ci"), ("--digits", 2)], ids=str)
def test_json_is_valid_and_says_what_trec_lines_say(evaluate, more):
    document = valid_document(evaluate("--format", "json", *more, "qrels.txt", BM25, FUSION))
    assert valid_lines(evaluate("--format", "jsonl", *more, "qrels.txt", BM25, FUSION))
    digits = 2 if "--digits" in more else 4
    for path, run in zip((BM25, FUSION), document["runs"], strict=True):
        lines = evaluate("-q", "--digits", digits, "qrels.txt", path)
        for query, values in [("all", run["values"]), *run.get("per_query", {}).items()]:
            assert written(values, digits) == trec_values(lines, query)
        assert run["signature"] == SIGNATURE
    if "-q" in more:
        assert document["runs"][0]["per_query"]["hd-11"]["bor_10"] is None


def written(values, digits):
    return {
        name: "NA"
        if value is None
        else str(value)
        if isinstance(value, str | int)
        else f"{value:.{digits}f}"
        for name, value in values.items()
    }


def test_the_schema_is_printed(ragkpi):
    assert json.loads(ragkpi("schema").out) == SCHEMA


def test_z_scores_have_names_of_their_own(ragkpi, tmp_path):
    (tmp_path / "norms").write_bytes(
        ragkpi("zscores", "-m", "map", "qrels.txt", BM25, FUSION, folder=FIXTURES).out
    )
    arguments = ("-m", "map", "-m", "runid", "-Z", tmp_path / "norms", "qrels.txt")
    one, two = (ragkpi("eval", *arguments, run, folder=FIXTURES) for run in (BM25, FUSION))
    table = ragkpi("eval", "--format", "csv", *arguments, BM25, FUSION, folder=FIXTURES)
    head, *rows = [line.split(",") for line in table.out.decode().splitlines()]
    assert head == ["run", "Zmap", "runid"]
    for outcome, row in zip((one, two), rows, strict=True):
        expected = trec_values(outcome.out)
        assert [f"{float(row[1]):.4f}", row[2]] == [expected["Zmap"], expected["runid"]]
