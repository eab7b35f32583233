"""Evaluation of runs, with gates, the log of evaluations, and z-scores."""
