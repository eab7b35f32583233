"""How many cases a test of a property tries: few, or RAGKPI_TRIES times as many (`make fuzz`)."""

import os


def seeds(usual):
    """Return the seeds of cases: as many as usual, or a multiple of them."""
    return range(usual * int(os.environ.get("RAGKPI_TRIES", "1")))
