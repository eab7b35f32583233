"""Runs and qrels read line by line, as strictly as the fast readers; ValueError for a refusal."""

import re

NUMBER = re.compile(
    rb"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE
)
INTEGER = re.compile(rb"[+-]?[0-9]+")


def read_run(text):
    """Return {query: {document: score}}, the number of lines, and the last run id."""
    run, lines, run_id = {}, 0, b""
    first = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")[0]
    if b"\r" in first.rstrip() and len(first.split()) >= 12 and not first.lstrip().startswith(b"#"):
        raise ValueError("lines that end in carriage returns alone")
    for line in data_lines(text, lambda line: line.lstrip().startswith(b"#")):
        words = line.split()
        if len(words) < 6 or not NUMBER.fullmatch(words[4]):
            raise ValueError(line)
        if len(words) > 6 and not NUMBER.fullmatch(words[3]):
            raise ValueError("an id with a space")
        put(run, words[0], words[2], float(words[4]))
        lines, run_id = lines + 1, words[5]
    if not run:
        raise ValueError("empty")
    return run, lines, run_id


def read_qrels(text):
    """Return {query: {document: level}}."""
    qrels = {}
    if not text.removeprefix(b"\xef\xbb\xbf"):
        raise ValueError("empty")
    for line in data_lines(text, lambda line: line.startswith(b"#")):
        words = line.split()
        if len(words) != 4 or len(words[3]) > 4000:
            raise ValueError(line)
        put(qrels, words[0], words[2], level_of(words[3]))
    return qrels


def level_of(word):
    """Return a level: an integer of 64 bits, or a decimal number that is a smaller one."""
    if INTEGER.fullmatch(word):
        level = int(word)
        if not -(2**63) <= level < 2**63:
            raise ValueError(word)
        return level
    number = float(word) if NUMBER.fullmatch(word) else 0.5
    if abs(number) >= 2**53 or not number.is_integer():
        raise ValueError(word)
    return int(number)


def put(table, query, document, value):
    values = table.setdefault(query, {})
    if document in values:
        raise ValueError("twice")
    values[document] = value


def data_lines(text, is_comment):
    if b"\0" in text:
        raise ValueError("NUL")
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.strip() and not is_comment(line):
            yield line
