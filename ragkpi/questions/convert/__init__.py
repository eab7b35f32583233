"""Runs and qrels in another format."""
