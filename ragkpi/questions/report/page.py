"""The page: one HTML file with its data, its style and its scripts inside."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from ragkpi.errors import UsageError
from ragkpi.reports.output_files import write

try:
    import jinja2
except ImportError:  # `refuse_without_packages` says so
    jinja2 = None

_CHART_SCRIPTS = ("bokeh.min.js", "bokeh-api.min.js")
_HEIGHT = 900  # pixels of the frame in a notebook


@dataclass(frozen=True)
class HtmlReport:
    """A page, shown inline in notebooks.

    Attributes
    ----------
    html
        The page.
    data
        The data of the page, valid under ``schema.json#/$defs/report``.
    """

    html: str
    data: Mapping[str, Any]

    def save(self, path: str) -> None:
        """Write the page to a file, which is replaced at once or not at all."""
        write(self.html, path)

    def __repr__(self) -> str:
        runs, queries = self.data["runs"], self.data["queries"]
        return f"Report({len(runs)} runs, {len(queries)} queries, {len(self.html):,} characters)"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(str(self.data["title"]))}" '
            'sandbox="allow-scripts allow-popups allow-downloads" '
            f'style="width:100%;height:{_HEIGHT}px;border:0" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


def refuse_without_packages() -> None:
    """Raise `UsageError` if the packages that make pages are not installed."""
    missing = [name for name in ("jinja2", "bokeh") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a page needs {' and '.join(missing)}, not installed; pip install 'ragkpi[report]'"
        )


def report_page(data: Mapping[str, Any]) -> HtmlReport:
    """Make the page of a report's data.

    The page's own policy names its scripts by their hashes, so that the browser runs no other
    script, whatever ids and texts contain, and loads nothing.
    """
    refuse_without_packages()
    folder = files("ragkpi.questions.report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    template = environment.from_string((folder / "page.html.jinja").read_text("utf-8"))
    scripts = [*_chart_scripts(), (folder / "page.js").read_text("utf-8")]
    page = template.render(
        data=data,
        json=embedded_json(data),
        style=(folder / "page.css").read_text("utf-8"),
        scripts=scripts,
        hashes=" ".join(f"'sha256-{_hash(script)}'" for script in scripts),
    )
    return HtmlReport(page, data)


def embedded_json(data: Mapping[str, Any]) -> str:
    r"""Write JSON in which no text can end the HTML element around it.

    ``<``, ``>`` and ``&`` become ``\u003c`` and the like, which readers of JSON undo.
    """
    compact = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    text = compact.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates escaped
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _chart_scripts() -> list[str]:
    folder = files("bokeh") / "server" / "static" / "js"
    # A string of JavaScript may contain "</script"; there, the backslash means nothing.
    return [
        (folder / name).read_text("utf-8").replace("</script", "<\\/script")
        for name in _CHART_SCRIPTS
    ]


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
