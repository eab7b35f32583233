"""Texts in columns that are nearly regular, and ids that are nearly the same."""

from hypothesis import strategies as st

SPACES = [b" ", b"\t", b"\v", b"\f", b"\r", b"  ", b" \t", b"\r ", b"   "]
WORDS = [
    *(b"7", b"q1", b"q10", b"-1.5", b"#", b"#7", b"\xff\xfe", b"\x1c", b"\x85", b"\x01"),
    *(b"msmarco_v2.1_doc_00_123456#7_98765432", b"x" * 70),
]
# What breaks a line when it is put anywhere.
SPOILERS = [
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"#",
    b"\n#",
    b"\n\n",
    b"\n \n",
    b"\0",
    b"\x1f",
    b"",
]


@st.composite
def texts(draw, columns, word=None, longest=8):
    """Lines with the same separators; then perhaps a few bytes are put in or taken out."""
    if word is None:
        word = lambda column: st.sampled_from(WORDS) | st.binary(min_size=1, max_size=9)  # noqa: E731
    single = draw(st.sampled_from([b" ", b"\t", b""]))
    spaces = [single or draw(st.sampled_from(SPACES)) for _ in range(columns - 1)]
    spaces.append(draw(st.sampled_from([b"\n", b"\n", b"\r\n", b" \n", b" extra\n"])))
    lines = draw(st.integers(0, longest))
    words = [[draw(word(column)) for column in range(columns)] for _ in range(lines)]
    text = b"".join(b"".join(map(b"".join, zip(line, spaces, strict=True))) for line in words)
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2, 4]))):
        place, taken = draw(st.integers(0, len(text))), draw(st.integers(0, 2))
        text = text[:place] + draw(st.sampled_from(SPOILERS)) + text[place + taken :]
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text


# Equal in the last eight bytes, in all but one byte, in all but the length; long and short.
IDS = [
    *(b"7", b"17", b"117", b"d1", b"d10", b"00000007", b"000000007", b"\xff", b"\x01"),
    *(b"http://a/index.html", b"http://b/index.html", b"https://a/index.html"),
    *(b"msmarco_v2.1_doc_00_123456#7_98765432", b"msmarco_v2.1_doc_00_123456#8_98765432"),
    *(b"x" * 24, b"x" * 25, b"x" * 23 + b"y", b"y" + b"x" * 23, b"x" * 1000, b"x" * 999 + b"y"),
]
ids = st.sampled_from(IDS) | st.binary(min_size=1, max_size=3).map(bytes.hex).map(str.encode)
