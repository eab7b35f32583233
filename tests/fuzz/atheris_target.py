"""The same targets under atheris: `python -m tests.fuzz.atheris_target TARGET [CORPUS]`."""

import random
import sys

import atheris

with atheris.instrument_imports(include=["ragkpi"]):
    from tests.fuzz.targets import TARGETS


def main():
    target = TARGETS[sys.argv.pop(1)]

    def one_input(text):
        target(text, random.Random(text))

    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
