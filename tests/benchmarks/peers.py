"""Commands to measure: ragkpi of this checkout, and the tools that stand beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
DRIVERS = Path(__file__).parent / "drivers"
TREC_EVAL = os.environ.get("TREC_EVAL", "")
# The Python that has the other evaluators: ragkpi is measured without their dependencies around.
PEERS_PYTHON = os.environ.get("PEERS_PYTHON", sys.executable)

# The same five values in each tool's spelling.
MEASURES = ["map", "ndcg_cut.10", "recip_rank", "recall.100", "P.10"]
PYTREC_EVAL = ["map", "ndcg_cut_10", "recip_rank", "recall_100", "P_10"]
IR_MEASURES = ["AP", "nDCG@10", "RR", "R@100", "P@10"]
RANX = ["map", "ndcg@10", "mrr", "recall@100", "precision@10"]

# As the script that pip installs does.
_RAGKPI = "from ragkpi.cli import entry; entry()"
Word = str | Path


@dataclass(frozen=True)
class Peer:
    """A command to measure.

    Attributes
    ----------
    label
        What tables call it.
    command
        The program and its arguments.
    missing
        Why it cannot run here; empty if it can.
    environment
        Variables set for it.
    """

    label: str
    command: Sequence[str]
    missing: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


def ragkpi(*words: Word, label: str = "", workers: int = 1) -> Peer:
    """Call ragkpi from this checkout."""
    shown = " ".join(word.name if isinstance(word, Path) else word for word in words)
    command = [sys.executable, "-c", _RAGKPI, *map(str, words)]
    return Peer(label or f"ragkpi {shown}", command, environment={"RAGKPI_WORKERS": str(workers)})


def trec_eval(*words: Word) -> Peer:
    """Call the binary that $TREC_EVAL names."""
    lacking = "" if TREC_EVAL else "TREC_EVAL does not name a binary"
    return Peer("trec_eval", [TREC_EVAL, *map(str, words)], lacking)


def python(label: str, code: str, *files: Path, needs: str = "") -> Peer:
    """Run a line of Python: where `needs`, a distribution, is installed, and without BLAS threads.

    Idle threads of BLAS spin through some 70 ms, which ragkpi saves; `import numpy` may as well.
    """
    interpreter = PEERS_PYTHON if needs else sys.executable
    return Peer(
        label,
        [interpreter, "-c", code, *map(str, files)],
        _missing(needs) if needs else "",
        {"OPENBLAS_NUM_THREADS": "1"},
    )


def evaluators(qrels: Path, run: Path) -> list[Peer]:
    """Return everyone who can compute the five values, from the same files."""
    words = (*asked(MEASURES), qrels, run)
    return [
        trec_eval(*words),
        ragkpi("eval", *words, label="ragkpi, 1 core"),
        ragkpi("eval", *words, label="ragkpi, 2 cores", workers=2),
        pytrec_eval(qrels, run),
        _driven("ir_measures", "ir-measures", ["-m", "ir_measures"], qrels, run, IR_MEASURES),
        _driven("ranx", "ranx", [str(DRIVERS / "run_ranx.py")], qrels, run, RANX),
    ]


def pytrec_eval(qrels: Path, run: Path) -> Peer:
    """Parse both files and evaluate, as pytrec_eval's users do."""
    script = str(DRIVERS / "run_pytrec_eval.py")
    return _driven("pytrec_eval", "pytrec-eval-terrier", [script], qrels, run, PYTREC_EVAL)


def asked(measures: Sequence[str]) -> list[str]:
    """Write measures as -m options."""
    return [word for measure in measures for word in ("-m", measure)]


def _driven(
    label: str,
    distribution: str,
    program: Sequence[str],
    qrels: Path,
    run: Path,
    measures: Sequence[str],
) -> Peer:
    command = [PEERS_PYTHON, *program, str(qrels), str(run), *measures]
    return Peer(label, command, _missing(distribution))


def versions() -> list[str]:
    """Name what takes part, with versions."""
    here = _installed(sys.executable, "numpy").items()
    named = [f"{name} {version}" for name, version in [*here, *_PEER_VERSIONS.items()]]
    if TREC_EVAL:
        said = subprocess.run([TREC_EVAL, "-v"], capture_output=True, text=True, check=False)
        named.append(said.stderr.strip())
    return [f"Python {sys.version.split()[0]}", *named]


def _installed(interpreter: str, *distributions: str) -> dict[str, str]:
    """Ask another Python for versions, which keeps its modules out of this process."""
    script = """if True:
        import importlib.metadata, json, sys
        versions = {}
        for name in sys.argv[1:]:
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        print(json.dumps(versions))
    """
    said = subprocess.run(
        [interpreter, "-c", script, *distributions], stdout=subprocess.PIPE, check=True
    )
    return dict(json.loads(said.stdout))


_PEER_VERSIONS = _installed(
    PEERS_PYTHON, "pytrec-eval-terrier", "ir-measures", "ranx", "pyarrow", "polars"
)


def _missing(distribution: str) -> str:
    """Say that a package is not there; nothing if it is."""
    return "" if distribution in _PEER_VERSIONS else f"{distribution} is not in {PEERS_PYTHON}"
