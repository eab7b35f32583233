"""Runs and qrels of every format, read from bytes into columns and written back."""
