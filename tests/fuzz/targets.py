"""What must hold for any bytes: no crash, and no disagreement between fast and slow paths.

Each target takes the bytes and a random generator for its own choices, such as the size of the
blocks. An AssertionError or any exception but RagkpiError is a finding.
"""

import io
import math

import numpy as np

from ragkpi.conversion import Conversion
from ragkpi.errors import InputError, RagkpiError
from ragkpi.formats.format_registry import QRELS_FORMATS, RUN_FORMATS
from ragkpi.formats.json_text import DECODER
from ragkpi.formats.line_places import stream_queries
from ragkpi.formats.opening import Source
from ragkpi.formats.recognition import HEAD_LENGTH, recognise_kind, recognise_qrels, recognise_run
from ragkpi.formats.trec_qrels import qrels_of
from ragkpi.formats.trec_runs import hold_run, stream_run
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.hits import ScatteredQueryError, UndecidedError, find_hits, join_hits
from ragkpi.ranking.judge import judge
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.scattered import regroup_run
from ragkpi.ranking.settings import Settings
from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import FORMATS_OF_REPORTS, rendered
from ragkpi.studies.check.check_answer import check_answer
from ragkpi.studies.check.checked_file import CheckedFile
from ragkpi.studies.check.finding import Asked
from ragkpi.studies.check.inspection import inspect_file
from ragkpi.studies.check.mend import Mender
from tests.fuzz import slow
from tests.fuzz.mutator import QRELS
from tests.slow_reference.ranking import judged_of

SETTINGS = Settings(missing="zero")


class MemorySource(Source):
    """Bytes as an opened input."""

    def __init__(self, text, name="run"):
        self.name, self.size, self.at_start = name, len(text), True
        self._compression = self._spool = self._before = self._plain = self._watched = None
        self._ahead = memoryview(b"")
        self._text, self.place = text, 0
        self._file = self._stream = io.BytesIO(text)

    def _refuse_shrunk(self):
        pass

    def look_at(self, offset, length):
        return self._text[offset : offset + length]

    def keep_copy(self):
        pass

    def restart(self):
        self.__init__(self._text, self.name)


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
    """Read a TREC run in blocks, pieces, ranges, held, and line by line; judge it each way."""
    expected = slowly(slow.read_run, text)
    found = {
        "streamed": refused(_judge_streamed, text, chance.choice((16, 64, 300, 1 << 20))),
        "in pieces": refused(_judge_in_pieces, text, chance.choice((16, 64, 300))),
        "held": refused(_judge_held, text),
    }
    if text.count(b"\n") > 3:
        found["ranges"] = refused(_judge_ranges, text, chance)
    for path, hits in found.items():
        if expected is None:
            assert hits is None, path
            continue
        if hits is None and path == "ranges":
            continue
        assert hits is not None, path
        run, lines, run_id = expected
        if (hits.query < 0).all():
            return  # refused: no query is both judged and retrieved for
        judged, _ = judge(JUDGEMENTS, hits, SETTINGS)
        same_judged(judged, judged_of(JUDGED_SLOWLY, run, SETTINGS, run_id), path)
        assert hits.num_ret.sum() == lines, path


def _judge_streamed(text, block_size):
    source = MemorySource(text)
    try:
        return _some(find_hits(stream_run(source, block_size=block_size), JUDGEMENTS))
    except ScatteredQueryError:
        source.restart()
        return _some(find_hits(regroup_run(hold_run(source)), JUDGEMENTS))


def _judge_in_pieces(text, block_size):
    source = MemorySource(text)
    source.size = None  # lines are not read again
    try:
        blocks = stream_queries(source, block_size=block_size)
        return _some(find_hits(blocks, JUDGEMENTS, source=source))
    except (ScatteredQueryError, UndecidedError):
        return _judge_held(text)


def _judge_held(text):
    return _some(find_hits(regroup_run(hold_run(MemorySource(text))), JUDGEMENTS))


def _some(hits):
    if not hits.queries:
        raise InputError("run", None, "holds no results", "")
    return hits


def _judge_ranges(text, chance):
    """Read two parts as two processes would; None where they would leave it to one."""
    begin = text.find(b"\n", chance.randrange(len(text))) + 1
    above = None
    while begin:
        end = text.find(b"\n", begin)
        if end < 0:
            return None
        query = text[begin:end].split(None, 1)[:1]
        if above is not None and query != above:
            break
        above, begin = query, end + 1
    if not begin:
        return None
    second = MemorySource(text)
    second._stream.seek(begin)
    second.at_start = False
    try:
        parts = [
            find_hits(stream_run(MemorySource(text), begin), JUDGEMENTS),
            find_hits(stream_run(second, len(text) - begin), JUDGEMENTS),
        ]
    except ScatteredQueryError:
        return None
    hits = join_hits(parts)
    return hits if hits.queries and len(set(hits.queries)) == len(hits.queries) else None


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
            back = _converted(there, kind, to, "jsonl")
            assert _content(back, kind) == _content(lines, kind), (name, to)


def _converted(text, kind, name, to):
    out = io.BytesIO()
    formats = RUN_FORMATS if kind == "run" else QRELS_FORMATS
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
    asked = Asked(JUDGEMENTS, VALUES, SETTINGS, most)
    file = refused(CheckedFile, MemorySource(text), None, chance.choice((16, 64, 300, 1 << 20)))
    report = file and refused(inspect_file, file, asked)
    if report is None:
        return
    for name in FORMATS_OF_REPORTS:
        rendered(check_answer([report]), name, Layout()).encode()
    for range_ in report.ranges:
        assert range_.lowest <= range_.value + 1e-12, range_
        assert range_.value <= range_.highest + 1e-12, range_
        assert not math.isnan(range_.lowest)
    if not report.documents:
        return
    assert _inspected_whole(text, asked) == report
    out = io.BytesIO()
    if refused(file.through, lambda parts: _mended(parts, most, out)):
        report = inspect_file(CheckedFile(MemorySource(out.getvalue()), "trec"), asked)
        assert not report.count("error"), report.findings
        slow.read_run(out.getvalue())


def _inspected_whole(text, asked):
    """Look at all of a run as one part, as if its queries were scattered."""
    file = CheckedFile(MemorySource(text))
    file.scattered = True
    return inspect_file(file, asked)


def _mended(parts, most, out):
    RUN_FORMATS["trec"].write_run(Mender(most).rankings(parts), b"me", out)
    return True


TARGETS = {
    "run": run_target,
    "qrels": qrels_target,
    "formats": formats_target,
    "check": check_target,
}
