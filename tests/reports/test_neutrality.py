"""Nothing that a file holds moves a terminal, forges a line, or lives in another program."""

import json
import re

import pytest

from ragkpi.reports.layout import Cell, Column, Layout, Table
from ragkpi.reports.renderers import (
    REPORT_FORMATS,
    dump,
    rendered,
    write_markdown,
)
from ragkpi.wording import visible

FORGED = "q\nmap                   \tall\t0.9999"
QRELS = {FORGED: {"d": 1}, "b\x1b[2J": {"d": 1}}


class Names(list):
    """A report of a column of texts."""

    def table(self, layout):
        return Table([Column("name")], [[Cell(name)] for name in self])


def test_an_id_does_not_forge_a_line_of_trec_eval(ragkpi, tmp_path):
    (tmp_path / "qrels").write_text(json.dumps(QRELS))
    (tmp_path / "run").write_text(json.dumps({query: {"x": 2, "d": 1} for query in QRELS}))
    found = ragkpi("eval", "-q", "-m", "map", "qrels", "run", folder=tmp_path)
    lines = [line.split(b"\t") for line in found.out.splitlines()]
    assert [line[2] for line in lines] == [b"0.5000"] * 3
    assert lines[1][1] == b"q\\x0amap" + b"\\x20" * 19 + b"\\x09all\\x090.9999"
    assert lines[0][1] == b"b\x1b[2J"  # the bytes of the file, for programs


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", "q\x1b[2J", "no\x1b]0;x\x07"),
        ("eval", "-m", "map\x1b[31m", "q", "r"),
        ("convert", "no\nragkpi: done", "x.csv"),
        ("ev\x1b[2Jal",),
    ],
)
def test_arguments_do_not_move_the_terminal(ragkpi, tmp_path, arguments):
    found = ragkpi(*arguments, folder=tmp_path)
    assert found.status in (1, 2)
    assert found.err.count(b"\n") == 1
    assert not any(byte < 32 or byte == 127 for byte in found.err[:-1])


def test_notes_name_ids_visibly(ragkpi, tmp_path):
    (tmp_path / "qrels").write_text(json.dumps({"q": {"d": 1}}))
    (tmp_path / "run").write_text(
        json.dumps({"q": {"d": 1.5}, FORGED: {"d": 1.5}, "\x1b[2J": {"d": 1.5}})
    )
    found = ragkpi("eval", "-m", "map", "qrels", "run", folder=tmp_path)
    assert found.err.count(b"\n") == 1
    assert b"\x1b" not in found.err
    assert b"\\x1b[2J" in found.err


def test_marks_of_direction_are_shown():
    assert visible("a\u202eb\u2028c\u2066d") == r"a\u202eb\u2028c\u2066d"
    assert visible("שלום 中 é") == "שלום 中 é"


HIDDEN = "a\x1b[31mb\u202ec"
FOR_PROGRAMS = {"json", "jsonl", "csv", "tsv"}  # which keep the characters of a file


class HiddenEverywhere:
    """A report with hidden characters in every text that it has."""

    def table(self, layout):
        column = Column(HIDDEN, legend=HIDDEN)
        rows, texts = [[Cell(HIDDEN)]], [HIDDEN]
        return Table([column], rows, texts, HIDDEN, texts, texts)


@pytest.mark.parametrize("name", sorted(REPORT_FORMATS.keys() - FOR_PROGRAMS))
@pytest.mark.parametrize("explanation", ["hidden", "shown"])
def test_every_format_for_people_shows_what_is_hidden(name, explanation):
    drawn = rendered(HiddenEverywhere(), name, Layout(explanation=explanation))
    assert drawn.count("u202e") >= 4
    assert not set(drawn) & {"\x1b", "\u202e"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("![x](http://evil/x)", r"!\[x](http\://evil/x)"),
        ("https://evil", r"https\://evil"),
        ("www.evil.org", r"www\.evil.org"),
        ("me@evil.org", r"me\@evil.org"),
        ("<img src=x>", r"\<img src=x>"),
        ("&lt;b", r"\&lt;b"),
        ("~~gone~~", r"\~\~gone\~\~"),
        ("ndcg_cut_10", "ndcg_cut_10"),
    ],
)
def test_markdown_of_a_name_is_dead(name, shown):
    assert f"| {shown} |" in "".join(write_markdown(Names([name]), Layout()))


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1+cmd", "@SUM(A1)", "\t=1"])
@pytest.mark.parametrize("format_", ["csv", "tsv"])
def test_a_spreadsheet_computes_no_name(name, format_):
    (_, line) = rendered(Names([name]), format_, Layout()).splitlines()
    assert line.lstrip('"').startswith("'")


def test_numbers_keep_their_sign_in_csv():
    assert rendered(Names([-0.5]), "csv", Layout()).splitlines()[1] == "-0.5"


@pytest.mark.parametrize(
    "octets", [b"q\xff", rb"q\xff", rb"q\\xff", b"\\\xff", rb"\x5cxff", b"\\n\xe9"]
)
def test_bytes_that_are_no_utf8_have_one_reversible_spelling(octets):
    text = json.loads(dump(octets.decode("utf-8", "surrogateescape")))
    text.encode("utf-8")  # no escapes that polars and pyarrow refuse
    back = re.sub(
        rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode("utf-8")
    )
    assert back == octets
