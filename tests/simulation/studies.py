"""The studies, in the order of the page."""

from tests.simulation import agree, calibrate, compare, depth, diagnose, gates, judging

STUDIES = [
    compare.STUDY,
    gates.STUDY,
    judging.STUDY,
    calibrate.STUDY,
    agree.STUDY,
    depth.STUDY,
    diagnose.STUDY,
]
