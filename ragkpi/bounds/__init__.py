"""Bounds of values over all levels that unjudged documents could have."""
