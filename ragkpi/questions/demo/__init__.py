"""The files of the examples, for whoever has no checkout."""
