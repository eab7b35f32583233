"""Comparison of runs with a baseline, or of all pairs of runs."""
