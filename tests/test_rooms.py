"""The order of the rooms: each imports only from those before it; names mean one thing."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import ragkpi

PACKAGE = Path(ragkpi.__file__).parent

# From the ground up. Rooms on one line do not know each other.
ORDER = [
    ["errors", "interface", "wording", "records", "progress", "plain_kernel", "_kernel"],
    ["kernel"],
    ["formats"],
    ["ranking"],
    ["measures"],
    ["statistics"],
    ["evaluation", "conversion"],
    ["reports", "charts"],
    ["studies"],
    ["library"],
]
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}
# Types of measures are named by what is below them; the values do not come up.
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def room_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imported(path):
    """Yield the modules of this package that a module imports, at its top or within functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ragkpi."):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("ragkpi."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_arrow_runs_upward(path):
    room = room_of(path)
    floor = FLOOR.get(room, len(ORDER))
    for module in imported(path):
        other = module.split(".")[1]
        if other == room:
            continue
        if room != "__main__":
            assert other != "cli", f"{path} imports {module}"
        assert FLOOR.get(other, len(ORDER)) <= floor, f"{path} imports {module}"


def test_modules_have_names_of_their_own():
    names = Counter(path.stem for path in MODULES if room_of(path) != "cli")
    assert [name for name, count in names.items() if count > 1] == []


def test_public_classes_have_names_of_their_own():
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []
