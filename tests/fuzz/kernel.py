"""The compiled kernel against its twin: `python -m tests.fuzz.kernel [COUNT] [SEED]`.

Case number n is always the same. Where ``TREC_EVAL`` names a binary, one well-formed run in fifty
goes through that, too.
"""

import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from array import array
from itertools import accumulate
from pathlib import Path

from ragkpi import plain_kernel
from tests.kernel.asking import (
    KERNELS,
    Refused,
    column,
    documents,
    exactly,
    found_in,
    ints,
    read,
    starts_of,
)

QUERIES = [b"1", b"2", b"3", b"12", b"q\xff", b"q" * 40, b"\xef\xbb\xbf1"]
IDS = [
    *(b"d%d" % number for number in range(14)),
    *(b"a", b"a#1", b"a#2", b"#", b"1", b"2", b"\xff\xfe", b"e\xcc\x81", b"x" * 7, b"x" * 8),
    *(b"x" * 9, b"clueweb12-0000tw-05-12345", b"clueweb12-0000tw-05-12346", b"y" * 3000),
]
SCORES = [
    *(b"1", b"1.0", b"1e0", b"2", b"3", b"0", b"-0", b"0.5", b"-1.5", b"12.345678", b"+7", b".5"),
    *(b"5.", b"1e-3", b"1E+5", b"inf", b"-inf", b"Infinity", b"1e400", b"1e-400", b"4.9e-324"),
    *(b"0.1000000000000000055511151231257827", b"9007199254740993", b"123456789012345678901"),
]
NO_SCORES = [
    *(b"nan", b"1_0", b"0x8", b".", b"-", b"e5", b"1e", b"1e+", b"1.2.3", b"--1", b"in", b"infx"),
    *(b"1,5", "١".encode(), b"1\xa0"),
]
GAPS = [b" "] * 8 + [b"\t", b"  ", b" \t ", b"\v", b"\f", b"\r"]
PIECES = [
    *(b"\n", b"\n\n", b" ", b"\r\n", b"\0", b"#", b"# a comment\n", b"  # more\n", b"\xef\xbb\xbf"),
    *(b"1 Q0 d\n", b"\r", b"nan", b"1 Q0 d1 1 1 t\n", b'"', b",", b"-", b"\x1c", b"\x85"),
]


def score_of(draw):
    """Some decimal: usually one that others have, too."""
    kind = draw.random()
    if kind < 0.5:
        return draw.choice(SCORES[:11])
    if kind < 0.7:
        return draw.choice(SCORES)
    if kind < 0.9:
        return b"%.*f" % (draw.randrange(8), draw.uniform(-30, 30))
    if kind < 0.95:
        return repr(draw.uniform(-1, 1) * 10.0 ** draw.randint(-320, 308)).encode()
    digits = "".join(draw.choice("0123456789.e-") for _ in range(draw.randint(1, 26)))
    return digits.encode()


def rows_of(draw):
    """Draw rankings of a few queries, as (query, document, score), mostly in order."""
    rows = []
    for query in draw.sample(QUERIES, draw.randint(0, 4)):
        ids = draw.sample(IDS, draw.randint(1, len(IDS)))
        if draw.random() < 0.1:
            ids += [b"n%d" % number for number in range(draw.randint(1, 400))]
        few = draw.random() < 0.4
        scores = [draw.choice(SCORES[:6]) if few else score_of(draw) for _ in ids]
        if draw.random() < 0.6:
            scores.sort(key=number_of, reverse=True)
        rows += [(query, id_, score) for id_, score in zip(ids, scores, strict=True)]
    if draw.random() < 0.25:
        draw.shuffle(rows)
    if rows and draw.random() < 0.15:
        rows.insert(draw.randrange(len(rows) + 1), draw.choice(rows))
    if rows and draw.random() < 0.15:
        query, id_, _ = draw.choice(rows)
        rows.insert(draw.randrange(len(rows) + 1), (query, id_ + b"'", draw.choice(NO_SCORES)))
    return rows


DECIMAL = re.compile(
    rb"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE
)


def number_of(score):
    return float(score) if DECIMAL.fullmatch(score) else 0.0


def text_of(draw, rows):
    """Write a run, more or less well."""
    gap = draw.choice(GAPS)
    end = draw.choice([b"\n", b"\n", b"\n", b"\r\n", b" more\n"])
    lines = [gap.join([query, b"Q0", id_, b"1", score, b"t"]) + end for query, id_, score in rows]
    if lines and draw.random() < 0.2:
        place = draw.randrange(len(lines))
        lines[place] = lines[place].replace(gap, draw.choice(GAPS), draw.randint(1, 5))
    text = draw.choice([b"", b"", b"", b"\xef\xbb\xbf", b"# \n\n"]) + b"".join(lines)
    if draw.random() < 0.3:
        text = text[: -len(end)]
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        place = draw.randint(0, len(text))
        text = text[:place] + draw.choice(PIECES) + text[place + draw.choice([0, 0, 1, 4]) :]
    return text


def judged_of(draw, more=0.5):
    return {
        query: draw.sample(IDS, draw.choice([0, 1, 2, 5, len(IDS)]))
        for query in QUERIES
        if draw.random() < more
    }


def options_of(draw):
    def some(chance=0.3):
        return draw.random() < chance

    return {
        "excluded": judged_of(draw) if some() else None,
        "fold": ord(draw.choice("#-d")) if some() else -1,
        "drop_identical": some(),
        "keep_best": some(),
        "ascending": some(),
        "distance": some(0.2),
        "depth": draw.choice([0, 0, 1, 3, 1000]),
        "name_all": some(0.5),
        "count_documents": some(),
    }


def run_case(kernel, draw):
    rows, judged = rows_of(draw), judged_of(draw)
    text = text_of(draw, rows)
    cuts = [draw.randint(0, len(text)) for _ in range(draw.choice([0, 0, 1, 2, 9, 40]))]
    held = draw.choice([None, None, True, False])
    return read(kernel, judged, text, cuts, held=held, **options_of(draw))


def alike_case(kernel, draw):
    """Lines of one layout, which are compared more than read, and the same lines one by one."""
    gaps = [draw.choice(GAPS) for _ in range(5)]
    end, name = draw.choice([b"\n", b"\r\n", b" more words \n"]), draw.choice([b"t", b"t" * 9])
    lines = []
    for number in range(draw.randint(2, 40)):
        id_ = b"d%d" % number + b"x" * draw.choice([0, 0, 1, 7, 40])
        words = [b"q", b"Q0", id_, b"%d" % number, score_of(draw), name]
        line = b"".join(part for pair in zip(words, [*gaps, end], strict=True) for part in pair)
        if draw.random() < 0.1:
            place = draw.randrange(len(line))
            line = line[:place] + draw.choice([*PIECES, *GAPS]) + line[place + draw.randrange(3) :]
        lines.append(line)
    judged, ends = {b"q": [b"d1", b"d3", b"d9"]}, list(accumulate(map(len, lines)))
    asked = {"held": draw.choice([None, True]), "depth": 100, "distance": draw.random() < 0.2}
    together = read(kernel, judged, b"".join(lines), **asked)
    assert together == read(kernel, judged, b"".join(lines), ends, **asked)
    return together


def rows_case(kernel, draw):
    """The same rows without a text: ids may hold anything."""
    rows, judged, options = rows_of(draw), judged_of(draw), options_of(draw)
    excluded = options.pop("excluded")
    if excluded is not None:
        options["excluded"] = documents(kernel, excluded)
    run = kernel.Run(documents(kernel, judged), held=draw.random() < 0.5, **options)
    try:
        cut = draw.randint(0, len(rows))
        for part in (rows[:cut], rows[cut:]):
            groups = []
            for row in part:
                if not groups or groups[-1][0][0] != row[0] or draw.random() < 0.1:
                    groups.append([])
                groups[-1].append(row)
            run.add(
                column([group[0][0] for group in groups]),
                starts_of(groups),
                column([row[1] for row in part]),
                array("d", [math.nan if row[2] == b"nan" else number_of(row[2]) for row in part]),
                ints(range(7, 7 + len(part))),
            )
        return found_in(kernel, run, judged)
    except kernel.RefusedError as problem:
        return Refused(*problem.args)


class Subclass(float):
    """A float of another type."""


ODD = [None, "1", True, 1j, float("nan"), 10**400, b"1", Subclass("nan"), [1]]
PLAIN = [0, 1, -1, 2.5, 1e300, float("inf"), -float("inf"), 10**18, Subclass(3), -0.0]


def mapping_case(kernel, draw):
    judged, options = judged_of(draw), options_of(draw)
    excluded = options.pop("excluded")
    if excluded is not None:
        options["excluded"] = documents(kernel, excluded)
    mapping = {
        query.decode("latin-1"): {
            id_.decode("utf-8", draw.choice(["replace", "replace", "surrogateescape"])): (
                draw.choice(ODD if draw.random() < 0.003 else PLAIN)
            )
            for id_ in draw.sample(IDS, draw.randint(0, 9))
        }
        for query in draw.sample(QUERIES, draw.randint(0, 5))
    }
    if draw.random() < 0.05:
        mapping[draw.choice([1, "\udc80", "z"])] = draw.choice([{}, {1: 1.0}, None, {"a": 1}])
    run = kernel.Run(documents(kernel, judged), held=draw.random() < 0.3, **options)
    try:
        taken = run.mapping(mapping)
        return found_in(kernel, run, judged) if taken else taken
    except kernel.RefusedError as problem:
        return Refused(*problem.args)


def columns_case(kernel, draw):
    separator = draw.choice([-1, -1, 9, 44, 44, 32, 35, 255, 0])
    glue = b" " if separator < 0 else bytes([separator])
    cells = [b"a", b"bc", b"", b" d ", b'"x"', b'"y,z"', b'q"r', b'""', b"1.5", b"#", b"\r"]
    text = b"".join(
        glue.join(draw.choices(cells, k=draw.choice([0, 1, 2, 3, 3, 3, 4])))
        + draw.choice([b"\n", b"\n", b"\r\n"])
        for _ in range(draw.randint(0, 9))
    )
    for _ in range(draw.choice([0, 0, 1, 2])):
        place = draw.randint(0, len(text))
        text = text[:place] + draw.choice(PIECES) + text[place:]
    text += b"\n" * (not text.endswith(b"\n"))
    flags = [draw.random() < 0.5 for _ in range(3)]
    return kernel.columns(
        exactly(text), draw.choice([1, 77]), draw.randint(1, 4), separator, *flags
    )


def numbers_case(kernel, draw):
    words = [
        draw.choice([b"", b" ", b"  "]) + draw.choice([score_of(draw), draw.choice(NO_SCORES)])
        for _ in range(draw.randint(0, 30))
    ]
    text, *places = column(words)
    return kernel.numbers((exactly(text), *places))


def ids_case(kernel, draw):
    ids = draw.choices(IDS, k=draw.randint(0, 40))
    text, *places = column(ids)
    exact = exactly(text), *places
    groups = ints(sorted(draw.randrange(4) for _ in ids))
    return kernel.first_rows(exact, groups), kernel.count_ids((), exact)


CASES = [run_case] * 10 + [rows_case] * 3 + [mapping_case] * 2 + [columns_case] * 2
CASES += [alike_case, numbers_case, ids_case]


def case_of(number):
    """Return what is asked, and the seed of how."""
    return CASES[number % len(CASES)], f"kernel {number}"


def compare(number):
    """Ask both the same, and hold their answers together."""
    ask, seed = case_of(number)
    compiled, plain = (ask(kernel, random.Random(seed)) for kernel in KERNELS.values())
    assert compiled == plain, f"compiled {compiled}\nplain    {plain}"
    if TREC_EVAL and number % 50 == 0:
        compare_with_trec_eval(random.Random(seed))


TREC_EVAL = os.environ.get("TREC_EVAL")


def compare_with_trec_eval(draw):
    """Hold average precision and the number of retrieved documents against the binary's."""
    rows = [row for row in rows_of(draw) if not row[0].startswith(b"\xef\xbb\xbf")]
    queries = sorted({row[0] for row in rows})  # trec_eval 10 ends at a query that is not retrieved
    judged = {query: draw.sample(IDS, draw.randint(1, len(IDS))) for query in queries}
    found = read(plain_kernel, judged, b"".join(line_of(*row) for row in rows))
    if isinstance(found, Refused) or not rows:
        return
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = Path(folder, "run"), Path(folder, "qrels")
        run.write_bytes(b"".join(line_of(*row) for row in rows))
        qrels.write_bytes(
            b"".join(b"%b 0 %b 1\n" % (query, id_) for query in judged for id_ in judged[query])
        )
        asked = [TREC_EVAL, "-n", "-q", "-m", "map", "-m", "num_ret", str(qrels), str(run)]
        done = subprocess.run(asked, capture_output=True)
        assert done.returncode == 0, done.stderr
    values = {}
    for line in done.stdout.splitlines():
        name, query, value = line.split()
        values[name, query] = value
    for query in set(found["queries"]) & set(judged):
        ranks = sorted(rank for (own, _), rank in found["hits"].items() if own == query)
        average = math.fsum(place / rank for place, rank in enumerate(ranks, 1)) / len(
            judged[query]
        )
        assert values[b"map", query] == b"%.4f" % average, query
        assert values[b"num_ret", query] == b"%d" % found["num_ret"][query], query


def line_of(query, id_, score):
    return b" ".join([query, b"Q0", id_, b"1", score, b"t"]) + b"\n"


def main(count=100_000, seed=0):
    began, failures = time.time(), 0
    for number in range(seed, seed + count):
        try:
            compare(number)
        except Exception:
            failures += 1
            print(f"case {number}, {case_of(number)[0].__name__}", flush=True)
            traceback.print_exc()
            if failures == 20:
                break
        if (number + 1 - seed) % 50_000 == 0:
            print(f"{number + 1 - seed} cases, {failures} failures, {time.time() - began:.0f} s")
    print(f"done: {count} cases from {seed}, {failures} failures, {time.time() - began:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
