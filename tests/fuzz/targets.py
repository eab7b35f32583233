"""What must hold for any bytes: no crash, and no disagreement between fast and slow paths.

Each target takes the bytes and a random generator for its own choices, such as the size of the
blocks. An AssertionError or any exception but RagkpiError is a finding.
"""

import io
import math
from unittest import mock

import numpy as np

from ragkpi import kernel, plain_kernel
from ragkpi.errors import InputError, RagkpiError
from ragkpi.files.formats import (
    HEAD_LENGTH,
    reader_of,
    recognise_kind,
    recognise_qrels,
    recognise_run,
)
from ragkpi.files.json_text import DECODER
from ragkpi.files.opening import Source
from ragkpi.files.registry import FILE_FORMATS
from ragkpi.files.trec import qrels_of, stream_run, whole_queries
from ragkpi.library.examiner import Examination, examine
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.check.answer import check_answer, inspect_run, mended
from ragkpi.questions.convert.command import Conversion
from ragkpi.ranking import reading
from ragkpi.ranking.judge import judge
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.reading import (
    JUDGED_ONLY,
    ScatteredQueryError,
    hits_of,
    pushed,
    refusals,
    run_for,
)
from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import REPORT_FORMATS, rendered
from tests.fuzz import slow
from tests.fuzz.mutator import QRELS
from tests.slow_reference.ranking import judged_of

SETTINGS = Settings(missing="zero")


class MemorySource(Source):
    """Bytes as an opened input."""

    def __init__(self, text, name="run"):
        self.name, self.size = name, len(text)
        self._compression, self.parts, self.place = None, [], 0
        self._file = self._stream = io.BytesIO(text)

    def _rewind(self):
        self._file.seek(0)


def refused(function, *arguments):
    """Return what a function returns, or None if it raises a RagkpiError."""
    try:
        return function(*arguments)
    except RagkpiError:
        return None


def slowly(function, *arguments):
    try:
        return function(*arguments)
    except ValueError:
        return None


JUDGED_SLOWLY = slow.read_qrels(QRELS)
JUDGEMENTS = group_judgements(qrels_of(MemorySource(QRELS, "qrels")))


def run_target(text, chance):
    """Read a TREC run in blocks, as columns, held, by the twin, and line by line; judge it."""
    expected = slowly(slow.read_run, text)
    size = chance.choice((1, 16, 64, 300, 1 << 20))
    found = {
        "in blocks": refused(_judge_blocks, text, size),
        "held": refused(_judge_text, text, size, True),
        "in columns": refused(_judge_columns, text),
        "by the twin": refused(_judge_by_twin, text, size),
    }
    for path, hits in found.items():
        if expected is None:
            assert hits is None, path
            continue
        assert hits is not None, path
        run, lines, run_id = expected
        if (hits.query < 0).all():
            continue  # refused: no query is both judged and retrieved for
        judged, _ = judge(JUDGEMENTS, hits, SETTINGS)
        same_judged(judged, judged_of(JUDGED_SLOWLY, run, SETTINGS, run_id), path)
        assert judged.run_id == run_id, path
        assert hits.num_ret.sum() == lines, path


def _judge_text(text, size, held):
    """Push the text into the kernel."""
    source = MemorySource(text)
    run = run_for(JUDGEMENTS, JUDGED_ONLY, held)
    with mock.patch.object(reading, "BLOCK_SIZE", size), refusals(source.name):
        *_, run_id = b"", *pushed(source, reader_of("run", source, "trec"), run, held)
        found = run.finish()
    if not found["queries"]:
        raise InputError("run", None, "contains no results", "")
    return hits_of(JUDGEMENTS, run, found, run_id)


def _judge_blocks(text, size):
    try:
        return _judge_text(text, size, False)
    except ScatteredQueryError:
        return _judge_text(text, size, True)


def _judge_columns(text):
    """Push the columns of the lines into the kernel, as of any other format."""
    run = run_for(JUDGEMENTS, JUDGED_ONLY, held=True)
    run_id = b""
    with refusals("run"):
        for part in whole_queries(stream_run(MemorySource(text))):
            run.add(part.query.column, part.starts, part.document.column, part.score, part.line)
            run_id = part.run_id
        found = run.finish()
    if not found["queries"]:
        raise InputError("run", None, "contains no results", "")
    return hits_of(JUDGEMENTS, run, found, run_id)


def _judge_by_twin(text, size):
    twin = {name: getattr(plain_kernel, name) for name in kernel.__all__}
    with mock.patch.multiple(kernel, **twin):
        compiled = JUDGEMENTS.__dict__.pop("documents", None)
        try:
            return _judge_blocks(text, size)
        finally:
            JUDGEMENTS.__dict__.pop("documents", None)
            if compiled is not None:
                JUDGEMENTS.__dict__["documents"] = compiled


def same_judged(judged, expected, path):
    assert judged.queries == expected.queries, path
    for name in ("num_ret", "level_starts", "levels", "level_counts", "starts", "rank", "level"):
        assert np.array_equal(getattr(judged, name), getattr(expected, name)), (path, name)


def qrels_target(text, chance):
    """Read TREC qrels at once and line by line."""
    expected = slowly(slow.read_qrels, text)
    judgements = refused(lambda: group_judgements(qrels_of(MemorySource(text, "qrels"))))
    if expected is None:
        assert judgements is None
        return
    found = {}
    for row, query in enumerate(judgements.query.tolist()):
        levels = found.setdefault(judgements.queries[query], {})
        levels[judgements.document[row]] = int(judgements.level[row])
    assert found == expected


def formats_target(text, chance):
    """Recognise and read any format; what can be read survives JSON Lines and other formats."""
    for kind in {recognise_kind(text[:HEAD_LENGTH]), "run"}:
        recognise = recognise_run if kind == "run" else recognise_qrels
        name = recognise(text[:HEAD_LENGTH])
        if name in ("parquet", "arrow"):
            continue
        lines = refused(_converted, text, kind, name, "jsonl")
        if lines is None:
            continue
        to = chance.choice(("trec", "tsv", "csv", "json", "jsonl"))
        there = refused(_converted, lines, kind, "jsonl", to)
        if there is not None:
            # As {query: {document: number}}, a run of few whole scores looks like judgements.
            back = refused(_converted, there, kind, to, "jsonl")
            if back is None and (kind, to) == ("run", "json"):
                continue
            expected = _content(lines, kind)
            if kind == "run" and to not in ("json", "jsonl"):  # which hold empty rankings
                expected = [record for record in expected if ("candidates", []) not in record]
            assert _content(back, kind) == expected, (name, to)


def _converted(text, kind, name, to):
    out = io.BytesIO()
    formats = FILE_FORMATS[kind]
    Conversion(MemorySource(text), kind, name).write(formats[to], out)
    return out.getvalue()


def _content(lines, kind):
    """Return the fields of each line without run ids; JSON documents put qrels in order."""
    records = [
        sorted(
            (key, value) for key, value in DECODER.decode(line.decode()).items() if key != "run_id"
        )
        for line in lines.splitlines()
    ]
    return sorted(records) if kind == "qrels" else records


VALUES = find_metrics(["P.1,3", "ndcg_cut.3", "recip_rank", "map"])


def check_target(text, chance):
    """Check any run; the mended one has no errors, and as many documents as were promised."""
    most = chance.choice((None, 1, 3))
    request = Examination(JUDGEMENTS, VALUES, SETTINGS, most)
    run = refused(_examined, text, request)
    if run is None:
        return
    report = inspect_run(run)
    name = chance.choice(list(REPORT_FORMATS))
    rendered(check_answer([report]), name, Layout()).encode()
    for range_ in report.tie_ranges:
        assert range_.lowest <= range_.value + 1e-12, range_
        assert range_.value <= range_.highest + 1e-12, range_
        assert not math.isnan(range_.lowest)
    if not report.documents:
        return
    out = io.BytesIO()
    if refused(_mended, run, out):
        report = inspect_run(_examined(out.getvalue(), request, reading="trec"))
        errors = {one.name for one in report.findings if one.severity == "error"}
        assert errors <= {"nothing-in-common"}, report.findings  # which no line of a run mends
        slow.read_run(out.getvalue())


def _examined(text, request, reading=None):
    source = MemorySource(text)
    return examine(source, reader_of("run", source, reading), request)


def _mended(run, out):
    FILE_FORMATS["run"]["trec"].writers["run"](mended(run), out)
    return True


TARGETS = {
    "run": run_target,
    "qrels": qrels_target,
    "formats": formats_target,
    "check": check_target,
}
