"""Tables that people export, print and paste: what they mean, worked out by hand."""

import shutil
import subprocess
import zipfile

import pytest

from ragkpi.errors import InputError, RagkpiNote
from ragkpi.files.formats import read_any_qrels, reader_of, reading_for
from ragkpi.files.in_memory import qrels_columns
from ragkpi.files.opening import Source
from ragkpi.files.query_files import read_query_labels


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
    assert f"{word}=?" in text
    assert "sed" not in text


@pytest.mark.parametrize("word", ["2x", "a=b"])
def test_what_is_no_word_gets_no_levels(word, tmp_path):
    text = refusal(qrels_of, put(tmp_path, f"query_id,doc_id,label\nq,a,{word}\n"))
    assert "levels=" not in text


def test_words_are_no_levels_of_trec(tmp_path):
    with pytest.raises(InputError, match="level 'relevant'"):
        read_any_qrels(put(tmp_path, "q 0 d relevant\n"), "trec")


QUOTED = [("1", "a", 2), ("2", "b\tc", 1), ("2", 'd"e', 0)]


@pytest.mark.parametrize("separator", "\t;|")
def test_a_table_whose_names_have_quotes_is_quoted(separator, tmp_path):
    """Between semicolons and bars, too, also where no value has a separator in it."""
    rows = (("1", "a", "2"), ("2", "b\tc", "1"), ("2", 'd""e', "0"))
    names = '"query_id"', '"doc_id"', '"label"'
    lines = [names, *((f'"{query}"', f'"{doc}"', level) for query, doc, level in rows)]
    text = "".join(f"{separator.join(line)}\n" for line in lines)
    assert qrels_of(put(tmp_path, text)) == QUOTED


@pytest.mark.parametrize("names", ["query_id\tdoc_id\tlabel", '"query_id"\tdoc_id\t"label"'])
def test_quotes_of_other_tsv_belong_to_the_ids(names, tmp_path):
    text = f'{names}\n"1"\t"a\t1\n"1"\tb"\t0\n'
    assert qrels_of(put(tmp_path, text)) == [('"1"', '"a', 1), ('"1"', 'b"', 0)]


def test_a_quote_that_does_not_end_is_refused(tmp_path):
    text = '"query_id"\t"doc_id"\t"label"\n"1"\t"a\t1\n"1"\t"b"\t0\n'
    assert "table:2: invalid CSV" in refusal(qrels_of, put(tmp_path, text))


def test_two_columns_of_ids_between_tabs_are_relevant_documents(tmp_path):
    path = put(tmp_path, "301\t48213\r\n301\t1\n\n302\ta:b,c\n")
    assert qrels_of(path) == [("301", "48213", 1), ("301", "1", 1), ("302", "a:b,c", 1)]
    assert "table:1: 2 columns" in refusal(run_of, path)


@pytest.mark.parametrize(
    "text",
    [
        "q1\t3\nq2\t3\n",
        "q1\thow do I\nq1\twhy\n",
        "q1\td1\nq2 d2\n",
        "q1\td1\t\n",
        "q1\t\n",
        "",
        "q1 d1\n",
    ],
)
def test_other_columns_between_tabs_are_none(text, tmp_path):
    refusal(qrels_of, put(tmp_path, text))


def test_four_words_are_trec_whatever_stands_between_them(tmp_path):
    assert qrels_of(put(tmp_path, "1 0 d 1\n1\t0\te\t2\n")) == [("1", "d", 1), ("1", "e", 2)]


TABLES = {
    "Markdown": """\
| query_id | doc_id | grade |
|:---|:---:|---:|
| q1 | kb/a | 2 |
| q1 | b c | 0 |
""",
    "Markdown, narrow": """\
query_id|doc_id|grade
-|-|-
q1|kb/a|2
q1|b c|0
""",
    "psql": """\
 query_id | doc_id | grade
----------+--------+-------
 q1       | kb/a   |     2
 q1       | b c    |     0
(2 rows)

""",
    "psql, lines of Unicode": """\
 query_id │ doc_id │ grade
──────────┼────────┼───────
 q1       │ kb/a   │     2
 q1       │ b c    │     0
(2 rows)
""",
    "MySQL": """\
+----------+--------+-------+
| query_id | doc_id | grade |
+----------+--------+-------+
| q1       | kb/a   |     2 |
| q1       | b c    |     0 |
+----------+--------+-------+
2 rows in set (0.00 sec)
""",
    "SQLite's box": """\
┌──────────┬────────┬───────┐
│ query_id │ doc_id │ grade │
├──────────┼────────┼───────┤
│ q1       │ kb/a   │ 2     │
│ q1       │ b c    │ 0     │
└──────────┴────────┴───────┘
""",
    "DuckDB": """\
┌──────────┬─────────┬───────┐
│ query_id │ doc_id  │ grade │
│ varchar  │ varchar │ int32 │
├──────────┼─────────┼───────┤
│ q1       │ kb/a    │     2 │
│ q1       │ b c     │     0 │
├──────────┴─────────┴───────┤
│ 2 rows           3 columns │
└────────────────────────────┘
""",
    "a rule after each row": """\
+----------+--------+-------+
| query_id | doc_id | grade |
+==========+========+=======+
| q1       | kb/a   |     2 |
+----------+--------+-------+
| q1       | b c    |     0 |
+----------+--------+-------+
""",
}


@pytest.mark.parametrize("mark", ["", "\ufeff", "\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", TABLES)
def test_values_that_are_printed_between_bars_are_refused_with_a_way_to_csv(
    name, end, mark, tmp_path
):
    path = put(tmp_path, mark + TABLES[name].replace("\n", end))
    for read in (run_of, qrels_of, read_query_labels):
        text = refusal(read, path)
        assert "a printed table with bars; expected CSV: psql --csv" in text


def test_the_count_of_rows_below_a_table_is_refused_with_its_line(tmp_path):
    """As psql -A prints it; psql -t and --csv leave it out."""
    path = put(tmp_path, "query_id|doc_id|grade\nq1|kb/a|2\n(1 row)\n")
    assert "table:3: 1 column ('(1 row)'); expected 3" in refusal(qrels_of, path)


def test_bars_in_words_of_trec_are_no_table(tmp_path):
    path = put(tmp_path, "q|1 0 a|b 1\nq|1 0 -|-|- 1\nq|1 0 |c| 0\n")
    assert qrels_of(path) == [("q|1", "a|b", 1), ("q|1", "-|-|-", 1), ("q|1", "|c|", 0)]
    path = put(tmp_path, "| | | 1 3 me\n-- -- -- 1 2 me\n| Q0 b│c 2 1 a|b\n")
    assert run_of(path) == [("|", "|", 3.0), ("--", "--", 2.0), ("|", "b│c", 1.0)]


def test_the_last_row_of_other_tables_is_no_count(tmp_path):
    text = "query_id,doc_id,rel\n1 row,(2 rows),1\n2 rows,b,1\n"
    assert qrels_of(put(tmp_path, text)) == [("1 row", "(2 rows)", 1), ("2 rows", "b", 1)]


SPACES = {
    "pandas": "  query_id doc_id  score\n0       q1      a    0.9\n1       q1      b    0.8\n",
    "sqlite3 -column": "query_id  doc_id  score\n--------  ------  -----\nq1        a       0.9\n",
}


@pytest.mark.parametrize("name", SPACES)
def test_columns_between_spaces_are_refused_with_a_way_to_csv(name, tmp_path):
    for read in (run_of, qrels_of):
        text = refusal(read, put(tmp_path, SPACES[name]))
        assert "columns between spaces; expected CSV: df.to_csv(" in text


def test_trec_may_begin_with_spaces(tmp_path):
    assert qrels_of(put(tmp_path, " q r d 0\n0 Q0 d 1\n")) == [("q", "d", 0), ("0", "d", 1)]


def scores(folder, separator, *cells, name="score"):
    lines = [("query_id", "doc_id", name), *(("q", f"d{n}", cell) for n, cell in enumerate(cells))]
    path = put(folder, "".join(f"{separator.join(line)}\n" for line in lines))
    return {document: score for _, document, score in run_of(path)}


@pytest.mark.parametrize(
    ("separator", "cells", "values"),
    [
        (";", ["0,912", "-1,5", "1234,5"], [0.912, -1.5, 1234.5]),
        ("\t", ["12,345", "0,5"], [12.345, 0.5]),
        ("|", ['"0,5"', "0,25"], [0.5, 0.25]),
        (",", ["91.2%", "100%", "-5%"], [0.912, 1.0, -0.05]),
        (";", ["91,2 %", "79 %"], [0.912, 0.79]),
        (";", ["91,2\u00a0%", "79\u202f%"], [0.912, 0.79]),
        ("\t", ["91.2%", "7.9%"], [0.912, 0.079]),
    ],
)
def test_numbers_of_spreadsheets_are_numbers(separator, cells, values, tmp_path):
    expected = {f"d{n}": pytest.approx(value, abs=1e-15) for n, value in enumerate(values)}
    assert scores(tmp_path, separator, *cells) == expected


@pytest.mark.parametrize(
    ("separator", "cells"),
    [
        (";", ["0,9", "0.8"]),
        (";", ["0,9", "1"]),
        (";", ["0.9", "0,8"]),
        (";", ["0,9", ""]),
        (";", ["0,9", "nan"]),
        (";", ["1,234", "2,345"]),  # or more than a thousand
        (";", ["1.234,5", "2.345,0"]),
        (";", ["1,2,3", "4,5,6"]),
        (",", ['"0,9"', '"0,8"']),
        (",", ["90%", "0.8"]),
        (",", ["90%", "80"]),
        (",", ["%", "%"]),
        (",", ["90%%", "80%%"]),
        (";", ["91,2%", "91.1%"]),
        (";", ["1e3%", "1e2%"]),
    ],
)
def test_numbers_of_several_forms_are_refused(separator, cells, tmp_path):
    with pytest.raises(InputError, match=r"table:[23]: score"):
        scores(tmp_path, separator, *cells)


def test_ids_and_lists_keep_their_commas_and_signs(tmp_path):
    text = "query_id;doc_id;rank\n1,5;0,5;1\n1,5;1,5;2\n2,5;5%;1\n"
    assert [row[:2] for row in run_of(put(tmp_path, text))] == [
        ("1,5", "0,5"),
        ("1,5", "1,5"),
        ("2,5", "5%"),
    ]
    path = put(tmp_path, "query_id;doc_1;doc_2\nq;0,7;1,5\nr;0,8;1,6\n")
    assert [row[1] for row in run_of(path)] == ["0,7", "1,5", "0,8", "1,6"]


def test_decimals_with_commas_are_gains(tmp_path):
    path = put(tmp_path, "query_id;doc_id;gain\nq;a;0,5\nq;b;2,0\n")
    assert read_any_qrels(path, numbers="gains").gain.tolist() == [0.5, 2.0]


def test_columns_of_spreadsheets_of_unknown_names_are_listed(tmp_path):
    rows = "".join(f"q{n % 3};d{n};{9 - n},5\n" for n in range(9))
    text = refusal(run_of, put(tmp_path, f"Anfrage;Dokument;Punktzahl\n{rows}"))
    assert "(keys: Anfrage 'q0', Dokument 'd0', Punktzahl 9.5); " in text
    assert "query=?, doc=?, score=?" in text


def test_trec_has_points(tmp_path):
    """Words with commas are five values of a table, but TREC comes first."""
    path = put(tmp_path, "q,1 Q0 d,1 1 2.5 me,x\nq,1 Q0 d,2 2 1.5 me,x\n")
    assert run_of(path) == [("q,1", "d,1", 2.5), ("q,1", "d,2", 1.5)]
    for score in ("0,9", "90%"):
        refusal(run_of, put(tmp_path, f"q Q0 d 1 2 me\nq Q0 e 2 {score} me\n"))


@pytest.mark.parametrize("separator", ",\t|")
def test_ids_that_pandas_wrote_as_fractions_are_refused_with_a_map_as_way_on(
    separator, tmp_path, ragkpi
):
    rows = ["query_id,doc_id,level", "301,48213.0,1", "302,7.0,2"]
    (tmp_path / "gold").write_text("".join(f"{row.replace(',', separator)}\n" for row in rows))
    (tmp_path / "run").write_text("301 Q0 48213 1 2 r\n302 Q0 x 1 2 r\n302 Q0 7 2 1 r\n")
    outcome = ragkpi("eval", "-m", "recip_rank", "gold", "run", folder=tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert b"such as 48213.0; expected whole numbers" in outcome.err
    for options, value in (
        (["--max-passage", r"/^(.*)\.0$/"], b"0.7500"),
        ([], b"0.0000"),
    ):
        options += ["--map-qrels", "doc=doc_id", "gold", "run"]
        again = ragkpi("eval", "-m", "recip_rank", *options, folder=tmp_path)
        assert again.out == b"recip_rank            \tall\t%b\n" % value


@pytest.mark.skipif(shutil.which("sed") is None, reason="there is no sed")
def test_queries_that_pandas_wrote_as_fractions_are_refused_with_a_command(tmp_path):
    text = '"query_id","doc_id","score"\n301.0,"48213.0",2.0\n"302.0",1.05,1.0\n'
    found = refusal(run_of, put(tmp_path, text))
    assert "query ids" in found
    assert "such as 301.0" in found
    command = found.partition("whole numbers: ")[2].replace("> whole", "")
    whole = subprocess.run(command, shell=True, capture_output=True, check=True).stdout
    assert run_of(put(tmp_path, whole)) == [("301", "48213", 2.0), ("302", "1.05", 1.0)]


@pytest.mark.parametrize("ids", [("1.0", "1.1"), ("1.0", "a"), ("1.00", "2.00"), ("v1.0", "v2.0")])
def test_other_ids_with_points_are_ids(ids, tmp_path):
    rows = "".join(f"{id_},{id_},1\n" for id_ in ids)
    assert qrels_of(put(tmp_path, f"query_id,doc_id,level\n{rows}")) == [(i, i, 1) for i in ids]


def test_a_map_says_that_ids_are_fractions(tmp_path):
    path = put(tmp_path, "query_id,doc_id,level\n1.0,2.0,1\n")
    reading = reading_for("qrels", map_="query=query_id, doc=doc_id")
    assert [*read_any_qrels(path, reading).judgements()] == [(b"1.0", b"2.0", 1)]
    assert qrels_of(put(tmp_path, "1.0 0 2.0 1\n")) == [("1.0", "2.0", 1)]


def workbook(folder, *names):
    with zipfile.ZipFile(folder / "table", "w") as archive:
        for name in names:
            archive.writestr(name, "<?xml version='1.0'?>")
    return str(folder / "table")


@pytest.mark.parametrize("first", ["[Content_Types].xml", "docProps/app.xml", "xl/workbook.xml"])
def test_a_workbook_is_to_be_saved_as_csv(first, tmp_path):
    found = refusal(qrels_of, workbook(tmp_path, first, "xl/worksheets/sheet1.xml"))
    assert found.endswith("a zip archive or a workbook (.xlsx); expected CSV, exported from it")


def test_json_in_other_files_is_no_log(tmp_path):
    path = put(tmp_path, 'q Q0 d 1 2.5 {"me": "a b"}\nq Q0 {"e"} 2 1 {"me": 2}\n')
    assert run_of(path) == [("q", "d", 2.5), ("q", '{"e"}', 1.0)]
    assert qrels_of(put(tmp_path, 'q 0 {"d"} 1\n')) == [("q", '{"d"}', 1)]
    path = put(tmp_path, 'query_id\thits\nq\t{"a": 0.5, "b": 0.9}\n')
    assert run_of(path) == [("q", "a", 0.5), ("q", "b", 0.9)]


@pytest.mark.parametrize("read", [qrels_of, run_of])
def test_merged_cells_need_their_query_in_each_row(read, tmp_path):
    name = "level" if read is qrels_of else "score"
    found = refusal(read, put(tmp_path, f"query_id,doc_id,{name}\nq1,a,2\n,b,1\n"))
    assert "table:3: an empty query id" in found
    assert "merged cells" in found


@pytest.mark.parametrize("word", ["", "-", "NaN", "n/a", "null", "None", "<NA>"])
def test_a_word_for_nothing_is_no_rating_in_files_and_in_memory(word, tmp_path):
    rows = [("q", "a", "1"), ("q", "b", word)]
    path = put(tmp_path, "query_id,doc_id,grade\n" + "".join(f"{','.join(row)}\n" for row in rows))
    with pytest.warns(RagkpiNote, match="1 rating is .* unjudged"):
        assert qrels_of(path) == [("q", "a", 1), ("q", "b", -1)]
    with pytest.warns(RagkpiNote, match="1 rating is .* unjudged"):
        assert qrels_columns(rows).level.tolist() == [1, -1]


@pytest.mark.parametrize(
    "before",
    ["2026-10-12 08:14:00,120 INFO retriever: ", "[2026-10-12T08:14] ", "data: "],
)
def test_a_log_is_refused_with_a_sentence(before, tmp_path):
    records = '{"query_id": 301, "doc_ids": [7, 8]}', '{"query_id": 302, "doc_ids": ["{a}"]}'
    text = "".join(f"{before}{record}\n" for record in records)
    assert "text before the JSON of each line" in refusal(run_of, put(tmp_path, text))


def test_a_map_names_the_columns_of_a_header_of_unknown_words(tmp_path):
    path = put(tmp_path, "frage,antwort\nq1,d1\nq2,d2\n")
    reading = reading_for("qrels", map_="query=frage, doc=antwort")
    rows = [(b"q1", b"d1", 1), (b"q2", b"d2", 1)]
    assert [*read_any_qrels(path, reading).judgements()] == rows


def test_ids_with_scores_in_a_cell_are_ranked_by_these(tmp_path):
    text = "query,retrieved\nq1,a:0.2|b:0.9\nq2,c:0.5\n"
    assert run_of(put(tmp_path, text)) == [
        ("q1", "a", 0.2),
        ("q1", "b", 0.9),
        ("q2", "c", 0.5),
    ]
