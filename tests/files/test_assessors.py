"""Readers of the formats that name an assessor: prefs, qrels_prefs, qrels_jg."""

import pytest

from ragkpi.errors import InputError
from ragkpi.ranking.relevance import REL_INFO, read_relevance


@pytest.fixture
def read(tmp_path):
    def read(rel_info, text):
        path = tmp_path / "relevance"
        path.write_bytes(text)
        return read_relevance(str(path), rel_info)

    return read


@pytest.mark.parametrize(
    ("rel_info", "text", "says"),
    [
        ("prefs", b"1 u s a 1\n1 u s b\n", ":2: 4 columns"),
        ("prefs", b"1 u s a 1 x\n", ":1: 6 columns"),
        ("prefs", b"# note\n\n1 u s a 1,5\n", ":3: level '1,5'"),
        ("prefs", b"1 u s a 1\n1 u s a nan\n", ":2: level 'nan'"),
        ("prefs", b"1 u s a inf\n", ":1: level 'inf'"),
        ("prefs", b"1 u s a 0x1\n", ":1: level '0x1'"),
        ("prefs", b"1 u s a\0 1\n", ":1: a NUL byte"),
        ("prefs", b"", "is empty"),
        ("qrels_prefs", b"1 u a 1.5\n", ":1: level '1.5'"),
        ("qrels_prefs", b"1 u s a 1\n", ":1: 5 columns"),
        ("qrels_jg", b"1 u a 1\n1 u b one\n", ":2: level 'one'"),
        ("qrels_jg", b"1 u a\n", ":1: 3 columns"),
    ],
)
def test_refuses_with_the_line(read, rel_info, text, says):
    with pytest.raises(InputError) as problem:
        read(rel_info, text)
    assert says in str(problem.value)
    assert "\n" not in str(problem.value)


def test_reads_decimals_blanks_comments_and_any_white_space(read):
    text = b"\xef\xbb\xbf#c\n# d\n\n 1\tu  s a#b -1.5e1 \r\n1 u s b +.5\n1 u t b 1e400\n"
    with pytest.raises(InputError):  # not finite once read
        read("prefs", text)
    preferences = read("prefs", text.replace(b"e400", b""))
    assert preferences.level.tolist() == [-15.0, 0.5, 1.0]
    assert preferences.judgements.document.tolist() == [b"a#b", b"b"]
    first, second, other = preferences.subgroup.tolist()
    assert first == second != other


@pytest.mark.parametrize("rel_info", REL_INFO)
def test_a_file_of_comments_judges_nothing(read, rel_info):
    assert read(rel_info, b"# nothing\n").judgements.queries == []
