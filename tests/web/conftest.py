"""A small tree, and Chromium, for the tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.web.server import serving, small_tree

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TIMEOUT = 20_000


@pytest.fixture(scope="package")
def tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    return small_tree(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="module")  # as long as it runs, others cannot use asyncio
def browser() -> Iterator[Browser]:
    missing = "no Playwright: pip install playwright"
    playwright = pytest.importorskip("playwright.sync_api", reason=missing)
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def address(tree: str) -> Iterator[str]:
    with serving(tree) as (_, address):
        yield address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with watched_page(browser, address) as page:
        yield page


@contextmanager
def watched_page(browser: Browser, address: str) -> Iterator[Page]:
    """A page that reports errors and everything that it asks elsewhere."""
    page = browser.new_page(reduced_motion="reduce")
    page.set_default_timeout(TIMEOUT)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda one: one.url.startswith(address) or wrong.append(one.url))
    yield page
    page.close()
    assert wrong == []
