"""What systems for continuous integration read: GitHub's workflow commands, JUnit's XML."""

import re
from xml.etree import ElementTree

import pytest

from ragkpi.reports.layout import Cell, Check, Column, Layout, Table
from ragkpi.reports.renderers import write_github, write_junit

HOSTILE = [
    "a,b:c%d",
    "::error::forged",
    "  ::add-mask::x",
    "##[add-mask]x",
    "line\n::error::next",
    "return\r::error::next",
    "--> <script>",
    'q"&<]]>',
    "\x00\x1b[2J\udcff\ufffe",
    "100%25",
]


class Made:
    """A report of a row and a failed check, whose every text is the same."""

    def __init__(self, text):
        checks = [
            Check(text, "error", text, text, 3),
            Check(text, "warning", text),
            Check(text, "passed", text),
        ]
        self.made = Table(
            [Column(text)], [[Cell(text)]], [text], verdict=[text], below=[text], checks=checks
        )

    def table(self, layout):
        return self.made


def commands(log):
    """Read workflow commands as the runner does: (name, properties, message) of each line.

    https://github.com/actions/runner, ActionCommand.TryParseV2 and its table of escapes.
    """
    for line in re.split("[\n\r]", log):
        assert "##[" not in line or line.startswith("::"), "the older spelling, anywhere in a line"
        if not line.lstrip().startswith("::"):
            continue
        head, message = line.lstrip()[2:].split("::", 1)
        name, _, properties = head.partition(" ")
        pairs = (pair.split("=", 1) for pair in properties.split(",") if pair)
        yield name, {key: unescaped(value, ":,") for key, value in pairs}, unescaped(message)


def unescaped(text, of_properties=""):
    for character in f"\r\n{of_properties}%":
        text = text.replace(f"%{ord(character):02X}", character)
    return text


@pytest.mark.parametrize("text", HOSTILE)
def test_the_runner_reads_the_checks_that_did_not_pass_and_nothing_else(text):
    page = "".join(write_github(Made(text), Layout()))
    (error, warning) = commands(page)
    assert [error[0], warning[0]] == ["error", "warning"]
    assert list(error[1]) == ["file", "line", "title"]
    assert list(warning[1]) == ["title"]
    assert error[1]["title"] == f"ragkpi: {error[2]}"
    assert error[1]["file"] == error[2] == warning[2]
    if text.isprintable() and "-->" not in text:
        assert error[2] == text


@pytest.mark.parametrize("text", HOSTILE)
def test_the_commands_are_a_comment_of_the_page(text):
    page = "".join(write_github(Made(text), Layout()))
    comment, end, shown = page.partition("-->")
    assert (comment[:4], end) == ("<!--", "-->")
    assert comment.count("\n::") == 2
    assert not re.search(r"(?m)^\s*::", shown)
    assert re.findall("(?<!\\\\)<[^>]*>", shown) == [
        *("<details>", "<summary>", "</summary>", "</details>")
    ]


def test_a_page_without_checks_has_no_comment():
    class Plain:
        def table(self, layout):
            return Table([Column("x")], [[Cell("y")]])

    assert "".join(write_github(Plain(), Layout())).startswith("<details>")
    suite = ElementTree.fromstring("".join(write_junit(Plain(), Layout())))
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


@pytest.mark.parametrize("text", HOSTILE)
def test_xml_is_well_formed_and_says_what_was_checked(text):
    octets = "".join(write_junit(Made(text), Layout())).encode("utf-8")
    suite = ElementTree.fromstring(octets)
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    failed, warned, passed = suite.iterfind("testcase")
    assert failed.get("line") == "3"
    assert failed.get("file") == failed.get("name") == failed.find("failure").get("message")
    assert warned.findtext("system-out") == f"warning: {failed.get('name')}"
    assert passed.findtext("system-out") == failed.get("name")
    if text.isprintable():
        assert failed.get("name") == text


def test_findings_are_annotated_at_their_first_line(ragkpi, tmp_path):
    (tmp_path / "run").write_text("q Q0 a 1 2 me\nq Q0 b 2 nan me\nq Q0 c 3 nan me\n")
    found = ragkpi("check", "--format", "github", "run", folder=tmp_path)
    assert found.status == 3
    (command,) = (one for one in commands(found.out.decode()) if one[0] == "error")
    assert command[1] == {"file": "run", "line": "2", "title": "ragkpi: unreadable"}
    written = ragkpi("check", "-o", "out.xml", "run", folder=tmp_path)
    assert (written.status, written.out) == (3, b"")
    (case,) = ElementTree.parse(tmp_path / "out.xml").iterfind("testcase[failure]")
    assert (case.get("file"), case.get("line"), case.get("name")) == ("run", "2", "unreadable")


def test_gates_are_checks(ragkpi, tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 b 1 2 me\nq Q0 a 2 1 me\n")
    limits = ("--fail-under", "recip_rank=0.6", "--fail-under", "recip_rank=0.4")
    line = ("eval", "-m", "recip_rank", *limits, "qrels", "run")
    missed = ragkpi(*line, "--format", "github", folder=tmp_path)
    assert missed.status == 3
    ((name, properties, message),) = commands(missed.out.decode())
    assert (name, properties) == ("error", {"title": "ragkpi: recip_rank of run against 0.6"})
    assert "below 0.6" in message
    suite = ElementTree.fromstring(ragkpi(*line, "--format", "junit", folder=tmp_path).out)
    failures = [case.find("failure") is not None for case in suite.iterfind("testcase")]
    assert failures == [True, False]
    assert suite.findall("testcase")[1].findtext("system-out").startswith("gate passed: run: ")


def test_gates_of_a_comparison_are_checks(ragkpi, tmp_path):
    ids = [f"q{number}" for number in range(8)]
    (tmp_path / "qrels").write_text("".join(f"{id_} 0 a 1\n" for id_ in ids))
    for name, ranked in {"good": "ab", "bad": "ba"}.items():
        lines = (
            f"{id_} Q0 {d} 1 {9 - place} me\n" for id_ in ids for place, d in enumerate(ranked)
        )
        (tmp_path / name).write_text("".join(lines))
    line = ("compare", "--fail-if", "worse", "-m", "recip_rank", "qrels", "good", "bad")
    missed = ragkpi(*line, "--format", "github", folder=tmp_path)
    assert missed.status == 3
    ((name, properties, _),) = commands(missed.out.decode())
    assert (name, properties) == ("error", {"title": "ragkpi: recip_rank of bad against good"})
