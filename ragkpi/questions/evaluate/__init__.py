"""Runs evaluated: their report, and the log that keeps it."""
