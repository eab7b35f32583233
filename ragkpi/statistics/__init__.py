"""Intervals, tests and gates: functions of `Scores` alone."""
