"""Random files and command lines about them, sensible and not."""

LEVELS = [[0], [1], [0, 1], [0, 1, 2, 3], [-1, 0, 1, 2, 3]]
MEASURES = [
    *("map", "P.1,3", "recall.2", "ndcg_cut.3", "ndcg", "rbp", "infAP", "bpref", "gm_map", "unj.3"),
    *("recip_rank.2", "relstring.3", "success.1", "rbp_resid", "map_min.3", "ndcg_exp.3"),
    *("bor.2", "bor.3,m=2", "dbor.1,2", "lambda.2", "accuracy.2", "t.3", "F.3,alpha=0.3", "Fe.3"),
    *("ra_nwg.3", "proc.2", "pct_proc.2", "harm.2", "num_q_ra_nwg.3"),
    *("official", "set", "all_trec", "rag", "chance", "kpi"),
    *("nonsense", "P.0", "bor.0", "F.3,alpha=x"),
]
SHARED = [
    *(["-c"], ["-J"], ["--strict"], ["-D", "0.q0"], ["-D", "0.zz"], ["-D", "1"]),
    *(["-l", level] for level in "0129"),
    *(["-M", depth] for depth in "0125"),
    *(["-N", size] for size in ("1", "5", "25", "30", "1000")),
    *(["--grade-map", name] for name in ("binary", "rag25", "rubric", "0=1,1=3", "x")),
    *(["--pool", "p"], ["--pool-union"], ["--pool-depth", "2"], ["--draws", "ret"]),
    *(["--format", name] for name in ("table", "jsonl", "csv", "tsv", "markdown", "latex", "trec")),
    *([["--format", "json"]] * 4),
    *(["--digits", digits] for digits in ("0", "2", "17")),
    ["-o", "out"],
]
RUNS = [["a"], ["a", "b"], ["a", "b", "p"], ["nosuch"], ["a", "nosuch"], []]
OWN = {
    "eval": [
        *([], ["-q"], ["-n"], ["-q", "-n"], ["-h"], ["--signature", "short"], ["-Z", "a"]),
        *(["--ci", "--resamples", "9"], ["--ci", "--ci-method", "percentile", "--resamples", "9"]),
        *(["--fail-under", "map=0.3", "-m", "map"], ["-q", "--ci", "--confidence", "0.5"]),
        ["--worst", "2"],
    ],
    "compare": [
        *(["--test", name] for name in ("t", "wilcoxon", "sign", "randomization")),
        *(["--correction", "none"], ["--correction", "benjamini-hochberg"], ["-q"]),
        *(
            ["--all-pairs"],
            ["--all-pairs", "--test", "t"],
            ["--paper"],
            ["--paper", "--against", "b"],
        ),
        *(["--plot", "p.svg"], ["--all-pairs", "--plot", "p.svg"]),
    ],
    "depth": [
        *(["--at", "1,2"], ["--max-loss", "1"], ["--at-least", "2"]),
        *(["--ci", "--resamples", "9"], ["--tokens-per-passage", "10"], ["--plot", "p.svg"]),
        *(["--relevant", "2,3", "-N", "10"], ["--relevant", "2", "-N", "10", "--at", "1,10"]),
    ],
    "diagnose": [
        *([], ["-q"], ["-k", "1"], ["-k", "3", "--worst", "0"], ["--missed", "0"]),
        *(["--plot", "p.svg"], ["--resamples", "9"], ["--confidence", "0.5"]),
    ],
    "calibrate": [
        *([], ["--plot", "p.svg"], ["--resamples", "9"]),
    ],
    "holes": [
        *([], ["-q"], ["--first", "0"], ["--plot", "p.svg"]),
        ["--assess", "wanted"],
    ],
    "check": [[], ["--max-hits", "2"], ["--fix", "fixed", "--max-hits", "1"], ["--strict"]],
    "convert": [["--to", name] for name in ("trec", "csv", "json", "jsonl", "msmarco", "beir")],
    "zscores": [[]],
}


def files_of(random):
    """Make qrels ``q``, runs ``a``, ``b`` and ``p`` and a file of quality ``s``, by their names."""
    queries = [f"q{number}" for number in range(random.choice([1, 1, 2, 3, 6]))]
    documents = [f"d{number}" for number in range(random.choice([1, 3, 8, 20]))]
    levels = random.choice(LEVELS)
    made = {
        "q": [
            f"{query} 0 {document} {random.choice(levels)}"
            for query in queries
            for document in random.sample(documents, random.randint(1, len(documents)))
        ],
        "s": [f"{query} {random.choice([1, 2, 4.5])}" for query in queries],
    }
    if random.random() < 0.2:
        del made["s"][1:]
    for run in "abp":
        made[run] = []
        for query in queries:
            found = [*documents, "u1", "u2", "u3"]
            found = random.sample(found, random.randint(1, len(found)))
            for rank, document in enumerate(found, start=1):
                score = random.choice([len(found) - rank, 1, round(random.random(), 3)])
                made[run].append(f"{query} Q0 {document} {rank} {score} {run}")
        if random.random() < 0.3:
            del made[run][: random.randint(0, len(made[run]) - 1)]
    return {name: "\n".join(lines) + "\n" for name, lines in made.items()}


def command_line_of(random):
    """Make up the arguments of a command."""
    command = random.choice(list(OWN))
    own = random.choice(OWN[command])
    if command == "convert":
        return [command, random.choice("aq"), "out", *own]
    measures = []
    if command not in ("depth", "diagnose"):  # which have their own
        for name in random.sample(MEASURES, random.randint(0, 3)):
            measures += ["-m", name]
    if command == "check":
        return [command, *random.choice([[], ["q"]]), "a", *own, *measures]
    shared = [word for some in random.sample(SHARED, random.randint(0, 4)) for word in some]
    if command == "diagnose":
        shared += ["--pool", "p"]
    if command == "calibrate":
        shared += ["--quality", "s"]
    files = [] if "--relevant" in own else ["q", *random.choice(RUNS)]
    return [command, *shared, *measures, *own, *files]
