"""`python -m ragkpi`."""

from ragkpi.cli import entry

entry()
