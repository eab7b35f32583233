"""Data frames of pandas, polars and pyarrow as columns, with pyarrow and without."""

import sys

import pytest

import ragkpi
from ragkpi.errors import InputError, UsageError
from ragkpi.files.in_memory import qrels_columns, run_blocks
from ragkpi.files.trec import regrouped

ROWS = [("q1", "d1", 2), ("q1", "é", 0), ("q2", "d1", 1), ("q1", "d3", -1)]
NAMES = ("query_id", "doc_id", "relevance")
BUILD = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def frame(package, columns):
    return getattr(pytest.importorskip(package), BUILD[package])(columns)


def columns(rows=ROWS, names=NAMES):
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def rows_of(qrels):
    return [(q.decode(), d.decode(), level) for q, d, level in qrels.judgements()]


@pytest.fixture(params=["with pyarrow", "without"])
def maybe_without_pyarrow(request, monkeypatch):
    if request.param == "without":
        monkeypatch.setitem(sys.modules, "pyarrow", None)


@pytest.mark.parametrize("package", ["pandas", "polars"])
@pytest.mark.parametrize("number", [int, float], ids=["int", "float"])
def test_rows_in_their_order(package, number, maybe_without_pyarrow):
    data = columns()
    data["relevance"] = list(map(number, data["relevance"]))
    assert rows_of(qrels_columns(frame(package, data))) == ROWS


def test_pyarrow_tables_of_several_chunks_and_kinds():
    arrow = pytest.importorskip("pyarrow")
    for kind in ("string", "large_string", "binary", "large_binary", "string_view"):
        table = frame("pyarrow", columns())
        ids = [arrow.array(table[name].to_pylist()).cast(kind) for name in NAMES[:2]]
        table = arrow.table([*ids, table["relevance"]], names=NAMES)
        both = arrow.concat_tables([table.slice(0, 3), table.slice(3)])
        assert rows_of(qrels_columns(both)) == ROWS


@pytest.mark.parametrize("dtype", [object, "category", "string"])
def test_pandas_texts_of_every_kind(dtype):
    given = frame("pandas", columns()).astype({"query_id": dtype, "doc_id": dtype})
    assert rows_of(qrels_columns(given)) == ROWS


def test_polars_categories():
    polars = pytest.importorskip("polars")
    given = frame("polars", columns()).with_columns(polars.col("query_id").cast(polars.Categorical))
    assert rows_of(qrels_columns(given)) == ROWS


@pytest.mark.parametrize("package", BUILD)
def test_whole_numbers_are_ids(package):
    given = frame(package, columns([(1, 10, 1), (2, 20, 0)]))
    assert rows_of(qrels_columns(given)) == [("1", "10", 1), ("2", "20", 0)]


@pytest.mark.parametrize("package", BUILD)
@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("q9", 1.5, 1), "an id is "),
        (("q9", None, 1), "an id is "),
        (("q9", "d", 1.5), "query q9, document d: level '1.5'; expected an integer"),
    ],
)
def test_what_is_no_id_and_no_level_is_refused(package, row, says):
    first = ("q1", 2.5 if isinstance(row[1], float) else "d1", type(row[2] or 1)(1))
    given = frame(package, columns([first, row]))
    with pytest.raises(UsageError) as refused:
        qrels_columns(given)
    assert says in str(refused.value)


def test_a_column_of_texts_and_numbers_is_read_value_by_value():
    given = frame("pandas", columns([("q1", "d1", 1), ("q1", 5, 1)]))
    assert rows_of(qrels_columns(given)) == [("q1", "d1", 1), ("q1", "5", 1)]


def test_a_lazy_frame_is_to_be_collected_first():
    lazy = frame("polars", columns()).lazy()
    with pytest.raises(
        UsageError, match=r"is LazyFrame; expected .* a data frame \(of polars: collected\)"
    ):
        qrels_columns(lazy)


@pytest.mark.parametrize("package", BUILD)
def test_several_frames_are_no_run(package):
    given = frame(package, columns(names=("query_id", "doc_id", "score")))
    with pytest.raises(
        UsageError, match=r"begins with .*; expected a row \(query, document, number\)"
    ):
        run_blocks([given, given])
    with pytest.raises(InputError, match="contains judgements"):
        run_blocks(frame(package, columns()))


def test_rows_of_one_query_may_stand_apart():
    given = frame("pandas", columns(names=("query_id", "doc_id", "score")))
    (block,) = run_blocks(given)
    together = regrouped(block)
    assert together.query.tolist() == [b"q1", b"q2"]
    assert together.line.tolist() == [1, 2, 4, 3]
    assert together.score.tolist() == [2.0, 0.0, -1.0, 1.0]


@pytest.mark.parametrize("package", BUILD)
def test_a_map_may_take_the_order_of_the_rows(package):
    """Without it the same order counts, with a warning."""
    run = frame(package, {"query_id": ["q", "q"], "doc_id": ["bad", "good"]})
    result = ragkpi.evaluate({"q": {"good": 1}}, run, ["recip_rank"], map_run="rank=@number")
    assert result.mean == {"recip_rank": 0.5}
