"""What mkdocs does besides rendering: references from the registry and from typer, and formulas.

The references are made anew at every build, so they cannot differ from the code. Formulas, between
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
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for path, lines in {**reference(), "commands.md": commands(), "api.md": api()}.items():
        files.append(File.generated(config, path, content="\n".join(lines)))
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


def reference() -> dict[str, list[str]]:
    """Return the lines of the measure reference: a page per question, and one that lists all."""
    from ragkpi.measures.measure import QUESTIONS
    from ragkpi.measures.registry import NICKNAMES, all_measures

    measures = all_measures()
    index = [
        "# Measures",
        "",
        f"All {len(measures)} measures, as `ragkpi measures NAME` explains them.",
        "Ask for one with `-m NAME` or `-m NAME.PARAMETERS`.",
        "",
        "| question | measures |",
        "|---|---|",
    ]
    pages = {"measures.md": index}
    examples = _examples(measures)
    for question, text in QUESTIONS.items():
        family = [measure for measure in measures.values() if measure.question == question]
        path = f"measures/{question}.md"
        links = (f"[`{measure.name}`]({path}#{measure.name})" for measure in family)
        index.append(f"| [{text}]({path}) | {' '.join(links)} |")
        pages[path] = [f"# {text}", "", _SYMBOLS]
        for measure in family:
            pages[path] += _section(measure, examples.get(measure.name, []))
    index += ["", "| nickname | stands for |", "|---|---|"]
    for name, members in NICKNAMES.items():
        index.append(f"| `{name}` | {' '.join(f'`{member}`' for member in members)} |")
    return pages


_SYMBOLS = (
    "In formulas *i* is a rank, *K* the cutoff, *R* the number of relevant documents, *n* that "
    "of retrieved ones, *r(i)* that of relevant ones down to rank *i*; a bracket [ … ] is 1 if "
    "its content is true, and 0 if not. Examples are over all queries of the fixtures' "
    "`reranked.run`, with `-N 5000 --pool first_stage.run`."
)


def _section(measure: Any, examples: list[str]) -> Iterator[str]:
    """Yield the lines of a measure's section."""
    summary, sections = parsed(measure.help)
    yield from ("", f"## {measure.name} {{ #{measure.name} }}", "", html.escape(summary), "")
    facts = {
        **sections,
        "Parameters": measure.parameters.describe(),
        "Over queries": measure.aggregate.name,
        "Better": measure.better,
        "Needs": ", ".join(sorted(measure.needs)),
    }
    for label, text in facts.items():
        if text and label == "Formula" and measure.numeric:
            yield f"**{label}**"
            drawn = "<br>".join(_safe(line) for line in formulas.lines(text))
            yield f": {drawn.replace('$$<br>', '$$').replace('<br>$$', '$$')}"
            yield ""
        elif text:
            yield from (f"**{label}**", f": {html.escape(text)}", "")
    if examples:
        yield from ("**Example**", f": {', '.join(f'`{line}`' for line in examples)}")


def commands() -> Iterator[str]:
    """Yield the lines of the command reference: every option as typer knows it."""
    import typer
    from typer.main import get_command

    from ragkpi.cli.app import COMMANDS, TASKS, command_of

    yield "# Commands"
    yield ""
    yield "Every option of every command, as `ragkpi COMMAND --help` shows it."
    for name, entry in COMMANDS.items():
        app = typer.Typer(add_completion=False)
        shell = command_of(name)
        app.command(name)(shell)
        command = get_command(app)
        first, *_ = (command.help or "").split("\n\n")
        yield from ("", f"## {name} {{ #{name} }}", "")
        yield from (
            f"*{TASKS[entry.task]}.* {entry.purpose} {html.escape(' '.join(first.split()))}",
            "",
        )
        yield from (
            "```sh",
            *shell.examples,
            "```",
            "",
            "| option | values | meaning |",
            "|---|---|---|",
        )
        for option in command.params:
            if getattr(option, "hidden", False) or option.name == "help":
                continue
            is_option = option.param_type_name == "option"
            names = ", ".join(f"`{one}`" for one in option.opts) if is_option else "*files*"
            choices = getattr(option.type, "choices", ())
            values = ", ".join(map(str, choices)) or option.metavar or option.type.name
            values = "" if getattr(option, "is_flag", False) else values
            yield f"| {names} | {_cell(values)} | {_cell(getattr(option, 'help', '') or '')} |"


def _cell(text: str) -> str:
    return html.escape(" ".join(text.split())).replace("|", "\\|")


def api() -> Iterator[str]:
    """Yield the lines of the Python reference, which mkdocstrings fills from docstrings."""
    import ragkpi

    yield "# Python API"
    yield ""
    yield "Every command is a function of the package. [Python](python.md) shows how to use them."
    functions = [name for name in ragkpi.__all__ if name[0].islower()]
    for name in [*functions, *(name for name in ragkpi.__all__ if name not in functions)]:
        yield from ("", f"::: {getattr(ragkpi, name).__module__}.{name}")


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
