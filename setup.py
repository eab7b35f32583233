"""What pyproject.toml cannot say: the compiled kernel is optional; the manual page is made."""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup

sys.path.insert(0, str(Path(__file__).parent))
from ragkpi.cli.man_page import man_page  # it needs nothing but Python

page = Path("build/ragkpi.1")
page.parent.mkdir(exist_ok=True)
page.write_text(man_page(), "utf-8")

# Without a compiler the plain reader serves; RAGKPI_PURE=1 does not even look for one.
kernel = Extension("ragkpi._kernel", ["ragkpi/_kernel.c"], py_limited_api=True, optional=True)
pure = bool(os.environ.get("RAGKPI_PURE"))
setup(
    data_files=[("share/man/man1", [str(page)])],
    ext_modules=[] if pure else [kernel],
    options={} if pure else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
