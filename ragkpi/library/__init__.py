"""Shared parts of the public functions: arguments, session, results, tables of values, slices."""
