"""Errors and suspicious features of runs, and the fixed run."""
