"""Tables that people export, print and paste: what they mean, worked out by hand."""

import pytest

from ragkpi.errors import InputError
from ragkpi.files.formats import read_any_qrels, reader_of
from ragkpi.files.opening import Source


def put(folder, text):
    path = folder / "table"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def run_of(path):
    """Return query, document and score of each row."""
    with Source(path) as source:
        blocks = list(reader_of("run", source).stream_run(source))
    return [
        (query.decode(), document.decode(), score)
        for block in blocks
        for query, document, score in zip(
            block.query_of_rows(), block.document, block.score.tolist(), strict=True
        )
    ]


def qrels_of(path):
    """Return query, document and level of each judgement."""
    return [(q.decode(), d.decode(), level) for q, d, level in read_any_qrels(path).judgements()]


def refusal(read, path):
    with pytest.raises(InputError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


WORDS = {
    "relevant": 1,
    "Relevant": 1,
    "irrelevant": 0,
    "NOT RELEVANT": 0,
    "non-relevant": 0,
    "not_relevant": 0,
    "nonrelevant": 0,
    "accept": 1,
    "reject": 0,
}


@pytest.mark.parametrize("layout", ["query_id,doc_id,label\nq,d,%s\n", '{"q": {"d": "%s"}}'])
@pytest.mark.parametrize("word", WORDS)
def test_words_for_relevant_and_not_are_levels(word, layout, tmp_path):
    assert qrels_of(put(tmp_path, layout % word)) == [("q", "d", WORDS[word])]


@pytest.mark.parametrize("word", ["Perfect", "Highly relevant", "partially-relevant"])
def test_the_level_of_another_word_is_for_the_user_to_say(word, tmp_path):
    text = refusal(qrels_of, put(tmp_path, f"query_id,doc_id,label\nq,a,relevant\nq,b,{word}\n"))
    assert f"table:3: level '{word}'" in text
    assert f"sed 's/{word}/2/'" in text


@pytest.mark.parametrize("word", ["nan", "none", "", "2x", "'; rm"])
def test_what_is_no_word_gets_no_command(word, tmp_path):
    assert "sed" not in refusal(qrels_of, put(tmp_path, f"query_id,doc_id,label\nq,a,{word}\n"))


def test_words_are_no_levels_of_trec(tmp_path):
    with pytest.raises(InputError, match="level 'relevant'"):
        read_any_qrels(put(tmp_path, "q 0 d relevant\n"), "trec")
