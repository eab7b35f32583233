"""Shared parts of the public functions: arguments, calls, results, stored results, slices."""
