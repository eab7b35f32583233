"""Every allocation of the kernel fails once: MemoryError, nothing half done; all is released."""

import ctypes
import gc
import os
import shlex
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from tests.kernel.asking import column, documents, found_in, ints

HERE = Path(__file__).parent
SOURCE = HERE.parent.parent / "ragkpi/_kernel.c"
LONG = b"x" * 5000
IDS = [*(b"d%d" % number for number in range(60)), LONG, b"a#1", b"a#2"]
LINES = [
    *(b"%d Q0 %b 1 %d t\n" % (query, id_, -len(id_)) for query in range(40) for id_ in IDS[-9:]),
    *(b"q Q0 %b 1 %.20f %b\n" % (id_, len(id_) / 3, LONG) for id_ in IDS),
]
JUDGED = {b"q": IDS[::3], b"1": IDS[::-2], **{b"%d" % query: [b"d59"] for query in range(2, 40)}}


def compiler_flags():
    """The compiler, as an extension is compiled."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    return [*compiler, "-fPIC", "-g", f"-I{sysconfig.get_path('include')}"]


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """A kernel whose allocations fail, how many may succeed before one does, and how many live."""
    if sys.platform == "win32":
        pytest.skip("a Unix compiler is needed")
    made = tmp_path_factory.mktemp("failing") / "_kernel.abi3.so"
    renamed = [f"-D{name}=failing_{name}" for name in ("malloc", "calloc", "realloc", "free")]
    own = made.with_name("failing_malloc.o")
    loose = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    try:
        subprocess.run(
            [*compiler_flags(), "-c", HERE / "failing_malloc.c", "-o", own],
            check=True,
            capture_output=True,
        )
        subprocess.run(
            [*compiler_flags(), *renamed, "-shared", *loose, SOURCE, own, "-o", made],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"no compiler: {problem}")
    loader = ExtensionFileLoader("ragkpi._kernel", str(made))
    kernel = module_from_spec(spec_from_loader("ragkpi._kernel", loader))
    loader.exec_module(kernel)
    numbers = ("allocations_left", "allocations_held")
    return kernel, *(ctypes.c_long.in_dll(ctypes.CDLL(str(made)), name) for name in numbers)


def feed(kernel, **options):
    excluded = documents(kernel, {b"q": IDS[:5]})
    run = kernel.Run(
        documents(kernel, JUDGED), excluded=excluded, depth=3, count_documents=True, **options
    )
    try:
        text = b"".join(LINES)
        for place in range(0, len(text), 7000):
            run.feed(text[place : place + 7000])
        return found_in(kernel, run, JUDGED)
    except MemoryError:
        with pytest.raises(ValueError, match="refused"):
            run.finish()  # nothing half done is handed out
        raise


def take_mapping(kernel):
    run = kernel.Run(documents(kernel, JUDGED), fold=ord("#"), keep_best=True)
    ids = [id_.decode() for id_ in IDS]
    assert run.mapping({str(query): dict.fromkeys(ids, 1.5) for query in range(9)})
    return found_in(kernel, run, JUDGED)


def refuse(kernel):
    run = kernel.Run(documents(kernel, {}))
    run.feed(b"1 Q0 a 1 1 t\n2 Q0 " + LONG)
    with pytest.raises(kernel.RefusedError) as problem:
        run.feed(b"\n")
    return problem.value.args


ASKED = {
    "lines": feed,
    "lines, ties": lambda kernel: feed(kernel, ascending=True),
    "lines, held": lambda kernel: feed(kernel, held=True, name_all=True),
    "lines, folded": lambda kernel: feed(kernel, fold=ord("#"), keep_best=True),
    "mapping": take_mapping,
    "refused": refuse,
    "columns": lambda kernel: kernel.columns(b"".join(LINES), 1, 6, -1, False, False, False),
    "numbers": lambda kernel: kernel.numbers(column([b"0.12345678901234567890", b"1"])),
    "first rows": lambda kernel: kernel.first_rows(column(IDS), ints([0] * len(IDS))),
    "count": lambda kernel: kernel.count_ids((), column(IDS)),
}


@pytest.mark.parametrize("asked", ASKED)
def test_the_nth_allocation_fails(failing, asked):
    kernel, left, held = failing
    left.value = -1
    gc.collect()  # exceptions hold the frames that they went through
    before = held.value
    whole = ASKED[asked](kernel)
    for number in range(1, 3000):
        left.value = number
        try:
            found = ASKED[asked](kernel)
        except MemoryError:
            continue
        finally:
            exhausted, left.value = left.value == 0, -1
        assert not exhausted, "an allocation failed, and nobody said it"
        assert found == whole
        assert number > 1, "nothing was allocated"
        gc.collect()
        assert held.value == before, "memory is not released"
        return
    pytest.fail("it takes more than 3000 allocations")
