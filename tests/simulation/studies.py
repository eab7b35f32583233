"""The studies, in the order of the page."""

from tests.simulation import (
    agree,
    calibrate,
    clusters,
    compare,
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
)

# Of functions that no command offers yet; the next `make simulate` writes them into the page.
AHEAD = [replicates.STUDY, power.STUDY]

STUDIES = [
    compare.STUDY,
    pairs.STUDY,
    shapes.STUDY,
    clusters.STUDY,
    slices.STUDY,
    gates.STUDY,
    judging.STUDY,
    intervals.STUDY,
    calibrate.STUDY,
    agree.STUDY,
    depth.STUDY,
    diagnose.STUDY,
    *AHEAD,
]
