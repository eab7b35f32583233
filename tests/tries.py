"""How many cases a test of a property tries: few, or RAGKPI_TRIES times as many (`make fuzz`)."""

import os

TRIES = int(os.environ.get("RAGKPI_TRIES", "1"))


def seeds(usual):
    """Return the seeds of cases: as many as usual, or a multiple of them."""
    return range(usual * TRIES)
