"""The site: its reference is the registry, and its pages say what the commands do."""

import importlib.util
import re
from pathlib import Path

import pytest

from ragkpi.measures.registry import all_measures

ROOT = Path(__file__).parent.parent
MADE = ("measures.md", "example-report.html")  # by `make docs`


def hooks():
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("measure", all_measures().values(), ids=lambda measure: measure.name)
def test_every_measure_has_all_that_the_reference_shows(measure):
    summary, sections = hooks().parsed(measure.help)
    assert summary.endswith("."), summary
    assert set(sections) >= {"Range", "Source"}
    assert all(sections.values())


def test_the_reference_has_a_section_for_every_measure():
    heads = [line for line in hooks().reference() if line.startswith("## ")]
    assert [line.split()[1] for line in heads] == list(all_measures())


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists() or target in MADE, target


def test_exit_statuses_are_those_of_the_errors():
    from ragkpi import errors

    documented = set(
        map(int, re.findall(r"^\| (\d+) \|", (ROOT / "docs/exit-statuses.md").read_text(), re.M))
    )
    raised = {
        kind.exit_status
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.RagkpiError)
    }
    assert raised <= documented
