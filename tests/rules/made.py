"""Twelve queries with one relevant document each, and runs whose values are known by hand."""

import json

QUERIES = [f"q{number:02}" for number in range(12)]


def run_of(places, of=QUERIES):
    """A run with the relevant document at the given rank of each query; 0 does not retrieve it."""
    lines = []
    for query, place in zip(of, places, strict=True):
        documents = ["x1", "x2", "x3", "x4"]
        if place:
            documents.insert(place - 1, "rel")
        lines += [f"{query} Q0 {doc} {n} {9 - n} t" for n, doc in enumerate(documents, 1)]
    return "".join(f"{line}\n" for line in lines)


# Reciprocal ranks: 0.75 on average, 0.375, 0.75, 0.
RUNS = {
    "good.run": run_of([1, 2] * 6),
    "bad.run": run_of([2, 4] * 6),
    "like.run": run_of([2, 1] * 6),
    "none.run": run_of([0] * 12),
    "other.run": run_of([1] * 3, ["z1", "z2", "z3"]),
    "empty.run": "",
    "five.run": run_of([1, 2, 1, 2, 1], QUERIES[:5]),
    "three.run": run_of([1, 1, 1], QUERIES[:3]),
}


def write_files(folder):
    (folder / "qrels").write_text("".join(f"{query} 0 rel 1\n" for query in QUERIES))
    (folder / "five.qrels").write_text("".join(f"{query} 0 rel 1\n" for query in QUERIES[:5]))
    (folder / "three.qrels").write_text("".join(f"{query} 0 rel 1\n" for query in QUERIES[:3]))
    (folder / "more.qrels").write_text(
        "".join(f"{query} 0 rel 1\n{query} 0 x9 0\n" for query in QUERIES)
    )
    (folder / "labels.tsv").write_text("query\tlang\n" + "".join(f"{q}\tde\n" for q in QUERIES[:2]))
    (folder / "all.tsv").write_text("query\tlang\n" + "".join(f"{q}\tde\n" for q in QUERIES))
    for name, text in RUNS.items():
        (folder / name).write_text(text)


def edit(path, change):
    """Change the only run of a stored JSON result."""
    document = json.loads(path.read_text())
    change(document["runs"][0], document)
    path.write_text(json.dumps(document))
