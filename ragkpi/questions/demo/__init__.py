"""The files of the examples, for users without a checkout."""
