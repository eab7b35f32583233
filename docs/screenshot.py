"""Photograph a page, as `make pictures` does: docs/screenshot.py PAGE PICTURE."""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.questions.report.browser import MISSING, browser

WIDTH, HEIGHT = 1280, 1330


def main(page: str, picture: str) -> None:
    """Open a page in a browser without a screen and keep what is seen."""
    if MISSING:
        sys.exit(f"{picture} is not made anew: {MISSING}")
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as driver:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        driver.get(Path(page).resolve().as_uri())
        time.sleep(2)  # the charts draw themselves
        driver.save_screenshot(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
