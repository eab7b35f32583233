"""Levels in a list of their own are not passed over, and no advice goes in circles."""

import pytest

RUN = "q Q0 a 1 2 t\nq Q0 b 2 1 t\n"

LISTS = ["judgments", "relevant_ids", "gold_ids", "ground_truth_docs", "expectedChunks"]


@pytest.mark.parametrize("ids", LISTS)
@pytest.mark.parametrize("name", ["levels", "relevance", "grades", "labels", "scores"])
def test_levels_beside_a_list_of_ids_are_theirs(ids, name, ragkpi, tmp_path):
    (tmp_path / "run").write_text(RUN)
    for levels, expected in (("[1, 1.0]", b"1.0000"), ("[0, 2]", b"0.5000")):
        record = f'{{"query_id": "q", "{ids}": ["a", "b"], "{name}": {levels}}}\n'
        (tmp_path / "gold.jsonl").write_text(record)
        for mapped in ((), ("--map-qrels", f"list={ids}")):
            outcome = ragkpi("eval", "-m", "P.2", *mapped, "gold.jsonl", "run", folder=tmp_path)
            assert outcome.out.split()[2:] == [expected], outcome.err
    (tmp_path / "gold.jsonl").write_text(record.replace("[0, 2]", "[2]"))
    outcome = ragkpi("eval", "-m", "P.2", "gold.jsonl", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")


@pytest.mark.parametrize(
    "words",
    [
        ["agree", "run.json", "gold.json"],
        ["eval", "gold.json", "run.json", "--gains", "run.txt"],
        ["correct", "run.txt", "gold.json", "run.json"],
    ],
)
def test_no_exchange_is_advised_that_is_refused_too(words, ragkpi, tmp_path):
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "gold.json").write_text('{"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 1}}')
    (tmp_path / "run.json").write_text('{"q": {"a": 0.5, "b": 0.25}, "r": {"a": 0.5, "b": 0.7}}')
    outcome = ragkpi(*words, folder=tmp_path)
    assert outcome.status == 2
    assert b"swapped" not in outcome.err


@pytest.mark.parametrize("gold", LISTS)
def test_an_evaluation_set_is_gold_and_run(gold, ragkpi, tmp_path):
    """Passages beside the list of what should have been retrieved, as people write them."""
    (tmp_path / "set.json").write_text(
        f'[{{"question": "q", "{gold}": ["b"], "retrieved": [{{"id": "a"}}, {{"id": "b"}}]}}]'
    )
    outcome = ragkpi("eval", "-m", "recip_rank", "set.json", "set.json", folder=tmp_path)
    assert outcome.out.decode().split() == ["recip_rank", "all", "0.5000"]
