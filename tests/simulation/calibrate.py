"""Which measure tracks quality? Quality that is noise, and quality that follows a measure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

import ragkpi
from tests.simulation.clusters import members
from tests.simulation.compare import rejected, values
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import BASE, by_query, levels, ranked

MEASURES = (
    *("ndcg_cut.10", "P.10", "recall.10", "map", "recip_rank", "Rprec", "bpref"),
    *("ndcg_cut.3", "ndcg_cut.5", "ndcg_cut.20", "P.3", "P.5", "P.20", "recall.5", "recall.20"),
    *("map_cut.5", "map_cut.10", "map_cut.20", "ndcg", "infAP"),
)


def claims(
    qrels: Any, runs: Any, quality: Any, measures: Sequence[str], **options: Any
) -> dict[str, bool]:
    """Return whether calibrate names a measure, alone or with others, as tracking or against it."""
    answer = ragkpi.calibrate(qrels, runs, quality, measures, resamples=RESAMPLES, **options).answer
    return {
        "names a measure": bool(re.search("(?<!significantly) tracks quality", answer)),
        "says one runs against it": "negatively correlated" in answer,
    }


RESAMPLES = 500


def noise(queries: int, measures: int, runs: int = 1, of_run: float = 0.0) -> Trial:
    """Quality that is noise; of several runs, a query's is alike, as its difficulty is.

    With `of_run` runs are of different strengths, and the responses to some are better, too, but
    not to those of the better runs.
    """

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        strengths = (BASE + of_run * rng.normal(size=runs)).tolist()
        made, qrels = ranked(rng, level, strengths), by_query(level)
        hard = rng.normal(size=queries) * (runs > 1)
        quality: Mapping = {
            name: dict(zip(qrels, (hard + good + rng.normal(size=queries)).tolist(), strict=True))
            for name, good in zip(made, of_run * rng.normal(size=runs), strict=True)
        }
        asked = MEASURES[:measures]
        if runs > 1:
            return claims(qrels, made, quality, asked)
        return claims(qrels, made["run0"], quality["run0"], asked)

    return trial


def mostly_equal(queries: int, equal: float) -> Trial:
    """Quality that is noise, and of a share of the queries one grade."""

    def trial(rng: np.random.Generator) -> Outcome:
        place, quality = rng.integers(1, 11, queries), rng.integers(1, 5, queries)
        quality[rng.random(queries) < equal] = 5
        names = [f"q{number:03d}" for number in range(queries)]
        ranking = {f"d{rank}": float(-rank) for rank in range(1, 11)}
        qrels = {query: {f"d{rank}": 1} for query, rank in zip(names, place.tolist(), strict=True)}
        grades = dict(zip(names, quality.tolist(), strict=True))
        run = dict.fromkeys(names, ranking)
        found = ragkpi.calibrate(qrels, run, grades, ["recip_rank"], resamples=RESAMPLES)
        row = found.rows[0]
        low, high = row.get("spearman_low"), row.get("spearman_high")
        finding = found.findings["found"]["recip_rank"]
        claimed = {"tracks": 1, "runs against": -1}.get(finding, 0)
        shown = 0 if low is None else (low > 0) - (high < 0)
        return {
            "tracks or runs against": bool(claimed),
            "claim against its interval": claimed != shown,
            "says that quality hardly varies": "quality hardly varies" in found.answer,
        }

    return trial


def clustered(clusters: int, alike: float) -> Trial:
    """Quality that is noise, five queries a cluster; ranks and quality correlate within clusters.

    The only relevant document of a query stands at a rank from 1 to 10.
    """

    def trial(rng: np.random.Generator) -> Outcome:
        cluster = np.repeat(np.arange(clusters), 5)
        place = np.argsort(np.argsort(members(cluster, alike, rng))) * 10 // len(cluster)
        quality = members(cluster, alike, rng).tolist()
        names = [f"q{number:03d}" for number in range(len(cluster))]
        ranking = {f"d{rank}": float(-rank) for rank in range(10)}
        qrels = {query: {f"d{rank}": 1} for query, rank in zip(names, place.tolist(), strict=True)}
        run = dict.fromkeys(names, ranking)
        given = qrels, run, dict(zip(names, quality, strict=True)), ("recip_rank", "success.5")
        of_query = dict(zip(names, map(str, cluster), strict=True))
        with_option, without = claims(*given, cluster=of_query), claims(*given)
        return {
            "any claim": any(with_option.values()),
            "without the option": any(without.values()),
        }

    return trial


def tracked(queries: int, measures: int, correlation: float = 0.6) -> Trial:
    """Quality that correlates with nDCG@10."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        (run,), qrels = ranked(rng, level, [BASE]).values(), by_query(level)
        columns = values(qrels, run, MEASURES[:measures])
        x = columns["ndcg_cut_10"]
        error = rng.normal(size=queries) * np.sqrt(1 - correlation**2)
        quality = correlation * (x - _MEAN) / _SPREAD + error
        scores = dict(zip(qrels, quality.tolist(), strict=True))
        return {
            **claims(qrels, run, scores, MEASURES[:measures]),
            "spearmanr of nDCG@10": _correlated([x], quality),
            "spearmanr of all, Holm": _correlated([*columns.values()], quality),
        }

    return trial


def _correlated(columns: Sequence[np.ndarray], quality: np.ndarray) -> bool:
    """Return whether one of the measures correlates, by scipy's test with Holm's correction."""
    tests = [stats.spearmanr(column, quality) for column in columns]
    found = rejected({place: float(test.pvalue) for place, test in enumerate(tests)})
    return any(float(tests[place].statistic) > 0 for place in found)


_MEAN, _SPREAD = 0.53, 0.31  # of nDCG@10 over queries

RULE = """\
A measure tracks quality if the permutation test of the maximum correlation of all requested
measures (Westfall and Young) has p < 0.05 and its interval is above 0. It is the best if it is also
ahead of every other in at least 95% of bootstrap samples; otherwise those it is not distinguishable
from are named with it. Each of these counts as naming a measure. With several runs, correlations
over queries and within queries both count. For comparison: scipy's `spearmanr`, p < 0.05, of
nDCG@10 alone, from which the quality was made (a test that knows where to look), and of all
requested measures, with Holm's correction."""

STUDY = Study(
    "calibrate: which measure tracks quality?",
    RULE,
    [
        Rates(
            "quality is noise",
            {
                f"{count} measure{'s' * (count > 1)}, {queries} queries": noise(queries, count)
                for count in (1, 7, 20)
                for queries in (3, 10, 50)
            }
            | {"7 measures, 3 runs of 20 queries, hard ones bad in all": noise(20, 7, 3)}
            | {
                "the same, and some runs better, not the ones of better responses": noise(
                    20, 7, 3, 0.5
                )
            },
            ["names a measure", "says one runs against it"],
            {"names a measure": 0.05, "says one runs against it": 0.05},
        ),
        Rates(
            "quality is noise, five queries a cluster; measures and quality correlate within",
            {
                f"{count} clusters, correlation {alike:g}": clustered(count, alike)
                for count in (10, 20)
                for alike in (0.0, 0.3, 1.0)
            },
            ["any claim", "without the option"],
            {"any claim": 0.05},
        ),
        Rates(
            "quality is noise where most grades are equal",
            {
                f"{equal:.0%} of {queries} queries": mostly_equal(queries, equal)
                for equal in (0.8, 0.95)
                for queries in (5, 20, 50)
            },
            [
                "tracks or runs against",
                "claim against its interval",
                "says that quality hardly varies",
            ],
            {"tracks or runs against": 0.05, "claim against its interval": 0.0},
        ),
        Rates(
            "quality correlates with nDCG@10 by 0.6",
            {
                "1 measure, 50 queries": tracked(50, 1),
                "7 measures, 50 queries": tracked(50, 7),
                "20 measures, 50 queries": tracked(50, 20),
                "7 measures, 20 queries": tracked(20, 7),
            },
            [
                "names a measure",
                "says one runs against it",
                "spearmanr of nDCG@10",
                "spearmanr of all, Holm",
            ],
            beside={"names a measure": "spearmanr of all, Holm"},
        ),
    ],
)
