"""Dumps of search results and judgements in `dumps/`, a third of them by really run packages.

They were written before ragkpi read them; those of `others.jsonl` last, and of their A it read 23
of 40 as they are. In each line `class` says what must become of a dump:

- A: known names or a usual structure hold queries, documents and an order: read as its twin;
- H: one of them is known by its values alone, or two readings are possible: read as its twin, or
  refused;
- N: one of them is missing: refused. Where texts stand for queries, `--queries` makes it an A.

None is read as something else, whatever its class.

A twin says what a dump means: by query, documents and scores (large is better) or levels.
"""

import base64
import json
from collections import defaultdict
from pathlib import Path

import pytest

from ragkpi.errors import RagkpiError
from ragkpi.files.formats import read_any_qrels, reader_of, reading_for
from ragkpi.files.opening import Source
from ragkpi.files.query_files import read_query_ids
from ragkpi.files.sieve import sieve_for

pytestmark = pytest.mark.filterwarnings("ignore")

FOLDER = Path(__file__).parent / "dumps"
DUMPS = {
    dump["name"]: dump
    for path in sorted(FOLDER.glob("*.jsonl"))
    for dump in map(json.loads, path.read_text().splitlines())
}
# What does not do what its class says, and why.
FALLS_SHORT = {
    "cypher-shell": "a space behind each comma",
    "clickhouse-tsvwithnamesandtypes": "a line of types below the names",
    "clickhouse-compacteachrowwithnames": "a first array that names the others",
    "databricks-data-array": "names of columns beside the rows of one query",
    "excel-utf16": "UTF-16, refused with the command that mends it",
}


def rankings(path, reading):
    """The documents of each query, the best first."""
    best = defaultdict(list)
    with Source(str(path)) as source:
        for block in reader_of("run", source, reading).stream_run(source, held=True):
            for row, group in enumerate(block.group().tolist()):
                best[block.query[group].decode()].append(
                    (-float(block.score[row]), block.document[row].decode())
                )
    return {query: [id_ for _, id_ in sorted(some)] for query, some in best.items()}


def relevant(path, reading):
    """The levels above 0: a map cannot say that a second list has what is not relevant."""
    qrels, levels = read_any_qrels(str(path), reading), defaultdict(dict)
    for query, document, level in zip(qrels.query, qrels.document, qrels.level, strict=True):
        if level > 0:
            levels[query.decode()][document.decode()] = int(level)
    return levels


def as_read(dump, path, map_=None, fold=None):
    queries = None
    if "queries" in dump:
        texts = path.with_name("queries.tsv")
        texts.write_text("".join(f"{id_}\t{text}\n" for id_, text in dump["queries"].items()))
        queries = read_query_ids(str(texts))
    sieve = sieve_for(fold or None, False, None, queries=queries)
    reading = reading_for(dump["role"], map_=map_, sieve=sieve)
    return (rankings if dump["role"] == "run" else relevant)(path, reading)


def twin(dump):
    if dump["role"] == "qrels":
        return {
            query: {id_: level for id_, level in levels.items() if level > 0}
            for query, levels in dump["twin"].items()
            if any(level > 0 for level in levels.values())
        }
    return {
        query: sorted(scores, key=lambda id_: (-scores[id_], id_))
        for query, scores in dump["twin"].items()
    }


def outcome(dump, folder):
    """What becomes of a dump: "read", "refused", or the difference to its twin."""
    path = folder / dump["file"]
    data = base64.b64decode(dump["base64"]) if "base64" in dump else dump["text"].encode()
    path.write_bytes(data)
    try:
        found = as_read(dump, path)
    except RagkpiError:
        return "refused"
    return "read" if found == twin(dump) else f"misread as {found}"


@pytest.mark.parametrize("name", DUMPS)
def test_as_the_class_of_the_dump_says(name, tmp_path):
    dump = DUMPS[name]
    found = outcome(dump, tmp_path)
    if name in FALLS_SHORT:
        assert found == "refused", "it does now: take it out of FALLS_SHORT"
    elif dump["class"] == "A":
        assert found == "read", dump["what"]
    else:
        assert found in ("read", "refused"), dump["what"]


def test_nearly_all_whose_names_hold_everything_are_read():
    known = {name for name in DUMPS if DUMPS[name]["class"] == "A"}
    assert FALLS_SHORT.keys() <= known
    assert len(FALLS_SHORT) <= 0.03 * len(known)


@pytest.mark.parametrize("name", [name for name in DUMPS if DUMPS[name]["class"] == "H"])
def test_what_no_name_settles_ends_in_a_map_with_a_mark_for_it(name, tmp_path):
    if outcome(DUMPS[name], tmp_path) == "read":
        return
    with pytest.raises(RagkpiError) as refused:
        as_read(DUMPS[name], tmp_path / DUMPS[name]["file"])
    found = str(refused.value)
    assert "; expected " in found
    if "cannot tell which" in found:
        assert " (keys: " in found
        assert "=?" in found or "--match" in found
