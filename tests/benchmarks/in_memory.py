"""Measure calls from Python on what is in memory, beside the evaluators people import.

    python tests/benchmarks/in_memory.py [QUERIES DOCUMENTS]

CPU seconds, the least of some calls; the inputs are built and the qrels are read before. Prints a
Markdown table.
"""

from __future__ import annotations

import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ["RAGKPI_WORKERS"] = "1"

import ragkpi
from ragkpi import pytrec_eval as drop_in

MEASURES = ["map", "ndcg_cut.10", "recip_rank", "recall.100", "P.10"]
IR_MEASURES = ["AP", "nDCG@10", "RR", "R@100", "P@10"]
FRAMES = ("ragkpi, pandas", "ragkpi, polars", "ragkpi, pyarrow")
RANX = ["map", "ndcg@10", "mrr", "recall@100", "precision@10"]
Run = dict[str, dict[str, float]]


def made(queries: int, documents: int) -> tuple[dict[str, dict[str, int]], Run]:
    """Draw qrels of a twentieth of the documents, and a run in no order."""
    draw = random.Random(1)
    qrels, run = {}, {}
    for query in range(queries):
        names = [f"msmarco_doc_{n}" for n in draw.sample(range(1_000_000), documents)]
        qrels[f"q{query}"] = {name: draw.randrange(3) for name in names[:: max(1, documents // 20)]}
        run[f"q{query}"] = {name: draw.random() * 30 for name in names}
    return qrels, run


def calls(qrels: Any, run: Run, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what is measured: a label and a call."""
    rows = [(query, name, score) for query, ds in run.items() for name, score in ds.items()]
    path = folder / "run.txt"
    path.write_text("".join(f"{q} Q0 {d} 0 {score!r} run\n" for q, d, score in rows))
    read = ragkpi.read_qrels(qrels)
    yield "ragkpi, TREC file", lambda: ragkpi.evaluate(read, path, MEASURES).mean
    yield "ragkpi, dict", lambda: ragkpi.evaluate(read, run, MEASURES).mean
    yield "ragkpi, dict, one measure", lambda: ragkpi.evaluate(read, run, ["map"]).mean
    yield "ragkpi, rows", lambda: ragkpi.evaluate(read, rows, MEASURES).mean
    columns = {
        name: [row[place] for row in rows]
        for place, name in enumerate(("query_id", "doc_id", "score"))
    }
    for package, name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        if find_spec(package):
            frame = getattr(__import__(package), name)(columns)
            yield (
                f"ragkpi, {package}",
                lambda table=frame: ragkpi.evaluate(read, table, MEASURES).mean,
            )
    evaluator = drop_in.RelevanceEvaluator(qrels, MEASURES)
    yield "ragkpi.pytrec_eval, dict", lambda: evaluator.evaluate(run)
    yield from peers(qrels, run)


def peers(qrels: Any, run: Run) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the others that are installed, their qrels read before."""
    if find_spec("pytrec_eval"):
        import pytrec_eval

        evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES)
        yield "pytrec_eval, dict", lambda: evaluator.evaluate(run)
    if find_spec("ir_measures"):
        import ir_measures

        measures = [ir_measures.parse_measure(name) for name in IR_MEASURES]
        known = ir_measures.pytrec_eval.evaluator(measures, qrels)
        yield "ir_measures, dict", lambda: known.calc_aggregate(run)
    if find_spec("ranx"):
        import ranx

        judged = ranx.Qrels(qrels)
        yield "ranx, dict", lambda: ranx.evaluate(judged, ranx.Run(run), RANX, make_comparable=True)


def least(call: Callable[[], Any], repeats: int) -> float:
    """Return the CPU seconds of the quickest call."""
    spent = []
    for _ in range(repeats):
        begun = time.process_time()
        call()
        spent.append(time.process_time() - begun)
    return min(spent)


def aim(label: str, small: bool, call: float, other: float, file: float) -> str:
    """Write what is aimed at, bold if missed: of a call's seconds, pytrec_eval's and the file's."""
    if label == "ragkpi, dict, one measure" and small:
        return _marked("≤ 0.5 ms", call > 0.0005)
    if label == "ragkpi, dict" and not small:
        return _marked("≤ 0.5 × pytrec_eval", call > 0.5 * other)
    if label in FRAMES and not small:
        return _marked("≤ 2 × TREC file", call > 2 * file)
    return ""


def _marked(text: str, missed: bool) -> str:
    return f"**{text}**" if missed else text


def main() -> None:
    """Measure a large input and a small one."""
    large = tuple(int(text) for text in sys.argv[1:3]) or (1000, 1000)
    print("| queries × documents | call | CPU | ÷ pytrec_eval | ÷ TREC file | aim |")
    print("|---|---|---:|---:|---:|---|")
    for queries, documents in (large, (10, 10)):
        qrels, run = made(queries, documents)
        small = queries * documents < 10_000
        with tempfile.TemporaryDirectory() as folder:
            spent = {
                label: least(call, 200 if small else 3)
                for label, call in calls(qrels, run, Path(folder))
            }
        file, other = spent["ragkpi, TREC file"], spent.get("pytrec_eval, dict", math.nan)
        for label, seconds in spent.items():
            share = "" if math.isnan(other) else f"{seconds / other:.2f}"
            print(
                f"| {queries} × {documents} | {label} | {seconds * 1000:.2f} ms | {share} | "
                f"{seconds / file:.2f} | {aim(label, small, seconds, other, file)} |"
            )


if __name__ == "__main__":
    main()
