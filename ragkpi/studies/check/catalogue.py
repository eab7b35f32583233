"""All checks of a run, and all reasons to refuse a file."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from ragkpi.records import NamedTuple
from ragkpi.studies.check import against_qrels
from ragkpi.studies.check import line_findings as lines
from ragkpi.studies.check import ranking_findings as rankings
from ragkpi.studies.check.finding import Check

CHECKS = (
    Check("columns", "error", lines.Columns),
    Check("number", "error", lines.NoNumber),
    Check("nul-byte", "error", lines.NulByte),
    Check("subsets", "error", rankings.Subsets),
    Check("keys-twice", "error", rankings.KeysTwice),
    Check("ranks-twice", "error", rankings.RanksTwice),
    Check("duplicates", "error", rankings.Duplicates),
    Check("max-hits", "error", rankings.MaxHits),
    Check("extra-columns", "warning", lines.ExtraColumns),
    Check("infinite", "warning", lines.Infinite),
    Check("run-ids", "warning", lines.RunIds),
    Check("own-query", "warning", rankings.OwnQuery),
    Check("ascending", "warning", rankings.Ascending),
    Check("ranks", "warning", rankings.Ranks),
    Check("ties-at-cutoff", "warning", rankings.TiesAtCutoff),
    Check("nothing-relevant", "warning", against_qrels.NothingRelevant),
    Check("missing-queries", "warning", against_qrels.MissingQueries),
    Check("unknown-queries", "warning", against_qrels.UnknownQueries),
    Check("query-spelling", "warning", against_qrels.QuerySpelling),
    Check("document-spelling", "warning", against_qrels.DocumentSpelling),
    Check("nothing-judged", "warning", against_qrels.NothingJudged),
    Check("ties", "note", rankings.TiedDocuments),
    Check("scattered", "note", lines.Scattered),
    Check("judged", "note", against_qrels.JudgedShare),
)


class Refusal(NamedTuple):
    """A reason to refuse a file, which stops every command.

    `message` is the text after ``FILE:LINE: ``, with … in the place of varying parts; `status` is
    the exit status.
    """

    message: str
    status: int
    explanation: str


REFUSALS = (
    Refusal("cannot be read (…); expected a readable file", 2, "no such file, no permission"),
    Refusal(
        "is a directory; expected a file, or a folder of .parquet parts", 2, "a path of a folder"
    ),
    Refusal("is empty; expected …", 2, "qrels without a line, a JSON document without a value"),
    Refusal("holds no results; expected a run of at least one line", 2, "nothing but comments"),
    Refusal("holds no judgements; expected qrels of at least one", 2, "names and no values"),
    Refusal("cannot be read (…); expected an anserini-tools checkout in RAGKPI_QRELS", 2, ""),
    Refusal("is not there, though … is listed; expected the file", 2, "qrels by name"),
    Refusal("cannot be read (…); expected a complete file", 2, "the disk or network failed"),
    Refusal("broken … data (…); expected a complete file", 2, "a truncated or damaged .gz, …"),
    Refusal("is compressed with …, which needs a package (…); expected …", 2, "zstandard"),
    Refusal("shrank while it was read (…); expected a file that nobody writes to", 2, "rewritten"),
    Refusal("a line of more than 64 MB; expected lines of text", 2, "no text, or one long line"),
    Refusal("more than 2 GB that have to be held in memory; expected …", 2, "a bomb"),
    Refusal("… values in … MB, which would fill the memory; expected ids and numbers", 2, "a bomb"),
    Refusal("a pickle, which runs code when it is loaded; expected it written as JSON", 2, ""),
    Refusal("a…; expected a file of ids, as 'ragkpi formats' lists them", 2, "zip, numpy"),
    Refusal("features of documents (svmlight), which have no ids; expected the …", 2, ""),
    Refusal("candidates with their texts (…), which have no order; expected …", 2, "MS MARCO"),
    Refusal("a NUL byte; expected text", 2, "binary data, or UTF-16"),
    Refusal("… columns (…); expected …", 2, "missing or surplus columns"),
    Refusal("score …; expected a decimal number", 2, "a score that is no number, or NaN"),
    Refusal("level …; expected a whole number such as 0, 1, 2 or -1", 2, "x, 10^19"),
    Refusal("level …; expected a whole number such as 0, 1, 2 or -1; …", 2, "1.5 is a gain"),
    Refusal("rank …; expected a whole number from 1", 2, "MS MARCO runs, tables without scores"),
    Refusal("names no … (…); expected one of …", 2, "a column or key that must be there"),
    Refusal("no CSV (…); expected values separated by commas", 2, "an unclosed quote"),
    Refusal("no JSON (…); expected …", 2, "damaged JSON"),
    Refusal("no JSON object; expected an object with a query and its documents", 2, "JSON Lines"),
    Refusal("no object under …; expected …", 2, "JSON runs are objects of objects"),
    Refusal("no list of documents (keys: …); expected one of …", 2, "JSON"),
    Refusal("no query id (keys: …); expected one of …", 2, "JSON"),
    Refusal("a document without an id (keys: …); expected one of …", 2, "JSON"),
    Refusal("key … twice; expected each key once", 2, "JSON"),
    Refusal("… separate rankings of the queries (…); expected one of them, such as …", 2, "MTEB"),
    Refusal("no subset … (subsets: …); expected …", 2, "--subset"),
    Refusal("rank … of query … again, first at line …; expected one ranking of each query", 2, ""),
    Refusal(
        "query … with and without scores again, first at line …; "
        "expected one ranking of each query",
        2,
        "lists in JSON",
    ),
    Refusal("… and … both name the …; expected each … once", 2, "score and Score"),
    Refusal("… lists texts, not ids (…); expected ids of documents, …", 2, "contexts of texts"),
    Refusal("no query id but a text (keys: …); expected one of …", 2, "a query without an id"),
    Refusal("a request of Elasticsearch's rank_eval without an id; expected …", 2, "JSON qrels"),
    Refusal("no level (keys: …); expected one of …", 2, "JSON qrels"),
    Refusal("no key … (keys: …); expected the records there", 2, "--map-run 'records=…'"),
    Refusal("… scores for … documents; expected a score for each", 2, "a list beside the list"),
    Refusal("an empty … id; expected an id", 2, "nothing between two commas"),
    Refusal("a carriage return inside a line; expected …", 2, "lines that end in it alone"),
    Refusal("… is …; expected a string or a number", 2, "an id or a number in JSON"),
    Refusal("… expected Unicode text", 2, "half of a surrogate pair in JSON"),
    Refusal("document … of the list has …; expected a … for all of them or for none", 2, ""),
    Refusal("no table (…); expected a complete parquet or Arrow table", 2, "a damaged table"),
    Refusal("the … reader crashed (…), so that the file is damaged; expected …", 2, "parquet"),
    Refusal("the … reader was killed (…), perhaps for want of memory; expected …", 2, "parquet"),
    Refusal("column …; expected a complete parquet or Arrow table", 2, "a column of odd type"),
    Refusal("… is null; expected a value in every row", 2, "parquet and Arrow"),
    Refusal("… 'nan'; expected a decimal number", 2, "parquet and Arrow"),
    Refusal(
        "document … of query … again, first retrieved at line …; "
        "expected each document once per query",
        4,
        "'ragkpi check --fix' keeps the best one",
    ),
    Refusal(
        "document … of query … again, first judged at line …; "
        "expected one judgement of each document per query",
        4,
        "also if both say the same",
    ),
)


def described() -> Iterator[str]:
    """Yield the catalogue as lines of text."""
    yield "Findings of 'ragkpi check': name, severity, explanation"
    for check in CHECKS:
        yield ""
        yield f"{check.name} ({check.severity})"
        for line in (inspect.getdoc(check.finding) or "").splitlines():
            yield f"  {line}".rstrip()
    yield ""
    yield "Refusals: what ends every command, with its exit status, as 'ragkpi: FILE:LINE: …'"
    yield ""
    for refusal in REFUSALS:
        note = f"  ({refusal.explanation})" if refusal.explanation else ""
        yield f"{refusal.status}  {refusal.message}{note}"
