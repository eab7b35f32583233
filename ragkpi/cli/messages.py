"""What a person reads on standard error: a line each, which no id or file name can forge."""

import sys

from ragkpi.wording import visible


def tell(text: object) -> None:
    r"""Print a line about this command; control characters show as ``\x1b``."""
    print("ragkpi:", visible(" ".join(str(text).split("\n"))), file=sys.stderr)
