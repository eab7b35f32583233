"""Several rankings of one query in one file are refused, and one of them can be chosen."""

import json
from pathlib import Path

import pytest

import ragkpi as library
from tests.hostile_files import KEY_ONCE, ONE_RANKING

MTEB = Path(__file__).parents[2] / "../shared/data/stacks/more/mteb_pred_two.json"
QRELS = b"q 0 a 1\n"
TWO = {"mteb_model_meta": {"model_name": "m"}}
TWO |= {"en": {"test": {"q": {"a": 0.9, "b": 0.1}}}, "de": {"test": {"q": {"c": 0.9, "d": 0.1}}}}
SPLITS = {"mteb_model_meta": {}, "en": {"dev": {"q": {"b": 1}}, "test": {"q": {"a": 1}}}}
EACH = ONE_RANKING
KEYS = f"repeated key 'q'; {KEY_ONCE}"
MAP = "records=$.{}, query=@key, list=@value, doc=@key, score=@value"
SEPARATE = (
    "run: 2 separate rankings of the queries ($.{0}, $.{1}); expected one of them, such as "
    f"--map-run '{MAP.replace('{}', '{0}')}'"
)

TWICE = {
    "subsets": (json.dumps(TWO), SEPARATE.format("en.test", "de.test")),
    "splits": (json.dumps(SPLITS, indent=1), SEPARATE.format("en.dev", "en.test")),
    "lists of ids": (
        '[{"qid": "q", "results": ["a", "b"]},\n {"qid": "q", "results": ["c"]}]',
        f"run:2: rank 1 of query q again, first at line 1; {EACH}",
    ),
    "lists of ids, apart": (
        '{"qid": "q", "results": ["a", "b"]}\n{"qid": "r", "results": ["a"]}\n'
        '{"qid": "q", "results": ["c"]}\n',
        f"run:3: rank 1 of query q again, first at line 1; {EACH}",
    ),
    "lists of documents": (
        '{"qid": "q", "hits": [{"docid": "a"}]}\n{"qid": "q", "hits": [{"docid": "b"}]}\n',
        f"run:2: rank 1 of query q again, first at line 1; {EACH}",
    ),
    "a list with scores and one without": (
        '{"qid": "q", "hits": [{"docid": "a", "score": 7}]}\n{"qid": "q", "hits": [{"docid": "b"}]}'
        "\n",
        f"run:2: query q with and without scores again, first at line 1; {EACH}",
    ),
    "lists under keys, on several lines": (
        '{"q": ["a", "b"]}\n{"q": ["c"]}\n',
        f"run:2: rank 1 of query q again, first at line 1; {EACH}",
    ),
    "keys": ('{"q": {"a": 1},\n "q": {"b": 2}}', f"run:2: {KEYS}"),
    "keys, apart": (
        '{"q": {"a": 1}, "r": {"a": 1},\n "q": {"b": 2}}',
        f"run:2: {KEYS}",
    ),
    "keys, one without documents": (
        '{"q": {"a": 1}, "r": {"a": 1},\n "q": {}}',
        f"run:2: {KEYS}",
    ),
    "keys, behind what has to be decoded": (
        '{"q": {"a": 1},\n "r": {"\\u0061": 1},\n "q": {"b": 2}}',
        f"run:3: {KEYS}",
    ),
    "keys on one of several lines": (
        '{"p": {"a": 1}}\n{"q": {"a": 1}, "q": {"b": 2}}\n',
        f"run:2: {KEYS}",
    ),
    "keys of lists": ('{"q": ["a"],\n "q": ["b"]}', f"run:2: {KEYS}"),
    "keys of subsets": (
        json.dumps(TWO, indent=0).replace('"de"', '"en"'),
        f"run:13: repeated key 'en'; {KEY_ONCE}",
    ),
    "MS MARCO": (
        "q\ta\t1\nq\tb\t2\nq\tc\t1\n",
        f"run:3: rank 1 of query q again, first at line 1; {EACH}",
    ),
    "MS MARCO, apart": (
        "q\ta\t1\nr\ta\t1\nq\tb\t1\n",
        f"run:3: rank 1 of query q again, first at line 1; {EACH}",
    ),
    "CSV of ranks": (
        "qid,docid,rank\nq,a,1\nq,b,2\nq,c,2\n",
        f"run:4: rank 2 of query q again, first at line 3; {EACH}",
    ),
    "CSV of ranks, quoted": (
        'qid,docid,rank\nq,"a,b",1\nq,c,1\n',
        f"run:3: rank 1 of query q again, first at line 2; {EACH}",
    ),
    "JSON lines of ranks": (
        '{"qid": "q", "docid": "a", "rank": 1}\n{"qid": "q", "docid": "b", "rank": 1}\n',
        f"run:2: rank 1 of query q again, first at line 1; {EACH}",
    ),
}


@pytest.fixture
def files(tmp_path):
    """Write qrels and a run of some text."""

    def write(text, qrels=QRELS):
        (tmp_path / "qrels").write_bytes(qrels)
        (tmp_path / "run").write_text(text)
        return tmp_path

    return write


def formats_of(text):
    return ["--run-format", "msmarco"] if text.startswith("q\t") else []


@pytest.mark.parametrize(("text", "message"), TWICE.values(), ids=TWICE)
def test_separate_rankings_are_refused_and_found(text, message, ragkpi, files):
    folder, how = files(text), formats_of(text)
    for command in (
        ["eval", *how, "qrels", "run"],
        ["depth", *how, "qrels", "run"],
        ["convert", *(["--from", "msmarco"] if how else []), "run", "-", "--to", "trec"],
    ):
        outcome = ragkpi(*command, folder=folder)
        assert outcome.err.decode() == f"ragkpi: error: {message}\n"
        assert (outcome.status, outcome.out) == (2, b"")
    outcome = ragkpi("check", *how, "--format", "json", "run", folder=folder)
    rows = json.loads(outcome.out)["rows"]
    assert {(row["severity"], row["finding"]) for row in rows} == {("error", "separate-rankings")}
    assert message.split(": ", 1)[1] in rows[0]["what"]
    assert outcome.status == 3
    outcome = ragkpi("check", *how, "--fix", "fixed", "run", folder=folder)
    assert outcome.status == 1
    assert not (folder / "fixed").exists()


@pytest.mark.parametrize(
    "text",
    [
        '{"qid": "q", "hits": [{"docid": "a", "score": 2}]}\n'
        '{"qid": "q", "hits": [{"docid": "b", "score": 1}]}\n',
        '{"qid": "q", "hits": [{"docid": "a", "rank": 1}]}\n'
        '{"qid": "q", "hits": [{"docid": "b", "rank": 2}]}\n',
        '{"q": {"a": 2}}\n{"q": {"b": 1}}\n',
        "q\tb\t2\nr\tb\t1\nq\ta\t1\n",
        json.dumps({"mteb_model_meta": {}, "en": {"test": {"q": {"a": 2, "b": 1}}}}),
    ],
)
def test_one_ranking_in_parts_is_one(text, ragkpi, files):
    outcome = ragkpi(
        "eval", *formats_of(text), "-m", "recip_rank", "-m", "num_ret", "qrels", "run",
        folder=files(text),
    )  # fmt: skip
    assert [line.split()[-1] for line in outcome.out.splitlines()] == [b"2", b"1.0000"]


@pytest.mark.parametrize(("subset", "found"), [("en", b"1.0000"), ("de", b"0.0000")])
@pytest.mark.filterwarnings("ignore:none of the 2 documents")
@pytest.mark.parametrize("layout", [{}, {"indent": 2}], ids=["compact", "indented"])
def test_a_map_chooses_a_subset(subset, found, layout, ragkpi, files):
    folder = files(json.dumps(TWO, **layout))
    map_ = MAP.format(f"{subset}.test")
    outcome = ragkpi("eval", "--map-run", map_, "-m", "P.1", "qrels", "run", folder=folder)
    assert (outcome.out.split()[-1:], outcome.status) == ([found], 0)
    result = library.evaluate(folder / "qrels", folder / "run", ["P.1"], map_run=map_)
    assert result.mean["P_1"] == float(found)


def test_records_under_a_key_with_dots(ragkpi, files):
    text = '{"runs": {"x": [{"q": "q", "d": ["b"]}], "y.z": [{"q": "q", "d": ["a"]}]}}'
    how = ["--map-run", "records=$.runs.y.z, query=q, list=d", "-m", "P.1"]
    outcome = ragkpi("eval", *how, "qrels", "run", folder=files(text))
    assert outcome.out.split()[-1] == b"1.0000"


@pytest.mark.skipif(not MTEB.exists(), reason="needs ../shared/data/stacks")
def test_predictions_that_mteb_wrote(ragkpi):
    assert ragkpi("check", MTEB).status == 3
    assert ragkpi("check", "--map-run", MAP.format("de.test"), MTEB).status == 0
