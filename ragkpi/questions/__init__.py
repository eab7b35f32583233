"""Answers from judged runs: pure functions to dataclasses, which reports put into words."""
