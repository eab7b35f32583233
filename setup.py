"""What pyproject.toml cannot say: the manual page is made from the declarations of options."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).parent))
from ragkpi.cli.man_page import man_page  # it needs nothing but Python

page = Path("build/ragkpi.1")
page.parent.mkdir(exist_ok=True)
page.write_text(man_page(), "utf-8")

setup(data_files=[("share/man/man1", [str(page)])])
