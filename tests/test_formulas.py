"""The site's formulas: what stands plainly in a docstring, as a mathematician would set it."""

import re
import sys
from pathlib import Path

import pytest

from ragkpi.measures.registry import all_measures

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import formulas  # noqa: E402
import hooks  # noqa: E402

sys.path.pop(0)

FORMULAS = {
    name: hooks.parsed(measure.help)[1].get("Formula")
    for name, measure in all_measures().items()
    if measure.numeric
}


# Set by hand.
@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("1 - r(K) / K", [r"$$1-\frac{r(K)}{K}$$"]),
        ("K mean(R) / N", [r"$$\frac{K\,\text{mean}(R)}{N}$$"]),
        ("-log2(mean p_rand)", [r"$$-\log_2(\text{mean p_rand})$$"]),
        ("a·b + c/d", [r"$$a\cdot b+\frac{c}{d}$$"]),
        ("C(N-R,K) / C(N,K)", [r"$$\frac{\binom{N-R}{K}}{\binom{N}{K}}$$"]),
        (
            "(1 - p) · Σ over ranks i of p^(i-1)",
            [r"$$\left(1-p\right)\cdot \sum\limits_{\text{ranks }i}p^{i-1}$$"],
        ),
        (
            "Σ over ranks i of s(i)/i · Π over ranks j < i of (1 - s(j))",
            [
                r"$$\sum\limits_{\text{ranks }i}\frac{s(i)}{i}\cdot "
                r"\prod\limits_{\text{ranks }j< i}\left(1-s(j)\right)$$"
            ],
        ),
        ("r(K) / K, r(K) = good among K", [r"$$\frac{r(K)}{K}$$", "$`r(K)`$ = good among $`K`$"]),
        ("[h >= m], h = good in the top", [r"$$\left[h\ge m\right]$$", "$`h`$ = good in the top"]),
        ("|S - P|; as sets", [r"$$\left|S-P\right|$$", "as sets"]),
        ("queries in both; with -c, queries", ["queries in both, with -c, queries"]),
        ("one query: h / m", [r"one query: $`\frac{h}{m}`$"]),
    ],
)
def test_typeset(plain, expected):
    assert list(formulas.lines(plain)) == expected


@pytest.mark.parametrize("name", FORMULAS)
def test_every_measure_is_typeset(name):
    assert FORMULAS[name], "no formula"
    lines = list(formulas.lines(FORMULAS[name]))
    for line in lines:
        for latex in re.findall(r"\$`(.+?)`\$|\$\$(.+?)\$\$", line):
            made = "".join(latex)
            assert made.count("{") == made.count("}")
            assert made.count(r"\left") == made.count(r"\right")
            assert r"\frac{}" not in made
            assert "{}" not in made
            for below in re.findall(r"limits_\{((?:[^{}]|\{[^{}]*\})*)\}", made):
                assert not re.search(r"\\(frac|cdot|prod)", below), "what is summed is not below"


def _letters(text):
    return re.sub(r"[^A-Za-z0-9]", "", text)


@pytest.mark.parametrize("name", FORMULAS)
def test_nothing_is_lost(name):
    """Every letter and digit of the docstring is set."""
    spelled = re.sub(r"Σ|Π|\bover\b|\bof\b|\bC\(", "", FORMULAS[name])
    drawn = " ".join(formulas.lines(FORMULAS[name]))
    named = {"log", "exp", "min", "max", "alpha"}
    drawn = re.sub(r"\\([a-z]+)", lambda seen: seen[1] if seen[1] in named else "", drawn)
    drawn = re.sub(r"\\|\bof\b|\bover\b|(?<![A-Za-z])C\(", "", drawn)
    assert sorted(_letters(drawn)) == sorted(_letters(spelled))


def _converted(text):
    convert = pytest.importorskip("latex2mathml.converter").convert
    for latex in re.findall(r"\$`(.+?)`\$|\$\$(.+?)\$\$", text):
        made = convert("".join(latex))
        assert made.startswith("<math"), latex
        assert "\\" not in made, latex
        yield made


def test_mathml_of_measures():
    for formula in FORMULAS.values():
        list(_converted("\n".join(formulas.lines(formula))))


def test_mathml_of_pages():
    texts = [page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md")]
    assert len([made for text in texts for made in _converted(text)]) > 20
