"""Whole outputs, byte for byte: tests/golden/README.md says what the folders mean."""

import re
import shlex
from pathlib import Path

import pytest

from ragkpi import __version__

GOLDEN = Path(__file__).parent / "golden"

# Where ragkpi's exit status is not trec_eval's: parameters and format names are usage errors,
# and a file is a file.
OWN_STATUS = {
    "e06_dup_cutoffs": 1,
    "e07_zero_cutoff": 1,
    "e08_bad_pair": 1,
    "e09_rbp_number": 1,
    "e13_bad_R": 1,
    "z02_zscores_missing_file": 2,
    "z03_zscores_malformed": 2,
}


def cases(kind):
    folders = sorted([*GOLDEN.glob(f"{kind}/*"), *GOLDEN.glob(f"own/{kind}/*")])
    return [pytest.param(folder, id=folder.name) for folder in folders]


@pytest.fixture
def evaluate(ragkpi, reader):
    """Run the command of a case where its files are."""

    def run(case):
        stdin = case / "stdin"
        arguments = shlex.split((case / "cmd").read_text())
        return ragkpi(
            "eval", *arguments, folder=case, stdin=stdin.read_bytes() if stdin.exists() else b""
        )

    return run


@pytest.mark.parametrize("case", cases("same"))
def test_prints_what_trec_eval_prints(case, evaluate):
    outcome = evaluate(case)
    assert outcome.out == (case / "expected").read_bytes()
    assert outcome.status == 0


@pytest.mark.parametrize("case", cases("errors"))
def test_refuses_in_one_line(case, evaluate):
    outcome = evaluate(case)
    assert_refused(outcome)
    assert outcome.status == OWN_STATUS.get(case.name, int((case / "exit").read_text()))
    for words in (case / "says").read_text().splitlines():
        assert words in outcome.err.decode()


@pytest.mark.parametrize("case", cases("differs"))
def test_differs_where_it_means_to(case, evaluate):
    outcome = evaluate(case)
    expected = case / "expected"
    if expected.exists():
        assert outcome.out == expected.read_bytes()
        assert outcome.status == 0
    else:
        DIFFERS[case.name](case, outcome)


@pytest.mark.skipif(not GOLDEN.exists(), reason="the source distribution leaves them out")
def test_every_difference_is_checked():
    unchecked = {
        folder.name
        for folder in [*GOLDEN.glob("differs/*"), *GOLDEN.glob("own/differs/*")]
        if not (folder / "expected").exists()
    }
    assert unchecked == set(DIFFERS)


def assert_refused(outcome):
    assert outcome.out == b""
    assert outcome.status != 0
    assert re.fullmatch(rb"[^\n]+\n", outcome.err), "exactly one line on stderr"
    assert b"Traceback" not in outcome.err


def refuses(status, *said):
    """Check that nothing is evaluated, and that the reason names what is wrong."""

    def check(case, outcome):
        assert_refused(outcome)
        assert outcome.status == status
        for words in said:
            assert words in outcome.err.decode()

    return check


def prints(corrected, nan=None):
    """Check for trec_eval's output with the values of some lines ("NAME QUERY") corrected.

    `nan` is the correction of every nan that `corrected` does not list.
    """

    def check(case, outcome):
        unused = set(corrected)
        lines = []
        for line in (case / "trec_eval_10").read_text("utf-8").splitlines():
            name, query, value = line.split("\t")
            key = f"{name.rstrip()} {query}"
            if key in corrected:
                unused.remove(key)
                value = corrected[key]
            elif value.endswith("nan"):
                value = nan
            lines.append(f"{name}\t{query}\t{value}\n")
        assert not unused
        assert outcome.out.decode() == "".join(lines)
        assert outcome.status == 0

    return check


def prints_exactly(text):
    def check(case, outcome):
        assert outcome.out == text.encode()
        assert outcome.status == 0

    return check


# The checks of those cases in which no file holds the expected output; `WHY` says why.
DIFFERS = {
    # Judgements of at least the level, counted with `awk '$4 >= l' qrels | wc -l`.
    "b06_graded_l3_c": prints({"num_rel all": "228"}),
    "g06_l2_c": prints({"num_rel all": "36"}),
    "m06_q_c_l2": prints({"num_rel all": "36"}),
    "e20_run_dup_beyond_M": refuses(4, "run", "q2", "d1"),
    "e21_run_dup_num_q_only": refuses(4, "run", "q2", "d1"),
    "e25_version": prints_exactly(f"ragkpi {__version__}\n"),
    "g09_l_minus1": refuses(1, "-l", "-1"),
    "g12_M0_nan": prints({}, nan="0.0000"),
    # The means are trec_eval's after each empty ranking was given one document judged 0,
    # which makes both measures 0 there.
    "m07_q_c_J_M": prints(
        {"iprec_at_recall_0.00 all": "0.5625", "11pt_avg all": "0.1359"}, nan="0.0000"
    ),
    # Two of eight queries are missing: the mean of utility rises by 2/8, that of rbp_resid
    # falls by 2/8.
    "m08_q_c_param_leftovers": prints(
        {
            "relstring_5 10": "''",
            "relstring_5 q-3": "''",
            "utility_1,-1,0,0 10": "0.0000",
            "utility_1,-1,0,0 q-3": "0.0000",
            "utility_1,-1,0,0 all": "-10.6250",
            "rbp_resid_p=0.5 10": "0.0000",
            "rbp_resid_p=0.5 q-3": "0.0000",
            "rbp_resid_p=0.5 all": "0.6493",
        }
    ),
    # As with m07, the means are trec_eval's when the empty ranking has one document judged 0.
    "n03_neg_J": prints(
        {
            **{f"iprec_at_recall_0.{tenth}0 all": "0.5556" for tenth in range(5)},
            **{f"iprec_at_recall_0.{tenth}0 all": "0.4722" for tenth in range(5, 10)},
            "iprec_at_recall_1.00 all": "0.4722",
            "11pt_avg all": "0.5101",
        },
        nan="0.0000",
    ),
    # n1 has nothing relevant and scores 0, n2 scores 1.
    "n04_neg_first_query": prints_exactly(f"{'map':<22}\tall\t0.5000\n"),
    # The mean of the eight lines with 0 for a1.
    "p16_ndcg_negative_gain": prints({"Rndcg_1=-3 all": "-0.0758"}, nan="0.0000"),
    # ndcg does not change when all gains are multiplied by ten: trec_eval's ndcg.1=2,2=4,3=9.
    "p17_ndcg_fractional_gains": prints(
        {
            "ndcg_1=.2,2=.4,3=.9 10": "0.4378",
            "ndcg_1=.2,2=.4,3=.9 100": "0.0345",
            "ndcg_1=.2,2=.4,3=.9 9": "0.1904",
            "ndcg_1=.2,2=.4,3=.9 A1": "0.0270",
            "ndcg_1=.2,2=.4,3=.9 a1": "0.3673",
            "ndcg_1=.2,2=.4,3=.9 q-3": "0.2336",
            "ndcg_1=.2,2=.4,3=.9 日本": "0.2765",
            "ndcg_1=.2,2=.4,3=.9 all": "0.1959",
        }
    ),
    "p18_zero_gains_nan": prints({}, nan="0.0000"),
    "p19_gain_unjudged": refuses(1, "ndcg", "-1"),
    "p26_nick_plus_params": refuses(1, "official.7", "nickname", "recip_rank"),
    "s02_stdin_dashname": refuses(2, "-anything"),
    # Levels must be decimal too, and the judgements are read first: own/errors/scores_not_decimal
    # has the same run with judgements that can be read.
    "t03_number_formats": refuses(2, "qrels:3: ", "1.9"),
    "t04_nan_scores_glibc_only": refuses(2, "run:1: ", "nan"),
}
