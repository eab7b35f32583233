"""A sentence of the program is compared in one place, so that a better one changes one test."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
IN_A_ROW = 6


def texts(tree):
    """Yield (line, text) of every string that is no docstring; what is filled in is a digit."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            parts = (getattr(part, "value", 0) for part in node.values)
            yield node.lineno, "".join(part if isinstance(part, str) else "0" for part in parts)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str | bytes):
                value = node.value
                text = value if isinstance(value, str) else value.decode("utf-8", "replace")
                yield node.lineno, text
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            waiting += ast.iter_child_nodes(node)


def phrases(text):
    """Return the runs of words, without numbers and marks between them."""
    found = set()
    for piece in re.split(r"[^A-Za-z'’,;:. -]+", text):
        words = re.findall(r"[a-z'’-]+", piece.lower())
        found.update(zip(*(words[start:] for start in range(IN_A_ROW)), strict=False))
    return found


def test_six_words_in_a_row_are_compared_in_one_place():
    """A place is a test, or a table that tests share.

    Another test asserts what follows from the situation: a status, a number, a key of JSON.
    """
    own = set()
    for path in (ROOT / "ragkpi").rglob("*.py"):
        for _, text in texts(ast.parse(path.read_text("utf-8"))):
            own |= phrases(text)
    places = defaultdict(set)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for statement in ast.parse(path.read_text("utf-8")).body:
            for line, text in texts(statement):
                for phrase in phrases(text) & own:
                    place = f"{path}:{statement.lineno}"
                    places[phrase].add((place, f"{path.relative_to(ROOT)}:{line}"))
    twice = {
        " ".join(phrase): sorted(line for _, line in of_phrase)
        for phrase, of_phrase in places.items()
        if len({place for place, _ in of_phrase}) > 1
    }
    assert twice == {}
