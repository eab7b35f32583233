"""The worlds of the simulation run, its claims are recognised, and its page is complete."""

import math
from pathlib import Path

import pytest

from ragkpi.statistics.power import SHORT_OF_POWER, short_of_power
from tests.simulation.rates import Rates, lines_of, trials_of
from tests.simulation.studies import STUDIES

TABLES = [(study, table) for study in STUDIES for table in study.tables]
PAGE = Path(__file__).parents[2] / "docs" / "decisions.md"


@pytest.mark.parametrize(("study", "table"), TABLES, ids=[table.title for _, table in TABLES])
def test_a_world_has_an_outcome_by_column(study, table):
    (outcome,) = trials_of(study, table, next(iter(table.worlds)), range(1))
    assert set(table.columns) <= set(outcome)
    assert all(0 <= share <= 1 for share in outcome.values())


def test_what_is_there_is_found_once_at_least():
    """A sentence that the simulation no longer recognises would look like no false verdict."""
    for study, table in TABLES:
        for column in table.beside:
            world = next(iter(table.worlds))
            outcomes = trials_of(study, table, world, range(10))
            assert any(outcome[column] for outcome in outcomes), (study.heading, column)


def test_a_trial_is_always_the_same():
    study, table = TABLES[0]
    world = next(iter(table.worlds))
    assert trials_of(study, table, world, range(3, 5))[1:] == trials_of(
        study, table, world, range(4, 5)
    )


def test_rates_have_their_standard_errors_and_misses_are_bold():
    outcomes = [{"claim": True, "test": True}] * 2 + [{"claim": False, "test": True}] * 14
    table = Rates("noise", {"world": None}, ["claim", "test"], {"claim": 0.05})
    study = type(STUDIES[0])("made", "Rule.", [table])
    *_, row, _ = lines_of(study, {("noise", "world"): outcomes})
    # sqrt(1/8 * 7/8 / 16) = 0.0827: 12.5% is not above 5% by two of these.
    assert row == "| world | 12.5 ± 8.3 | 100.0 ± 0.0 |"
    table = Rates("power", {"world": None}, ["claim", "test"], beside={"claim": "test"})
    study = type(STUDIES[0])("made", "Rule.", [table])
    *_, row, _ = lines_of(study, {("power", "world"): outcomes})
    assert row == "| world | **12.5 ± 8.3** | 100.0 ± 0.0 |"


def test_a_table_that_is_not_run_again_keeps_its_rows():
    tables = [Rates(title, {"world": None}, ["claim"]) for title in ("first", "second", "new")]
    study = type(STUDIES[0])("made", "Rule.", tables)
    before = "Old rule.\n\n| first | claim |\n|---|---:|\n| world | 1.0 ± 0.1 |\n\n| second | x |"
    outcomes = {("second", "world"): [{"claim": True}] * 4}
    lines = list(lines_of(study, outcomes, before))
    assert lines[4:8] == ["| first | claim |", "|---|---:|", "| world | 1.0 ± 0.1 |", ""]
    assert lines[8:] == ["| second | claim |", "|---|---:|", "| world | 100.0 ± 0.0 |", ""]


def test_the_page_has_every_command_and_every_world():
    page = PAGE.read_text("utf-8")
    for study, table in TABLES:
        part = page.partition(f"## {study.heading}\n")[2].partition("\n## ")[0]
        assert f"| {table.title} |" in part
        assert all(f"| {world} |" in part for world in table.worlds)


@pytest.mark.parametrize("pilot", SHORT_OF_POWER)
def test_what_is_said_of_plans_is_what_the_simulation_finds(pilot):
    """`short_of_power` repeats what was simulated: within four standard errors."""
    study, table = next((s, t) for s, t in TABLES if t.title == "a power below 70%")
    for shape, said in short_of_power(pilot).items():
        outcomes = trials_of(study, table, f"pilot of {pilot} queries, {shape}", range(150))
        share = sum(one["by the bound"] for one in outcomes) / 150
        assert abs(share - said) <= 4 * math.sqrt(max(said, 0.01) * (1 - said) / 150)
