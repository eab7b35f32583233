"""What people wait for, each beside what it is measured by: the tables of `docs/speed.md`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from derived import Files
from peers import MEASURES, Word, asked, python, pytrec_eval, ragkpi, trec_eval
from task_table import Aim, Task

Words = Sequence[Word]


def starting(files: Files) -> Iterator[Task]:
    """What it costs to start."""
    plain = python("python -c pass", "pass")
    numpy = python("import numpy", "import numpy")
    yield Task("start: T", ragkpi("eval", *files.of("T")), numpy, Aim(1.2))
    yield Task("start: S", ragkpi("eval", *files.of("S")), numpy, Aim(1.2))
    yield Task("start: --help", ragkpi("--help"), plain, Aim(2.5))
    yield Task("start: eval --help", ragkpi("eval", "--help"), plain, Aim())


def reading(files: Files) -> Iterator[Task]:
    """Runs of every kind, beside trec_eval."""
    aims = {
        "M": Aim(0.28, 0.7),
        "M-shuffled": Aim(0.4, 0.9),
        "M-unsorted": Aim(0.45),
        "M-tied": Aim(0.45),
        "M-exponent": Aim(0.45),
        "M-spacing": Aim(0.45),
        "M-17": Aim(0.45),
        "1M": Aim(0.6, 1.0),
        **({} if files.quick else {"L": Aim(0.15, 0.15), "Ld": Aim(0.17, 0.25)}),
    }
    for name, aim in aims.items():
        words = (*asked(MEASURES), *files.of(name))
        yield Task(f"eval: {name}", ragkpi("eval", *words), trec_eval(*words), aim)
    if not files.quick:
        words = (*asked(MEASURES), *files.of("Ld"))
        two = ragkpi("eval", *words, workers=2)
        yield Task("eval: Ld, 2 cores (wall)", two, trec_eval(*words), Aim(0.10))
    big = files.big
    qrels, run = files.of(big)
    words = (*asked(MEASURES), qrels, run)
    one = ragkpi("eval", *words, label="1 core")
    yield Task(f"eval: {big}, 2 cores", ragkpi("eval", *words, workers=2), one, Aim())
    plain = ragkpi("eval", *words)
    yield Task(f"eval: {big}", plain, pytrec_eval(qrels, run), Aim())
    for kind, metric in (("prefs", "prefs_simp"), ("qrels_jg", "map_avgjg")):
        words = ("-R", kind, "-m", metric, files.judged(big, kind), run)
        yield Task(f"eval -R {kind}: {big}", ragkpi("eval", *words), trec_eval(*words), Aim(0.35))
    unsized, sized = (
        ragkpi("eval", *size, "-m", "bor", qrels, run, label=label)
        for size, label in (((), ""), (("-N", "9000000"), "with -N"))
    )
    yield Task(f"eval -m bor, without -N: {big}", unsized, sized, Aim(1.5))


def formats(files: Files) -> Iterator[Task]:
    """The formats of runs, beside the TREC file and beside readers of tables."""
    qrels, run = files.of("M")
    plain = ragkpi("eval", "-m", "map", qrels, run, label="eval of the TREC file")
    for suffix in ("csv", "tsv", "msmarco", "jsonl", "json", "parquet"):
        other = files.converted("M", suffix)
        # pyarrow is a third of a second to load; JSON Lines have an aim of their own below.
        aim = Aim() if suffix in ("parquet", "jsonl") else Aim(1.3)
        yield Task(f"{suffix}, in", ragkpi("eval", "-m", "map", qrels, other), plain, aim)
    loads = "import json, sys\nfor line in open(sys.argv[1]): json.loads(line)"
    for what, lines in (("jsonl", files.converted("M", "jsonl")), ("jsonl, flat", files.flat("M"))):
        ours = ragkpi("eval", "-m", "map", qrels, lines)
        yield Task(f"{what}, in", ours, python("json.loads", loads, lines), Aim(1.1))
    table = files.converted("M", "csv")
    ours = ragkpi("eval", "-m", "map", qrels, table)
    for package, module in (("pyarrow", "pyarrow.csv"), ("polars", "polars")):
        code = f"import {module} as reader, sys; reader.read_csv(sys.argv[1])"
        yield Task(
            "csv, in", ours, python(f"{package}'s reader", code, table, needs=package), Aim()
        )
    qrels, run = files.of(files.big)
    plain = ragkpi("eval", "-m", "map", qrels, run, label="eval -m map")
    aim = Aim(3, megabytes=150)
    yield Task(f"check: {files.big}", ragkpi("check", qrels, run), plain, aim)
    for suffix in ("jsonl", "csv"):
        command = ragkpi("convert", run, files.folder / f"out.{suffix}")
        read = trec_eval("-m", "map", qrels, run)
        yield Task(f"convert to {suffix}: {files.big}", command, read, Aim(1.5, megabytes=150))


def outputs(files: Files) -> Iterator[Task]:
    """The values of every query, beside trec_eval's lines."""
    words = ("eval", "-q", "-m", "all_trec", *files.of("Q"))
    lines = ragkpi(*words, label="trec lines")
    for form in ("csv", "tsv", "json", "jsonl"):
        yield Task(f"-q --format {form}", ragkpi(*words, "--format", form), lines, Aim(3, 1.2))


def questions(files: Files) -> Iterator[Task]:
    """The commands that answer a question."""
    plain = ragkpi("eval", *files.pair("P"), label="eval")
    for name in ("map", "ndcg_cut.10") if files.quick else ("map", "ndcg", "ndcg_cut.10", "P.10"):
        words = ("holes", "-m", name, *files.pair("P"))
        yield Task(f"holes -m {name}, 50 × 1,000", ragkpi(*words), plain, Aim(5))
    plain = ragkpi("eval", *files.pair("M"), label="eval")
    yield Task("holes, 1,000 queries", ragkpi("holes", *files.pair("M")), plain, Aim(seconds=2))
    for name in ("D",) if files.quick else ("D", "D7"):
        queries = {"D": "1,000", "D7": "7,000"}[name]
        words = ("calibrate", "--quality", files.quality(name), *files.of(name))
        evaluated = ragkpi("eval", *files.of(name), label="eval")
        most = Aim(seconds=5 if name == "D" else 40)
        yield Task(f"calibrate, {queries} queries", ragkpi(*words), evaluated, most)
    evaluated = ragkpi("eval", "-m", "map", *files.pair("M"), label="eval")
    for test in ("randomization", "t", "wilcoxon"):
        words = ("compare", "--test", test, "-m", "map", *files.pair("M"))
        yield Task(f"compare --test {test}", ragkpi(*words), evaluated, Aim())
    words = ("report", "-o", files.folder / "report.html", *files.pair("D"))
    yield Task("report, 1,000 queries", ragkpi(*words), evaluated, Aim())


def growth(files: Files) -> Iterator[Task]:
    """Ten times the input: no more than twelve times the time."""
    grown = Aim(12, 10)

    def pair(what: str, command: Callable[[str], Words], small: str, large: str) -> Task:
        tenth = ragkpi(*command(small), label="a tenth")
        return Task(f"× 10: {what}", ragkpi(*command(large)), tenth, grown)

    for small, large in (("M10", "M"), *(() if files.quick else (("M", "M100"),))):
        yield pair(f"eval, {large}", lambda name: ("eval", *files.of(name)), small, large)
        yield pair(f"check, {large}", lambda name: ("check", *files.of(name)), small, large)
        yield pair(
            f"convert, {large}",
            lambda name: ("convert", files.of(name)[1], files.folder / "out.csv"),
            small,
            large,
        )
    yield pair("eval -q csv", lambda n: ("eval", "-q", "--format", "csv", *files.of(n)), "M10", "M")
    yield pair("compare", lambda name: ("compare", *files.pair(name)), "M10", "M")
    yield pair("holes", lambda name: ("holes", *files.pair(name)), "M10", "M")
    yield pair(
        "calibrate",
        lambda name: ("calibrate", "--quality", files.quality(name), *files.of(name)),
        "D10",
        "D",
    )
    yield pair("depth", lambda name: ("depth", *files.pair(name)), "M10", "M")
    yield pair("diagnose", lambda name: ("diagnose", *_with_pool(files, name)), "D10", "D")
    yield pair("zscores", lambda name: ("zscores", "-m", "map", *files.pair(name)), "M10", "M")
    yield pair("agree", lambda name: ("agree", *_judged_twice(files, name)), "D10", "D")
    page = files.folder / "report.html"
    yield pair("report", lambda name: ("report", "-o", page, *files.pair(name)), "D10", "D")


def _with_pool(files: Files, name: str) -> Words:
    qrels, run, pool = files.pair(name)
    return ("--pool", pool, qrels, run)


def _judged_twice(files: Files, name: str) -> Words:
    """Two judges who agree cost what two who differ cost."""
    qrels, *runs = files.pair(name)
    return (qrels, qrels, *runs)
