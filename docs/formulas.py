r"""The plain formulas of docstrings as LaTeX, for the site.

A docstring says ``r(K) / K, r(K) = relevant documents among the first K``, which a terminal shows
as it is. Here the same text is read as a formula: words become text, ``/`` a fraction, ``Σ over
ranks i of …`` a sum, ``C(N,K)`` a binomial coefficient, ``[…]`` a bracket that is 1 or 0.

>>> list(lines("1 - r(K) / K, r(K) = relevant documents among the first K"))
['$$1-\\frac{r(K)}{K}$$', '$`r(K)`$ = relevant documents among the first $`K`$']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"\s*(?:(?P<option>(?<![\w)])-[a-zA-Z](?![\w(]))"  # -c, an option
    r"|(?P<number>\d+(?:\.\d+)?(?![\w]))"
    r"|(?P<word>[^\W_][\w]*(?:'(?!\w)|(?:[-'][^\W\d]{2,})+)?)"  # ra_nwg, w', sub-groups
    r"|(?P<sign>>=|<=|[^\s]))"
)
_RELATIONS = {"=": "=", "<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "≤": r"\le", "≥": r"\ge"}
_PRODUCTS = {"·": r"\cdot ", "*": r"\cdot ", "/": ""}
_SUMS = {"+": "+", "-": "-", "−": "-"}
_BIG = {"Σ": r"\sum", "Π": r"\prod"}
_FUNCTIONS = {"log": r"\log", "log2": r"\log_2", "exp": r"\exp", "min": r"\min", "max": r"\max"}
_SHORT_WORDS = {"an", "as", "at", "be", "by", "if", "in", "is", "it", "no", "of", "on", "or", "to"}
_GREEK = {"alpha", "lambda"}


def lines(formula: str) -> Iterator[str]:
    """Read a formula; yield its clauses as lines of Markdown, formulas between dollars in them."""
    text: list[str] = []  # clauses of prose, which share a line
    for clause in _clauses(" ".join(formula.split())):
        label, _, body = clause.rpartition(": ")
        if not _is_formula(body):
            text.append(_prose(clause))
            continue
        if text:
            yield ", ".join(text)
            text = []
        name, equals, meaning = body.partition(" = ")
        before = f"{label}: " if label else ""
        if equals and not _is_formula(meaning) and " " in meaning:
            yield f"{before}$`{latex(name)}`$ = {_prose(meaning)}"
        elif label:
            yield f"{before}$`{latex(body)}`$"
        else:
            yield f"$${latex(body)}$$"
    if text:
        yield ", ".join(text)


def latex(formula: str) -> str:
    """Translate one clause."""
    return _Reader(formula).everything()


def _clauses(formula: str) -> Iterator[str]:
    """Split at commas and semicolons outside brackets, but before no word that goes on."""
    start = depth = 0
    for place, character in enumerate(formula):
        depth += (character in "([") - (character in ")]")
        ends = character == ";" or re.match(r", (?!else |and )", formula[place:])
        if ends and depth == 0:
            yield formula[start:place].strip()
            start = place + 1
    yield formula[start:].strip()


def _is_formula(clause: str) -> bool:
    """Whether a clause computes something, or is a symbol; if not, it is prose."""
    tokens = list(_tokens(clause))
    if any(text in "/·ΣΠ=^[|+<=>=≤≥" for _, text in tokens):
        return True
    alone = len(tokens) == 1 and _symbol(clause) is not None
    return alone or " - " in clause or bool(re.search(r"\b(log2?|exp|min|max)\(", clause))


def _prose(text: str) -> str:
    """Mark the symbols in a text: capitals, and what has a digit or a bracket behind it."""
    symbol = r"(?<![\w-])([A-Zn]|[A-Za-z]\d|[a-zA-Z]\([A-Za-z0-9]\)|rr|nr|np|nn|NN)(?![\w'-])"
    return re.sub(symbol, lambda seen: f"$`{latex(seen[1])}`$", text)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    for seen in _TOKEN.finditer(text):
        kind = seen.lastgroup or ""
        yield kind, seen[kind]


class _Reader:
    """A reader by descent: relations, sums, products, pieces side by side, one piece."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: Sequence[tuple[str, str]] = [*_tokens(text), ("end", "")]
        starts = [seen.end() - len(seen[seen.lastgroup or 0]) for seen in _TOKEN.finditer(text)]
        self.starts = [*starts, len(text)]
        self.at = 0
        self.in_bars = False

    @property
    def next(self) -> str:
        return self.tokens[self.at][1]

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def everything(self) -> str:
        parts = [self.relation()]
        while self.tokens[self.at][0] != "end":
            parts.append(_escaped(self.take()))
            if self.tokens[self.at][0] != "end":
                parts.append(self.relation())
        return "".join(parts)

    def relation(self) -> str:
        parts = [self.sum()]
        while self.next in _RELATIONS:
            parts += [_RELATIONS[self.take()], " ", self.sum()]
        return "".join(parts)

    def sum(self) -> str:
        parts = [_SUMS[self.take()]] if self.next in _SUMS else []
        parts.append(self.product())
        while self.next in _SUMS:
            parts += [_SUMS[self.take()], self.product()]
        return "".join(parts)

    def product(self) -> str:
        if self._goes("mean", "of"):
            self.at += 2
            return rf"\text{{mean of }}{self.sum()}"
        left = self.beside()
        while self.next in _PRODUCTS:
            if (sign := self.take()) == "/":
                left = rf"\frac{{{_bare(left)}}}{{{_bare(self.beside())}}}"
            else:
                left += _PRODUCTS[sign] + self.beside()
        return left

    def beside(self) -> str:
        """Read pieces that stand side by side: a product of symbols, or words of a text."""
        if self.next in _BIG or self._goes("mean", "over"):
            return self.over()
        pieces: list[tuple[bool, str]] = []
        while self._starts_piece():
            pieces.append(self.power())
        return _joined(pieces)

    def over(self) -> str:
        """Read ``Σ over ranks i of …`` or ``mean over … of …``; a Σ alone sums one piece."""
        sign = _BIG.get(self.take(), "")
        if self.next != "over":
            return sign + " " + self.power()[1]
        end = self._body()
        first, last = self.starts[self.at + 1], self.starts[end]
        below = latex(self.text[first:last].strip().rstrip(","))
        self.at = end + 1
        mean = rf"\underset{{{below}}}{{\text{{mean}}}}\ "
        under = rf"{sign}\limits_{{{below}}}" if sign else mean
        return under + self.product()

    def _body(self) -> int:
        """Find the "of" before what is summed: the last one before a formula, or else the first."""
        depth, seen = 0, []
        for at in range(self.at + 1, len(self.tokens)):
            text = self.tokens[at][1]
            depth += (text in "([" and text != "") - (text in ")]" and text != "")
            if depth < 0 or text in _BIG:
                break
            if text == "of" and depth == 0:
                seen.append(at)
        formulas = [at for at in seen if not self._is_text(at + 1)]
        return (formulas or seen)[-1 if formulas else 0]

    def _is_text(self, at: int) -> bool:
        kind, text = self.tokens[at]
        call = self.text[self.starts[at] + len(text) :].startswith("(")
        return kind == "word" and not call and _symbol(text) is None

    def _goes(self, *words: str) -> bool:
        return all(self.tokens[self.at + i][1] == word for i, word in enumerate(words))

    def _starts_piece(self) -> bool:
        kind, text = self.tokens[self.at]
        return kind in ("word", "number", "option") or (
            text in ("(", "[") or (text == "|" and not self.in_bars)
        )

    def power(self) -> tuple[bool, str]:
        words, left = self.piece()
        if self.next == "^":
            self.take()
            word, above = self.piece()
            above = rf"\text{{{_escaped(above)}}}" if word else _bare(above)
            words, left = False, rf"{left}^{{{above}}}"
        while self.next == "/" and self._touches_both():
            self.take()
            words, left = False, rf"\frac{{{_bare(left)}}}{{{_bare(self.power()[1])}}}"
        return words, left

    def _touches_both(self) -> bool:
        """Whether a fraction is written without spaces: it binds before its neighbours."""
        place = self.starts[self.at]
        return not (self.text[place - 1 : place] + self.text[place + 1 : place + 2]).count(" ")

    def piece(self) -> tuple[bool, str]:
        """Read one piece; say whether it is a word of a text."""
        kind, text = self.tokens[self.at]
        if text in _BIG:
            return False, self.over()
        self.at += 1
        if text in ("(", "[", "|"):
            self.in_bars = text == "|"
            inner = self.relation()
            self.in_bars = False
            while self.next == ",":
                self.take()
                inner += r",\ " + self.relation()
            closing = self.take()
            bars = {"|": (r"\left|", r"\right|")}
            opening, end = bars.get(text, (rf"\left{text}", rf"\right{closing}"))
            return False, opening + inner + end
        if kind == "word" and self.text[self.starts[self.at - 1] + len(text) :].startswith("("):
            return False, self.call(text)
        article = text == "a" and self._is_text(self.at)
        symbol = _symbol(text) if kind == "word" and not article else None
        if symbol is not None or kind == "number":
            return False, symbol or text
        return True, text

    def call(self, name: str) -> str:
        self.take()
        arguments = [self.relation()]
        while self.next == ",":
            self.take()
            arguments.append(self.relation())
        self.take()
        if name == "C" and len(arguments) == 2:
            return rf"\binom{{{arguments[0]}}}{{{arguments[1]}}}"
        inner = r",\ ".join(arguments)
        tall = r"\frac" in inner or r"\sum" in inner
        brackets = (r"\left(", r"\right)") if tall else ("(", ")")
        return (
            _FUNCTIONS.get(name) or _symbol(name) or rf"\text{{{_escaped(name)}}}"
        ) + inner.join(brackets)


def _symbol(word: str) -> str | None:
    """Return a symbol, with its index below; None for a word."""
    if word in _GREEK:
        return rf"\{word}"
    base, _, index = word.rpartition("_")
    if base and re.fullmatch(r"[KcpX]\d?", index) and base != "set":
        named = _symbol(base) or rf"\text{{{_escaped(base)}}}"
        return rf"{named}_{{{_symbol(index)}}}"
    if re.fullmatch(r"[A-Za-zπ]'?", word):
        return word
    if re.fullmatch(r"[A-Za-z]\d", word):
        return f"{word[0]}_{{{word[1]}}}"
    if re.fullmatch(r"[A-Za-z]{2}", word) and word not in _SHORT_WORDS:
        return rf"\mathit{{{word}}}"
    return None


def _joined(pieces: Sequence[tuple[bool, str]]) -> str:
    """Set words as one text with its spaces, symbols as symbols."""
    prose = any(words for words, _ in pieces)
    parts: list[str] = []
    for place, (words, piece) in enumerate(pieces):
        if words and parts and parts[-1].endswith("}") and pieces[place - 1][0]:
            parts[-1] = parts[-1][:-1] + " " + _escaped(piece) + "}"
        elif words:
            parts.append(rf"\text{{{' ' if place else ''}{_escaped(piece)}}}")
        else:
            after_words = place > 0 and pieces[place - 1][0]
            if after_words:
                parts[-1] = parts[-1][:-1] + " }"
            parts.append(piece if not place or after_words or prose else r"\," + piece)
    return "".join(parts)


def _escaped(text: str) -> str:
    return text.replace("%", r"\%")  # an underscore is one in latex2mathml's texts


def _bare(piece: str) -> str:
    """Drop the brackets around a whole numerator, denominator or exponent."""
    if not (piece.startswith(r"\left(") and piece.endswith(r"\right)")):
        return piece
    inner, depth = piece[6:-7], 0
    for seen in re.finditer(r"\\left|\\right", inner):
        depth += 1 if seen[0] == r"\left" else -1
        if depth < 0:
            return piece
    return inner
