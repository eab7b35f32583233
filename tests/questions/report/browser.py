"""A real browser without a screen, for pages opened from disk."""

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--no-first-run", "--window-size=1280,1000"),
)
CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
MISSING = "" if CHROMIUM and DRIVER else "no chromium and chromedriver: pages are not tested"
if MISSING and os.environ.get("CI") and sys.platform == "linux":
    raise FileNotFoundError(f"{MISSING}, and CI is set")


@contextmanager
def browser(profile: Path):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def complaints(driver):
    """What the console has that is no mere information."""
    return [entry for entry in driver.get_log("browser") if entry["level"] != "INFO"]


def requested(driver):
    """The addresses that were asked for."""
    import json

    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
