import ast
import csv
import doctest
import importlib
import math
import os
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

import ragkpi
import ragkpi as library  # where a fixture has the name

FIXTURES = Path(__file__).parent / "helpdesk"
MEASURES = ["map", "num_ret", "bor.10", "ra_nwg.10", "runid"]


def words(name):
    return [line.split() for line in (FIXTURES / name).read_text().splitlines()]


def mapping(rows):
    found = {}
    for query, document, number in rows:
        found.setdefault(query, {})[document] = number
    return found


QRELS = [(q, d, int(level)) for q, _, d, level in words("qrels.txt")]
RUN = [(q, d, float(score)) for q, _, d, _, score, _ in words("reranked.run")]
SHUFFLED = RUN[1::2] + RUN[::2]
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")


class Frame:
    """As much of a data frame as `evaluate` looks at."""

    def __init__(self, names, rows):
        self._columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        self.columns = list(self._columns)

    def __getitem__(self, name):
        return self._columns[name]


def as_bytes(rows):
    return [(q.encode(), d.encode(), number) for q, d, number in rows]


INPUTS = {
    "paths": (str(FIXTURES / "qrels.txt"), FIXTURES / "reranked.run"),
    "dicts": (mapping(QRELS), mapping(RUN)),
    "dicts of bytes": (mapping(as_bytes(QRELS)), mapping(as_bytes(SHUFFLED))),
    "rows": (QRELS, SHUFFLED),
    "generators": ((row for row in QRELS), (list(row) for row in SHUFFLED)),
    "rows of files": (
        [(q, 0, d, level) for q, d, level in QRELS],
        [(q, "Q0", d, 1, score, "tag") for q, d, score in RUN],
    ),
    "named tuples": (
        [Qrel(q, d, level, "0") for q, d, level in QRELS],
        [ScoredDoc(*row) for row in RUN],
    ),
    "rows by name": (
        [{"qid": q, "docno": d, "label": level} for q, d, level in QRELS],
        [{"qid": q, "docno": d, "rank": 1, "score": score} for q, d, score in RUN],
    ),
    "frames": (
        Frame(["docid", "rel", "q_id"], [(d, float(level), q) for q, d, level in QRELS]),
        Frame(["query", "document", "score"], SHUFFLED),
    ),
}


@pytest.fixture
def printed(ragkpi):
    """Evaluate with the command, as text per query and name."""

    def run(*arguments):
        measures = [word for measure in MEASURES for word in ("-m", measure)]
        out = ragkpi("eval", "-q", *measures, *arguments, folder=FIXTURES).out.decode()
        found = {}
        for name, query, value in csv.reader(out.splitlines(), delimiter="\t"):
            found.setdefault(query, {})[name.strip()] = value
        return found

    return run


def text(value):
    if isinstance(value, str) or math.isinf(value):
        return str(value)
    return "NA" if math.isnan(value) else f"{value:.4f}"


def assert_as_printed(values, expected):
    count = expected.pop("num_ret")
    assert values.pop("num_ret") == int(count)
    found = {name: text(value) for name, value in values.items() if name != "runid"}
    expected.pop("runid", None)
    assert found == expected


@pytest.mark.parametrize("given", INPUTS)
def test_every_input_gives_the_numbers_of_the_command(given, printed):
    qrels, run = INPUTS[given]
    result = ragkpi.evaluate(qrels, run, MEASURES, corpus_size=5000)
    expected = printed("-N", 5000, "qrels.txt", "reranked.run")
    assert_as_printed(dict(result.mean), expected.pop("all"))
    assert list(result.per_query) == list(expected)
    for query, values in result.per_query.items():
        assert_as_printed(dict(values), expected[query])


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_data_frames(package):
    frames = pytest.importorskip(package)
    build = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[package]
    qrels, run = (
        getattr(frames, build)(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        for names, rows in (
            (("query_id", "doc_id", "relevance"), QRELS),
            (("query_id", "doc_id", "score"), SHUFFLED),
        )
    )
    found = ragkpi.evaluate(qrels, run, "map").mean
    assert found == ragkpi.evaluate(*INPUTS["paths"], "map").mean


def test_a_frame_of_pyterrier_has_a_text_called_query_and_a_number_called_docid():
    pandas = pytest.importorskip("pandas")
    run = pandas.DataFrame(SHUFFLED, columns=["qid", "docno", "score"])
    run = run.assign(query="what is asked", docid=range(len(run)), rank=0)
    qrels = pandas.DataFrame(QRELS, columns=["qid", "docno", "label"])
    found = ragkpi.evaluate(qrels, run, "map").mean
    assert found == ragkpi.evaluate(*INPUTS["paths"], "map").mean


def test_a_pandas_frame_comes_back():
    pandas = pytest.importorskip("pandas")
    result = ragkpi.evaluate(*INPUTS["dicts"], ["map", "P.5"])
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.to_dict("index") == result.per_query
    assert frame["map"].mean() == pytest.approx(result.mean["map"])


OPTIONS = [
    ({"relevance_level": 2}, ["-l", 2]),
    ({"missing": "zero"}, []),
    ({"unjudged": "removed"}, ["-J"]),
    ({"max_retrieved": 3}, ["-M", 3]),
    ({"draws": "ret"}, ["--draws", "ret"]),
    ({"grade_map": "umbrela-strict"}, ["--grade-map", "umbrela-strict"]),
    ({"grade_map": {0: 1, 1: 2, 2: 4, 3: 5}}, ["--grade-map", "umbrela-strict"]),
    ({"corpus_size": None}, []),
    ({"corpus_sizes": {"hd-01": 700, b"hd-02": 900}}, ["--corpus-sizes", "SIZES"]),
]


@pytest.mark.parametrize(("given", "options"), OPTIONS, ids=str)
def test_settings_are_those_of_the_command(given, options, printed, tmp_path):
    (tmp_path / "sizes").write_text("hd-01 700\nhd-02 900\n")
    options = [tmp_path / "sizes" if option == "SIZES" else option for option in options]
    size = ["-c"] if "corpus_size" in given else ["-c", "-N", 5000]
    expected = printed(*size, *options, "qrels.txt", "runs/dense.run")
    run = [(q, d, score) for q, _, d, _, score, _ in words("runs/dense.run")]
    result = ragkpi.evaluate(QRELS, run, MEASURES, **{"corpus_size": 5000, **given})
    assert_as_printed(dict(result.mean), expected["all"])


def test_trec_evals_rule_is_an_argument(printed):
    run = [(q, d, score) for q, _, d, _, score, _ in words("runs/dense.run")]
    result = ragkpi.evaluate(QRELS, run, MEASURES, missing="intersection", corpus_size=5000)
    assert_as_printed(dict(result.mean), printed("-N", 5000, "qrels.txt", "runs/dense.run")["all"])


def test_a_pool_may_be_in_memory(ragkpi):
    pool = [(q, d, float(score)) for q, _, d, _, score, _ in words("first_stage.run")]
    measures = ["proc.10", "pool_miss.10"]
    path = library.evaluate(*INPUTS["paths"], measures, pool=FIXTURES / "first_stage.run")
    for depth in (None, 12):
        found = library.evaluate(QRELS, RUN, measures, pool=pool, pool_depth=depth).mean
        option = [] if depth is None else ["--pool-depth", depth]
        command = ["eval", *option, "--pool", "first_stage.run", "-m", measures[0]]
        command += ["-m", measures[1], "qrels.txt", "reranked.run"]
        lines = ragkpi(*command, folder=FIXTURES).out.decode().splitlines()
        assert {line.split()[0]: line.split()[2] for line in lines} == {
            name: f"{value:.4f}" for name, value in found.items()
        }
    assert path.mean == library.evaluate(QRELS, RUN, measures, pool=pool).mean


def test_intervals_are_those_of_the_command(ragkpi):
    found = library.evaluate(QRELS, RUN, "map", ci=True, resamples=300, seed=3, confidence=0.9)
    options = ["--resamples", 300, "--seed", 3, "--confidence", 0.9, "-m", "map"]
    line = ragkpi("eval", "--ci", *options, "qrels.txt", "reranked.run", folder=FIXTURES).out
    assert [f"{bound:.4f}" for bound in found.intervals["map"]] == line.decode().split()[3:]


@pytest.mark.parametrize(
    ("qrels", "run", "more", "says"),
    [
        (5, RUN, {}, "the qrels given is int"),
        ([], RUN, {}, "the qrels given is empty"),
        ({}, RUN, {}, "the qrels given is empty"),
        (QRELS, {"q": 3}, {}, "the run given maps 'q' to int"),
        (QRELS, iter(["q Q0 d 1 2.5 run"]), {}, "begins with 'q Q0 d"),
        (QRELS, [(1, 2)], {}, "expected a row (query, document, number)"),
        ([("q", "d", 1.5), ("q", "e", "x")], RUN, {}, "document e: level 'x'; expected a number"),
        ([("q", "d", "x")], RUN, {}, "query q, document d: level 'x'"),
        (QRELS, [("q", "d", math.nan)], {}, "query q, document d: score 'nan'"),
        (QRELS, [("q", 1.5, 1)], {}, "an id is 1.5"),
        (QRELS, RUN, {"missing": "zeros"}, "missing='zeros': expected one of 'intersection'"),
        (QRELS, RUN, {"relevance_level": -1}, "relevance_level=-1: "),
        (QRELS, RUN, {"measures": "mpa"}, "did you mean map"),
        (QRELS, RUN, {"rel_info": "prefs", "measures": "prefs"}, "only a path"),
    ],
)
def test_what_makes_no_sense_is_refused(qrels, run, more, says):
    with pytest.raises(ragkpi.UsageError) as refused:
        ragkpi.evaluate(qrels, run, **{"measures": "map", **more})
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_frame_without_queries_is_refused_with_its_columns():
    with pytest.raises(
        ragkpi.InputError, match=r"run: cannot tell which key .* the query \(keys: q 1, doc_id 2"
    ):
        ragkpi.evaluate(QRELS, Frame(["q", "doc_id"], [(1, 2)]), "map")


HALF_A_PAIR = "\ud83dd"  # what a text that was cut inside an emoji in UTF-16 leaves
JUDGED, FOUND = {"q": {"d": 1}}, {"q": {"d": 1.0}}


@pytest.mark.parametrize(
    ("qrels", "run", "more"),
    [
        ({HALF_A_PAIR: {"d": 1}}, FOUND, {}),
        ({"q": {HALF_A_PAIR: 1}}, FOUND, {}),
        ([("q", HALF_A_PAIR, 1)], FOUND, {}),
        (JUDGED, {HALF_A_PAIR: {"d": 1.0}}, {}),
        (JUDGED, {"q": {HALF_A_PAIR: 1.0, "d": 1.0}}, {}),
        (JUDGED, [("q", HALF_A_PAIR, 1.0)], {}),
        (JUDGED, FOUND, {"pool": {"q": {HALF_A_PAIR: 1.0}}}),
        (JUDGED, FOUND, {"gains": {"q": {HALF_A_PAIR: 1.0}}}),
        (JUDGED, FOUND, {"by": {"lang": {HALF_A_PAIR: "de"}}}),
        (JUDGED, FOUND, {"only_query": HALF_A_PAIR}),
        (JUDGED, FOUND, {"corpus_sizes": {HALF_A_PAIR: 10}}),
    ],
)
def test_half_of_a_surrogate_pair_is_no_id(qrels, run, more):
    """As in JSON files. Bytes that are no UTF-8 are ids, and their surrogates come and go."""
    with pytest.raises(ragkpi.UsageError, match=r"'\\ud83dd'; expected Unicode text"):
        ragkpi.evaluate(qrels, run, "map", **more)


def test_bytes_that_are_no_utf8_are_ids():
    given = {"\udcff": {"\udc80d": 1}}
    assert ragkpi.evaluate(given, given, "map").per_query == {"\udcff": {"map": 1.0}}
    assert ragkpi.evaluate({b"\xff": {b"\x80d": 1}}, given, "map").mean == {"map": 1.0}


def test_half_of_a_surrogate_pair_in_a_frame():
    pandas = pytest.importorskip("pandas")
    rows = [("q", HALF_A_PAIR, 1.0)]
    run = pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"], dtype=object)
    with pytest.raises(ragkpi.UsageError, match="expected Unicode text"):
        ragkpi.evaluate(JUDGED, run, "map")


def test_half_of_a_surrogate_pair_in_the_name_of_a_run_or_a_file():
    text = str(ragkpi.evaluate(JUDGED, {HALF_A_PAIR: FOUND, "other": FOUND}, "map"))
    assert r"\ud83dd" in text
    assert text.encode()  # it can be printed
    for files in ((HALF_A_PAIR, FOUND), (JUDGED, HALF_A_PAIR)):
        with pytest.raises(ragkpi.InputError, match="cannot be read"):
            ragkpi.evaluate(*files, "map")


@pytest.mark.parametrize("twice", ["query_id", "doc_id", "number"])
@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
@pytest.mark.parametrize("mapped", [False, True], ids=["found", "mapped"])
def test_two_columns_of_one_name_are_refused(package, twice, mapped):
    module = pytest.importorskip(package)

    def frame(number, rows):
        names = ["query_id", "doc_id", number, number if twice == "number" else twice]
        columns = [*zip(*rows, strict=True)]
        if package == "pyarrow":
            return module.table([module.array(column) for column in columns], names=names)
        return module.DataFrame(rows, columns=names)

    run = frame("score", [("q", "d", 0.5, "x"), ("q", "e", 0.7, "y")])
    qrels = frame("relevance", [("q", "d", 1, "x")])
    of_run = {"map_run": "query=query_id, doc=doc_id, score=score"} if mapped else {}
    of_qrels = {"map_qrels": "query=query_id, doc=doc_id, level=relevance"} if mapped else {}
    name = "score" if twice == "number" else twice
    with pytest.raises(ragkpi.RagkpiError, match=f"^(the )?run.* name(d|) .*{name};"):
        ragkpi.evaluate(JUDGED, run, "map", **of_run)
    name = "relevance" if twice == "number" else twice
    with pytest.raises(ragkpi.RagkpiError, match=f"^(the )?qrels.* name(d|) .*{name};"):
        ragkpi.evaluate(qrels, FOUND, "map", **of_qrels)


@pytest.mark.parametrize(("qrels", "run"), [([*QRELS, QRELS[0]], RUN), (QRELS, [*RUN, RUN[0]])])
def test_a_document_twice_is_refused_with_the_rows(qrels, run):
    with pytest.raises(ragkpi.DataError, match=r"(qrels|run):\d+: document .* again, first .* 1;"):
        ragkpi.evaluate(qrels, run, "map")


def test_nothing_in_common():
    with pytest.raises(ragkpi.NothingInCommonError):
        ragkpi.evaluate({"a": {"d": 1}}, {"b": {"d": 1.0}}, "map")


def test_integers_are_ids():
    assert ragkpi.evaluate({1: {10: 1}}, {1: {10: 0.5, 9: 0.7}}, "recip_rank").mean == {
        "recip_rank": 0.5
    }


def test_ties_are_broken_as_trec_eval_does():
    assert ragkpi.evaluate({"q": {"b": 1}}, {"q": {"a": 1, "b": 1}}, "P.1").mean == {"P_1": 1.0}


def test_notes_and_warnings():
    with pytest.warns(ragkpi.RagkpiWarning, match="a deeper run"):
        ragkpi.evaluate(QRELS, RUN, "Fe.20")
    result = ragkpi.evaluate(QRELS, RUN[20:], "map")
    assert "hd-01" in result.notes[0]
    assert "map=" in repr(result)


@pytest.mark.parametrize(
    "name", sorted({getattr(ragkpi, name).__module__ for name in ragkpi.__all__})
)
def test_the_examples_of_the_docstrings(name, monkeypatch):
    monkeypatch.chdir(FIXTURES.parents[1])
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0


@pytest.mark.parametrize("name", ["agree", "check", "compare", "depth", "diagnose", "evaluate"])
def test_functions_show_an_example(name):
    assert ">>>" in getattr(ragkpi, name).__doc__


def test_importing_the_package_imports_nothing():
    code = "import sys; old = set(sys.modules); import ragkpi; print(*set(sys.modules) - old)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-Sc", code], capture_output=True, env=environment)
    assert not {"numpy", "scipy", "typing", "rich"} & set(done.stdout.decode().split())
    assert b"ragkpi" in done.stdout


def test_public_names_exist():
    assert all(getattr(ragkpi, name) for name in dir(ragkpi))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ragkpi.nothing


def test_public_names_are_where_type_checkers_see_them():
    source = ast.parse(Path(ragkpi.__file__).read_text("utf-8"))
    (typed,) = [node for node in source.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module
        for node in typed.body
        for alias in node.names
        if alias.asname == alias.name
    }
    assert sorted(seen) == ragkpi.__all__
    for name in ragkpi.__all__:
        assert getattr(ragkpi, name).__module__ == seen[name]


def test_a_program_without_sources_has_all_public_names():
    code = (
        "from importlib.machinery import SourceFileLoader as Loader\n"
        "Loader.get_source = lambda *_: None\n"
        "import ragkpi\n"
        "print(ragkpi.holes.__name__, ragkpi.UsageError.__name__)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert done.stdout.split() == [b"holes", b"UsageError"], done.stderr


def test_what_commands_call_is_offered():
    """A public function that is missing from `ragkpi/__init__.py` would end in status 70."""
    package = Path(ragkpi.__file__).parent
    called = {
        node.attr: path.name
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id == "ragkpi"
    }
    assert set(called) - set(ragkpi.__all__) == set(), called
    for path in package.glob("questions/*/*.py"):
        functions = {
            node.name
            for node in ast.parse(path.read_text("utf-8")).body
            if isinstance(node, ast.FunctionDef)
        }
        assert functions & {path.parent.name} <= set(ragkpi.__all__), path


def test_the_package_lists_what_it_exports():
    """Type checkers read the imports, Python the table beside them."""
    text = Path(ragkpi.__file__).read_text("utf-8")
    imports = re.findall(r"^    from (\S+) import (\w+) as (\w+)$", text, re.MULTILINE)
    assert {name: module for module, name, _ in imports} == ragkpi._MODULES
    assert all(name == alias for _, name, alias in imports)
    assert all(callable(getattr(ragkpi, name)) for name in ragkpi.__all__)
