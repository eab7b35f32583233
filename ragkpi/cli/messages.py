"""What a person reads on standard error: a line each, which no id or file name can forge."""

import sys

from ragkpi.wording import visible


class Finished(Exception):  # noqa: N818 - no error: all that had to be said is said
    """The command ends here, with a status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def tell(text: object) -> None:
    r"""Print a line about this command; control characters show as ``\x1b``."""
    print("ragkpi:", visible(" ".join(str(text).split("\n"))), file=sys.stderr)
