"""Shared parts of the public functions: arguments, calls, results, tables of values, slices."""
