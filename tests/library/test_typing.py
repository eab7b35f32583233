"""What a type checker knows of a program that uses ragkpi."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

CLIENT = """\
from collections.abc import Mapping
from pathlib import Path

import ragkpi

qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
run = {"q1": {"d1": 0.5, "d2": 0.9}, "q2": {"d3": 1.5}}
lists = {"q1": ["d1", "d2"]}
rows = [("q1", "d1", 1.0)]


def gate(path: Path, least: float) -> bool:
    result = ragkpi.evaluate("qrels.txt", path, "map", missing="zero")
    value: float = result.mean["map"]
    lines = b"".join(result.trec_lines(per_query="shown", digits=4))
    return value >= least or result.run_id.encode() in lines


def table(paths: list[str], names: Mapping[str, str]) -> str:
    of_paths = ragkpi.evaluate("qrels.txt", paths, ["map", "P.5"], ci=True, seed=7)
    of_names = ragkpi.evaluate("qrels.txt", names, corpus_size=5000)
    best = max(of_paths.mean, key=lambda name: of_paths[name].mean["map"])
    worst = min(of_paths.items(), key=lambda item: item[1].mean["map"])
    return f"{best} {list(of_names)} {worst[0]} {len(of_paths)}"


one: ragkpi.RunResult = ragkpi.evaluate(qrels, run, "P.1", fail_under={"P_1": 0.1})
listed: ragkpi.RunResult = ragkpi.evaluate(qrels, lists)
of_rows: ragkpi.RunResult = ragkpi.evaluate(qrels, rows)
several: ragkpi.RunResults = ragkpi.evaluate(qrels, {"a": run, "b": run}, problems="kept")
in_a_list: ragkpi.RunResults = ragkpi.evaluate(qrels, [run, run])
again: ragkpi.RunResult = ragkpi.evaluate(ragkpi.read_qrels("qrels.txt"), ragkpi.read_run("r"))
low = ragkpi.evaluate(qrels, run, "P.1", ci=True, ci_method="percentile").intervals["P_1"].low
compared = ragkpi.compare(qrels, {"a": run, "b": run}, "map", test="sign", confidence=0.9)
judged = ragkpi.read_qrels("qrels.txt")
levels: dict[str, float] = judged["q1"]
sampled = {query: judged[query] for query in list(judged)[:1]}
part: ragkpi.RunResult = ragkpi.evaluate(sampled, run, gains={"q1": {"d1": 0.5}}, pool=run)
labelled = ragkpi.evaluate(judged, run, by={"lang": {"q1": "de"}}, cluster={"q1": "a"})
told = ragkpi.agree(judged, {"model": qrels}).answer, ragkpi.depth(judged, [run, run]).answer
holes = ragkpi.holes(judged, ["a", "b"], by="labels.tsv").answer
print(levels, part.mean, labelled.slices, told, holes)
print(gate(Path("run"), 0.3), table(["a", "b"], {}), compared.answer, low + 1.0)
"""


def checked(tmp_path, text):
    (tmp_path / "client.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "client.py")]
    folder = Path(__file__).parents[2]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_client_passes_the_strictest_check(tmp_path):
    done = checked(tmp_path, CLIENT)
    assert done.returncode == 0, done.stdout


def test_a_wrong_client_does_not(tmp_path):
    wrong = CLIENT + "one.runs\nseveral.per_query\nragkpi.holes(1, 2)\n"
    wrong += 'ragkpi.evaluate(qrels, run, misssing="zero")\n'
    done = checked(tmp_path, wrong)
    errors = {line.split(":")[1] for line in done.stdout.splitlines() if ": error: " in line}
    assert len(errors) == 4, done.stdout
