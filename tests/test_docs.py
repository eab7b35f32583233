"""The site: its reference is the registry, and its pages say what the commands do."""

import html
import importlib.util
import re
from pathlib import Path

import pytest
from typer import Typer
from typer.main import get_command

from ragkpi.cli.app import COMMANDS, command_of
from ragkpi.measures.registry import all_measures

ROOT = Path(__file__).parent.parent
MADE = ("measures.md", "commands.md", "api.md", "example-report.html")  # by `make docs`


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
    pages = hooks().reference().values()
    heads = [line for lines in pages for line in lines if line.startswith("## ")]
    assert sorted(line.split()[1] for line in heads) == sorted(all_measures())


def test_the_reference_has_an_example_of_every_measure_of_plain_qrels():
    text = "\n".join(line for lines in hooks().reference().values() for line in lines)
    for name, measure in all_measures().items():
        if measure.reads == "qrels" and measure.numeric:
            section = text.partition(f"{{ #{name} }}")[2].partition("\n## ")[0]
            assert re.search(rf"`{name}\S* -?[\d.e+-]+`", section), name


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page):
    """The fragments that the headings of a page make."""
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target, fragment in re.findall(r"\]\(([^)#:]+)(?:#([^)]*))?\)", page.read_text("utf-8")):
        if Path(target).name in MADE:
            continue
        assert (page.parent / target).exists(), target
        assert not fragment or fragment in anchors(page.parent / target), f"{target}#{fragment}"


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/architecture.md", "tests/README.md"])
def test_what_pages_say_of_the_code_is_there(page):
    for path in re.findall(r"`([\w.-]+/[\w./-]*|\w+\.py)`", (ROOT / page).read_text("utf-8")):
        roots = (ROOT, ROOT / "ragkpi", ROOT / "tests")
        assert any((root / path).exists() for root in roots), path


def test_every_page_is_in_the_navigation():
    named = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    written = {str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]}
    assert named == written | {*hooks().reference(), "commands.md", "api.md"}


def test_the_command_reference_has_every_option():
    text = "\n".join(hooks().commands())
    for name in COMMANDS:
        section = text.partition(f"{{ #{name} }}")[2].partition("\n## ")[0]
        app = Typer(add_completion=False)
        app.command(name)(command_of(name))
        for option in get_command(app).params:
            if option.param_type_name == "option" and option.name != "help":
                assert f"`{option.opts[-1]}`" in section, (name, option.opts)


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


def test_a_copied_block_is_its_commands_alone():
    block = '<div class="language-{} highlight"><pre><span></span><code>{}</code></pre></div>'
    console = block.format(
        "console", '<span class="gp">$ </span>a &lt;b&gt; \\\n  -c\nan output\n$ d "e"\n'
    )
    python = block.format("python", "&gt;&gt;&gt; for x in y:\n...     print(x)\n1\n")
    plain = block.format("text", "pip install ragkpi\n")
    page = hooks().on_page_content(console + python + plain)
    copied = [html.unescape(text) for text in re.findall('data-copy="([^"]*)"', page)]
    assert copied == ['a <b> \\\n  -c\nd "e"', "for x in y:\n    print(x)"]
