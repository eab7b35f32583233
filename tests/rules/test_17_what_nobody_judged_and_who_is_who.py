"""Ratings that nobody gave, words for levels, ids with spaces, and ids that only look the same."""

import json
import unicodedata
from math import log2

import pytest

RUN = b'{"q": ["a", "b"]}'
BLANK = ["", "NaN", "nan", "n/a", "N/A", "null", "None"]


def files(folder, **texts):
    for name, text in texts.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def value(outcome):
    assert outcome.status == 0, outcome.err
    return float(outcome.out.split()[-1])


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("word", BLANK)
def test_a_rating_that_nobody_gave_is_unjudged_unless_levels_says_otherwise(
    word, separator, ragkpi, tmp_path
):
    rows = [("query_id", "doc_id", "rating"), ("q", "b", "3"), ("q", "a", word)]
    text = "".join(separator.join(row) + "\n" for row in rows)
    files(tmp_path, qrels=text, run=RUN)
    outcome = ragkpi("eval", "-m", "ndcg_cut.10", "-m", "judged.2", "qrels", "run", folder=tmp_path)
    ndcg, judged = (float(line.split()[-1]) for line in outcome.out.decode().splitlines())
    assert ndcg == pytest.approx(1 / log2(3), abs=5e-5)
    assert judged == 0.5
    assert outcome.err.count(b"unjudged;") == 1
    assert b"line 3" in outcome.err
    said = ragkpi(
        "eval", "-m", "judged.2", "--levels", f"{word}=0", "qrels", "run", folder=tmp_path
    )
    assert value(said) == 1
    assert b"unjudged;" not in said.err


@pytest.mark.parametrize(
    "scale", [{"E": 3, "S": 2, "C": 1, "I": 0}, {"L2": 2, "L0": 0}, {"HRel": 3, "N R": 0}]
)
@pytest.mark.parametrize("layout", ["csv", "trec", "json"])
def test_words_and_letters_are_the_levels_that_the_user_gives(scale, layout, ragkpi, tmp_path):
    if layout == "trec" and "N R" in scale:
        pytest.skip("TREC's words have no spaces")
    words = [*scale]
    ids = [f"{word}-1".replace(" ", "") for word in words]  # ids have the words in them, too
    if layout == "csv":
        lines = zip(ids, words, strict=True)
        text = "query_id,doc_id,label\n" + "".join(f"q,{id_},{word}\n" for id_, word in lines)
    elif layout == "trec":
        text = "".join(f"q 0 {id_} {word}\n" for id_, word in zip(ids, words, strict=True))
    else:
        text = json.dumps({"q": dict(zip(ids, words, strict=True))})
    files(tmp_path, qrels=text, run=json.dumps({"q": ids[::-1]}))
    refused = ragkpi("eval", "-m", "ndcg", "qrels", "run", folder=tmp_path)
    assert refused.status == 2
    assert b"--levels" in refused.err
    assert b"sed" not in refused.err
    given = ",".join(f"{word}={level}" for word, level in scale.items())
    outcome = ragkpi("eval", "-m", "ndcg", "--levels", given, "qrels", "run", folder=tmp_path)
    gains = list(scale.values())
    dcg, ideal = (
        sum(gain / log2(rank + 2) for rank, gain in enumerate(order))
        for order in (gains[::-1], sorted(gains, reverse=True))
    )
    assert value(outcome) == pytest.approx(dcg / ideal, abs=5e-5)


@pytest.mark.parametrize("levels", ["E", "E=x", "E=1,E=2", "=", "E=1.5"])
def test_wrong_levels_are_refused(levels, ragkpi, tmp_path):
    files(tmp_path, qrels="q 0 a 1\n", run=RUN)
    outcome = ragkpi("eval", "--levels", levels, "qrels", "run", folder=tmp_path)
    assert outcome.status == 1
    assert outcome.out == b""
    assert b"--levels" in outcome.err


@pytest.mark.parametrize("command", ["eval", "convert"])
@pytest.mark.parametrize("document", ["New York", "doc a", "a\u00a0b c"])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_an_id_with_a_space_is_refused_with_its_line(command, document, place, ragkpi, tmp_path):
    ids = ["a", "b", "c", "d"]
    ids[place] = document
    text = "".join(f"q Q0 {id_} {rank} {9 - rank}.5 me\n" for rank, id_ in enumerate(ids, 1))
    files(tmp_path, qrels="q 0 a 1\n", run=text)
    words = ["qrels", "run"] if command == "eval" else ["run", "-", "--to", "jsonl"]
    outcome = ragkpi(command, *words, folder=tmp_path)
    assert outcome.status == 2
    assert outcome.out == b""
    assert outcome.err.startswith(b"ragkpi: error: run:%d: 7 columns" % (place + 1))


@pytest.mark.parametrize("tail", ["my run", "bm25 v2 x"])
def test_a_run_id_with_a_space_is_harmless(tail, ragkpi, tmp_path):
    files(tmp_path, qrels="q 0 a 1\n", run=f"q Q0 b 1 2.5 {tail}\nq Q0 a 2 1.5 {tail}\n")
    assert value(ragkpi("eval", "-m", "recip_rank", "qrels", "run", folder=tmp_path)) == 0.5


@pytest.mark.parametrize("word", ["caf\u00e9", "\u1e69ome", "\uac00", "\u00c5ngstr\u00f6m"])
def test_ids_of_two_forms_are_shown_with_what_differs(word, ragkpi, tmp_path):
    other = unicodedata.normalize("NFD", word)
    files(tmp_path, qrels=f"q 0 {word} 1\n", run=f"q Q0 {other} 1 1 me\n")
    outcome = ragkpi("eval", "-m", "map", "qrels", "run", folder=tmp_path)
    for character in {*word, *other} - {*map(chr, range(128))}:
        assert f"\\u{ord(character):04x}".encode() in outcome.err


@pytest.mark.parametrize("mark", "\u200b\u200c\u200d\u2060\ufeff\u00ad")
def test_characters_without_a_width_are_visible(mark, ragkpi, tmp_path):
    files(tmp_path, qrels=f"q{mark}1 0 a 1\n", run="q1 Q0 a 1 1 me\n")
    outcome = ragkpi("eval", "-m", "map", "qrels", "run", folder=tmp_path)
    assert f"\\u{ord(mark):04x}".encode() in outcome.err
    assert mark.encode() not in outcome.err


def test_null_in_a_pivot_is_not_retrieved(ragkpi, tmp_path):
    pivot = {"q1": {"a": 1.0, "b": None}, "q2": {"a": None, "b": 0.5}}
    files(tmp_path, qrels="q1 0 b 1\nq2 0 b 1\n", run=json.dumps(pivot))
    assert value(ragkpi("eval", "-m", "recip_rank", "qrels", "run", folder=tmp_path)) == 0.5


@pytest.mark.parametrize("name", ["system", "run", "tag"])
def test_a_table_of_two_systems_says_which_column_tells_them_apart(name, ragkpi, tmp_path):
    rows = f"{name},query_id,doc_id,score\nA,q,a,2\nB,q,a,1\n"
    files(tmp_path, qrels="q 0 a 1\n", run=rows)
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert outcome.status == 2
    assert f"'{name}' tells 2 runs apart".encode() in outcome.err


@pytest.mark.parametrize(
    "names", ["Anfrage,Dokument,Rang", "\u67e5\u8be2,\u6587\u6863,\u6392\u540d"]
)
def test_a_rank_in_another_language_is_in_the_map(names, ragkpi, tmp_path):
    files(tmp_path, qrels="q 0 a 1\n", run=f"{names}\nq,a,1\nq,b,2\nr,a,1\n")
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert b"rank=?" in outcome.err
    assert names.split(",")[2].encode() in outcome.err


@pytest.mark.parametrize("first", [[2, 1], [0, 1]])
def test_three_columns_of_msmarco_out_of_order_name_the_format(first, ragkpi, tmp_path):
    text = "".join(f"q\td{rank}\t{rank}\n" for rank in first)
    files(tmp_path, qrels="q 0 d1 1\n", run=text)
    assert b"--run-format msmarco" in ragkpi("eval", "qrels", "run", folder=tmp_path).err


def test_two_columns_between_tabs_are_gold_and_three_get_a_map(ragkpi, tmp_path):
    files(tmp_path, two="q1\ta\nq2\tb\n", three="q1\ta\t1\nq2\tb\t2\n", run=b'{"q1": ["b", "a"]}')
    assert value(ragkpi("eval", "-m", "recip_rank", "two", "run", folder=tmp_path)) == 0.25
    files(
        tmp_path, two="1185869\t0\n1185868\t16\n", of=b'{"1185869": ["0"], "1185868": ["1", "16"]}'
    )
    assert value(ragkpi("eval", "-m", "map", "two", "of", folder=tmp_path)) == 0.75
    refused = ragkpi("eval", "-m", "recip_rank", "three", "run", folder=tmp_path)
    assert b"--map-qrels 'query=1, doc=2, level=3'" in refused.err


def test_a_qrels_with_subtopics_says_what_its_second_column_is(ragkpi, tmp_path):
    files(tmp_path, qrels="5 1 x 0\n5 2 x 3\n", run=b'{"5": ["x"]}')
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert outcome.status == 4
    assert b"second column, 1 and 2" in outcome.err


@pytest.mark.parametrize(("fold", "level"), [("max", 3), ("mean", 2), ("last", 2)])
def test_check_names_all_repeated_judgements_and_folds_them(fold, level, ragkpi, tmp_path):
    text = "".join(f"q{query} 0 a {of}\n" for query in range(5) for of in (1, 3, 2))
    files(tmp_path, qrels=text, run='{"q0": ["a"]}')
    found = ragkpi("check", "qrels", "run", folder=tmp_path)
    assert found.status == 3
    assert found.out.count(b"again, level") == 10
    options = ("--fix", "out", "--repeated", fold)
    assert ragkpi("check", *options, "qrels", "run", folder=tmp_path).status == 3
    lines = "".join(f"q{query} 0 a {level}\n" for query in range(5))
    assert (tmp_path / "out").read_text() == lines


def test_a_mean_that_is_no_level_is_refused_and_nothing_written(ragkpi, tmp_path):
    files(tmp_path, qrels="q 0 a 1\nq 0 a 2\n", run=RUN)
    options = ("--fix", "out", "--repeated", "mean")
    assert ragkpi("check", *options, "qrels", "run", folder=tmp_path).status == 2
    assert not (tmp_path / "out").exists()


def test_query_ids_of_another_normal_form_are_shown_apart(ragkpi, tmp_path):
    files(tmp_path, qrels="caf\u00e9 0 a 1\n", run="cafe\u0301 Q0 a 1 2 me\n".encode())
    outcome = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert outcome.status == 7
    assert rb"cafe\u0301 in the run, caf\u00e9 in the qrels" in outcome.err
