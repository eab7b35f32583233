"""Numbers that no type holds, in options and files: a refusal or an answer, never the last net."""

import json

import pytest

from tests.cli.commandline import BM25, FIXTURES, FUSION

HUGE = ["9223372036854775808", "18446744073709551616", "9" * 40, "-1", "nan", "1e400"]
COMMANDS = [
    *(f"eval {option} {{}} -m map -m bor.10" for option in ("-M", "-N", "-l", "--digits")),
    f"eval --pool {FUSION} --pool-depth {{}} -m proc.10",
    *(f"eval --ci -m map {option} {{}}" for option in ("--seed", "--resamples", "--confidence")),
    *(f"eval -N 1000 -m {name}.{{}}" for name in ("P", "ndcg_cut", "bor", "rbp", "ra_nwg", "t")),
    "eval -N 1000 -m bor.10,m={}",
    *(f"depth -N 1000 {option} {{}}" for option in ("--at", "--at-least", "--max-loss")),
    "depth -N 1000 --tokens-per-passage {}",
    f"diagnose --pool {FUSION} -k {{}}",
    "holes -m P.5 --first {}",
    f"compare -m map --trials {{}} qrels.txt {FUSION}",
]


def is_contract(found):
    return found.status in (0, 1, 2, 3, 4, 7) and b"a bug in ragkpi" not in found.err


@pytest.mark.parametrize("number", HUGE)
def test_options(ragkpi, number):
    for command in COMMANDS:
        words = command.format(number).split()
        files = [BM25] if "qrels.txt" in words else ["qrels.txt", BM25]
        found = ragkpi(*words, *files, folder=FIXTURES)
        assert is_contract(found), (words, found.err)
    for words in (["-N", number, "--relevant", "4"], ["-N", "100", "--relevant", number]):
        assert is_contract(ragkpi("depth", *words)), words


@pytest.mark.parametrize("level", [2**63, 2**63 - 1, 10**16, -(2**63), 10**40])
@pytest.mark.parametrize("form", ["trec", "json"])
def test_levels(ragkpi, tmp_path, level, form):
    text = f"1 0 d1 {level}\n1 0 d2 1\n" if form == "trec" else json.dumps({"1": {"d1": level}})
    (tmp_path / "qrels").write_text(text)
    (tmp_path / "run").write_text("1 Q0 d1 1 2 me\n1 Q0 d2 2 1 me\n")
    for words in (["eval", "-m", "official", "-m", "G.10"], ["depth", "-N", "100"], ["holes"]):
        assert is_contract(ragkpi(*words, "qrels", "run", folder=tmp_path)), words
    assert is_contract(ragkpi("check", "run", "qrels", folder=tmp_path))


@pytest.mark.parametrize("level", [2**63 - 1, 2**53 + 1, -(2**63), "+" + "0" * 5000 + str(2**60)])
def test_levels_of_64_bits_are_levels(ragkpi, tmp_path, level):
    (tmp_path / "qrels").write_text(f"1 0 d1 {level}\n1 0 d2 1\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 2 me\n1 Q0 d2 2 1 me\n")
    found = ragkpi("eval", "-m", "num_rel", "qrels", "run", folder=tmp_path)
    assert (found.status, found.out.split()[-1]) == (0, b"1" if str(level)[0] == "-" else b"2")


@pytest.mark.parametrize("level", [2**63, -(2**63) - 1, "9" * 5000, f"{2**53}.0"])
def test_levels_beyond_64_bits_are_refused(ragkpi, tmp_path, level):
    (tmp_path / "qrels").write_text(f"1 0 d2 1\n1 0 d1 {level}\n1 0 d3 x\n")
    (tmp_path / "run").write_text("1 Q0 d1 1 2 me\n")
    found = ragkpi("eval", "qrels", "run", folder=tmp_path)
    assert (found.status, found.out) == (2, b"")
    assert found.err.startswith(f"ragkpi: error: qrels:2: level '{str(level)[:50]}".encode())


@pytest.mark.parametrize(
    "record",
    [
        '{"values": {"map": NaN}}',
        '{"values": {"map": 1e999}}',
        '{"values": {"map": {"a": [1]}}}',
        '{"values": {"map": 1}, "name": "\\udc00"}',
        '{"values": {"map": 1}, "meta": 3}',
        '{"values": {"map": 1}, "files": 7, "time": 5}',
        '{"values": {"map": 1}, "signature": []}',
        '{"values": {"map": %s}}' % ("9" * 40),
        "[" * 100_000,
    ],
)
def test_records(ragkpi, tmp_path, record):
    good = {"values": {"map": 0.5}, "name": "good", "time": "2026-01-01T00:00:00Z"}
    (tmp_path / "log").write_text(json.dumps(good) + "\n" + record + "\n")
    for words in ([], ["--format", "json"], ["--format", "csv"], ["--sort", "map"]):
        assert is_contract(ragkpi("log", *words, "log", folder=tmp_path)), words


def test_an_interval_that_covers_nearly_everything(ragkpi):
    words = (
        "eval",
        "--ci",
        "--ci-method",
        "percentile",
        "--confidence",
        "0.999999999999",
        "-m",
        "map",
    )
    found = ragkpi(*words, "qrels.txt", BM25, folder=FIXTURES)
    assert found.status == 0


def test_a_name_that_is_no_utf8(ragkpi, tmp_path):
    name = "n\udcff.run"
    (tmp_path / "qrels").write_bytes(b"1 0 d1 1\n")
    (tmp_path / name).write_bytes(b"1 Q0 d1 1 2 me\n")
    for words in (["eval", "--format", "json"], ["eval", "--log", "log"], ["depth", "-N", "10"]):
        assert ragkpi(*words, "qrels", name, folder=tmp_path).status == 0
    assert ragkpi("log", "log", folder=tmp_path).status == 0
