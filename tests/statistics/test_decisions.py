"""Decisions that are made again on resamples, by hand."""

from ragkpi.statistics.decisions import DECIDED, decide


def test_a_decision_needs_nine_tenths_of_the_resamples():
    assert DECIDED == 0.9
    decision = decide(38, [38] * 9 + [4])
    assert (decision.choice, decision.share, decision.decided) == (38, 0.9, True)
    decision = decide(38, [38] * 7 + [4] * 2 + [3])
    assert (decision.share, decision.decided) == (0.7, False)
    assert decision.shares == {38: 0.7, 4: 0.2, 3: 0.1}


def test_nothing_is_decided_without_resamples():
    decision = decide("retriever", [])
    assert (decision.share, decision.decided) == (0.0, False)


def test_a_choice_that_no_resample_makes_is_undecided():
    decision = decide("a", ["b"] * 10)
    assert (decision.share, decision.decided) == (0.0, False)
