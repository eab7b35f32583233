"""The site in a real Chromium, after `make docs`: nothing for axe to complain of, on any width.

`make try-docs` runs it; its name keeps it out of `make test`, which builds no site.
"""

from pathlib import Path

import pytest

from tests.questions.report.browser import MISSING, browser, colours, violations, width_of, window

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

SITE = Path(__file__).parent.parent / "site"
# 404.html has addresses of a server: from disk it is without its style.
PAGES = sorted({*SITE.rglob("*.html")} - {SITE / "404.html"})


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


def test_the_site_is_built():
    assert SITE / "index.html" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(SITE)))
def test_axe_has_nothing_to_complain_of(driver, page):
    for scheme in ("light", "dark"):
        with colours(driver, scheme):
            driver.get(page.as_uri())
            assert violations(driver) == {}, scheme


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(SITE)))
def test_nothing_is_wider_than_a_phone(driver, page):
    with window(driver, 375, 812):
        driver.get(page.as_uri())
        assert width_of(driver, 375) <= 375
