"""The order of the rooms: each imports from those below it, and no modules form a circle."""

import ast
import functools
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import ragkpi

PACKAGE = Path(ragkpi.__file__).parent

# From the ground up. Rooms on one line do not know each other.
ORDER = [
    ["version", "errors", "arrays", "plain_kernel", "_kernel"],
    ["kernel", "interface"],
    ["wording"],
    ["files"],
    ["ranking"],
    ["measures"],
    ["statistics"],
    ["evaluation"],
    ["bounds"],
    ["reports"],
    ["charts"],
    ["library"],
    ["cli"],
    ["questions"],
    ["pytrec_eval", "ir_measures"],
    ["__main__", ""],  # the package itself, which offers the functions by name
]
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}


def name_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def tree_of(name):
    return ast.parse(PATHS[name].read_text("utf-8"))


@functools.cache
def imported(name):
    """All modules of this package that a module imports: at its top, for types, in functions."""
    modules = set()
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            modules.update(one.name for one in node.names if one.name.startswith("ragkpi."))
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "ragkpi":
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                modules.add(inner if inner in PATHS else node.module)
    return modules - {name}


def room_of(name):
    return [*name.split("."), ""][1]


@pytest.mark.parametrize("name", PATHS)
def test_no_arrow_runs_upward(name):
    for other in imported(name):
        if room_of(other) != room_of(name):
            assert FLOOR[room_of(other)] < FLOOR[room_of(name)], f"{name} imports {other}"


def test_modules_import_in_no_circle():
    known = {name: imported(name) & PATHS.keys() for name in PATHS}
    list(TopologicalSorter(known).static_order())  # CycleError names the circle


def test_a_question_is_opened_by_its_name_alone():
    """What one question holds is its own affair; the page alone shows what others answer."""
    for name in PATHS:
        question = name.split(".")[2] if name.startswith("ragkpi.questions.") else None
        for other in imported(name):
            if room_of(other) == "questions" and other.count(".") > 1 and name != "ragkpi":
                assert question in (other.split(".")[2], "report"), (name, other)


def test_every_folder_is_a_package():
    """Wheels leave out folders that are none."""
    assert all((path.parent / "__init__.py").exists() for path in PATHS.values())


def test_few_imports_are_inside_functions():
    """Each saves time that was measured: heavy packages, and what few command lines need.

    A command reads its options before it imports what answers.
    """
    late = [
        f"{name}:{node.lineno}"
        for name in PATHS
        if not name.endswith(".command")
        for function in ast.walk(tree_of(name))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert len(set(late)) <= 40, late


def test_public_classes_have_names_of_their_own():
    names = Counter(
        node.name
        for name in PATHS
        for node in tree_of(name).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []
