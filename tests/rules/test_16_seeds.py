"""Runs of one system are one system: what other seeds would change is part of every claim.

The values of queries are counted here from the rankings, and tested by the formulas as scipy's
distributions give them.
"""

import json
import math

import numpy as np
import pytest
from scipy import stats

import ragkpi
from tests.published_schema import valid_document

QUERIES, RELEVANT, OTHERS = 30, 5, 20


def write_run(path, rng, queries, shift):
    """Write a run; return for each query the share of relevant documents in the top five."""
    lines, values = [], []
    for number, easy in enumerate(queries):
        good = [(f"d{number}_{d}", rng.normal(shift + easy)) for d in range(RELEVANT)]
        bad = [(f"n{number}_{d}", rng.normal()) for d in range(OTHERS)]
        ranked = sorted([*good, *bad], key=lambda item: -item[1])
        values.append(sum(name.startswith("d") for name, _ in ranked[:5]) / 5)
        lines += [f"q{number:02} Q0 {name} 0 {score:.9f} t\n" for name, score in ranked]
    path.write_text("".join(lines))
    return values


def write(folder, seed, **systems):
    """Write qrels and systems of (seeds, shift); return the words of a line, and their values."""
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=QUERIES)
    judged = [
        f"q{q:02} 0 {kind}{q}_{d} {level}\n"
        for q in range(QUERIES)
        for kind, number, level in (("d", RELEVANT, 1), ("n", OTHERS, 0))
        for d in range(number)
    ]
    (folder / "qrels").write_text("".join(judged))
    words, values = [], []
    for name, (seeds, shift) in systems.items():
        files = [f"{name}-{letter}.run" for letter in "abcdefgh"[:seeds]]
        shifts = shift + rng.normal(scale=0.1, size=seeds)
        of_seeds = [
            write_run(folder / file, rng, queries, moved)
            for file, moved in zip(files, shifts, strict=True)
        ]
        words.append(f"{name}={','.join(files)}")
        values.append(np.array(of_seeds).T)
    return words, values


def two_part_test(first, second):
    """The difference of two systems, (n, r) each, its interval and p: queries and seeds vary."""
    n, within, parts = QUERIES, 0.0, []
    for values in (first, second):
        r = values.shape[1]
        residuals = values - values.mean(1, keepdims=True) - values.mean(0) + values.mean()
        within += (residuals**2).sum() / ((n - 1) * (r - 1)) / (n * r)
        parts.append((values.mean(0).var(ddof=1) / r, r - 1))
    apart = second.mean(1) - first.mean(1)
    queries = max(0.0, apart.var(ddof=1) / n - within)
    error = math.sqrt(queries + sum(s for s, _ in parts))
    bounds = [(s * f / stats.chi2.ppf(0.2, f), f) for s, f in parts] + [(queries, n - 1)]
    freedom = sum(v for v, _ in bounds) ** 2 / sum(v * v / f for v, f in bounds)
    reach = stats.t.ppf(0.975, freedom) * error
    difference = apart.mean()
    p = 2 * stats.t.sf(abs(difference) / error, freedom)
    return difference, (difference - reach, difference + reach), p


def compared(ragkpi, folder, words, *options, status=0):
    line = ("compare", "-m", "P.5", *options, "--format", "json", "qrels", *words)
    result = ragkpi(*line, folder=folder)
    assert result.status == status, result.err
    return valid_document(result.out), result.err.decode()


@pytest.mark.parametrize("seeds", [(3, 3), (3, 5), (8, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_a_difference_of_systems_is_of_queries_and_seeds(ragkpi, tmp_path, seed, seeds):
    words, (first, second) = write(tmp_path, seed, one=(seeds[0], 1.0), other=(seeds[1], 1.3))
    document, _ = compared(ragkpi, tmp_path, words)
    (found,) = document["comparison"]["differences"]
    difference, interval, p = two_part_test(first, second)
    assert [run["values"]["P_5"] for run in document["runs"]] == pytest.approx(
        [first.mean(), second.mean()]
    )
    assert [run["seeds"] for run in document["runs"]] == list(seeds)
    assert found["difference"] == pytest.approx(difference)
    assert found["interval"] == pytest.approx(interval)
    assert found["p"] == pytest.approx(p)
    assert found["decision"] == ("better" if p < 0.05 else "undecided")
    assert all(str(number) in document["comparison"]["answer"][1] for number in seeds)


def test_the_one_decision_is_that_of_gates_pairs_slices_page_and_python(ragkpi, tmp_path):
    words, (first, second) = write(tmp_path, 5, one=(3, 1.5), other=(4, 0.8))
    _, _, p = two_part_test(first, second)
    assert p < 0.05
    compared(ragkpi, tmp_path, words, "--fail-if", "worse", status=3)
    compared(ragkpi, tmp_path, words[::-1], "--fail-if", "worse")
    compared(ragkpi, tmp_path, words[::-1], "--fail-if", "noninferior")
    base, run = words
    gate = ragkpi("eval", "-m", "P.5", "--fail-under-baseline", base, "qrels", run, folder=tmp_path)
    assert gate.status == 3
    assert "is significantly worse than one's" in gate.err.decode()
    pairs = compared(ragkpi, tmp_path, words, "--all-pairs")[0]["all_pairs"]
    assert pairs["pairs"][0]["p"] == pytest.approx(p)
    assert pairs["letters"]["P_5"] == {"one": "a", "other": "b"}
    labels = "".join(f"q{number:02}\tall\n" for number in range(QUERIES))
    (tmp_path / "by.tsv").write_text(f"query\tlang\n{labels}")
    slices = compared(ragkpi, tmp_path, words, "--by", "by.tsv")[0]["slices"]
    assert slices[0]["comparison"]["differences"][0]["p"] == pytest.approx(p)


def test_python_takes_a_list_of_runs(tmp_path):
    words, (first, second) = write(tmp_path, 5, one=(3, 1.5), other=(4, 0.8))
    files = {name: of.split(",") for name, _, of in (word.partition("=") for word in words)}
    runs = {name: [str(tmp_path / one) for one in of] for name, of in files.items()}
    qrels = str(tmp_path / "qrels")
    _, interval, p = two_part_test(first, second)
    row = ragkpi.compare(qrels, runs, "P.5").rows[-1]
    assert row["p"] == pytest.approx(p)
    assert [row["difference_low"], row["difference_high"]] == pytest.approx(interval)
    result = ragkpi.evaluate(qrels, runs, "P.5")
    assert result["one"].mean["P_5"] == pytest.approx(first.mean())
    for number, values in enumerate(first):
        assert result["one"].per_query[f"q{number:02}"]["P_5"] == pytest.approx(values.mean())
    with pytest.raises(ragkpi.GateFailedError, match=r"other: P_5 .* is significantly worse"):
        ragkpi.evaluate(qrels, {"other": runs["other"]}, "P.5", fail_under_baseline=runs["one"])


def test_the_page_compares_systems(tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("bokeh")
    words, _ = write(tmp_path, 5, one=(3, 1.5), other=(4, 0.8))
    files = {name: of.split(",") for name, _, of in (word.partition("=") for word in words)}
    runs = {name: [str(tmp_path / one) for one in of] for name, of in files.items()}
    page = ragkpi.report(str(tmp_path / "qrels"), runs, "P.5").data
    valid_document(json.dumps(page))
    standing = page["slices"][0]["standings"]["P_5"]
    assert standing["rows"][1]["claim"] == "worse"
    assert "one 3" in standing["verdict"][1]


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ((2, 2), "Two seeds of a system describe it and decide nothing"),
        ((5, 2), "Two seeds of a system describe it and decide nothing"),
        ((1, 2), "Two seeds of a system describe it and decide nothing"),
        ((1, 3), "How much another seed of a single run would differ is not known"),
        ((3, 1), "How much another seed of a single run would differ is not known"),
    ],
)
@pytest.mark.parametrize("pairs", [(), ("--all-pairs",)])
def test_too_few_seeds_describe_and_decide_nothing(ragkpi, tmp_path, seeds, words, pairs):
    runs, _ = write(tmp_path, 1, one=(seeds[0], 0.2), other=(seeds[1], 2.5))
    document, _ = compared(ragkpi, tmp_path, runs, *pairs)
    answer = " ".join(document["all_pairs" if pairs else "comparison"]["answer"])
    assert words in answer
    assert "not tested" in answer
    assert "better" not in answer
    if pairs:
        assert document["all_pairs"]["letters"]["P_5"] == {"one": "a", "other": "a"}
        return
    (found,) = document["comparison"]["differences"]
    assert (found["decision"], found["p_corrected"]) == ("untested", None)
    for gate in ("worse", "noninferior"):
        _, err = compared(ragkpi, tmp_path, runs, "--fail-if", gate, status=3)
        assert "is not decided: " + words[0].lower() + words[1:] in err


def test_runs_alone_are_compared_as_before(ragkpi, tmp_path):
    words, (first, second) = write(tmp_path, 2, one=(1, 1.0), other=(1, 1.4))
    document, _ = compared(ragkpi, tmp_path, words)
    (found,) = document["comparison"]["differences"]
    assert found["p"] == pytest.approx(stats.ttest_rel(second[:, 0], first[:, 0]).pvalue)
    assert "seed" not in json.dumps(document["comparison"]["answer"])


def test_runs_that_look_like_seeds_are_named_with_the_way_to_write_them(ragkpi, tmp_path):
    write(tmp_path, 2, one=(1, 1.0), other=(3, 1.4))
    seeds = [f"dense-s{number}.run" for number in (1, 2, 3)]
    for letter, seed in zip("abc", seeds, strict=True):
        (tmp_path / f"other-{letter}.run").rename(tmp_path / seed)
    _, err = compared(ragkpi, tmp_path, ["one-a.run", *seeds])
    assert err.count("look like seeds of one system") == 1
    assert "dense=dense-s1.run,dense-s2.run,dense-s3.run" in err
    _, err = compared(ragkpi, tmp_path, ["one-a.run", f"dense={','.join(seeds)}"])
    assert "look like" not in err


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("compare qrels one=one-a.run,one-a.run other-a.run", 1, "one-a.run and one-a.run are the"),
        (
            "compare qrels one=one-a.run,copy.run other-a.run",
            1,
            "one-a.run and copy.run are the sa",
        ),
        ("compare qrels one=one-a.run,none.run other-a.run", 2, "none.run: no such file"),
        ("compare qrels one=one-a.run, other-a.run", 2, "one-a.run,: no such file"),
        ("compare qrels one=one-a.run,short.run other-a.run", 4, "has 1 judged query (q00)"),
        ("compare --test sign qrels one=one-a.run,one-b.run other-a.run", 1, "--test sign: it kno"),
        ("holes qrels one=one-a.run,one-b.run other-a.run", 1, "one: a system of several runs"),
        ("depth qrels one=one-a.run,one-b.run", 1, "one: a system of several runs"),
        ("compare qrels stored.json other-a.run", 1, "the means of 2 seeds, without the values"),
        ("eval --format trec qrels one=one-a.run,one-b.run", 1, "--format trec: its lines do not"),
    ],
)
def test_what_is_no_system_is_refused_in_one_line(ragkpi, tmp_path, line, status, says):
    write(tmp_path, 3, one=(2, 1.0), other=(2, 1.4))
    text = (tmp_path / "one-a.run").read_text()
    (tmp_path / "copy.run").write_text(text)
    lines = text.splitlines(keepends=True)
    (tmp_path / "short.run").write_text("".join(x for x in lines if not x.startswith("q00 ")))
    stored = ["eval", "-q", "-m", "P.5", "-o", "stored.json", "qrels", "one=one-a.run,one-b.run"]
    assert ragkpi(*stored, folder=tmp_path).status == 0
    result = ragkpi(*line.split(), folder=tmp_path)
    assert result.status == status
    assert not result.out
    assert says in result.err.decode().splitlines()[-1]


def test_results_that_eval_stored_are_seeds_as_their_runs_are(ragkpi, tmp_path):
    words, _ = write(tmp_path, 5, one=(3, 1.5), other=(4, 0.8))
    for run in sorted(tmp_path.glob("*.run")):
        line = ("eval", "-q", "-m", "P.5", "-o", f"{run.stem}.json", "qrels", run.name)
        assert ragkpi(*line, folder=tmp_path).status == 0
    stored = [word.replace(".run", ".json") for word in words]
    alone = ragkpi("compare", "-m", "P.5", "--format", "json", *stored, folder=tmp_path)
    differences = compared(ragkpi, tmp_path, words)[0]["comparison"]["differences"]
    assert json.loads(alone.out)["comparison"]["differences"] == differences
    mixed = compared(ragkpi, tmp_path, [words[0], stored[1]])[0]
    assert mixed["comparison"]["differences"] == differences


def test_a_system_whose_seed_cannot_be_read_has_no_value(ragkpi, tmp_path):
    words, _ = write(tmp_path, 5, one=(3, 1.5), other=(4, 0.8))
    (tmp_path / "other-b.run").write_text("no run\n")
    result = ragkpi("eval", "-m", "P.5", "--format", "json", "qrels", *words, folder=tmp_path)
    assert result.status == 2
    assert [run["name"] for run in json.loads(result.out)["runs"]] == ["one"]
    assert b"other-b" in result.err
    result = ragkpi("compare", "-m", "P.5", "qrels", *words, folder=tmp_path)
    assert (result.status, result.out) == (2, b"")


@pytest.mark.parametrize(
    "run",
    [
        {"q1": [], "q2": ["d1", "d2"]},
        {"q1": ["d2", "d1"], "q2": ["d1", "d2"]},
        {"q1": [{"id": "d1", "score": 0.5}], "q2": [{"id": "d1", "score": 0.2}]},
    ],
)
def test_lists_of_documents_are_still_one_run(run):
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    found = ragkpi.evaluate(qrels, run, "P.1")
    assert found.mean["P_1"] == sum(
        bool(of) and of[0] in ("d1", {"id": "d1", "score": 0.5}, {"id": "d1", "score": 0.2})
        for of in run.values()
    ) / len(run)


def test_rows_in_a_mapping_are_a_run_and_no_system():
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    runs = {"one": {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, "rows": [("q1", "d1", 2.0)]}
    found = ragkpi.evaluate(qrels, runs, "P.1")
    assert found.mean == {"one": {"P_1": 1.0}, "rows": {"P_1": 0.5}}


def test_check_looks_at_each_seed(ragkpi, tmp_path):
    words, _ = write(tmp_path, 3, one=(2, 1.0))
    (tmp_path / "one-b.run").write_text((tmp_path / "one-b.run").read_text() * 2)
    result = ragkpi("check", "--format", "json", "qrels", *words, folder=tmp_path)
    assert result.status == 3
    assert b"one-b" in result.out


def test_a_rate_of_systems_allows_for_failures_that_no_query_shows(ragkpi, tmp_path):
    """Twelve successes of each seed, but one: a failure on one query in ten might not show."""
    queries = [f"q{number:02}" for number in range(12)]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 d 1\n{q} 0 n 0\n" for q in queries))
    words = []
    for system in ("one", "other"):
        for seed in "abc":
            fails = {"q00"} if system + seed == "onea" else set()
            ranked = [(q, "n" if q in fails else "d", "d" if q in fails else "n") for q in queries]
            score = {"a": 3, "b": 4, "c": 5}[seed] if system == "one" else ord(seed)
            lines = (f"{q} Q0 {x} 1 {score}\n{q} Q0 {y} 2 1\n" for q, x, y in ranked)
            text = "".join(line.replace("\n", " t\n") for line in lines)
            (tmp_path / f"{system}-{seed}.run").write_text(text)
        words.append(f"{system}={','.join(f'{system}-{seed}.run' for seed in 'abc')}")
    line = ("compare", "-m", "success.1", "--fail-if", "noninferior", "--margin", "0.1")
    result = ragkpi(*line, "--format", "json", "qrels", *words, folder=tmp_path)
    assert result.status == 3
    assert json.loads(result.out)["comparison"]["differences"][0]["interval"][0] > -0.1
    assert b"non-inferior" in result.err
