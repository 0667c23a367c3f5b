"""The pages of models and tournaments in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import json_lines, run
from tests.web.axe import faults
from tests.web.conftest import watched_page
from tests.web.server import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOVES = "4435255"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tree: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    cup = str(tmp_path_factory.mktemp("arena") / "cup")
    done = run("arena", "greedy", "random", "--games=10", "--workers=0", "--out", cup)
    assert done.returncode == 0, done.stderr
    with serving(tree, cup) as (_, address):
        yield address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A small phone."""
    with watched_page(browser, address) as page:
        page.set_viewport_size({"width": 320, "height": 640})
        yield page


def test_a_position_walks_to_the_leaf_that_explain_names(
    page: Page, address: str, tree: str
) -> None:
    (said,) = json_lines(run("explain", tree, MOVES, "--json").stdout)
    assert isinstance(said["path"], list)
    assert isinstance(said["leaf"], dict)
    page.goto(f"{address}model?name=small")
    page.locator("#position").fill(MOVES)
    page.keyboard.press("Enter")
    page.locator("#walked").wait_for()
    page.locator("#examples figure").first.wait_for()
    leaf = page.locator(".node[aria-current=true]")
    assert leaf.get_attribute("aria-expanded") is None
    assert page.locator("#node li").all_inner_texts() == said["path"]
    rows = page.locator("#node tbody td:last-child").all_inner_texts()
    assert rows == [f"{count:,}" for count in said["leaf"].values()]
    lines = page.locator(".node").count()
    lines = page.locator(".node").count()
    opened = page.locator(".node[aria-expanded=true]").last
    opened.click()
    page.locator(".node[aria-expanded=true][aria-current=true]").wait_for()
    opened.press("Enter")  # closes it
    assert page.locator(".node").count() == lines - 2
    page.goto(f"{address}model?name=small#node=99999999")
    page.locator("#alert", has_text="node is the number of a node").wait_for()


def test_axe_finds_nothing(page: Page, address: str) -> None:
    for path, ready in (
        ("#moves=44&x=human&o=human", ".value"),
        (f"model?name=small#moves={MOVES}", "#examples figure"),
        ("tournament?name=cup#a=greedy&b=random", "#list td a"),
        ("run?name=cup", "#games tbody td"),
    ):
        page.goto(address + path)
        page.locator(ready).first.wait_for()
        assert faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 320
