"""Every evaluator on every input: how long it takes, and whether the values are the same."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from inputs import INPUTS
from measuring import Sample, environment, medians, seconds
from peers import MEASURES, Peer, asked, evaluators, ragkpi, trec_eval

# Of the largest input, those in Python would need ten and more gigabytes.
_LARGEST = "XL"
_OF_LARGEST = 3


def table(inputs: Sequence[tuple[str, Path, Path]], repeats: int, too_long: float) -> Iterator[str]:
    """Yield a Markdown table of wall times and peak memory, a line for each input."""
    labels = [peer.label for peer in evaluators(Path(), Path())]
    yield f"| input | queries × documents | {' | '.join(labels)} | values |"
    yield f"|---|---|{'---:|' * len(labels)}---|"
    for name, qrels, run in inputs:
        _read_once(qrels, run)
        peers = evaluators(qrels, run)
        if name == _LARGEST:
            peers = peers[:_OF_LARGEST]
        cells = [_cell(sample) for sample in medians(peers, repeats, too_long)]
        cells += [""] * (len(labels) - len(cells))
        size = f"{INPUTS[name].queries:,} × {INPUTS[name].depth:,}"
        yield f"| {name} | {size} | {' | '.join(cells)} | {_verdict(qrels, run)} |"
    yield ""


def _read_once(*paths: Path) -> None:
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def _cell(sample: Sample | None) -> str:
    return f"{seconds(sample.wall)}, {sample.memory:,.0f} MB" if sample else ""


def _verdict(qrels: Path, run: Path) -> str:
    """Compare all per-query lines of ragkpi, with one worker and with two, to trec_eval's."""
    words = ("-q", *asked(MEASURES), qrels, run)
    peers = [ragkpi("eval", *words), ragkpi("eval", *words, workers=2), trec_eval(*words)]
    outputs = {_output(peer) for peer in peers if not peer.missing}
    return "equal" if len(outputs) == 1 and outputs != {b""} else "**different**"


def _output(peer: Peer) -> bytes:
    done = subprocess.run(peer.command, stdout=subprocess.PIPE, env=environment(peer), check=False)
    return done.stdout
