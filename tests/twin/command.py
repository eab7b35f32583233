"""trec_eval's flags, enough of them to run a golden case without ragkpi's own command line."""

import getopt
import shlex
from pathlib import Path

from ragkpi.measures.registry import find_values
from ragkpi.measures.scores import score
from ragkpi.ranking.settings import Settings
from ragkpi.reports.trec import trec_lines
from tests.twin.ranking import judged_of
from tests.twin.reading import read_qrels, read_run


def run_case(folder):
    """Return what the `cmd` of a golden case prints, read and ranked by the twin."""
    options, files = parse(shlex.split((folder / "cmd").read_text()))
    qrels_text, run_text = (Path(folder / name).read_bytes() for name in files)
    return evaluate(qrels_text, run_text, options)


def parse(arguments):
    options, files = getopt.gnu_getopt(arguments, "qncm:l:M:JN:R:Z:D:")
    return options, ["stdin" if name == "-" else name for name in files]


def evaluate(qrels_text, run_text, options):
    given = dict(options)
    qrels = read_qrels(qrels_text)
    run, run_id = read_run(run_text)
    settings = Settings(
        relevance_level=int(given.get("-l", 1)),
        missing="zero" if "-c" in given else "intersection",
        unjudged="removed" if "-J" in given else "kept",
        max_retrieved=int(given["-M"]) if "-M" in given else None,
        only_query=given["-D"].partition(".")[2].encode() if "-D" in given else None,
        corpus_size=int(given["-N"]) if "-N" in given else None,
    )
    requests = [text for flag, text in options if flag == "-m"] or ["official"]
    judged = judged_of(qrels, run, settings, run_id)
    lines = "shown" if "-q" in given else "hidden", "hidden" if "-n" in given else "shown"
    scores = score(judged, find_values(requests), divisor=len(qrels) if "-c" in given else None)
    return b"".join(trec_lines(scores, *lines))
