"""qrels and runs, line by line, into dictionaries."""


def read_qrels(text):
    """Return {query: {document: level}} in the order of the lines."""
    qrels = {}
    for line in _data_lines(text):
        query, _, document, level = line.split()
        levels = qrels.setdefault(query, {})
        if document in levels:
            raise ValueError(f"{query!r} judges {document!r} twice")
        levels[document] = int(level)
    return qrels


def read_run(text):
    """Return {query: {document: score}} and the run id of the last line."""
    run, run_id = {}, b""
    for line in _data_lines(text):
        query, _, document, rank, score, run_id = line.split()[:6]
        if len(line.split()) > 6:
            float(rank)  # else the document's id has a space
        scores = run.setdefault(query, {})
        if document in scores:
            raise ValueError(f"{query!r} retrieves {document!r} twice")
        scores[document] = float(score)
    return run, run_id


def _data_lines(text):
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.strip() and not line.lstrip().startswith(b"#"):
            yield line


def read_words(text, wanted, extra, comments):
    """Return (physical line, first `wanted` words) of every data line, or the number of the line
    that is refused: the first with a NUL byte or a wrong number of words."""
    rows = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        if b"\0" in line:
            return number
        words = line.split()
        comment = line if comments == "first_column" else line.lstrip()
        if not words or comment.startswith(b"#"):
            continue
        if len(words) < wanted or (len(words) > wanted and extra == "refused"):
            return number
        rows.append((number, words[:wanted]))
    return rows
