"""What mkdocs does besides rendering: the measure reference from the registry, and formulas.

The reference is made anew at every build, so it cannot differ from the code. Formulas, between
``$$`` or as GitHub has them inside a line, become MathML, which browsers draw themselves: nothing
is fetched.
"""

from __future__ import annotations

import html
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import formulas

sys.path.pop(0)

_CODE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)|^    .*?$", re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|\$`(?P<inline>.+?)`\$", re.DOTALL)
_SECTIONS = ("Formula", "Range", "Edge cases", "Source")

# Tasks are found before what explains ragkpi itself.
_BOOST = {"": 4, "start": 3, "questions": 3, "architecture": 0.1, "decisions": 0.2, "speed": 0.2}

_drawn: dict[str, str] = {}


def on_files(files: Any, config: Any) -> Any:
    """Add the generated page."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "measures.md", content="\n".join(reference())))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rank the page for the search; put a mark in place of every formula outside code."""
    page.meta["search"] = {"boost": _BOOST.get(page.url.split("/")[0], 1)}
    pieces, end = [], 0
    for code in _CODE.finditer(markdown):
        pieces += [_FORMULA.sub(_marked, markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, _FORMULA.sub(_marked, markdown[end:])])


def on_page_content(content: str, **_: Any) -> str:
    """Put the formulas in place of their marks, and let buttons copy commands without outputs."""
    content = re.sub(r"formula\d+mark", lambda mark: _drawn[mark[0]], content)
    return re.sub(
        r"<div class=\"[^\"]*highlight\">(?=<pre>(.*?)</pre>)", _copied, content, flags=re.S
    )


def _copied(block: re.Match[str]) -> str:
    """Give a block with prompts what to copy: its commands, also those of several lines."""
    commands: list[str] = []
    for line in html.unescape(re.sub("<[^>]*>", "", block[1])).splitlines():
        if line.startswith(("$ ", ">>> ", "... ")):
            commands.append(line.partition(" ")[2])
        elif commands and commands[-1].endswith("\\"):
            commands.append(line)
    text = html.escape("\n".join(commands))
    return block[0].replace("<div ", f'<div data-copy="{text}" ', 1) if commands else block[0]


def _marked(seen: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    display = "block" if seen["block"] else "inline"
    name = f"formula{len(_drawn)}mark"
    drawn = convert((seen["block"] or seen["inline"]).strip(), display=display)
    _drawn[name] = f'<span class="formula">{drawn}</span>' if seen["block"] else drawn
    return name


def reference() -> Iterator[str]:
    """Yield the lines of the measure reference: a section per measure, in printing order."""
    from ragkpi.measures.measure import QUESTIONS
    from ragkpi.measures.registry import NICKNAMES, all_measures

    measures = all_measures()
    yield "# Measures"
    yield ""
    yield f"All {len(measures)} measures, as `ragkpi measures NAME` explains them."
    yield "Ask for one with `-m NAME` or `-m NAME.PARAMETERS`."
    yield ""
    yield "| question | measures |"
    yield "|---|---|"
    for question, text in QUESTIONS.items():
        names = [name for name, measure in measures.items() if measure.question == question]
        yield f"| {text} | {' '.join(f'[`{name}`](#{name})' for name in names)} |"
    yield ""
    yield "| nickname | stands for |"
    yield "|---|---|"
    for name, members in NICKNAMES.items():
        yield f"| `{name}` | {' '.join(f'`{member}`' for member in members)} |"
    yield ""
    yield (
        "In formulas *i* is a rank, *K* the cutoff, *R* the number of relevant documents, *n* that "
        "of retrieved ones, *r(i)* that of relevant ones down to rank *i*; a bracket [ … ] is 1 if "
        "what it holds is true, and 0 if not. Examples are over all queries of the fixtures' "
        "`reranked.run`, with `-N 5000 --pool first_stage.run`."
    )
    examples = _examples(measures)
    for measure in measures.values():
        summary, sections = parsed(measure.help)
        yield ""
        yield f"## {measure.name} {{ #{measure.name} }}"
        yield ""
        yield html.escape(summary)
        yield ""
        facts = {
            **sections,
            "Parameters": measure.parameters.describe(),
            "Over queries": measure.aggregate.name,
            "Better": measure.better,
            "Needs": ", ".join(sorted(measure.needs)),
            "Sees": measure.sees,
            "Ties": measure.over_ties,
        }
        for label, text in facts.items():
            if text and label == "Formula" and measure.numeric:
                yield f"**{label}**"
                drawn = "<br>".join(_safe(line) for line in formulas.lines(text))
                yield f": {drawn.replace('$$<br>', '$$').replace('<br>$$', '$$')}"
                yield ""
            elif text:
                yield f"**{label}**"
                yield f": {html.escape(text)}"
                yield ""
        if measure.name in examples:
            yield "**Example**"
            yield f": {', '.join(f'`{line}`' for line in examples[measure.name])}"


def _safe(line: str) -> str:
    """Escape what stands outside the formulas of a line."""
    return "".join(
        piece if piece.startswith("$") else html.escape(piece)
        for piece in re.split(r"(\$\$.+?\$\$|\$`.+?`\$)", line)
    )


def _examples(measures: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Return up to three printed values of each measure on the fixtures."""
    import ragkpi

    fixtures = Path(__file__).parent.parent / "fixtures"
    plain = [name for name, one in measures.items() if one.reads == "qrels" and one.numeric]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ragkpi.evaluate(
            fixtures / "qrels.txt",
            fixtures / "reranked.run",
            plain,
            corpus_size=5000,
            pool=fixtures / "first_stage.run",
        )
    lines: dict[str, list[str]] = {}
    for printed, value in result.mean.items():
        owner = max((name for name in plain if printed.startswith(name)), key=len)
        if len(lines.setdefault(owner, [])) < 3 and value is not None:
            lines[owner].append(f"{printed} {value:.6g}")
    return lines


def parsed(help_text: str) -> tuple[str, Mapping[str, str]]:
    """Split a measure's docstring into its first paragraph and its sections by label."""
    head, *rest = re.split(rf"(?m)^({'|'.join(_SECTIONS)}):\s*", help_text)
    labels, bodies = rest[0::2], rest[1::2]
    sections = {label: " ".join(body.split()) for label, body in zip(labels, bodies, strict=True)}
    return " ".join(head.split()), sections
