"""The commands that are measured: evaluators doing the same work, and what starting costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

DRIVERS = Path(__file__).parent / "drivers"
ROOT = Path(__file__).parents[2]
TREC_EVAL = os.environ.get("TREC_EVAL", "")
# The Python that has the other evaluators: ragkpi is measured without their dependencies around.
PEERS_PYTHON = os.environ.get("PEERS_PYTHON", sys.executable)

# The same five values in each tool's spelling.
MEASURES = ["map", "ndcg_cut.10", "recip_rank", "recall.100", "P.10"]
PYTREC_EVAL = ["map", "ndcg_cut_10", "recip_rank", "recall_100", "P_10"]
IR_MEASURES = ["AP", "nDCG@10", "RR", "R@100", "P@10"]
RANX = ["map", "ndcg@10", "mrr", "recall@100", "precision@10"]


@dataclass(frozen=True)
class Peer:
    """A command line to measure.

    Attributes
    ----------
    label
        What the table calls it.
    command
        From the qrels and the run to the command's arguments.
    missing
        Why it cannot run here; empty if it can.
    environment
        Variables set for it.
    """

    label: str
    command: Callable[[Path, Path], list[str]]
    missing: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


def ragkpi(*options: str) -> Callable[[Path, Path], list[str]]:
    """Return the command of ragkpi from this checkout."""
    return lambda qrels, run: [
        *[sys.executable, "-m", "ragkpi", "eval", *options],
        *[str(qrels), str(run)],
    ]


def trec_eval(*options: str) -> Callable[[Path, Path], list[str]]:
    """Return the command of the binary that $TREC_EVAL names."""
    return lambda qrels, run: [TREC_EVAL, *options, str(qrels), str(run)]


def asked(measures: list[str]) -> list[str]:
    """Write measures as -m options."""
    return [word for measure in measures for word in ("-m", measure)]


def _python(*arguments: str) -> Callable[[Path, Path], list[str]]:
    return lambda qrels, run: [sys.executable, *arguments]


def _driver(script: str, measures: list[str]) -> Callable[[Path, Path], list[str]]:
    return lambda qrels, run: [
        *[PEERS_PYTHON, str(DRIVERS / script)],
        *[str(qrels), str(run), *measures],
    ]


def _installed(python: str, *distributions: str) -> dict[str, str]:
    """Ask another Python for versions, which keeps its modules out of this process."""
    script = """if True:
        import importlib.metadata, json, sys
        found = {}
        for name in sys.argv[1:]:
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        print(json.dumps(found))
    """
    said = subprocess.run(
        [python, "-c", script, *distributions], stdout=subprocess.PIPE, check=True
    )
    return dict(json.loads(said.stdout))


PEER_VERSIONS = _installed(PEERS_PYTHON, "pytrec-eval-terrier", "ir-measures", "ranx")


def missing(distribution: str) -> str:
    """Say that a package is not there; nothing if it is."""
    return "" if distribution in PEER_VERSIONS else f"{distribution} is not in {PEERS_PYTHON}"


ONE, TWO = {"RAGKPI_WORKERS": "1"}, {"RAGKPI_WORKERS": "2"}
NO_BINARY = "" if TREC_EVAL else "TREC_EVAL does not name a binary"

PEERS = {
    "trec_eval": Peer("trec_eval", trec_eval(*asked(MEASURES)), NO_BINARY),
    "ragkpi1": Peer("ragkpi, 1 worker", ragkpi(*asked(MEASURES)), environment=ONE),
    "ragkpi2": Peer("ragkpi, 2 workers", ragkpi(*asked(MEASURES)), environment=TWO),
    "pytrec_eval": Peer(
        "pytrec_eval",
        _driver("run_pytrec_eval.py", PYTREC_EVAL),
        missing("pytrec-eval-terrier"),
    ),
    "ir_measures": Peer(
        "ir_measures",
        lambda qrels, run: [
            *[PEERS_PYTHON, "-m", "ir_measures"],
            *[str(qrels), str(run), *IR_MEASURES],
        ],
        missing("ir-measures"),
    ),
    "ranx": Peer("ranx", _driver("run_ranx.py", RANX), missing("ranx")),
    "numpy": Peer('python -c "import numpy"', _python("-c", "import numpy")),
    "ragkpi-map": Peer("ragkpi -m map, 1 worker", ragkpi("-m", "map"), environment=ONE),
    "ragkpi-all_trec": Peer(
        "ragkpi -m all_trec, 1 worker", ragkpi("-m", "all_trec"), environment=ONE
    ),
    "python": Peer("python -c pass", _python("-c", "pass")),
    "ragkpi-help": Peer("ragkpi --help", _python("-m", "ragkpi", "--help")),
}


def versions() -> list[str]:
    """Name what takes part, with versions."""
    here = _installed(sys.executable, "numpy").items()
    found = [f"{name} {version}" for name, version in [*here, *PEER_VERSIONS.items()]]
    if TREC_EVAL:
        said = subprocess.run([TREC_EVAL, "-v"], capture_output=True, text=True, check=False)
        found.append(said.stderr.strip())
    return [f"Python {sys.version.split()[0]}", *found]
