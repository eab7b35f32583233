"""What ragkpi does, as functions; the commands call the same."""

from ragkpi.library.agreeing import agree, correct
from ragkpi.library.arguments import Evaluating
from ragkpi.library.evaluating import RunResult, RunResults, evaluate
from ragkpi.library.files import convert, read_qrels, read_run
from ragkpi.library.questions import calibrate, check, compare, depth, diagnose, holes
from ragkpi.library.reporting import report
from ragkpi.library.result import Result

__all__ = [
    "Evaluating",
    "Result",
    "RunResult",
    "RunResults",
    "agree",
    "calibrate",
    "check",
    "compare",
    "convert",
    "correct",
    "depth",
    "diagnose",
    "evaluate",
    "holes",
    "read_qrels",
    "read_run",
    "report",
]
