"""What mkdocs does besides rendering: the measure reference from the registry, and formulas.

The reference is made anew at every build, so it cannot differ from the code. Formulas between
``$$`` become MathML, which browsers draw themselves: nothing is fetched.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_SECTIONS = ("Formula", "Range", "Edge cases", "Source")


def on_files(files: Any, config: Any) -> Any:
    """Add the generated page."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "measures.md", content="\n".join(reference())))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Turn formulas into MathML."""
    from latex2mathml.converter import convert

    return _FORMULA.sub(lambda found: convert(found[1].strip(), display="block"), markdown)


def reference() -> Iterator[str]:
    """Yield the lines of the measure reference: a section per measure, in printing order."""
    from ragkpi.measures.registry import NICKNAMES, all_measures

    measures = all_measures()
    yield "# Measures"
    yield ""
    yield f"All {len(measures)} measures, as `ragkpi measures NAME` explains them."
    yield "Ask for one with `-m NAME` or `-m NAME.PARAMETERS`."
    yield ""
    yield "| nickname | stands for |"
    yield "|---|---|"
    for name, members in NICKNAMES.items():
        yield f"| `{name}` | {' '.join(f'`{member}`' for member in members)} |"
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
        }
        for label, text in facts.items():
            if text:
                body = html.escape(text)
                yield f"**{label}**"
                yield f": {'<code>' + body + '</code>' if label == 'Formula' else body}"
                yield ""


def parsed(help_text: str) -> tuple[str, Mapping[str, str]]:
    """Split a measure's docstring into its first paragraph and its sections by label."""
    head, *rest = re.split(rf"(?m)^({'|'.join(_SECTIONS)}):\s*", help_text)
    labels, bodies = rest[0::2], rest[1::2]
    sections = {label: " ".join(body.split()) for label, body in zip(labels, bodies, strict=True)}
    return " ".join(head.split()), sections
