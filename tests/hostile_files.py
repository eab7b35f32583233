"""Files that are refused: what is in them, what is said, and the exit status."""

import bz2
import gzip
import lzma

ROWS = b"".join(b"1 Q0 d%d %d %d me\n" % (i, i, -i) for i in range(500))
PARTS = "expected a complete file"
SIX = "expected 6: query Q0 document rank score run_id"
FOUR = "expected 4: query iteration document level"
DECIMAL = "expected a decimal number, such as 0.91"
KEY_ONCE = "expected each key once"
SCALAR = "expected a string or a number"
NOWHERE = "cannot tell which key has the documents (keys: "
WHICH_KEY = "cannot tell which key is the"
WHICH_NUMBER = "cannot tell which number is the score or the level"
TABLE = "expected a complete parquet or Arrow table"
ONE_RANKING = "expected one ranking of each query"
CARRIAGE = "a carriage return inside a line; expected lines that end with a newline"
NO_RESULTS = "contains no results; expected at least one document"
DOCUMENT_ONCE = "expected each document once per query"
OBJECT = "expected an object with a query and its documents"
DOCUMENT = 'expected {"query": {"document": number, …}, …} or an array of results'
WHERE_TEXTS = "if qrels and run have only texts, use --match text"
LISTS = "candidates hits results retrieved documents docs passages contexts"
QUERY = "qid query_id topic_id narrative_id question_id q_id request_id query_ids"
IDS = "docno doc_id docid doc_no corpus_id document_id passage_id segment_id"
LEVEL = "expected a whole number such as 0, 1, 2 or -1"
FRACTION = f"{LEVEL}; num_rel, …, P need levels; real gains serve …"

RUNS = {
    "empty": (b"", f"run: {NO_RESULTS}", 2),
    "blank": (b"\n \n# x\n", f"run: {NO_RESULTS}", 2),
    "too few columns": (b"1 Q0 d 1 2\n", f"run:1: 5 columns ('1 Q0 d 1 2'); {SIX}", 2),
    "qrels in the place of a run": (
        b"# c\n1 0 d 1\n1 0 e 0\n",
        f"run:2: 4 columns ('1 0 d 1'); {SIX} (qrels have 4; they come first)",
        2,
    ),
    "JSON qrels in the place of a run": (
        b'{"1": {"d": 2, "e": 0, "f": 0}}',
        "run: contains judgements of level 0, 2, not rankings; expected a run "
        "(--map-run score=@value reads numbers as scores)",
        2,
    ),
    "named qrels in the place of a run": (
        b"query_id,doc_id,relevance\n1,d,1\n",
        "run: contains judgements ('relevance'), without score and rank; expected a run, or "
        "one of --map-run score=relevance or --map-run rank=@number",
        2,
    ),
    "four columns further down": (
        b"1 Q0 d 1 2 me\n1 Q0 e 1\n",
        f"run:2: 4 columns ('1 Q0 e 1'); {SIX}",
        2,
    ),
    "line numbers are physical": (b"# c\n\n1 Q0 d1\n", f"run:3: 3 columns ('1 Q0 d1'); {SIX}", 2),
    "a million columns": (b"x " * 10**6, f"run:1: score 'x'; {DECIMAL}", 2),
    "not a number": (
        b"1 Q0 d 1 1,5 me\n",
        f"run:1: score '1,5'; {DECIMAL}",
        2,
    ),
    "NaN": (b"1 Q0 d 1 nan me\n", f"run:1: score 'nan'; {DECIMAL}", 2),
    "hexadecimal": (b"1 Q0 d 1 0x1p3 me\n", f"run:1: score '0x1p3'; {DECIMAL}", 2),
    "underscores": (b"1 Q0 d 1 1_0 me\n", f"run:1: score '1_0'; {DECIMAL}", 2),
    "other digits": (
        "1 Q0 d 1 ٣ me\n".encode(),
        rf"run:1: score '\u0663'; {DECIMAL}",
        2,
    ),
    "100,000 digits and a letter": (
        b"1 Q0 d 1 " + b"9" * 10**5 + b"x me\n",
        f"run:1: score '{'9' * 57}…'; {DECIMAL}",
        2,
    ),
    "NUL": (b"1 Q0 a 1 2 me\n1 Q0 d\0 1 2 me\n", "run:2: a NUL byte; expected text", 2),
    "UTF-16": (
        "1 Q0 d 1 2 me\n".encode("utf-16"),
        "run: UTF-16 text; expected UTF-8: iconv -f UTF-16 -t UTF-8 run",
        2,
    ),
    "duplicate": (
        b"1 Q0 d 1 2 me\n1 Q0 e 2 1 me\n1 Q0 d 3 0 me\n",
        f"run:3: document d of query 1 again, first retrieved at line 1; {DOCUMENT_ONCE}",
        4,
    ),
    "truncated gzip": (gzip.compress(ROWS)[:-20], f"run: broken gzip data (…); {PARTS}", 2),
    "a header of gzip": (b"\x1f\x8b\x08", f"run: broken gzip data (…); {PARTS}", 2),
    "damaged gzip": (
        gzip.compress(ROWS)[:-8] + bytes(8),
        f"run: broken gzip data (…); {PARTS}",
        2,
    ),
    "truncated bzip2": (bz2.compress(ROWS)[:-20], f"run: broken bzip2 data (…); {PARTS}", 2),
    "truncated xz": (lzma.compress(ROWS)[:-20], f"run: broken xz data (…); {PARTS}", 2),
    "MS MARCO, no rank": (
        b"1 d 1\n1 e 2\n2 d 1\n2 e x\n",
        "run:4: rank 'x'; expected a whole number from 1, or --map-run 'score=…'",
        2,
    ),
    "MS MARCO, two columns": (
        b"1 d 1\n" * 1 + b"1 e %d\n" % 2 + b"2 d 1\n" * 2000 + b"3 d\n",
        "run:2003: 2 columns ('3 d'); expected 3: query document rank",
        2,
    ),
    "TSV, columns": (
        b"qid\tdocno\tscore\n1\td\n",
        "run:2: 2 columns ('1 d'); expected 3, as line 1 names",
        2,
    ),
    "CSV, quote": (
        b'qid,docno,score\n1,"d,2\n',
        "run:2: invalid CSV (…); expected values between separators",
        2,
    ),
    "CSV, NaN": (b"qid,docno,score\n1,d,nan", f"run:2: score 'nan'; {DECIMAL}", 2),
    "CSV, rank": (
        b"qid,docno,rank\n1,d,1.5\n",
        "run:2: rank '1.5'; expected a whole number from 1, or --map-run 'score=…'",
        2,
    ),
    "CSV, NUL": (b"qid,docno,score\n1,d\0,2\n", "run:2: a NUL byte; expected text", 2),
    "JSON, cut off": (
        b'{"1": {"d": 1,\n"e": 2',
        f"run:2: invalid JSON (Expecting ',' delimiter at column 7); {DOCUMENT}",
        2,
    ),
    "JSON, more behind": (b'{"1": {"d": 1}} x', f"run:1: invalid JSON (…); {DOCUMENT}", 2),
    "JSON, deep": (b'{"1":' * 10**5, f"run:1: invalid JSON (nested too deeply); {DOCUMENT}", 2),
    "JSON, NaN": (b'{"1": {"d": NaN}}', f"run:1: score 'NaN'; {DECIMAL}", 2),
    "JSON, a number": (
        b'{"1": {"d": 1},\n"2": 5}',
        f"run: {NOWHERE}1.d 1, 2 5, …); replace each ? and run this command\n  ragkpi eval …",
        2,
    ),
    "JSON, an array": (
        b"[1]",
        f"run: {NOWHERE}@value 1); replace each ? and run this command\n  ragkpi eval --map-run …",
        2,
    ),
    "JSON, duplicate": (
        b'{"1": {"d": 1,\n"d": 2}}',
        f"run:1: repeated key 'd'; {KEY_ONCE}",
        2,
    ),
    "JSON, surrogate": (
        b'{"1": {"\\ud800": 1}}',
        r"run:1: document id '\\ud800'; expected Unicode text",
        2,
    ),
    "JSON Lines": (
        b'{"qid": 1, "candidates": ["d"]}\n{"qid": 2, "candidates": [}\n',
        f"run:2: invalid JSON (Expecting value at column 27); {OBJECT}",
        2,
    ),
    "JSON Lines, an array": (
        b'{"qid": 1, "references": ["d"]}\n[]\n',
        f"run:2: not a JSON object; {OBJECT}",
        2,
    ),
    "JSON Lines, no list": (
        b'{"qid": 1}',
        f"run: {NOWHERE}qid 1 (query?)); replace each ? and run this command\n"
        "  ragkpi eval --map-run 'query=qid, doc=?' qrels run",
        2,
    ),
    "JSON Lines, no query": (
        b'{"references": ["d"]}',
        f"run: {WHICH_KEY} query (keys: references 'd'); replace each ? and run this command\n"
        "  ragkpi eval --map-run 'query=?, list=references, doc=@value' qrels run",
        2,
    ),
    "JSON Lines, no document": (
        b'{"qid": 1, "hits": [{"score": 1}]}',
        f"run: {WHICH_KEY} document id (keys: qid 1 (query?), "
        "hits[].score 1 (level or score?)); replace each ? and run this command\n"
        "  ragkpi eval --map-run 'query=qid, list=hits, doc=?' qrels run",
        2,
    ),
    "JSON Lines, half scored": (
        b'{"qid": 1, "hits": [{"docid": "d", "score": 1}, {"docid": "e"}]}',
        "run:1: document 2 has no score, the first one a score under 'score'; "
        "expected a score for all or for none, under one key; "
        "--map-run rank=@number uses the order of the file",
        2,
    ),
    "JSON Lines, later scored": (
        b'{"qid": 1, "hits": ["d", {"docid": "e", "score": 1}]}',
        "run:1: a document without an id (keys: no keys); expected one of docid, or "
        "--map-run 'doc=…'",
        2,
    ),
    "JSON Lines, key": (
        b'{"qid": 1, "qid": 2, "hits": ["d"]}',
        f"run:1: repeated key 'qid'; {KEY_ONCE}",
        2,
    ),
    "JSON Lines, true": (
        b'{"qid": true, "hits": ["d"]}',
        f"run: {WHICH_KEY} query (keys: qid True (query?), hits 'd'); "
        "replace each ? and run this command\n"
        "  ragkpi eval --map-run 'query=?, list=hits, doc=@value' qrels run",
        2,
    ),
    "CR alone": (
        b"1 Q0 d 1 2 me\r1 Q0 e 2 1 me\r",
        f"run:1: {CARRIAGE}",
        2,
    ),
    "TSV, CR alone": (
        b"qid\tdocno\tscore\n1\td\t2\r1\te\t1\n",
        f"run:2: {CARRIAGE}",
        2,
    ),
    "MTEB, two subsets": (
        b'{"mteb_model_meta": {}, "en": {"test": {"1": {"d": 1}}}, '
        b'"de": {"test": {"1": {"e": 1}}}}',
        "run: 2 separate rankings of … ($.en.test, $.de.test); …",
        2,
    ),
    "MS MARCO, a rank twice": (
        b"1 d 1\n1 e 2\n2 d 1\n2 e 1\n",
        f"run:4: rank 1 of query 2 again, first at line 3; {ONE_RANKING}",
        2,
    ),
    "JSON, a list with scores and one without": (
        b'{"qid": 1, "hits": [{"docid": "d", "score": 3}]}\n{"qid": 1, "hits": ["e"]}\n',
        "run:2: a document without an id (keys: no keys); expected one of docid, or …",
        2,
    ),
    "CSV, score twice": (
        b"qid,docno,score,Score\n1,d,2,1\n",
        "run:1: score and Score both name the score; expected each name once",
        2,
    ),
    "CSV, empty id": (
        b"qid,docno,score\n1,d,2\n1,,1\n",
        "run:3: an empty document id; expected an id",
        2,
    ),
    "CSV, quoted empty id": (
        b'qid,docno,score\n"1",d,2\n"",e,1\n',
        "run:3: an empty query id; expected an id in each row, also of merged cells",
        2,
    ),
    "JSON Lines, key of a document": (
        b'{"qid": 1, "hits": [{"docid": "d", "docid": "e"}]}',
        f"run:1: repeated key 'docid'; {KEY_ONCE}",
        2,
    ),
    "JSON, some with scores": (
        b'{"qid": 1, "hits": [{"docid": "d", "score": 3}]}\n{"qid": 1, "hits": [{"docid": "e"}]}\n',
        f"run:2: query 1 with and without scores again, first at line 1; {ONE_RANKING}",
        2,
    ),
    "a list for a score beside a rank": (
        b'{"qid": 1, "docid": "d", "score": [1], "rank": 1}\n',
        f"run:1: score is an array; {SCALAR}",
        2,
    ),
    "a text for a score beside a rank": (
        b'{"qid": 1, "hits": [{"docid": "d", "score": "high", "rank": 1}]}\n',
        f"run:1: score 'high'; {DECIMAL}",
        2,
    ),
    "JSON Lines, qid and QID": (
        b'{"qid": 1, "QID": 2, "hits": [{"docid": "d", "score": 1}]}',
        "run: qid and QID each name the query (keys: …); run one of these commands\n"
        "  ragkpi eval --map-run 'query=qid, list=hits, doc=docid' qrels run\n"
        "  ragkpi eval --map-run 'query=QID, list=hits, doc=docid' qrels run",
        2,
    ),
    "JSON Lines, score and Score": (
        b'{"qid": 1, "hits": [{"docid": "d", "score": 1, "Score": 2}]}',
        f"run: {WHICH_NUMBER} (keys: …); replace each ? and run this command\n"
        "  ragkpi eval --map-run 'query=qid, list=hits, doc=docid, score=?' qrels run",
        2,
    ),
    "contexts of texts": (
        b'{"qid": 1, "contexts": ["a"]}',
        "run:1: contexts lists texts, not ids ('a'); expected ids; if these are ids, "
        f"--map-run 'list=contexts, doc=@value'; {WHERE_TEXTS}",
        2,
    ),
    "hits of texts": (
        b'{"qid": 1, "hits": ["d", "two words"]}',
        "run:1: hits lists texts, not ids ('two words'); expected ids; if these are ids, "
        f"--map-run 'list=hits, doc=@value'; {WHERE_TEXTS}",
        2,
    ),
    "a query of text": (
        b'{"text": "what is it", "hits": ["d"]}',
        f"run: {WHICH_KEY} query (keys: text 'what is it', hits 'd'); "
        "replace each ? and run this command\n"
        "  ragkpi eval --map-run 'query=?, list=hits, doc=@value' qrels run",
        2,
    ),
    "a list of scores": (
        b'{"qid": 1, "retrieved_ids": ["d", "e"], "retrieve_scores": [1]}',
        "run:1: 1 scores for 2 documents; expected a score for each",
        2,
    ),
    "half ranked": (
        b'{"qid": 1, "hits": [{"docid": "d", "rank": 1}, {"docid": "e"}]}',
        "run:1: document 2 has no rank, the first one a rank under 'rank'; "
        "expected a rank for all or for none, under one key",
        2,
    ),
    "a rank of 1.5": (
        b'{"qid": 1, "hits": [{"docid": "d", "rank": 1.5}]}',
        "run:1: rank '1.5'; expected a whole number from 1, or --map-run 'score=…'",
        2,
    ),
    "MTEB without predictions": (
        b'{"mteb_model_meta": {"model_name": "m"}}',
        f"run: {NOWHERE}mteb_model_meta.model_name 'm'); replace each ? and run this command\n"
        "  ragkpi eval --map-run 'query=?, doc=?' qrels run",
        2,
    ),
    "a percentage among fractions": (
        b"qid,docno,score\n1,d,91 %\n1,e,0.9\n",
        f"run:2: score '91 %'; {DECIMAL}",
        2,
    ),
    "documents as LangChain prints them": (
        b"page_content='a refund' metadata={'source': 'd.md'}\n",
        f"run:1: 4 columns (…); {SIX} (qrels have 4; they come first)",
        2,
    ),
    "a list of objects as Python prints it": (
        b"[Document(id='d', page_content='a refund')]\n",
        "run:1: invalid JSON (Expecting value at column 2); …",
        2,
    ),
    "a dict as Python prints it": (b"{'1': {'d': 0.5}}\n", f"run:1: 3 columns (…); {SIX}", 2),
    "lists in YAML": (b"1: [d, e]\n", "run: YAML; …", 2),
    "a pickle": (
        b"\x80\x04\x95\x10\0\0\0",
        "run: a pickle, which runs code when it is loaded; expected JSON",
        2,
    ),
    "a zip archive": (
        b"PK\3\4\x14\0",
        "run: a zip archive or …",
        2,
    ),
    "svmlight": (
        b"2 qid:1 1:0.5 2:0.1\n",
        "run: features of documents (svmlight), which have no ids; "
        "expected the ranking: query, document and score",
        2,
    ),
    "MS MARCO top1000": (
        b"188714\t1000052\tfoods and supplements\tWatch portion sizes\n",
        "run: candidates with their texts (MS MARCO top1000), which have no order; "
        "expected them ranked: query, document and rank",
        2,
    ),
    "bzip2 and more": (
        bz2.compress(ROWS) + b"1 Q0 e 1 2 me\n",
        f"run: broken bzip2 data (…); {PARTS}",
        2,
    ),
    "a damaged second member of xz": (
        lzma.compress(ROWS) + lzma.compress(ROWS.replace(b"1 Q0", b"2 Q0"))[:-9],
        f"run: broken xz data (…); {PARTS}",
        2,
    ),
}

QRELS = {
    "empty": (b"", "qrels: is empty; expected lines of query iteration document level", 2),
    "three columns": (b"1 0 d\n", f"qrels:1: 3 columns ('1 0 d'); {FOUR}", 2),
    "a run in the place of qrels": (
        b"1 Q0 d 1 2 me\n",
        f"qrels:1: 6 columns ('1 Q0 d 1 2 me'); {FOUR} (a run has 6; the qrels come first)",
        2,
    ),
    "five columns": (b"1 0 d 1 x\n", f"qrels:1: 5 columns ('1 0 d 1 x'); {FOUR}", 2),
    "a decimal": (b"1 0 d 0.5\n", f"qrels:1: level '0.5'; {LEVEL}; --gains reads others", 2),
    "a word": (
        b"1 0 d 1\n1 0 e x\n",
        f"qrels:2: level 'x'; {LEVEL}, or --levels 'x=?' with a level for each word",
        2,
    ),
    "100,000 digits": (b"1 0 d " + b"9" * 10**5, f"qrels:1: level '{'9' * 57}…'; {LEVEL}", 2),
    "NUL": (b"1 0 \0 1\n", "qrels:1: a NUL byte; expected text", 2),
    "judged twice": (
        b"1 0 d 1\n1 1 d 1\n",
        "qrels:2: document d of query 1 again, first judged at line 1; the second column, 0 "
        "and 1, tells subtopics or judges apart; expected one judgement of each document per "
        "query; 'ragkpi check QRELS RUN' names all and says how to fold them",
        4,
    ),
    "a table of a run": (
        b"query_id,doc_id,rank,score\n1,d,1,2\n",
        "qrels:1: contains a run ('score rank'); expected judgements",
        2,
    ),
    "as many scores as documents": (
        b'{"1": {"a": 11, "b": 10, "c": 9, "d": 8, "e": 7, "f": 6, "g": 5, "h": 4, "i": 3, '
        b'"j": 2, "k": 1}}',
        "qrels:1: 11 documents of query 1 with 11 scores; expected judgements "
        "(--map-qrels level=@value reads numbers as gains)",
        2,
    ),
    "a stored result": (
        b'{"ragkpi": "0.1.0", "runs": []}',
        "qrels: a saved result of ragkpi; expected the run or qrels that it evaluates",
        2,
    ),
    "gains": (b"query_id,doc_id,gain\n1,d,1.5\n", f"qrels:2: level '1.5'; {FRACTION}", 2),
    "BEIR": (
        b"query-id\tcorpus-id\tscore\n1\td\t1.5\n",
        "qrels:2: score 1.5 instead of a level; expected judgements "
        "(--map-qrels level=score reads numbers as gains)",
        2,
    ),
    "JSON": (
        b'{"1": {"d": 0.5}}',
        "qrels:1: score 0.5 instead of a level; expected judgements "
        "(--map-qrels level=@value reads numbers as gains)",
        2,
    ),
    "CSV, names alone": (
        b"qid,docno,rel\n",
        "qrels: contains no judgements; expected at least one",
        2,
    ),
    "a request of rank_eval without an id": (
        b'{"requests":[{"request":{},"ratings":[{"_index":"i","_id":"d","rating":1}]}]}',
        f"qrels: {WHICH_KEY} query (keys: …); replace each ? and run this command\n"
        "  ragkpi eval --map-qrels 'query=?, list=requests[].ratings, doc=_id' qrels run",
        2,
    ),
    "no level": (
        b'{"qid": 1, "judgments": [{"docid": "d"}]}',
        f"qrels: {WHICH_NUMBER} (keys: …); replace each ? and run this command\n"
        "  ragkpi eval --map-qrels 'query=qid, list=judgments, doc=docid, level=?' qrels run",
        2,
    ),
    "a level under an unknown name": (
        b'{"qid": 1, "judgments": [{"docid": "d", "verdict": "irrelevant"}]}',
        f"qrels: {WHICH_NUMBER} (keys: …); replace each ? and run this command\n"
        "  ragkpi eval --map-qrels 'query=qid, list=judgments, doc=docid, level=?' qrels run",
        2,
    ),
    "a row without a level": (
        b'{"qid": 1, "docid": "d", "note": "wrong"}',
        f"qrels: {WHICH_NUMBER} (keys: …); expected --map-qrels 'query=qid, doc=docid, level=?'",
        2,
    ),
    "a list for a level": (
        b'{"qid": 1, "relevant_docs": [{"docid": "d", "level": [0]}]}',
        f"qrels:1: level is an array; {SCALAR}",
        2,
    ),
    "JSON Lines, level and Level": (
        b'{"qid": 1, "judgments": [{"docid": "d", "level": 0, "Level": 1}]}',
        f"qrels: {WHICH_NUMBER} (keys: …); replace each ? and run this command\n"
        "  ragkpi eval --map-qrels 'query=qid, list=judgments, doc=docid, level=?' qrels run",
        2,
    ),
    "null in a list of ids": (
        b'{"qid": 1, "relevant_ids": ["d", null]}',
        f"qrels:1: document id is null; {SCALAR}",
        2,
    ),
    "blank JSON": (b"[", f"qrels:1: invalid JSON (…); {DOCUMENT}", 2),
}

ARROW = {
    "parquet": (
        b"PAR1" + bytes(99),
        f"run: invalid table (…); {TABLE}",
    ),
    "Arrow": (b"ARROW1\0\0junk", f"run: invalid table (…); {TABLE}"),
}

TABLES = {
    "null": (
        {"qid": ["1"], "docno": [None], "score": [1.0]},
        "run:1: docno is null; expected a value in every row",
    ),
    "NaN": (
        {"qid": ["1"], "docno": ["d"], "score": [float("nan")]},
        f"run:1: score 'nan'; {DECIMAL}",
    ),
    "names": (
        {"qid": ["1"], "score": [1.0]},
        f"run: {NOWHERE}qid 1 (query?), score 1.0 (level or score?)); replace each ? and run "
        "this command\n"
        "  ragkpi eval --map-run 'query=qid, doc=?, score=?' qrels run",
    ),
    "lists": (
        {"qid": [["1"]], "docno": ["d"], "score": [1.0]},
        f"run: column qid (…); {TABLE}",
    ),
}
