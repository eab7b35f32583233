"""Golden cases of trec_eval over qrels, through the twin's reading and ragkpi's measures."""

from pathlib import Path

import pytest

from ragkpi.errors import UsageError
from tests.twin.command import run_case

GOLDEN = Path("/work/shared/golden")
pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden cases here")

# Cases of same/ in which trec_eval divides 0 by 0. The specification's defect B2 and the cases
# m07 and p18 of differs/ say that ragkpi prints 0 there, so only the other lines can be the same.
ZERO_BY_ZERO = ("n03_neg_J", "p16_ndcg_negative_gain")
AS_PRINTED = (
    *("e04_underscore_param", "e17_qrels_blank_line", "i07_bom_in_run", "m01_missing_no_c"),
    *("m02_missing_no_c_partial", "p24_repeat_first_wins"),
)
REFUSED = (
    *("differs/p19_gain_unjudged", "differs/p26_nick_plus_params", "errors/e03_bad_measure"),
    *("errors/e05_empty_param", "errors/e06_dup_cutoffs", "errors/e07_zero_cutoff"),
    *("errors/e08_bad_pair", "errors/e09_rbp_number"),
)


def of_num_rel_summary(name, query):
    return (name, query) == (b"num_rel", b"all")


def of_fake_document(name, query):
    return name.startswith((b"utility_", b"rbp_resid_", b"relstring_")) and query in (
        *(b"10", b"q-3", b"all"),
    )


# Where ragkpi prints other numbers on purpose: which lines those are, besides those with nan.
OTHER_LINES = {
    "same/n03_neg_J": None,
    "same/p16_ndcg_negative_gain": None,
    "differs/g12_M0_nan": None,
    "differs/m07_q_c_J_M": None,
    "differs/p18_zero_gains_nan": None,
    "differs/b06_graded_l3_c": of_num_rel_summary,
    "differs/g06_l2_c": of_num_rel_summary,
    "differs/m06_q_c_l2": of_num_rel_summary,
    "differs/m08_q_c_param_leftovers": of_fake_document,
}


def same_cases():
    """All cases that read qrels and print values as they are."""
    for folder in sorted(GOLDEN.glob("same/*")):
        words = (folder / "cmd").read_text().split()
        if "-R" not in words and "-Z" not in words and folder.name not in ZERO_BY_ZERO:
            yield folder.name


@pytest.mark.parametrize("name", list(same_cases()))
@pytest.mark.filterwarnings("ignore::ragkpi.errors.RagkpiWarning")
def test_same(name):
    folder = GOLDEN / "same" / name
    assert run_case(folder) == (folder / "expected").read_bytes()


@pytest.mark.parametrize("name", AS_PRINTED)
def test_differs_as_printed(name):
    folder = GOLDEN / "differs" / name
    assert run_case(folder) == (folder / "expected").read_bytes()


@pytest.mark.parametrize("case", OTHER_LINES)
def test_differs_in_few_lines(case):
    theirs = next(GOLDEN.glob(f"{case}/expected"), GOLDEN / case / "trec_eval_10").read_bytes()
    lines, printed = theirs.splitlines(), run_case(GOLDEN / case).splitlines()
    other = OTHER_LINES[case] or (lambda name, query: False)
    alike = [
        place
        for place, (name, query, value) in enumerate(line.split(b"\t") for line in lines)
        if value != b"  -nan" and not other(name.strip(), query)
    ]
    assert 0 < len(alike) < len(lines) == len(printed)
    assert [printed[place] for place in alike] == [lines[place] for place in alike]
    assert not any(b"nan" in line or b"NA" in line for line in printed)


def test_differs_for_a_first_query_without_judgements():
    assert run_case(GOLDEN / "differs" / "n04_neg_first_query") == b"map".ljust(22) + (
        b"\tall\t0.5000\n"
    )


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    with pytest.raises(UsageError):
        run_case(GOLDEN / case)
