"""A real browser without a screen, for pages opened from disk."""

import os
import shutil
import sys
import time
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

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


def width_of(driver, most):
    """The page's width; charts take a moment to follow the window."""
    for _ in range(1500):
        width = driver.execute_script("return document.documentElement.scrollWidth")
        if width <= most:
            break
        time.sleep(0.02)
    return width


@contextmanager
def window(driver, width, height):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextmanager
def colours(driver, scheme):
    """Show pages to somebody who likes them light, or dark."""
    wish = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [wish]})
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def violations(driver, rules=None):
    """What axe finds on the page as it stands, by its usual rules or by some."""
    if not os.environ.get("CI"):
        pytest.importorskip("axe_core_python")
    driver.execute_script((files("axe_core_python") / "axe.min.js").read_text("utf-8"))
    run = """const [rules, done] = arguments;
      const only = rules && {runOnly: {type: "rule", values: rules}};
      axe.run({resultTypes: ["violations"], ...only}).then(
        (found) => done(found.violations), (error) => done(`${error}`));"""
    driver.set_script_timeout(120)
    broken = driver.execute_async_script(run, rules)
    return {rule["id"]: [node["target"] for node in rule["nodes"]] for rule in broken}


def requested(driver):
    """The addresses that were asked for."""
    import json

    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
