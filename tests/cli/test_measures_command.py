"""`ragkpi measures`: the registry, listed or explained."""

from ragkpi.measures.registry import NICKNAMES, REGISTRY


def test_every_measure_and_nickname_is_listed(ragkpi):
    outcome = ragkpi("measures")
    names = [line.split()[0] for line in outcome.out.decode().splitlines() if line]
    assert outcome.status == 0
    assert names == [*REGISTRY, "Nicknames", *NICKNAMES]


def test_every_measure_is_explained(ragkpi):
    text = ragkpi("measures", *REGISTRY).out.decode()
    for measure in REGISTRY.values():
        assert f"{measure.name}\n{measure.help}\nParameters:" in text


def test_a_nickname_is_explained_by_its_members(ragkpi):
    text = ragkpi("measures", "kpi").out.decode()
    explained = [block.splitlines()[0] for block in text.split("\n\n") if "Over queries:" in block]
    assert len(explained) == 5


def test_an_unknown_name_is_refused(ragkpi):
    outcome = ragkpi("measures", "mpa")
    assert (outcome.status, outcome.out) == (1, b"")
    assert b"did you mean map" in outcome.err
