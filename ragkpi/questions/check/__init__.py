"""Mistakes and suspicious features of runs, and the mended run."""
