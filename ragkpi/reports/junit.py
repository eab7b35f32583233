"""JUnit XML, which most CI systems show: a test case per check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ragkpi.reports.layout import Check, Layout, Report
from ragkpi.reports.terminal import write_table
from ragkpi.wording import in_markup

_NO_XML = "[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def write_junit(report: Report, layout: Layout) -> Iterator[str]:
    """Write a case per gate or finding (errors fail), and the report as plain text."""
    table = report.table(layout)
    checks = table.checks or [Check("answer", "passed", " ".join(table.verdict))]
    failures = sum(check.outcome == "error" for check in checks)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuite name="ragkpi" tests="{len(checks)}" failures="{failures}">\n'
    for check in checks:
        yield _case(check)
    plain = replace(layout, colour="never", width=None, call_notes=())
    lines = "".join(write_table(report, plain)).splitlines()
    yield "<system-out>\n" + "".join(f"{_xml(line)}\n" for line in lines) + "</system-out>\n"
    yield "</testsuite>\n"


def _case(check: Check) -> str:
    place = {"file": check.file, "line": check.line}
    attributes = {"classname": check.file or "ragkpi", "name": check.name, **place}
    texts = " ".join(f'{name}="{_xml(str(text))}"' for name, text in attributes.items() if text)
    text = check.text if check.outcome == "passed" else f"{check.outcome}: {check.text}"
    outcome = f"<system-out>{_xml(text)}</system-out>"
    if check.outcome == "error":
        outcome = f'<failure message="{_xml(check.text)}"/>'
    return f"  <testcase {texts}>{outcome}</testcase>\n"


def _xml(text: str) -> str:
    """Escape a text; replace characters that XML cannot represent."""
    return re.sub(_NO_XML, "\ufffd", in_markup(text))
