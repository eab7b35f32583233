"""The studies, in the order of the page."""

from tests.simulation import (
    agree,
    calibrate,
    clusters,
    compare,
    correct,
    depth,
    diagnose,
    gates,
    intervals,
    judging,
    pairs,
    power,
    replicates,
    shapes,
    slices,
    ties,
)

STUDIES = [
    compare.STUDY,
    pairs.STUDY,
    shapes.STUDY,
    clusters.STUDY,
    slices.STUDY,
    gates.STUDY,
    judging.STUDY,
    ties.STUDY,
    intervals.STUDY,
    calibrate.STUDY,
    agree.STUDY,
    correct.STUDY,
    depth.STUDY,
    diagnose.STUDY,
    replicates.STUDY,
    power.STUDY,
]
