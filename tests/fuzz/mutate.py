"""A million mutated inputs: `python -m tests.fuzz.mutate [COUNT] [FIRST]`; see tests/README.md."""

import sys
import time
import traceback

from tests.fuzz.mutator import OTHER_QRELS, OTHER_RUNS, QRELS, RUNS, SHAPED, mutated
from tests.fuzz.targets import TARGETS

SEEDS = {
    "run": RUNS,
    "qrels": [QRELS],
    "formats": [*OTHER_RUNS, *OTHER_RUNS, *SHAPED, *OTHER_QRELS, *RUNS, QRELS],
    "check": [*RUNS, *RUNS, *OTHER_RUNS],
}
# Of a hundred inputs: the fast path of runs is what there is most to get wrong in.
SHARES = ["run"] * 40 + ["qrels"] * 20 + ["formats"] * 30 + ["check"] * 10


def target_of(number):
    return SHARES[number % len(SHARES)]


def main(count=1_000_000, first=0):
    began, failures = time.time(), 0
    for number in range(first, first + count):
        name = target_of(number)
        text, chance = mutated(number, SEEDS[name])
        try:
            TARGETS[name](text, chance)
        except Exception:
            failures += 1
            print(f"input {number}, target {name}: {text!r}", flush=True)
            traceback.print_exc()
            if failures == 20:
                break
        if (number + 1 - first) % 50_000 == 0:
            print(
                f"{number + 1 - first} inputs, {failures} failures, {time.time() - began:.0f} s",
                flush=True,
            )
    print(f"done: inputs {first} to {number}, {failures} failures, {time.time() - began:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
