"""Runs against a baseline."""
