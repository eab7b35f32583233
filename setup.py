"""What pyproject.toml cannot say: the compiled kernel is optional, and fixtures are packed."""

import os
import shutil
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

# Without a compiler the plain reader serves, and where the kernel would be wrong or could not be
# loaded: it writes numbers as the machine has them and is tried on little-endian ones only; the
# limited API of free-threaded builds (Py_GIL_DISABLED) is another one. RAGKPI_PURE=1 does not even
# look for a compiler.
pure = (
    bool(os.environ.get("RAGKPI_PURE"))
    or sys.byteorder == "big"
    or sysconfig.get_config_var("Py_GIL_DISABLED") == 1
)
kernel = Extension(
    "ragkpi._kernel",
    ["ragkpi/_kernel.c"],
    extra_compile_args=["-O2"],  # CFLAGS of the environment replace Python's own, -O3 with them
    py_limited_api=True,
    optional=True,
)


class Build(build_py):
    """Pack the fixtures, which `ragkpi demo` writes; a checkout has them anyway."""

    def run(self):
        super().run()
        if not self.editable_mode:
            into = os.path.join(self.build_lib, "ragkpi", "fixtures")
            packed = ("*.py", "*.md", "Makefile", "__pycache__")
            shutil.copytree(
                "fixtures", into, ignore=shutil.ignore_patterns(*packed), dirs_exist_ok=True
            )


setup(
    cmdclass={"build_py": Build},
    ext_modules=[] if pure else [kernel],
    options={} if pure else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
